// Whether the figures of a run are true: what a stall of the target costs whom, and a run that could not do what it
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

/** Runs a script to its end: `{ code, stdout, stderr, read }`, where `read` parses a file that it wrote. */
async function run(t, script, args, env = {}) {
  const cwd = folderOf(t, { "script.js": script });
  const outcome = await plimsollIn({ cwd, env }, "run", "--quiet", ...args, "script.js");
  return { ...outcome, read: (name) => JSON.parse(readFileSync(join(cwd, name), "utf8")) };
}

/**
 * A server that answers at once, but once for 2 s nobody: the stall begins with request number `first` (from 0), and
 * whoever came meanwhile is answered when it ends, in the order of arrival. `stallMs` is how long it really was.
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

/** The percentile of sorted values, interpolated between the closest ranks. */
function percentile(sorted, p) {
  const rank = (p / 100) * (sorted.length - 1);
  const [low, high] = [sorted[Math.floor(rank)], sorted[Math.ceil(rank)]];
  return low + (high - low) * (rank - Math.floor(rank));
}

describe("a target that stalls for 2 s, once", () => {
  const [RATE, SECONDS, FIRST] = [500, 8, 1_500];

  test("costs an open model what its schedule says", async (t) => {
    const { record, url } = await startStallingServer(t, FIRST);
    const open = { executor: "constant-arrival-rate", rate: RATE, duration: `${SECONDS}s`, preAllocatedVUs: 1_200 };
    const script = withOptions({ scenarios: { open } });
    const { code, stdout, stderr } = await run(t, script, ["--format", "json"], { URL: url });
    assert.equal(code, 0, stderr);
    const { metrics, generator } = JSON.parse(stdout);
    const n = RATE * SECONDS;
    // Arrival `k` is at `k / RATE`. Who comes during the stall waits for its end, the others for nothing worth a figure.
    const waits = Array.from({ length: n }, (_, k) => {
      const sinceBegin = ((k - FIRST) * 1_000) / RATE;
      return sinceBegin >= 0 && sinceBegin < record.stallMs ? record.stallMs - sinceBegin : 0;
    }).sort((a, b) => a - b);
    const exact = { p99: percentile(waits, 99), max: waits.at(-1) };
    const found = (metric, stat) => metrics[metric].values[stat] / 1_000;

    // Whatever else goes on, who began the stall was there for all of it.
    assert.ok(found("iteration_duration_scheduled", "max") >= record.stallMs);
    // On a machine that others use the figures may be wrong. Then the run says so.
    if (generator.saturated) return t.diagnostic(`no exact figures: ${generator.reasons.join("; ")}`);
    assert.equal(metrics.iterations.values.count, n);
    for (const metric of ["iteration_duration_scheduled", "http_req_duration"]) {
      for (const [stat, expected] of Object.entries(exact)) {
        const ms = found(metric, stat);
        const tolerance = 0.05 * expected + generator.lateness.max / 1_000;
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
    assert.ok(record.stallMs >= 2_000, `${record.n} requests`);
    assert.match(stdout, /model\.+: closed\n +- .*a stall shows in few samples/);
  });
});

test("a rate beyond all means marks the run in words, in data, and at its end", async (t) => {
  const open = { executor: "constant-arrival-rate", rate: 200_000, duration: "3s", preAllocatedVUs: 2 };
  const rest = 'export default function () {}\nexport const handleSummary = (data) => ({ "data.json": JSON.stringify(data) });\n';
  const said = /the load generator was the bottleneck, so the figures of this run are not the target's alone/;
  const reason = /it started \d+ of the 600000 iterations that the schedule wanted and dropped \d+ %/;

  const args = ["--summary-export", "summary.json"];
  const { code, stderr, read } = await run(t, withOptions({ scenarios: { open } }, rest), args);
  assert.equal(code, 0);
  assert.match(stderr.trim().split("\n").at(-1), said);
  for (const { generator } of [read("data.json"), read("summary.json")]) {
    assert.equal(generator.saturated, true);
    assert.ok(generator.reasons.some((it) => reason.test(it)), generator.reasons.join("\n"));
  }

  const thresholds = { dropped_iterations: ["count==0"] };
  const text = await run(t, withOptions({ scenarios: { open }, thresholds }, "export default function () {}\n"), []);
  assert.equal(text.code, 99);
  assert.match(text.stdout, /generator\.+: ✗ INVALID: it was the bottleneck/);
  assert.match(text.stdout.replace(/\s+/g, " "), reason);
  assert.match(text.stderr, /^error: thresholds on metrics 'dropped_iterations' have been crossed; the load generator was/m);
});
