// Reports, history and comparisons of `plimsoll bench`: they say what the terminal says.

import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { Server, plimsollIn } from "./support/plimsoll.mjs";
import { folderOf } from "./support/scripts.mjs";

const CABLE = ["--server-type", "actioncable"];
const REPORTS = ["--report", "a.json", "--report", "a.html", "--report", "a.md"];

let server;
before(async () => (server = await Server.start("--app", "benchmark")));
after(() => server.stop());

/** A folder with runs of its own. */
function place(t) {
  const folder = folderOf(t, {});
  const env = { PLIMSOLL_DATA_DIR: join(folder, "data") };
  const plimsoll = (...args) => plimsollIn({ cwd: folder, env }, ...args);
  const read = (name) => readFileSync(join(folder, name), "utf8");
  /** The summary of the run, which page and history have as well. */
  async function summary() {
    const summary = JSON.parse(read("a.json"));
    const [, data] = read("a.html").match(/<script type="application\/json" id="data">(.*?)<\/script>/s);
    const [run] = JSON.parse(data).runs;
    const shown = structuredClone(summary);
    for (const metric of Object.values(shown.metrics)) {
      delete metric.histogram;
      delete metric.exact;
    }
    assert.deepEqual(run.summary, shown);
    const kept = await plimsoll("runs", "show", "--format", "json");
    assert.deepEqual(JSON.parse(kept.stdout), summary);
    return { summary, highlights: run.highlights, headline: run.headline };
  }
  return { folder, plimsoll, read, summary };
}

/** A time as the text of a step has it. */
function shown(us) {
  const digits = us < 1e4 ? 2 : us < 1e5 ? 1 : 0;
  return us < 1e3 ? `${us} µs` : `${(us / 1e3).toFixed(digits)} ms`;
}

const line = ({ p50, p95, p99, max }) =>
  `p50 ${shown(p50)}, p95 ${shown(p95)}, p99 ${shown(p99)}, max ${shown(max)}`;

/** What was counted in all seconds. */
const total = (series) => (series.counts ?? series).reduce((sum, n) => sum + n, 0);

describe("thresholds of benches", { concurrency: false }, () => {
  const limits = ["--threshold", "rtt:p(95)<60000", "--threshold", "deliveries:count==100"];
  const sizes = ["--step-size", "5", "--total-steps", "1", "--sample-size", "20"];
  const broadcast = (plimsoll, ...args) =>
    plimsoll("bench", "broadcast", server.ws("/cable"), ...CABLE, ...sizes, ...limits, ...args, ...REPORTS);

  test("hold, in text and summary", async (t) => {
    const { plimsoll, summary } = place(t);
    const run = await broadcast(plimsoll);
    assert.equal(run.code, 0, run.stderr);
    assert.match(run.stdout, /^Threshold deliveries:count==100: passed, the value is 100\nThreshold rtt:p\(95\)<60000: passed, the value is [\d.]+$/m);
    const { thresholds } = (await summary()).summary;
    assert.deepEqual(thresholds.map(({ metric, passed }) => [metric, passed]), [["deliveries", true], ["rtt", true]]);
  });

  test("do not hold, in JSON and history: 3", async (t) => {
    const { plimsoll, summary } = place(t);
    const run = await broadcast(plimsoll, "--threshold", "connect:max<0.001", "--format", "json");
    assert.equal(run.code, 3, run.stderr);
    const { thresholds, faulty } = JSON.parse(run.stdout).plimsoll;
    assert.ok(faulty);
    assert.deepEqual(thresholds.map(({ threshold, passed }) => [threshold, passed]), [
      ["connect:max<0.001", false],
      ["deliveries:count==100", true],
      ["rtt:p(95)<60000", true],
    ]);
    await summary();
    const [{ verdict }] = JSON.parse((await plimsoll("runs", "list", "--format", "json")).stdout);
    assert.equal(verdict, "fail");
  });

  test("of what a workload does not measure are wrong usage", async (t) => {
    const { plimsoll } = place(t);
    const run = await plimsoll("bench", "connect", server.ws("/cable"), "--threshold", "rtt:p(95)<5");
    assert.deepEqual([run.code, run.stdout], [2, ""]);
    assert.match(run.stderr, /--threshold rtt:p\(95\)<5: bench connect does not measure rtt; it measures connect,/);
  });
});

describe("reports of benches", { concurrency: false }, () => {
  test("a broadcast", async (t) => {
    const { plimsoll, read, summary } = place(t);
    const sizes = ["--step-size", "20", "--total-steps", "1", "--sample-size", "50"];
    const run = await plimsoll("bench", "broadcast", server.ws("/cable"), ...CABLE, ...sizes, ...REPORTS);
    assert.equal(run.code, 0, run.stderr);
    const told = await summary();
    const { metrics, losses, timeline, metadata, vus_max, plan } = told.summary;
    assert.equal(metadata.kind, "bench");
    assert.equal(metadata.name, `bench broadcast ${server.ws("/cable")}`);
    assert.match(plan.scenarios[0].description, /^1 step of 20 more actioncable clients: 50 broadcast messages/);
    assert.deepEqual(losses, { expected: 1000, received: 1000, lost: 0, duplicated: 0, out_of_order: 0 });
    assert.match(run.stdout, /1000 of 1000 delivered, 0 lost, 0 duplicated, 0 out of order/);
    const [last, listeners] = ["delivery", "listener_delivery"].map((name) => line(metrics[name].values));
    assert.ok(run.stdout.includes(`last delivery ${last}; listeners ${listeners}\n`), `${run.stdout}${last}${listeners}`);
    assert.equal(total(timeline.metrics.listener_delivery), 1000);
    assert.equal(total(timeline.metrics.rtt), 50);
    assert.deepEqual([vus_max, Math.max(...timeline.vus)], [20, 20]);
    assert.deepEqual([told.highlights.latency, told.highlights.throughput], ["listener_delivery", "deliveries"]);
    assert.match(read("a.md"), /\| messages lost \| 0 of 1,000 \|/);
  });

  test("steps are users over time, and rows of their own", async (t) => {
    const { plimsoll, summary } = place(t);
    const sizes = ["--step-size", "5", "--total-steps", "3", "--sample-size", "5", "--steps-delay", "1.1"];
    const run = await plimsoll(
      "bench", "echo", server.ws("/cable"), ...CABLE, ...sizes, "--watch", `${server.pid}`, "--format", "json", ...REPORTS,
    );
    assert.equal(run.code, 0, run.stderr);
    const { steps, plimsoll: own } = JSON.parse(run.stdout);
    const { breakdown, timeline, targets, iterations } = (await summary()).summary;
    assert.deepEqual(
      breakdown.scenarios.map(({ name, metrics }) => [name, metrics.rtt.values]),
      steps.map(({ clients, plimsoll: it }, at) => [`${at + 1}: ${clients} clients`, it.acknowledgement_us]),
    );
    assert.deepEqual([...new Set(timeline.vus)], [5, 10, 15]);
    assert.deepEqual([iterations.complete, total(timeline.iterations)], [15, 15]);
    assert.deepEqual(targets, own.targets);
    assert.equal(targets[0].series.rss_bytes.length, timeline.n_intervals);
  });

  test("clients that do not get ready, with when that was", async (t) => {
    const { plimsoll, summary } = place(t);
    const refusing = await Server.start("--app", "benchmark", "--max-conn", "3");
    t.after(() => refusing.stop());
    const flags = ["--server-type", "actioncable-connect", "--step-size", "8", "--total-steps", "1"];
    const run = await plimsoll("bench", "connect", refusing.ws("/cable"), ...flags, ...REPORTS);
    assert.equal(run.code, 3, run.stderr);
    const told = await summary();
    const { errors, iterations, metrics, timeline, metadata } = told.summary;
    assert.deepEqual([iterations.complete, iterations.failed, total(timeline.failed)], [8, 5, 5]);
    assert.deepEqual([metrics.connect.values.count, errors.length, errors[0].count], [3, 1, 5]);
    assert.equal(errors[0].cause, "client not ready: upgrade refused with HTTP status 503: the server is overloaded or stops; use fewer connections at a time");
    const { first_seconds, last_seconds } = errors[0];
    assert.ok(0 < first_seconds && first_seconds <= last_seconds && last_seconds <= metadata.duration_seconds);
    assert.equal(told.headline.verdict, "fail");
    assert.match(told.headline.sentence, /^5 failed iterations; /);
    assert.deepEqual([told.summary.conclusion.verdict, told.summary.conclusion.exit_code], ["fail", 3]);
    assert.match(run.stderr, /^fail: 5 failed iterations; /m);
    assert.match(run.stdout, /5 failed: upgrade refused with HTTP status 503 \(5\)/);
  });
});

describe("reports of HTTP", { concurrency: false }, () => {
  /** A server that answers each request by this: its URL. */
  async function listen(t, answer) {
    const http = createServer(answer);
    http.listen(0, "127.0.0.1");
    await once(http, "listening");
    t.after(() => {
      http.close();
      http.closeAllConnections();
    });
    return `http://127.0.0.1:${http.address().port}/`;
  }

  test("a run over several seconds, after a warm-up", async (t) => {
    const { plimsoll, summary } = place(t);
    const url = await listen(t, (_request, response) => response.end("hello"));
    const flags = ["-k", "-c", "3", "--rate", "100", "-n", "250", "--warm-up", "0.5s"];
    const holds = ["--threshold", "latency:p(95)<60000", "--threshold", "failed:count<1"];
    const run = await plimsoll("bench", "http", ...flags, ...holds, "--format", "json", ...REPORTS, url);
    assert.equal(run.code, 0, run.stderr);
    const own = JSON.parse(run.stdout);
    const { metrics, timeline, metadata, thresholds, vus_max, iterations } = (await summary()).summary;
    assert.equal(own.complete, 250);
    assert.deepEqual(metrics.latency.values, own.latency_us);
    assert.deepEqual(metrics.http_req_processing.values, own.processing_us);
    assert.deepEqual(metrics.http_req_queueing.values, own.queueing_us);
    assert.deepEqual(metrics.http_req_waiting.values, own.waiting_us);
    assert.deepEqual(metrics.http_reqs_complete.values, { count: own.complete, rate: own.requests_per_second });
    assert.deepEqual(metrics.data_received.values.count, own.bytes_received);
    assert.deepEqual([metadata.duration_seconds, iterations.complete, vus_max], [own.seconds, 250, 3]);
    assert.equal(total(timeline.metrics.latency), 250);
    assert.ok(timeline.iterations.slice(0, 2).every((n) => n > 0), JSON.stringify(timeline.iterations));
    assert.deepEqual(
      thresholds.map(({ metric, key, expression, aggregation, value, passed }) => [metric, key, expression, aggregation, value, passed]),
      [
        ["latency", "latency", "p(95)<60000", "p(95)", own.thresholds[0].value, true],
        ["failed", "http_reqs_failed", "count<1", "count", 0, true],
      ],
    );
  });

  test("one that a failure ended, as well", async (t) => {
    const { plimsoll, summary } = place(t);
    let n = 0;
    const url = await listen(t, (request, response) => (++n > 3 ? request.socket.destroy() : response.end("hello")));
    const run = await plimsoll("bench", "http", "-n", "10", ...REPORTS, url);
    assert.equal(run.code, 1, run.stderr);
    const { end, errors, metrics } = (await summary()).summary;
    assert.equal(end.cause, "aborted");
    assert.match(run.stderr, new RegExp(`the run ended after 3 complete requests: ${end.reason.slice(0, 20)}`));
    assert.deepEqual([metrics.http_reqs_complete.values.count, errors.length, errors[0].count], [3, 1, 1]);
    assert.match(errors[0].cause, /^Receive: /);
  });
});

describe("the history of benches", { concurrency: false }, () => {
  const sizes = ["--step-size", "10", "--total-steps", "1", "--sample-size", "100"];

  test("runs of the same plan are compared, others are not", async (t) => {
    const { plimsoll } = place(t);
    const bench = (...more) => plimsoll("bench", "broadcast", server.ws("/cable"), ...CABLE, ...sizes, ...more);
    assert.equal((await bench()).code, 0);
    assert.equal((await bench()).code, 0);
    const same = await plimsoll("runs", "compare", "latest~1", "latest");
    assert.match(same.stdout, /listener_delivery p50/, same.stderr);
    assert.doesNotMatch(same.stdout, /another plan/);
    assert.equal((await bench("--concurrent", "2")).code, 0);
    const other = await plimsoll("runs", "compare", "latest~1", "latest");
    assert.match(other.stdout.replace(/\s+/g, " "), /had a different plan from .*: broadcast: .*, 2 in flight, not broadcast/);
  });

  test("--no-save keeps nothing, and a wrong report is told before the run", async (t) => {
    const { folder, plimsoll } = place(t);
    const run = await plimsoll("bench", "echo", server.ws("/cable"), ...CABLE, "--no-save", ...sizes);
    assert.equal(run.code, 0, run.stderr);
    assert.doesNotMatch(run.stderr, /saved as/);
    assert.ok(!existsSync(join(folder, "data")));
    const wrong = await plimsoll("ab", "--report", "no/a.html", "http://127.0.0.1:1/");
    assert.equal(wrong.code, 2);
    assert.match(wrong.stderr, /there is no folder no/);
  });
});
