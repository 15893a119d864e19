// Outputs of load runs: files, a real Prometheus, a collector of OpenTelemetry's, and what their failures cost a run.

import assert from "node:assert/strict";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { gunzipSync } from "node:zlib";
import { plimsollIn } from "./support/plimsoll.mjs";
import { eventually } from "./support/processes.mjs";
import { Prometheus } from "./support/prometheus.mjs";

const SCRIPT = `
  import { check, group } from "k6";
  import { Counter, Trend } from "k6/metrics";
  const orders = new Counter("orders");
  const wait = new Trend("wait", true);
  export const options = { vus: 2, iterations: 6, thresholds: { wait: ["p(95)<500"] }, tags: { run: "x" } };
  export default function () {
    group("shop", () => orders.add(2, { zone: 'a "b", c' }));
    wait.add(250);
    check(1, { "is one": (one) => one === 1 });
  }
`;

/** Runs the script with these outputs; `said` is all that was printed, without its lines, and `read` reads a file. */
async function run(t, outs, env = {}) {
  const folder = mkdtempSync(join(tmpdir(), "plimsoll-outputs-"));
  t.after(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "script.js"), SCRIPT);
  const args = outs.flatMap((out) => ["--out", out]);
  const result = await plimsollIn({ cwd: folder, env }, "run", "--quiet", ...args, "script.js");
  const said = `${result.stdout}${result.stderr}`.replace(/\s+/g, " ");
  return { ...result, said, read: (name) => readFileSync(join(folder, name)) };
}

/** Lines of JSON as `{ introduced: [name], points: [{ metric, time, value, tags }] }`; a metric comes before its points. */
function parse(text) {
  const [introduced, points] = [[], []];
  for (const line of text.trim().split("\n")) {
    const { type, metric, data } = JSON.parse(line);
    if (type === "Metric") {
      assert.equal(data.name, metric);
      introduced.push(metric);
    } else {
      assert.ok(introduced.includes(metric), `${metric} has been introduced`);
      points.push({ metric, ...data });
    }
  }
  assert.equal(new Set(introduced).size, introduced.length);
  return { introduced, points };
}

describe("files", () => {
  test("JSON and CSV hold every sample with its tags", async (t) => {
    const { code, stderr, read } = await run(t, ["json=samples.json.gz", "csv=samples.csv"]);
    assert.equal(code, 0, stderr);
    const { points } = parse(gunzipSync(read("samples.json.gz")).toString());
    const values = (name) => points.filter(({ metric }) => metric === name).map(({ value }) => value);
    assert.deepEqual(values("orders"), [2, 2, 2, 2, 2, 2]);
    assert.deepEqual(values("iterations"), [1, 1, 1, 1, 1, 1]);
    assert.deepEqual(values("checks"), [1, 1, 1, 1, 1, 1]);
    assert.equal(values("iteration_duration").length, 6);
    const { tags, time } = points.find(({ metric }) => metric === "orders");
    assert.deepEqual(tags, { group: "::shop", run: "x", scenario: "default", zone: 'a "b", c' });
    assert.ok(Math.abs(Date.parse(time) - Date.now()) < 60_000, time);
    const [header, ...lines] = read("samples.csv").toString().trim().split("\n");
    assert.match(header, /^metric_name,timestamp,metric_value,check,.*,url,extra_tags,metadata$/);
    assert.equal(lines.length, points.length);
    assert.match(lines.find((line) => line.startsWith("orders,")), /^orders,\d{10},2\.000000,.*,"run=x&zone=a ""b"", c",$/);
  });

  test("a full disk costs the samples, says so, and is no success", async (t) => {
    const { code, said } = await run(t, ["csv=/dev/full"]);
    assert.equal(code, 3, said);
    assert.match(said, /output `csv \(\/dev\/full\)`: (\d+) of \1 samples were not written .*No space left on device/);
  });

  test("a mistake is said before the run, with what there is", async (t) => {
    for (const [out, status, expected] of [
      ["jsno", 104, /did you mean `json`.*json, csv, prometheus-rw, opentelemetry, influxdb, statsd/s],
      ["cloud", 104, /`cloud` is not built into Plimsoll/],
      ["csv=nowhere/samples.csv", 255, /cannot write to `nowhere\/samples.csv`/],
    ]) {
      const { code, stdout, stderr } = await run(t, [out]);
      assert.equal(code, status, out);
      assert.match(stderr, expected);
      assert.equal(stdout, "");
    }
  });
});

describe("Prometheus", () => {
  test("a real one takes figures and finds them under k6's names", async (t) => {
    const prometheus = await Prometheus.receiving(t);
    const env = { K6_PROMETHEUS_RW_SERVER_URL: prometheus.writeUrl, K6_PROMETHEUS_RW_TREND_STATS: "p(95),count" };
    const { code, stderr } = await run(t, ["experimental-prometheus-rw"], env);
    assert.equal(code, 0, stderr);
    const { metric } = await prometheus.eventuallyIs("k6_orders_total", 12);
    assert.deepEqual(metric, {
      __name__: "k6_orders_total",
      group: "::shop",
      run: "x",
      scenario: "default",
      zone: 'a "b", c',
    });
    await prometheus.eventuallyIs("k6_iterations_total", 6);
    await prometheus.eventuallyIs("k6_checks_rate", 1);
    await prometheus.eventuallyIs("k6_wait_p95", 0.25);
    await prometheus.eventuallyIs("k6_wait_count", 6);
  });

  test("native histograms and the end of series arrive", async (t) => {
    const prometheus = await Prometheus.receiving(t);
    const out = `prometheus-rw=${prometheus.writeUrl}`;
    await run(t, [out], { K6_PROMETHEUS_RW_TREND_AS_NATIVE_HISTOGRAM: "true" });
    await prometheus.eventuallyIs("histogram_count(k6_wait_seconds)", 6);
    await run(t, [out], { K6_PROMETHEUS_RW_STALE_MARKERS: "true" });
    assert.deepEqual(await prometheus.query("k6_orders_total"), []);
  });
});

/** A server that answers every request with `status`; `requests` are their paths, headers and bodies. */
async function collector(t, status) {
  const requests = [];
  const server = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    requests.push({ url: request.url, headers: request.headers, body: Buffer.concat(chunks).toString("latin1") });
    response.writeHead(status).end(status === 200 ? "" : "no entry");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  return { requests, url: `http://127.0.0.1:${server.address().port}` };
}

describe("databases of samples", () => {
  test("InfluxDB gets every sample as a point", async (t) => {
    const { requests, url } = await collector(t, 204);
    const out = `influxdb=${url.replace("http://", "http://me:pass%21@")}/load?precision=ms`;
    const { code, said } = await run(t, [out], { K6_INFLUXDB_TAGS_AS_FIELDS: "run" });
    assert.equal(code, 0, said);
    assert.doesNotMatch(said, /not written|pass/);
    const [create, ...writes] = requests;
    assert.equal(create.url, "/query?q=CREATE%20DATABASE%20%22load%22");
    assert.ok(writes.every((request) => request.url === "/write?db=load&precision=ms"), writes[0]?.url);
    assert.equal(writes[0].headers.authorization, `Basic ${Buffer.from("me:pass!").toString("base64")}`);
    const lines = writes.flatMap(({ body }) => body.trim().split("\n"));
    const orders = lines.filter((line) => line.startsWith("orders,"));
    assert.equal(orders.length, 6);
    assert.match(orders[0], /^orders,group=::shop,scenario=default,zone=a\\ "b"\\,\\ c run="x",value=2 \d{13}$/);
    assert.equal(lines.filter((line) => /^checks,check=is\\ one,/.test(line)).length, 6);
  });

  test("an InfluxDB that refuses costs the samples, and says so", async (t) => {
    const { url } = await collector(t, 401);
    const { code, said } = await run(t, [`influxdb=${url}/load`]);
    assert.equal(code, 3, said);
    assert.match(said, /output `influxdb .*: (\d+) of \1 samples were not written .*401 Unauthorized: no entry/);
  });

  test("StatsD gets every sample as a line", async (t) => {
    const socket = createSocket("udp4");
    const lines = [];
    socket.on("message", (packet) => lines.push(...packet.toString().split("\n")));
    socket.bind(0, "127.0.0.1");
    await once(socket, "listening");
    t.after(() => socket.close());
    const env = { K6_STATSD_ADDR: `127.0.0.1:${socket.address().port}`, K6_STATSD_ENABLE_TAGS: "true", K6_STATSD_TAG_BLOCKLIST: "zone" };
    const { code, said } = await run(t, ["statsd"], env);
    assert.equal(code, 0, said);
    await eventually(() => lines.filter((line) => line.startsWith("k6.iterations:")).length === 6, "all iterations");
    const orders = lines.filter((line) => line.startsWith("k6.orders:"));
    assert.deepEqual(orders, Array(6).fill("k6.orders:2|c|#group:::shop,run:x,scenario:default"));
    assert.equal(lines.filter((line) => line.startsWith("k6.check.is one.pass:1|c|#")).length, 6);
    assert.equal(lines.filter((line) => line.startsWith("k6.wait:250.000000|ms|#")).length, 6);
  });
});

describe("k6's dashboard", () => {
  test("is the live page and the report", async (t) => {
    const env = { K6_WEB_DASHBOARD: "true", K6_WEB_DASHBOARD_PORT: "0", K6_WEB_DASHBOARD_EXPORT: "report.html" };
    const { code, said, read } = await run(t, [], env);
    assert.equal(code, 0, said);
    assert.match(said, /Live page: http:\/\/(localhost|127\.0\.0\.1):\d+\//);
    assert.match(read("report.html").toString(), /^<!doctype html>/i);
    const exported = await run(t, ["web-dashboard=port=-1&export=mine.html"]);
    assert.equal(exported.code, 0, exported.said);
    assert.doesNotMatch(exported.said, /Live page/);
    assert.match(exported.read("mine.html").toString(), /^<!doctype html>/i);
    const refused = await run(t, ["web-dashboard=open=true"]);
    assert.deepEqual([refused.code, /no browser is opened/.test(refused.said)], [104, true], refused.said);
  });
});

describe("a collector", () => {
  test("gets OTLP over HTTP", async (t) => {
    const { requests, url } = await collector(t, 200);
    const env = {
      OTEL_EXPORTER_OTLP_ENDPOINT: url,
      OTEL_EXPORTER_OTLP_PROTOCOL: "http/protobuf",
      OTEL_EXPORTER_OTLP_HEADERS: "api-key=a%20b",
      K6_OTEL_METRIC_PREFIX: "shop.",
    };
    const { code, said } = await run(t, ["opentelemetry"], env);
    assert.equal(code, 0, said);
    assert.doesNotMatch(said, /not written/);
    const [{ url: path, headers, body }] = requests;
    assert.equal(path, "/v1/metrics");
    assert.equal(headers["api-key"], "a b");
    for (const text of ["shop.orders", "shop.checks.total", "condition", "nonzero", 'a "b", c']) {
      assert.ok(body.includes(text), text);
    }
  });

  test("that refuses is named with what was lost, and does not fail the run", async (t) => {
    const { url } = await collector(t, 401);
    const { code, said } = await run(t, [`prometheus-rw=${url}/write`]);
    assert.equal(code, 3, said);
    assert.match(said, /output `prometheus-rw .*: (\d+) of \1 samples were not written .*401 Unauthorized: no entry/);
  });
});
