// The page of a run that goes on: charts that grow, buttons, the report at its end, and no access for others.

import assert from "node:assert/strict";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer, request } from "node:http";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { Browser } from "./support/browser.mjs";
import { within } from "./support/deadline.mjs";
import { Server, plimsollIn, startPlimsollIn } from "./support/plimsoll.mjs";
import { eventually } from "./support/processes.mjs";
import { folderOf } from "./support/scripts.mjs";

/** Goes on until it is told to end. */
const SCRIPT = `
import { sleep } from "k6";
import { Counter, Trend } from "k6/metrics";
const rtt = new Trend("rtt", true);
const said = new Counter("said");
export const options = {
  scenarios: { all: { executor: "externally-controlled", vus: 3, maxVUs: 5, duration: "10m" } },
  thresholds: { rtt: ["p(95)<1000", "p(99)<2"] },
};
export default function () {
  rtt.add(1 + (__ITER % 7) * 3);
  said.add(1);
  sleep(0.05);
  if (__ITER === 20) throw new Error("no luck at <b>all</b>");
}`;

/** A run with a planned end, a threshold that fails and one that holds, and a cause of failures. */
const GLANCE = `
import { check, sleep } from "k6";
import { Trend } from "k6/metrics";
const rtt = new Trend("rtt", true);
export const options = { vus: 3, duration: "40s", thresholds: { rtt: ["p(95)<2"], checks: ["rate>0.9"] } };
export default function () {
  rtt.add(5);
  check(1, { one: (n) => n === 1 });
  sleep(0.05);
  if (__ITER % 5 === 4) throw new Error("bad thing");
}`;

/** A run with its page. */
class Run {
  #child;
  #said = "";

  static async start(t, ...args) {
    const run = new Run();
    run.cwd = folderOf(t, { "chat.js": SCRIPT, "glance.js": GLANCE });
    run.#child = startPlimsollIn({ cwd: run.cwd }, ...args);
    t.after(() => run.#child.kill("SIGKILL"));
    run.#child.stdout.resume();
    run.#child.stderr.setEncoding("utf8").on("data", (text) => (run.#said += text));
    [, run.url] = await eventually(() => /Live page: (http:\S+)\n/.exec(run.#said), "the page's address");
    return run;
  }

  get said() {
    return this.#said;
  }

  async code() {
    const { code } = await within(this.#child.exited, `the run to end, which said: ${this.#said}`);
    return code;
  }
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

/** The numbers of a chart, by its title. */
const drawn = (page, title) =>
  page.evaluate(
    (title) =>
      [...document.querySelectorAll("figure.chart")]
        .find((figure) => figure.querySelector(".chart-title").textContent === title)
        ?.chart.data()
        .lines.map(({ label, values }) => ({ label, values })),
    title,
  );

/** The marks of all charts over time. */
const marked = (page) =>
  page.evaluate(() =>
    [...document.querySelectorAll("figure.chart")]
      .map(({ chart }) => chart.data())
      .filter(({ horizontal }) => horizontal.kind === "time")
      .map(({ title, marks }) => ({ title, marks })),
  );

/** Waits until each chart over time has so many marks, which say this. Returns the marks of one. */
async function expectMarks(page, ...labels) {
  const isMarked = ({ marks }) => JSON.stringify(marks.map(({ label }) => label)) === JSON.stringify(labels);
  const charts = await eventually(async () => {
    const charts = await marked(page);
    return charts.length >= 3 && charts.every(isMarked) && charts;
  }, `charts with the marks ${labels}`);
  const [{ marks }] = charts;
  for (const chart of charts) assert.deepEqual(chart.marks, marks, chart.title);
  return marks;
}

describe("the page of a run that goes on", () => {
  let browser;
  before(async () => (browser = await Browser.launch()));
  after(() => browser?.close());

  /** A page that must not log errors, nor contact other hosts. */
  async function open(t, url, look) {
    const page = await browser.newPage(t, look);
    const [errors, requests] = [[], []];
    page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
    page.on("pageerror", (error) => errors.push(error.message));
    page.on("request", (request) => requests.push(request.url()));
    await page.goto(url);
    const check = (...others) => {
      assert.deepEqual(errors, []);
      const known = [url, "data:", ...others];
      assert.deepEqual(requests.filter((request) => !known.some((begin) => request.startsWith(begin))), []);
    };
    return { page, check };
  }

  test("shows the run in several tabs, pauses and stops it, and becomes its report", async (t) => {
    const run = await Run.start(t, "run", "--quiet", "--ui", "chat.js");
    const first = await open(t, run.url, { viewport: { width: 1280, height: 900 } });
    await first.page.waitForSelector(".badge:text-is('running')");
    const counted = async (page) => (await drawn(page, "said per second"))?.[0].values.length ?? 0;
    const before = await eventually(async () => await counted(first.page), "a chart");
    await eventually(async () => (await counted(first.page)) >= before + 2, "the chart to grow");
    const [latency] = await drawn(first.page, "rtt over time");
    assert.equal(latency.label, "median");
    assert.ok(latency.values.some((value) => value >= 1_000 && value <= 19_000), JSON.stringify(latency));

    // Who comes late has it all, on a telephone, too.
    const late = await open(t, run.url, { viewport: { width: 390, height: 800 } });
    await eventually(async () => (await counted(late.page)) >= before + 2, "the whole history");
    assert.equal(await late.page.evaluate(() => document.documentElement.scrollWidth), 390);
    await late.page.waitForSelector("#thresholds:has-text('rtt: p(99)<2')");
    await eventually(async () => (await late.page.textContent("#errors")).includes("<b>all</b>"), "the error, as text");

    await first.page.click("button:text-is('Pause')");
    await late.page.waitForSelector(".badge:text-is('paused')");
    await late.page.click("button:text-is('Resume')");
    await first.page.waitForSelector(".badge:text-is('running')");

    await first.page.click("button:text-is('Stop')");
    assert.equal(await run.code(), 105, run.said);
    for (const { page, check } of [first, late]) {
      await page.waitForURL(`${run.url}report`);
      await page.waitForSelector("#environment");
      assert.match(await page.textContent(".headline h1"), /failed the threshold rtt p\(99\)<2|bottleneck|too high/i);
      check();
    }
  });

  test("says first how far the run is, whether it holds, and what fails", async (t) => {
    const run = await Run.start(t, "run", "--quiet", "--ui", "glance.js");
    const { page, check } = await open(t, run.url, { viewport: { width: 390, height: 800 } });
    const glance = () => page.textContent(".glance");
    const isTold = async () => {
      const told = await glance();
      return [/\d+ s of 40 s, \d+ s left/, /\d+ users active, 3 planned/, /failed rtt: p\(95\)<2, now 5 ms/, /passed checks: rate>0\.9, now 100 %/, /\d+ × bad thing/].every((part) => part.test(told));
    };
    await eventually(isTold, glance);
    assert.ok((await page.evaluate(() => document.querySelector(".glance progress").value)) > 0);
    const users = await eventually(async () => {
      const lines = await drawn(page, "Users");
      return lines?.length === 2 && lines;
    }, "the planned users in the chart");
    assert.equal(users[1].label, "planned");
    assert.deepEqual(new Set(users[1].values), new Set([3]));
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390);
    await page.click("text=Stop");
    check();
  });

  test("marks the commands of --at when they begin, where its report does", async (t) => {
    const commands = ["--at", "1s", "echo one", "--at", "2s", "until [ -e over ]; do sleep 0.1; done", "--at", "1h", "later"];
    const run = await Run.start(t, "run", "--quiet", "--ui", ...commands, "chat.js");
    const looks = [1280, 390].map((width) => ({ viewport: { width, height: 900 } }));
    const pages = await Promise.all(looks.map((look) => open(t, run.url, look)));
    const labels = ["echo one", "until [ -e over ]; do s…"];
    const seen = [];
    for (const { page } of pages) {
      seen.push(await expectMarks(page, ...labels));
      assert.ok((await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)) <= 0);
    }
    const [[one, until]] = seen;
    assert.deepEqual(seen[1], seen[0]);
    assert.ok(one.x >= 1 && until.x >= 2 && until.x > one.x, JSON.stringify(seen[0]));
    // The second one still goes on.
    writeFileSync(join(run.cwd, "over"), "");
    await pages[0].page.click("button:text-is('Stop')");
    assert.equal(await run.code(), 105, run.said);
    for (const { page, check } of pages) {
      await page.waitForURL(`${run.url}report`);
      await page.waitForSelector("#environment");
      assert.deepEqual(await expectMarks(page, ...labels), seen[0]);
      check();
    }
  });

  test("shows the steps of a search as they end, and becomes its report", async (t) => {
    const steps = ["--start", "2", "--step-duration", "1s", "--warm-up", "1s", "--slo", "rtt p(95)<1000"];
    const run = await Run.start(t, "line", "--quiet", "--no-save", "--ui", ...steps, "chat.js");
    for (const width of [1280, 390]) {
      const { page, check } = await open(t, run.url, { viewport: { width, height: 800 } });
      const counted = () => page.locator("#steps tbody tr").count();
      await page.waitForSelector(".badge:text-is('running')");
      const before = await eventually(counted, "a step");
      await eventually(async () => (await counted()) > before, "another step");
      assert.match(await page.locator(".lead").textContent(), /^step \d+: load \d+, \d+ s of 2 s, \d+ VUs/);
      assert.ok((await drawn(page, "rtt p(95) against users"))[0].values.length >= 2);
      assert.equal(await page.locator("button:text-is('Pause')").isVisible(), false);
      assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), width);
      check();
    }
    const { page, check } = await open(t, run.url);
    await page.click("button:text-is('Stop')");
    assert.equal(await run.code(), 105, run.said);
    await page.waitForURL(`${run.url}report`);
    assert.match(await page.textContent(".headline .badge"), /incomplete/);
    check();
  });

  test("is nobody else's", async (t) => {
    const run = await Run.start(t, "run", "--quiet", "--ui=localhost:0", "chat.js");
    const { origin, host, port } = new URL(run.url);
    assert.equal(await ask(run.url), 200);
    for (const path of ["/", "/states", "/00000000000000000000000000000000/"]) {
      assert.equal(await ask(`${origin}${path}`), 404, path);
    }
    // A name that was pointed to this machine, and orders of other pages.
    assert.equal(await ask(run.url, { headers: { host: `evil.example:${port}` } }), 403);
    for (const headers of [{ origin: "http://evil.example" }, { "sec-fetch-site": "cross-site" }]) {
      assert.equal(await ask(`${run.url}stop`, { method: "POST", headers }), 403, JSON.stringify(headers));
    }
    assert.equal(await ask(`${run.url}stop`), 404);
    // The page itself.
    const own = { origin, host, "sec-fetch-site": "same-origin" };
    assert.equal(await ask(`${run.url}stop`, { method: "POST", headers: own }), 200);
    assert.equal(await run.code(), 105);
  });

  test("a tab that reads nothing holds up nobody", async (t) => {
    const run = await Run.start(t, "run", "--quiet", "--ui", "chat.js");
    const stuck = request(`${run.url}states`, { agent: false });
    stuck.on("error", () => {});
    stuck.on("response", (response) => response.pause());
    stuck.end();
    t.after(() => stuck.destroy());
    const { page } = await open(t, run.url);
    await eventually(async () => (await drawn(page, "said per second"))?.[0].values.length >= 4, "the chart to grow");
    await page.click("button:text-is('Stop')");
    assert.equal(await run.code(), 105);
  });

  test("a quick look has it, too", async (t) => {
    const server = createServer((_, response) => response.end("hello")).listen(0, "127.0.0.1");
    await once(server, "listening");
    t.after(() => server.closeAllConnections());
    t.after(() => server.close());
    const target = `http://127.0.0.1:${server.address().port}/`;
    const run = await Run.start(t, "quick", "-c", "2", "-n", "1000000", "--quiet", "--ui", target);
    const { page, check } = await open(t, run.url);
    await eventually(async () => (await drawn(page, "HTTP requests per second"))?.[0]?.values.length >= 2, "requests");
    assert.equal(await page.locator("button:text-is('Pause')").isVisible(), false);
    await page.click("button:text-is('Stop')");
    await page.waitForURL(`${run.url}report`);
    await page.waitForSelector("#environment");
    check();
    assert.equal(await run.code(), 105, run.said);
  });

  test("plimsoll demo has it beside its chat", async (t) => {
    const run = await Run.start(t, "demo", "--users", "40", "--time", "600", "--ui");
    const { page, check } = await open(t, run.url);
    await page.waitForSelector("a:text-is('Join the chat')");
    const chat = /in a browser: (http:\S+)/.exec(run.said)[1];
    assert.equal(await page.getAttribute("a:text-is('Join the chat')", "href"), chat);
    await eventually(async () => await drawn(page, "CPU"), "the server's CPU");
    const room = page.frameLocator("iframe.beside");
    await room.locator("#name").fill("visitor");
    await room.locator("#join button").click();
    await room.locator("#messages li").first().waitFor();
    await page.click("button:text-is('Stop')");
    await page.waitForURL(`${run.url}report`);
    await page.waitForSelector("#environment");
    check(chat);
    assert.equal(await run.code(), 105, run.said);
    assert.match(run.said, /^error: the run was stopped on its page or with a key(;|$)/m);
  });
});

describe("the page of a bench", () => {
  let browser;
  before(async () => (browser = await Browser.launch()));
  after(() => browser?.close());

  /** The page of the run with these arguments, which may not complain. */
  async function watch(t, ...args) {
    const run = await Run.start(t, ...args, "--ui");
    const page = await browser.newPage(t, { viewport: { width: 1280, height: 900 } });
    const errors = [];
    page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
    page.on("pageerror", (error) => errors.push(error.message));
    await page.goto(run.url);
    const chart = (title) => eventually(async () => (await drawn(page, title))?.[0].values.length >= 2, `a chart of ${title}`);
    /** Ends the run; its report is there. */
    const stop = async (code) => {
      await page.click("button:text-is('Stop')");
      await page.waitForURL(`${run.url}report`);
      await page.waitForSelector("#environment");
      assert.equal(await run.code(), code, run.said);
      assert.deepEqual(errors, []);
    };
    return { run, page, chart, stop };
  }

  const sizes = ["--step-size", "5", "--sample-size", "1000000"];
  for (const [workload, ...args] of [
    ["broadcast", ...sizes, "--total-steps", "1"],
    ["echo", ...sizes, "--total-steps", "1"],
    ["connect", "--step-size", "1", "--steps-delay", "1"],
  ]) {
    test(`bench ${workload}`, async (t) => {
      const server = await Server.start("--app", "benchmark");
      t.after(() => server.stop());
      const cable = ["--server-type", "actioncable", "--watch", `${server.pid}`, "--at", "1s", "echo one"];
      const { run, page, chart, stop } = await watch(t, "bench", workload, server.ws("/cable"), ...cable, ...args);
      await chart("CPU");
      await chart("Memory");
      await page.waitForSelector("#latency figure.chart");
      assert.match(await page.textContent("h1"), new RegExp(`^bench ${workload} ws:`));
      const marks = await expectMarks(page, "echo one");
      // It cannot be paused, and says so to who asks nevertheless.
      assert.equal(await page.isHidden("button:text-is('Pause')"), true);
      const { origin, host } = new URL(run.url);
      const headers = { origin, host, "sec-fetch-site": "same-origin" };
      assert.equal(await ask(`${run.url}pause`, { method: "POST", headers }), 409);
      await stop(105);
      assert.deepEqual(await expectMarks(page, "echo one"), marks);
    });
  }

  test("bench http, after its warm-up, with thresholds", async (t) => {
    const target = createServer((_, response) => response.end("ok")).listen(0, "127.0.0.1");
    await once(target, "listening");
    t.after(() => target.close());
    const { port } = target.address();
    const { page, chart, stop } = await watch(
      t, "bench", "http", "-k", "-c", "50", "--rate", "20", "--duration", "10m", "--warm-up", "1s", "--watch", `${process.pid}`,
      "--threshold", "failed:rate<0.5", `http://me:secret@127.0.0.1:${port}/`,
    );
    await chart("CPU");
    await page.waitForSelector("#latency figure.chart");
    assert.equal(await page.textContent("h1"), `bench http http://127.0.0.1:${port}/`);
    await page.waitForSelector("#thresholds:has-text('failed')");
    await stop(105);
  });
});

test("an address that cannot be is told before the run", async (t) => {
  const cwd = folderOf(t, { "chat.js": SCRIPT });
  const taken = createServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  t.after(() => taken.close());
  for (const [address, expected] of [
    [`127.0.0.1:${taken.address().port}`, /--ui=127\.0\.0\.1:\d+: cannot listen: .*in use.*; port 0 takes a free port/],
    ["0.0.0.0:0", /reachable from other machines/],
    ["nonsense", /expected a host and a port, for example localhost:5665/],
  ]) {
    const refused = await plimsollIn({ cwd }, "run", `--ui=${address}`, "chat.js");
    assert.equal(refused.code, 2, refused.stderr);
    assert.match(refused.stderr, expected);
  }
});
