// `plimsoll ui`: real runs in a browser: listed, filtered, opened, compared; and what is forbidden.

import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer, request } from "node:http";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { Browser } from "./support/browser.mjs";
import { within } from "./support/deadline.mjs";
import { plimsollIn, startPlimsollIn } from "./support/plimsoll.mjs";
import { eventually } from "./support/processes.mjs";
import { folderOf } from "./support/scripts.mjs";

const PASSES = `
import { Trend } from "k6/metrics";
const rtt = new Trend("rtt", true);
export default function () { rtt.add(5); }`;

const FAILS = `
import { Trend } from "k6/metrics";
const rtt = new Trend("rtt", true);
export const options = { thresholds: { rtt: ["p(95)<2"] } };
export default function () { rtt.add(5); }`;

/** What would do something in a page that takes text for HTML. */
const HOSTILE = "<img src=x onerror=alert(1)>.js";
const NOTE = "</script><script>alert(1)</script>";

/** A folder for runs; `plimsoll` runs in it. */
function place(t) {
  const cwd = folderOf(t, { "passes.js": PASSES, "fails.js": FAILS, [HOSTILE]: PASSES });
  const env = { PLIMSOLL_DATA_DIR: join(cwd, "data") };
  return {
    data: join(cwd, "data"),
    plimsoll: (...args) => plimsollIn({ cwd, env }, ...args),
    start: (...args) => startPlimsollIn({ cwd, env }, ...args),
  };
}

/** The page's address, once it is there. It ends with the test. */
async function serve(t, { start }, ...args) {
  const child = start("ui", ...args);
  t.after(() => child.kill("SIGKILL"));
  let said = "";
  child.stdout.setEncoding("utf8").on("data", (text) => (said += text));
  const [, url] = await eventually(() => /^Runs in .*: (http:\S+)\n/.exec(said), "the page's address");
  return { url, child };
}

/** What a request is answered whose headers a browser would not let a page choose. */
function ask(url, { method = "GET", headers = {} } = {}) {
  return new Promise((resolve, reject) => {
    const asked = request(url, { method, headers, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    asked.on("error", reject).end();
  });
}

const names = (page) => page.locator(".runs tbody .choice a").allTextContents();
const last = (path) => path.split("/").at(-1);

describe("the page of runs", () => {
  let browser;
  before(async () => (browser = await Browser.launch()));
  after(() => browser?.close());

  /** A page that must not log errors, nor contact other hosts. */
  async function open(t, url, look) {
    const page = await browser.newPage(t, look);
    const [errors, requests] = [[], []];
    page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
    page.on("pageerror", (error) => errors.push(error.message));
    page.on("dialog", (dialog) => errors.push(`a dialog: ${dialog.message()}`));
    page.on("request", (request) => requests.push(request.url()));
    await page.goto(url);
    const check = (...expected) => {
      assert.deepEqual(errors, expected);
      assert.deepEqual(requests.filter((request) => !request.startsWith(new URL(url).origin) && !request.startsWith("data:")), []);
    };
    return { page, check };
  }

  test("lists and filters runs, opens one, and compares those that were chosen", async (t) => {
    const here = place(t);
    for (const [code, ...args] of [
      [0, "run", "-i", "40", "passes.js"],
      [0, "demo", "--users", "2", "--time", "1"],
      [99, "run", "-i", "40", "fails.js"],
      [0, "run", "-i", "40", HOSTILE],
      [0, "runs", "tag", "latest", "main", "--note", NOTE],
    ]) {
      const done = await here.plimsoll(...args);
      assert.equal(done.code, code, done.stderr);
    }
    const { url, child } = await serve(t, here);
    const { page, check } = await open(t, url, { viewport: { width: 1280, height: 900 } });
    assert.equal(await page.textContent("h1"), "4 runs");
    assert.deepEqual((await names(page)).map(last), [HOSTILE, "fails.js", "demo", "passes.js"]);
    const [first] = await page.locator(".runs tbody tr").allTextContents();
    for (const text of ["main", NOTE, "rtt p95=5ms"]) assert.ok(first.includes(text), `${text} in ${first}`);

    // What is filtered is in the address.
    const filter = async (choose, expected, headline) => {
      await page.goto(url);
      await choose();
      await page.click("button:text-is('Filter')");
      await page.waitForURL(/\?/);
      assert.deepEqual((await names(page)).map(last), expected);
      assert.equal(await page.textContent("h1"), headline);
    };
    await filter(() => page.selectOption("#filter-kind", "demo"), ["demo"], "1 of 4 runs");
    await filter(() => page.selectOption("#filter-verdict", "fail"), ["fails.js"], "1 of 4 runs");
    await filter(() => page.selectOption("#filter-tag", "main"), [HOSTILE], "1 of 4 runs");
    await filter(() => page.fill("#filter-name", "passes"), ["passes.js"], "1 of 4 runs");
    await filter(() => page.selectOption("#filter-since", "1h"), [HOSTILE, "fails.js", "demo", "passes.js"], "4 of 4 runs");
    await filter(() => page.fill("#filter-name", "nothing like that"), [], "0 of 4 runs");
    assert.match(await page.textContent("main"), /No run matches/);
    await page.goto(`${url}?since=yesterday`);
    assert.match(await page.textContent("[role=alert]"), /since=yesterday: /);

    await page.click("a:text-is('Show all')");
    await page.locator(".runs tbody a", { hasText: "fails.js" }).click();
    await page.waitForSelector("#environment");
    assert.match(await page.textContent(".headline"), /rtt p\(95\)<2/);
    await page.click("header a:text-is('All runs')");
    await page.waitForSelector(".runs");
    assert.equal(page.url(), url);

    const compare = page.locator("button:text-is('Compare')");
    const choose = (name) => page.locator(".runs tbody tr", { hasText: name }).locator("input").check();
    assert.equal(await compare.isDisabled(), true);
    await choose("fails.js");
    assert.equal(await compare.isDisabled(), true);
    await choose("passes.js");
    await compare.click();
    await page.waitForSelector("#differences");
    // The oldest is what the other one is compared with, whatever the order in which they were chosen.
    const runs = await page.locator("main .run-label").allTextContents();
    const columns = runs.slice(0, 2).map((run) => run.replace(/ \d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/, ""));
    assert.deepEqual(columns, ["passes.js", "fails.js"]);
    check();

    child.kill("SIGTERM");
    const { code } = await within(child.exited, "the page to end");
    assert.equal(code, 0);
  });

  test("trends: the runs of each test as charts, and the same in the terminal", async (t) => {
    const there = place(t);
    for (const args of [["passes.js"], ["passes.js"], ["fails.js"]]) await there.plimsoll("run", "--quiet", ...args);
    await there.plimsoll("runs", "tag", "latest~1", "main");
    const { stdout } = await there.plimsoll("runs", "trend");
    assert.match(stdout, /^passes\.js \(k6\), 2 runs, p95 of rtt\nSTARTED \(UTC\) +USERS +RESULT +P95 +CHANGE +LOST +FAILED\n/);
    assert.match(stdout, /pass +5ms +\+0 % +– +0 % +\[main\]\n/);
    assert.doesNotMatch(stdout, /fails\.js/);
    const [trend] = JSON.parse((await there.plimsoll("runs", "trend", "--format", "json")).stdout);
    assert.deepEqual(trend.runs.map(({ p95_us, tags, verdict }) => [p95_us, tags, verdict]), [[5000, [], "pass"], [5000, ["main"], "pass"]]);
    const none = await there.plimsoll("runs", "trend", "fails");
    assert.match(none.stderr, /No test has two such runs/);

    const { url } = await serve(t, there);
    const { page, check } = await open(t, url);
    await page.click("text=Trends of these runs");
    await page.waitForSelector(".trend");
    assert.equal(await page.textContent("h1"), "Trends of 1 test");
    assert.deepEqual(await page.locator(".trend .chart-title").allTextContents(), ["p95 of rtt", "Failed iterations"]);
    const drawn = await page.evaluate(() => document.querySelector(".trend .chart").chart.data());
    assert.deepEqual([drawn.lines[0].values, drawn.marks], [[5000, 5000], [{ x: 2, label: "main" }]]);
    await page.click(".trend > details > summary");
    assert.equal(await page.locator(".trend > details tbody tr").count(), 2);
    await page.fill("#filter-name", "fails");
    await page.click("text=Filter");
    await page.waitForSelector("text=No test has two runs here");
    assert.equal(last(new URL(page.url()).pathname), "trends");
    await page.click("text=List of these runs");
    assert.deepEqual(await names(page), ["fails.js"]);
    check();
  });

  test("an imported run has the figures of its tool, and no claim of ours about them", async (t) => {
    const there = place(t);
    const metrics = { http_req_duration: { type: "trend", contains: "time", values: { med: 11, "p(95)": 25.5 } } };
    const file = join(there.data, "..", "k6.json");
    writeFileSync(file, JSON.stringify({ metrics, root_group: {}, options: {}, state: { testRunDurationMs: 10_000 } }));
    const done = await there.plimsoll("runs", "import", file);
    assert.equal(done.code, 0, done.stderr);
    assert.match((await there.plimsoll("runs", "list")).stdout, /imported +k6\.json +– +10s/);
    const { url } = await serve(t, there);
    const { page, check } = await open(t, url);
    assert.deepEqual((await page.locator(".runs tbody tr td").allTextContents()).slice(2, 4), ["imported", "–"]);
    assert.doesNotMatch(await page.textContent("footer"), /accurate/);
    await page.click(".choice a");
    await page.waitForSelector("text=Imported from k6: k6.json");
    assert.match(await page.textContent("footer"), /^k6 measured these figures, and Plimsoll did not check them\./);
    check();
  });

  test("says what it cannot show", async (t) => {
    const here = place(t);
    const { url } = await serve(t, here);
    const { page, check } = await open(t, url, { viewport: { width: 390, height: 800 }, colorScheme: "dark" });
    assert.equal(await page.textContent("h1"), "0 runs");
    assert.match(await page.textContent("main"), /This folder has no runs yet.*plimsoll demo/);

    // A run that is kept while the page is open is there when it is asked for again.
    assert.equal((await here.plimsoll("run", "-i", "1", "passes.js")).code, 0);
    await page.reload();
    assert.equal(await page.textContent("h1"), "1 run");
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390);
    check();

    for (const [path, status, expected] of [
      ["run?id=gone", 404, /there is no run `gone` any more/],
      ["compare?run=a", 400, /needs 2 to 12 runs, but 1 were chosen/],
      ["compare?run=a&run=b", 404, /there is no run `a` any more/],
    ]) {
      const response = await page.goto(`${url}${path}`);
      assert.equal(response.status(), status, path);
      assert.match(await page.textContent("[role=alert]"), expected);
    }
    await page.click("a:text-is('All runs')");
    assert.equal(await page.textContent("h1"), "1 run");
  });

  test("leaves a file that is no history as it is", async (t) => {
    const here = place(t);
    mkdirSync(here.data);
    writeFileSync(join(here.data, "runs.db"), "no database at all, but long enough to look at\n".repeat(100));
    const { url } = await serve(t, here);
    const { page, check } = await open(t, url);
    assert.match(await page.textContent("[role=alert]"), /runs\.db is damaged or is not a Plimsoll history/);
    check();
  });
});

test("the page is nobody else's", async (t) => {
  const { url } = await serve(t, place(t));
  const { origin, port } = new URL(url);
  assert.equal(await ask(url), 200);
  assert.equal(await ask(`${url}page.js`), 200);
  for (const path of ["/", "/page.js", "/00000000000000000000000000000000/"]) {
    assert.equal(await ask(`${origin}${path}`), 404, path);
  }
  assert.equal(await ask(`${url}etc/passwd`), 404);
  assert.equal(await ask(url, { headers: { host: `evil.example:${port}` } }), 403);
  assert.equal(await ask(url, { method: "POST" }), 405);
});

test("a port that is taken is told", async (t) => {
  const taken = createServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  t.after(() => taken.close());
  const { port } = taken.address();
  const refused = await place(t).plimsoll("ui", "--port", `${port}`);
  assert.equal(refused.code, 2, refused.stderr);
  assert.match(refused.stderr, new RegExp(`--port ${port}: cannot listen: .*in use.*; port 0 takes a free port`));
});
