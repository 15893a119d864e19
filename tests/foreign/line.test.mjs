// `plimsoll line` on servers whose capacity is known, because it is a number of connections and not their speed.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { Browser } from "./support/browser.mjs";
import { within } from "./support/deadline.mjs";
import { CHAT, Limiter } from "./support/limiter.mjs";
import { plimsollIn, Server, startPlimsollIn } from "./support/plimsoll.mjs";
import { assertWhole, LOOKS, open } from "./support/report-page.mjs";
import { eventually } from "./support/processes.mjs";
import { folderOf } from "./support/scripts.mjs";

/** The longest that a search of these tests may take. */
const PATIENCE_MS = 240_000;

const SHORT = ["--step-duration", "1s", "--warm-up", "1s"];

/**
 * A search that begins at the line: with the last load that holds, and the next one. One script and one bench below search
 * from far away; the tests of `plimsoll-line` search on every kind of target without taking time.
 */
const around = (capacity) => ["--start", String(capacity), "--max", String(capacity * 2)];

/** Searches to the end: `{ code, report, page, stderr, stdout }`; `page` is the path of the HTML. */
async function line(t, files, ...args) {
  const cwd = folderOf(t, files);
  const child = startPlimsollIn({ cwd }, "line", ...args, "--report", "line.json", "--report", "line.html");
  t.after(() => child.kill("SIGKILL"));
  const [stdout, stderr, { code }] = await within(
    Promise.all([textOf(child.stdout), textOf(child.stderr), child.exited]),
    `\`plimsoll line ${args.join(" ")}\``,
    PATIENCE_MS,
  );
  let report = null;
  try {
    report = JSON.parse(readFileSync(join(cwd, "line.json"), "utf8"));
  } catch (error) {
    assert.equal(error.code, "ENOENT", error);
  }
  return { code, report, page: join(cwd, "line.html"), stdout, stderr };
}

async function textOf(stream) {
  let all = "";
  for await (const chunk of stream.setEncoding("utf8")) all += chunk;
  return all;
}

/** The interval contains `capacity`, and its ends are within 5 % of its middle. */
function assertFound({ code, report, stderr }, capacity) {
  assert.equal(code, 0, stderr);
  const { interval, end, sentence } = report.result;
  assert.equal(end, "found", sentence);
  assert.ok(interval.low <= capacity && capacity <= interval.high, sentence);
  assert.ok(interval.within <= 0.05, sentence);
}

/**
 * The search found `capacity`, or says that it cannot tell; it is never wrong. For objectives that a busy machine can break:
 * a pause of it is a slow reply. Latency is what broke, unless the generator was the bottleneck.
 */
function assertTruthful(found, capacity) {
  const { interval, end, sentence, what_broke } = found.report.result;
  if (end !== "generator") assert.deepEqual(what_broke, ["latency"], sentence);
  if (!["inconclusive", "generator"].includes(end)) return assertFound(found, capacity);
  assert.equal(found.code, 4, sentence);
  // A generator that ends the search knows of no upper end.
  if (interval) assert.ok(interval.low <= capacity && capacity <= (interval.high ?? Infinity), sentence);
}

/** The page has the sentence, each step as a point of each chart, and as a row. */
async function assertShows(page, { result, steps }) {
  assert.equal(await page.locator("h1").innerText(), result.headline);
  assert.equal(await page.locator(".lead").innerText(), result.sentence);
  const charts = await page.evaluate(() =>
    Object.fromEntries([...document.querySelectorAll("figure.chart")].map(({ chart }) => [chart.data().title, chart.data()])),
  );
  const sorted = [...steps].sort((one, other) => one.load - other.load);
  const ofLine = (title, label) => charts[`${title} against users`].lines.find((line) => line.label === label).values;
  assert.deepEqual(
    ofLine("errors", "broke"),
    sorted.map(({ verdict, objectives }) => (verdict === "broke" ? objectives[0].value : null)),
  );
  assert.deepEqual(ofLine("rtt p(95)", "limit"), steps.map(() => 1_000_000));
  assert.deepEqual(ofLine("CPU", "echo"), sorted.map(({ targets }) => targets[0].cpu_cores));
  assert.deepEqual(ofLine("Memory", "echo"), sorted.map(({ targets }) => targets[0].rss_bytes));
  const rows = await page.locator("#steps tbody tr").evaluateAll((rows) => rows.map((row) => row.cells[1].textContent));
  assert.deepEqual(rows, steps.map(({ load }) => String(load)));
}

// Searches wait far more than they compute, so some run at the same time.
describe("searches", { concurrency: 2 }, () => {
  describe("the line of a server with a known capacity", { concurrency: 3 }, () => {
    test("connections beyond it are refused", async (t) => {
      const limiter = await Limiter.start(t, 37, "refuse");
      const found = await line(
        t,
        { "chat.js": CHAT },
        "chat.js",
        "-e",
        `URL=ws://127.0.0.1:${limiter.port}/`,
        ...["--slo", "errors==0", "--slo", "rtt p(95)<1000"],
        ...["--watch", `echo=${process.pid}`, ...SHORT],
      );
      assertFound(found, 37);
      const { result, steps } = found.report;
      assert.deepEqual(result.what_broke, ["errors"]);
      assert.match(result.sentence, /^Holds 3\d( to 3\d)? users at errors==0, rtt p\(95\)<1000 \(90 %\): .* failed in .*refused/);
      assert.ok(limiter.n_refused > 0);
      assert.ok(steps.every((step) => step.targets[0].name === "echo" && step.targets[0].rss_bytes > 1e7));
      assert.match(found.stdout, /held[\s\S]*broke: errors/);
      assert.match(found.stdout, /Holds 3\d( to 3\d)? users/);

      const browser = await Browser.launch();
      t.after(() => browser.close());
      for (const look of LOOKS) {
        const { page, said, asked } = await open(t, browser, found.page, look);
        assert.deepEqual([said, asked], [[], [pathToFileURL(found.page).href]]);
        await assertWhole(page, look);
        await assertShows(page, found.report);
      }
    });

    test("it answers slowly beyond it", async (t) => {
      const limiter = await Limiter.start(t, 60, "slow");
      const found = await line(
        t,
        { "chat.js": CHAT },
        "chat.js",
        "-e",
        `URL=ws://127.0.0.1:${limiter.port}/`,
        ...["--slo", "rtt p(95)<350", ...around(60), ...SHORT],
      );
      assertTruthful(found, 60);
      const { end, sentence } = found.report.result;
      if (end !== "generator") assert.match(sentence, /rtt p\(95\) (?:[7-9]\d\dms|\d+(?:\.\d+)?s) of 350ms allowed/);
    });

    test("an Artillery file, and a wsdirector scenario", async (t) => {
      const limiter = await Limiter.start(t, 5, "refuse");
      const url = `ws://127.0.0.1:${limiter.port}/`;
      const artillery = `
config: { target: "${url}", phases: [{ duration: 10, users: 1 }] }
scenarios: [{ engine: ws, flow: [{ loop: [{ send: hi }, { think: 0.1 }], count: 600 }] }]
`;
      const found = await line(t, { "load.yml": artillery }, "load.yml", ...around(5), "--slo", "errors==0", ...SHORT);
      assertFound(found, 5);
      const steps = `- client: { multiplier: ":scale", actions: [{ send: { data: hi } }, { sleep: { time: 1 } }] }`;
      const scaled = await line(
        t,
        { "echo.yml": steps },
        ...["echo.yml", "--url", url, "--slo", "errors==0", ...around(5)],
      );
      assertFound(scaled, 5);
      assert.equal(scaled.report.unit, "scale");
    });
  });

  describe("the line of benches", { concurrency: 3 }, () => {
    const bench = (t, workload, url, ...args) => line(t, {}, "bench", workload, url, ...args);

    test("clients beyond it are refused", async (t) => {
      const limiter = await Limiter.start(t, 21, "refuse");
      const url = `ws://127.0.0.1:${limiter.port}/`;
      const args = ["--server-type", "echo", "--slo", "errors==0", "--watch", `echo=${process.pid}`];
      const found = await bench(t, "connect", url, ...args);
      assertFound(found, 21);
      assert.equal(found.report.unit, "clients");
      assert.match(found.report.result.sentence, /^Holds 2\d( to 2\d)? clients .*errors \d+, none allowed \(\d+ × .*503/);
      assert.ok(found.report.steps.every((step) => step.targets[0].name === "echo"));
    });

    test("it answers slowly beyond it", async (t) => {
      const limiter = await Limiter.start(t, 24, "slow");
      const url = `ws://127.0.0.1:${limiter.port}/`;
      const args = ["--server-type", "echo", "--slo", "rtt p(95)<350", "--sample-size", "40", "--concurrent", "20"];
      const found = await bench(t, "echo", url, ...args, ...around(24));
      assertTruthful(found, 24);
    });

    test("broadcasts are counted, up to the greatest load that is allowed", async (t) => {
      const server = await Server.start("--app", "benchmark");
      t.after(() => server.stop());
      const url = `ws://${server.address}/json`;
      const slo = ["--slo", "delivery p(95)<10000", "--slo", "lost==0", "--slo", "errors==0"];
      const { code, report, stderr } = await bench(t, "broadcast", url, ...slo, "--max", "30", "--repeat", "1");
      assert.equal(code, 0, stderr);
      assert.equal(report.result.end, "max");
      assert.deepEqual([report.result.holds.load, report.steps.length], [30, 3]);
      assert.ok(report.steps.every((step) => step.objectives.every((it) => it.held && it.value !== null)));
    });

    test("nothing listens, and flags that the search decides", async (t) => {
      const limiter = await Limiter.start(t, 1, "refuse");
      const url = `ws://127.0.0.1:${limiter.port}/`;
      limiter.stop();
      const { code, report } = await bench(t, "echo", url, "--server-type", "echo");
      assert.equal(code, 3);
      assert.match(report.result.sentence, /^Not even 1 client holds/);
      const refused = await bench(t, "echo", url, "--total-steps", "3");
      assert.equal(refused.code, 2);
      assert.match(refused.stderr, /--total-steps: a search chooses/);
    });
  });

  describe("what counts", { concurrency: 3 }, () => {
    const script = (is_bad) => `
import exec from "k6/execution";
import { sleep } from "k6";
import { Trend } from "k6/metrics";
const rtt = new Trend("rtt", true);
export default function () {
  const now = exec.instance.currentTestRunDuration;
  rtt.add(${is_bad} ? 9999 : 1);
  sleep(0.05);
}
`;
    const once = ["--start", "2", "--max", "2", "--repeat", "1", "--warm-up", "2s", "--step-duration", "2s"];
    const run = (t, is_bad) => line(t, { "a.js": script(is_bad) }, "a.js", "--slo", "rtt max<5000", ...once);

    test("the warm-up does not", async (t) => {
      const { code, report } = await run(t, "now < 1000");
      assert.equal(code, 0, JSON.stringify(report.steps));
      assert.deepEqual([report.result.end, report.steps.length], ["max", 1]);
      assert.equal(report.steps[0].objectives[0].value, 1);
    });

    test("everything after it does", async (t) => {
      const { code, report } = await run(t, "now > 3000");
      assert.equal(code, 3);
      assert.equal(report.result.end, "nothing_holds");
    });
  });

  describe("what is no line", { concurrency: 3 }, () => {
    test("nothing listens", async (t) => {
      const limiter = await Limiter.start(t, 1, "refuse");
      const url = `URL=ws://127.0.0.1:${limiter.port}/`;
      limiter.stop();
      const { code, report } = await line(t, { "chat.js": CHAT }, "chat.js", "-e", url, ...SHORT);
      assert.equal(code, 3);
      assert.equal(report.result.end, "nothing_holds");
      assert.ok(report.steps.length <= 6, "it does not try load after load");
      assert.match(report.result.sentence, /^Not even 1 user holds .*errors \d+, none allowed/);
      assert.ok(report.default_objectives && report.objectives.includes("errors==0"));
    });

    test("the target dies on the way", async (t) => {
      const limiter = await Limiter.start(t, 15, "die");
      const url = `URL=ws://127.0.0.1:${limiter.port}/`;
      const { code, report } = await line(t, { "chat.js": CHAT }, "chat.js", "-e", url, "--slo", "errors==0", ...SHORT);
      assert.equal(code, 3);
      assert.equal(report.result.end, "degraded");
      assert.match(report.result.sentence, /10 users held at first, but later not even \d+ users? did/);
    });

    const searches = {
      "a script": (url) => ["chat.js", "-e", `URL=${url}`, "--slo", "errors==0", ...SHORT],
      "a bench": (url) => ["bench", "echo", url, "--server-type", "echo", "--slo", "errors==0", "--sample-size", "100000", "--command-delay", "0.01"],
    };
    for (const [name, args] of Object.entries(searches)) {
      for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
        test(`${signal} ends the search of ${name}; what is known is printed, reported and kept`, async (t) => {
          const limiter = await Limiter.start(t, 1000, "refuse");
          const cwd = folderOf(t, { "chat.js": CHAT });
          const here = { cwd, env: { PLIMSOLL_DATA_DIR: join(cwd, "data") } };
          const words = [...args(`ws://127.0.0.1:${limiter.port}/`), "--report", "line.json"];
          const child = startPlimsollIn(here, "line", ...words);
          t.after(() => child.kill("SIGKILL"));
          const [stdout, stderr] = [textOf(child.stdout), textOf(child.stderr)];
          await eventually(() => limiter.peak >= 10, "the users of the first step");
          child.kill(signal);
          const { code } = await within(child.exited, "the end of the search");
          assert.equal(code, 105, await stderr);
          assert.match(await stdout, /^incomplete: Ended before (the line was found: \d+ (user|client)s held|the first step was complete)/m);
          assert.match(await stderr, /^error: the search was interrupted by a signal$/m);
          const report = JSON.parse(readFileSync(join(cwd, "line.json"), "utf8"));
          assert.equal(report.result.end, "interrupted");
          const list = await plimsollIn(here, "runs", "list", "--format", "json");
          const [run, ...others] = JSON.parse(list.stdout);
          assert.deepEqual([run.kind, run.verdict, run.name, others], ["line", "incomplete", report.name, []]);
        });
      }
    }

    test("a search is kept: shown, exported, on its page, and compared", async (t) => {
      const limiter = await Limiter.start(t, 3, "refuse");
      const cwd = folderOf(t, { "chat.js": CHAT });
      const here = { cwd, env: { PLIMSOLL_DATA_DIR: join(cwd, "data") } };
      const url = `ws://127.0.0.1:${limiter.port}/`;
      const plimsoll = (...words) => plimsollIn(here, ...words);
      const bench = ["bench", "connect", url, "--server-type", "echo", "--slo", "errors==0", "--start", "2", "--repeat", "1"];
      const searched = await plimsoll("line", ...bench, "--format", "json", "--no-color");
      assert.equal(searched.code, 0, searched.stderr);
      const { result } = JSON.parse(searched.stdout);
      assert.deepEqual([result.interval.low, result.interval.high], [3, 3]);
      assert.match(searched.stderr, /^saved as \S+; plimsoll runs show latest$/m);
      const shown = await plimsoll("runs", "show");
      assert.ok(shown.stdout.includes(`\n${result.verdict}: ${result.sentence}\n`), shown.stdout);
      assert.match(shown.stdout, /^ +1 +2 +0 {2}held$/m);
      const exported = await plimsoll("runs", "export", "latest");
      assert.deepEqual(JSON.parse(exported.stdout), JSON.parse(searched.stdout));
      const compared = await plimsoll("runs", "compare", "latest", "latest");
      assert.equal(compared.code, 0, compared.stderr);
      assert.match(compared.stdout, /no significant difference: the line was 3 and is 3 clients/);
      const expecting = (n) => plimsoll("line", ...bench, "--no-save", "--expect", String(n));
      assert.deepEqual([(await expecting(3)).code, (await expecting(4)).code], [0, 3]);
      const unsaved = await plimsoll("line", ...bench, "--no-save");
      assert.doesNotMatch(unsaved.stderr, /saved as/);
      const [{ kind, verdict, figures }, ...others] = JSON.parse((await plimsoll("runs", "list", "--format", "json")).stdout);
      assert.deepEqual([kind, verdict, figures, others], ["line", "pass", "Holds 3 clients at errors==0 (90 %)", []]);

      // Runs between searches do not count where searches are compared, and the other way round.
      const run = () => plimsoll("bench", "connect", url, "--server-type", "echo", "--step-size", "2", "--total-steps", "1");
      const compare = (...names) => plimsoll("runs", "compare", ...names);
      assert.match((await run()).stderr, /saved as/);
      assert.match((await compare("latest~1", "latest")).stderr, /no `latest~1` among runs, without searches of plimsoll line/);
      const [{ id }] = JSON.parse((await plimsoll("runs", "list", "--format", "json")).stdout);
      assert.match((await plimsoll("line", ...bench)).stderr, /saved as/);
      assert.match((await compare("latest~1", "latest")).stdout, /no significant difference: the line was 3 and is 3 clients/);
      assert.match((await run()).stderr, /saved as/);
      assert.match((await compare("latest~1", "latest")).stdout, /^ {2}figure +latest~1 +latest/m);
      assert.match((await compare(id, "latest")).stdout, /^ {2}figure +/m);
    });
  });
});

// Alone, because it takes all CPU time that there is.
test("the generator cannot make the load", async (t) => {
  const spin = `
export const options = { scenarios: { all: { executor: "constant-arrival-rate", rate: 1, duration: "1m", preAllocatedVUs: 1 } } };
export default function () {}
`;
  const args = ["spin.js", "--start", "500000", "--max", "500000", "--slo", "iteration_duration p(95)<10000"];
  const { code, report, stdout } = await line(t, { "spin.js": spin }, ...args, "--precision", "50%", "--repeat", "1", ...SHORT);
  assert.equal(code, 4);
  assert.equal(report.result.end, "generator");
  assert.equal(report.unit, "rate");
  assert.equal(report.result.what_broke?.length ?? 0, 0, "the target is not accused");
  assert.match(stdout, /the generator/);
});

describe("what is told before anything runs", () => {
  const check = (name, files, args, code, words) =>
    test(name, async (t) => {
      const cwd = folderOf(t, files);
      const { code: found, stdout, stderr } = await plimsollIn({ cwd }, "line", ...args);
      assert.equal(found, code, stderr);
      assert.match(stderr, words);
      assert.equal(stdout, "");
    });
  const chat = { "chat.js": CHAT };
  const of_wsdirector = { "echo.yml": "- send: { data: hi }" };
  check("a metric that is not there", chat, ["chat.js", "--slo", "rrt p(95)<5"], 104, /did you mean `rtt`\?/);
  check("an objective that does not read", chat, ["chat.js", "--slo", "rtt fast"], 104, /it has no comparison operator/);
  check("a wrong aggregation", chat, ["chat.js", "--slo", "rtt count<5"], 104, /a trend has no `count`/);
  check("no file", chat, [], 2, /<FILE>/);
  check("a file that is not there", {}, ["gone.js"], 255, /gone\.js/);
  check("a greatest load below the first", chat, ["chat.js", "--max", "5"], 2, /--max 5 is below --start 10/);
  check("a step of half a second", chat, ["chat.js", "--step-duration", "500ms"], 2, /full seconds/);
  check("a URL for a script", chat, ["chat.js", "--url", "ws://x"], 2, /-e URL=/);
  check("nothing to scale", of_wsdirector, ["echo.yml", "--url", "ws://127.0.0.1:9"], 2, /no group whose multiplier/);
  check("a target that is not there", chat, ["chat.js", "--watch", "999999999"], 1, /--watch .*no process/);
});
