// Whether the figures of a run are true: what a stall of the target costs, and a run that could not do what it
// was told to.

import assert from "node:assert/strict";
import { once } from "node:events";
import http from "node:http";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { plimsollIn } from "./support/plimsoll.mjs";
import { folderOf } from "./support/scripts.mjs";

const GET = 'import http from "k6/http";\nexport default function () {\n  http.get(__ENV.URL);\n}\n';

const withOptions = (options, rest = GET) => `export const options = ${JSON.stringify(options)};\n${rest}`;

/** Runs a script to its end: `{ code, stdout, stderr, path, read }`, where `read` parses a file that it wrote. */
async function run(t, script, args, env = {}) {
  const cwd = folderOf(t, { "script.js": script });
  const outcome = await plimsollIn({ cwd, env }, "run", "--quiet", ...args, "script.js");
  const path = (name) => join(cwd, name);
  return { ...outcome, path, read: (name) => JSON.parse(readFileSync(path(name), "utf8")) };
}

/**
 * A server that answers at once, except for one stall of 2 s: the stall begins with request number `first` (from 0).
 * Requests that arrive during the stall are answered at its end, in the order of arrival. `stallMs` is its real length.
 */
async function startStallingServer(t, first) {
  const record = { n: 0, stallMs: null };
  let waiting = null;
  const server = http.createServer((_request, response) => {
    if (record.n++ === first) stall();
    if (waiting) waiting.push(response);
    else response.end("answer");
  });
  function stall() {
    const begin = performance.now();
    waiting = [];
    setTimeout(() => {
      record.stallMs = performance.now() - begin;
      for (const response of waiting) response.end("answer");
      waiting = null;
    }, 2_000);
  }
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return { record, url: `http://127.0.0.1:${server.address().port}/` };
}

/** The most that the generator may be late, in ms: half as long as the target stalls. */
const MOST_LATE_MS = 1_000;

/** The largest share of iterations that may be dropped. */
const MOST_DROPPED = 0.05;

/**
 * The most that the generator was late, in ms; figures may differ from the exact ones by as much. Fails if the machine was
 * too busy for any figure.
 */
function latenessOf({ lateness, reasons }) {
  const ms = lateness.max / 1_000;
  assert.ok(ms <= MOST_LATE_MS, `no figures: the generator was up to ${ms} ms late; ${reasons.join("; ")}`);
  return ms;
}

/** The number of dropped iterations. Fails if the machine was too busy for any figure. */
function droppedOf({ metrics, generator }, nWanted) {
  const n = metrics.dropped_iterations?.values.count ?? 0;
  assert.ok(n <= MOST_DROPPED * nWanted, `no figures: ${n} of ${nWanted} iterations were dropped; ${generator.reasons.join("; ")}`);
  return n;
}

/** Iterations that began, and those that never will. */
function accountedFor({ metrics, iterations }) {
  return iterations.complete + iterations.interrupted + (metrics.dropped_iterations?.values.count ?? 0);
}

/** The percentile of sorted values, interpolated between the closest ranks. */
function percentile(sorted, p) {
  const rank = (p / 100) * (sorted.length - 1);
  const [low, high] = [sorted[Math.floor(rank)], sorted[Math.ceil(rank)]];
  return low + (high - low) * (rank - Math.floor(rank));
}

// Both at the same time: together they take a tenth of a CPU.
describe("a target that stalls for 2 s, once", { concurrency: 2 }, () => {
  const [RATE, SECONDS, FIRST] = [200, 8, 600];

  test("costs an open model what its schedule says", async (t) => {
    const { record, url } = await startStallingServer(t, FIRST);
    const open = { executor: "constant-arrival-rate", rate: RATE, duration: `${SECONDS}s`, preAllocatedVUs: 800 };
    const script = withOptions({ scenarios: { open } });
    const { code, stdout, stderr } = await run(t, script, ["--format", "json"], { URL: url });
    assert.equal(code, 0, stderr);
    const { metrics, generator, iterations } = JSON.parse(stdout);
    const n = RATE * SECONDS;
    // Arrival `k` is at `k / RATE`. Who comes during the stall waits for its end, the others for nothing worth a figure.
    const waits = Array.from({ length: n }, (_, k) => {
      const sinceBegin = ((k - FIRST) * 1_000) / RATE;
      return sinceBegin >= 0 && sinceBegin < record.stallMs ? record.stallMs - sinceBegin : 0;
    }).sort((a, b) => a - b);
    const exact = { p99: percentile(waits, 99), max: waits.at(-1) };
    const found = (metric, stat) => metrics[metric].values[stat] / 1_000;

    // Whatever else goes on: all is accounted for, and who began the stall was there for all of it.
    assert.equal(accountedFor({ metrics, iterations }), n);
    assert.ok(found("iteration_duration_scheduled", "max") >= record.stallMs);
    const lateMs = latenessOf(generator);
    t.diagnostic(`up to ${lateMs} ms late`);
    for (const metric of ["iteration_duration_scheduled", "http_req_duration"]) {
      for (const [stat, expected] of Object.entries(exact)) {
        const ms = found(metric, stat);
        const tolerance = 0.05 * expected + lateMs;
        assert.ok(Math.abs(ms - expected) <= tolerance, `${stat} of ${metric}: ${ms} ms, exactly ${expected} ms`);
        t.diagnostic(`${stat} of ${metric}: ${ms} ms, exactly ${expected} ms`);
      }
    }
  });

  test("costs a closed model next to nothing, and the summary says so", async (t) => {
    const { record, url } = await startStallingServer(t, FIRST);
    const script = withOptions({ vus: 5, duration: `${SECONDS}s` });
    const { code, stdout, stderr } = await run(t, script, ["--summary-export", "summary.json"], { URL: url });
    assert.equal(code, 0, stderr);
    // A timer of Node.js may fire a millisecond early.
    assert.ok(record.stallMs >= 1_999, `${record.n} requests, stalled for ${record.stallMs} ms`);
    assert.match(stdout, /model\.+: closed\n +- .*a stall shows in few samples/);
  });
});

/** When each iteration of a scenario began, in seconds: when a sample says that it ended, less what it says that it took. */
function begins(csv, metric, scenario) {
  const [header, ...lines] = csv.trim().split("\n").map((line) => line.split(","));
  const [name, timestamp, value, tag] = ["metric_name", "timestamp", "metric_value", "scenario"].map((it) => header.indexOf(it));
  return lines
    .filter((line) => line[name] === metric && line[tag] === scenario)
    .map((line) => Number(line[timestamp]) / 1e6 - Number(line[value]) / 1e3);
}

test("arrivals follow their curve within 1 % in every stage, at 5,000/s", async (t) => {
  const [constantSeconds, rampingBegin] = [3, 4];
  // Enough users for 300 ms in which no iteration ends.
  const users = { preAllocatedVUs: 1_500, gracefulStop: "1s" };
  const constant = { executor: "constant-arrival-rate", rate: 5_000, duration: `${constantSeconds}s`, ...users };
  const stages = [
    { duration: "3s", target: 5_000 },
    { duration: "0s", target: 2_500 },
    { duration: "2s", target: 2_500 },
  ];
  const ramping = { executor: "ramping-arrival-rate", startTime: `${rampingBegin}s`, startRate: 1_000, stages, ...users };
  const script = withOptions({ scenarios: { constant, ramping }, systemTags: ["scenario"] }, "export default function () {}\n");
  const args = ["--out", "csv=samples.csv", "--format", "json"];
  const outcome = await run(t, script, args, { K6_CSV_TIME_FORMAT: "unix_micro" });
  assert.equal(outcome.code, 0, outcome.stderr);
  const { metrics, generator, iterations } = JSON.parse(outcome.stdout);

  // Whatever the machine does: each arrival has begun an iteration, or it is counted as dropped.
  assert.equal(accountedFor({ metrics, iterations }), 15_000 + 9_000 + 5_000);
  const nDropped = droppedOf({ metrics, generator }, 29_000);
  const lateSeconds = latenessOf(generator) / 1_000;
  t.diagnostic(`up to ${lateSeconds} s late, ${nDropped} dropped`);
  const csv = readFileSync(outcome.path("samples.csv"), "utf8");
  // What took its time from the schedule on began when the schedule wanted it, exactly; the other may be late.
  for (const [metric, lateness] of [
    ["iteration_duration_scheduled", 0],
    ["iteration_duration", lateSeconds],
  ]) {
    const at = { constant: begins(csv, metric, "constant"), ramping: begins(csv, metric, "ramping") };
    const zero = at.constant.reduce((one, other) => Math.min(one, other));
    for (const [scenario, begin, end, expected] of [
      ["constant", 0, constantSeconds, 15_000],
      ["ramping", rampingBegin, rampingBegin + 3, 9_000],
      ["ramping", rampingBegin + 3, rampingBegin + 5, 5_000],
    ]) {
      const n = at[scenario].filter((it) => it - zero >= begin && it - zero < end).length;
      const said = `${n} of ${expected} from ${begin} s to ${end} s, by ${metric}`;
      assert.ok(Math.abs(n - expected) <= 0.01 * expected + nDropped + 5_000 * lateness, said);
      t.diagnostic(said);
    }
  }
});

test("a rate beyond all means marks the run in words, in data, and at its end", async (t) => {
  const open = { executor: "constant-arrival-rate", rate: 2_000_000, duration: "3s", preAllocatedVUs: 2 };
  const rest = 'export default function () {}\nexport const handleSummary = (data) => ({ "data.json": JSON.stringify(data) });\n';
  const said = /the load (generator was the bottleneck|was lower than planned), so the figures of this run do not describe the target alone/;
  const reason = /it started \d+ of the 6000000 scheduled iterations and dropped \d+ %/;

  const args = ["--summary-export", "summary.json"];
  const { code, stderr, read } = await run(t, withOptions({ scenarios: { open } }, rest), args);
  assert.equal(code, 0);
  assert.match(stderr.trim().split("\n").at(-1), said);
  for (const { generator } of [read("data.json"), read("summary.json")]) {
    assert.equal(generator.doubtful, true);
    assert.ok(generator.reasons.some((it) => reason.test(it)), generator.reasons.join("\n"));
  }

  const thresholds = { dropped_iterations: ["count==0"] };
  const text = await run(t, withOptions({ scenarios: { open }, thresholds }, "export default function () {}\n"), []);
  assert.equal(text.code, 99);
  assert.match(text.stdout, /generator\.+: ✗ DOUBTFUL: the load (generator was the bottleneck|was lower than planned)/);
  assert.match(text.stdout.replace(/\s+/g, " "), reason);
  assert.match(text.stderr, /^error: thresholds on metrics 'dropped_iterations' have been crossed; the load (generator )?was/m);
});
