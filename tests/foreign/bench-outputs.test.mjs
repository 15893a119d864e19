// `--out` of the benches: single samples add up to the result.

import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { Server, plimsollIn } from "./support/plimsoll.mjs";
import { folderOf } from "./support/scripts.mjs";

const CABLE = ["--server-type", "actioncable"];
const SMALL = ["--step-size", "5", "--total-steps", "2", "--sample-size", "30", "--format", "json"];

let server;
before(async () => (server = await Server.start("--app", "benchmark")));
after(() => server.stop());

/** Runs a bench in a folder of its own: `{ code, stdout, stderr, read }`. */
async function bench(t, ...args) {
  const folder = folderOf(t, {});
  const env = { PLIMSOLL_DATA_DIR: join(folder, "data") };
  const run = await plimsollIn({ cwd: folder, env }, "bench", ...args);
  return { ...run, read: (name) => readFileSync(join(folder, name), "utf8") };
}

/** An HTTP server: its URL. */
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

/** The samples of a file of JSON lines by metric: `{ rtt: [{ value, tags }] }`. */
function samplesOf(text) {
  const samples = {};
  for (const line of text.trim().split("\n")) {
    const { type, metric, data } = JSON.parse(line);
    if (type === "Point") (samples[metric] ??= []).push(data);
  }
  return samples;
}

const sum = (samples) => samples.reduce((all, { value }) => all + value, 0);

describe("samples of benches", { concurrency: false }, () => {
  test("of broadcasts, in JSON", async (t) => {
    const run = await bench(t, "broadcast", server.ws("/cable"), ...CABLE, ...SMALL, "--out", "json=a.json");
    assert.equal(run.code, 0, run.stderr);
    const { steps, plimsoll } = JSON.parse(run.stdout);
    const samples = samplesOf(run.read("a.json"));
    assert.equal(sum(samples.messages_sent), 60);
    assert.equal(sum(samples.deliveries), plimsoll.deliveries.n_deliveries);
    assert.equal(samples.listener_delivery, undefined);
    for (const [name, key] of [["rtt", "acknowledgement_us"], ["delivery", "last_delivery_us"]]) {
      for (const [at, step] of steps.entries()) {
        const of_step = samples[name].filter(({ tags }) => tags.step === String(at + 1));
        assert.equal(of_step.length, step.plimsoll[key].count);
        const longest = Math.max(...of_step.map(({ value }) => value * 1e3));
        assert.ok(Math.abs(longest - step.plimsoll[key].max) < 1, `${name}: ${longest} ${step.plimsoll[key].max}`);
      }
    }
    for (const name of ["connect", "ws_tcp_connecting", "ws_upgrading", "ws_welcome", "ws_subscribing"]) {
      assert.equal(samples[name].length, 10, name);
    }
    assert.deepEqual(samples.rtt[0].tags, { scenario: "broadcast", step: "1", url: server.ws("/cable") });
    assert.equal(samples.vus.at(-1).value, 10);
  });

  test("of requests, in CSV, without the warm-up", async (t) => {
    let n = 0;
    const url = await listen(t, (_request, response) => {
      response.statusCode = ++n % 2 ? 200 : 404;
      response.end("hello");
    });
    const flags = ["-k", "-n", "40", "--rate", "200", "--warm-up", "0.1s", "--format", "json", "--out", "csv=a.csv"];
    const run = await bench(t, "http", ...flags, url);
    assert.equal(run.code, 0, run.stderr);
    const [head, ...lines] = run.read("a.csv").trim().split("\n");
    const columns = head.split(",");
    const rows = lines.map((line) => Object.fromEntries(line.split(",").map((field, at) => [columns[at], field])));
    const of = (name) => rows.filter(({ metric_name }) => metric_name === name);
    const each = ["http_reqs", "http_req_failed", "latency", "http_req_queueing", "http_req_blocked", "http_req_processing", "http_req_waiting"];
    for (const name of each) assert.equal(of(name).length, 40, name);
    assert.equal(of("http_reqs").filter(({ status }) => status === "404").length, JSON.parse(run.stdout).non_2xx);
    const { method, proto, url: target, scenario } = of("latency")[0];
    assert.deepEqual([method, proto, target, scenario], ["GET", "HTTP/1.1", url, "http"]);
  });

  test("of requests that failed", async (t) => {
    let n = 0;
    const url = await listen(t, (request, response) => (++n % 2 ? response.end("hello") : request.socket.destroy()));
    const run = await bench(t, "http", "-r", "-n", "10", "--out", "json=a.json", url);
    assert.equal(run.code, 0, run.stderr);
    const { http_reqs, http_req_failed, latency } = samplesOf(run.read("a.json"));
    assert.deepEqual([http_reqs.length, sum(http_req_failed), latency.length], [10, 5, 5]);
    assert.equal(http_req_failed.find(({ value }) => value === 1).tags.error, "Receive");
  });
});

describe("outputs that cannot write", { concurrency: false }, () => {
  test("lose samples, not the run: 3", async (t) => {
    const run = await bench(t, "echo", server.ws("/cable"), ...CABLE, ...SMALL, "--out", "csv=/dev/full");
    assert.equal(run.code, 3, run.stderr);
    assert.equal(JSON.parse(run.stdout).plimsoll.faulty, false);
    assert.match(run.stderr, /error: output `csv \(\/dev\/full\)`: \d+ of \d+ samples were not written/);
  });

  test("or make no sense, before the run", async (t) => {
    const echo = (...args) => bench(t, "echo", server.ws("/cable"), ...CABLE, ...SMALL, ...args);
    const unknown = await echo("--out", "jsn=a.json");
    assert.deepEqual([unknown.code, unknown.stdout], [104, ""]);
    assert.match(unknown.stderr, /there is no output `jsn`/);
    const nowhere = await echo("--out", "json=no/a.json");
    assert.deepEqual([nowhere.code, nowhere.stdout], [255, ""]);
    assert.match(nowhere.stderr, /cannot write to `no\/a.json`/);
  });
});
