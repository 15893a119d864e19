// Single samples of several agents, which meet at a real NATS server: the outputs of one run, at the coordinator, with each
// sample of each agent once.

import assert from "node:assert/strict";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { WebSocketServer } from "ws";
import { Fleet, perform } from "./support/fleet.mjs";
import { serveHttp } from "./support/http-server.mjs";
import { eventually } from "./support/processes.mjs";

/** A target that counts requests. */
async function target(t) {
  const seen = { n: 0 };
  const url = await serveHttp(t, (_request, response) => {
    seen.n += 1;
    response.end("ok");
  });
  return { seen, url };
}

/** The points of a json file. */
const points = (cwd, name = "samples.json") =>
  readFileSync(join(cwd, name), "utf8").trim().split("\n").map((line) => JSON.parse(line)).filter(({ type }) => type === "Point");

/** What must not depend on how many make a run: metrics with tags, and values that are no times. */
function samples(cwd, name) {
  const isOfSecond = ({ metric }) => metric === "vus" || metric === "vus_max";
  const isTime = (metric) => /duration|waiting|blocked|connecting|sending|receiving|handshaking|lateness|response_time|rtt|session_length|bytes|data_|^step/.test(metric);
  const text = ({ metric, data }) => JSON.stringify([metric, isTime(metric) ? null : data.value, Object.entries(data.tags).sort()]);
  return points(cwd, name).filter((point) => !isOfSecond(point)).map(text).sort();
}

const SCRIPT = (url) => `
import http from "k6/http";
import exec from "k6/execution";
import { check, group } from "k6";
import { Counter, Trend } from "k6/metrics";
const seen = new Counter("seen");
const odd = new Trend("odd");
export const options = { tags: { of: "run" }, scenarios: {
  a: { executor: "shared-iterations", vus: 5, iterations: 23 },
  b: { executor: "per-vu-iterations", vus: 6, iterations: 2, exec: "b" },
} };
export function setup() { seen.add(1000, { stage: "setup" }); }
export default function () {
  const at = exec.scenario.iterationInTest;
  seen.add(1, { at: String(at) });
  odd.add(at === 7 ? Infinity : at / 3, { at: String(at) });
  check(at, { even: (n) => n % 2 === 0 });
  http.get("${url}/a", { tags: { name: "a" } });
}
export function b() { group("g", () => seen.add(0.1, { user: String(exec.vu.idInTest) })); }
export function teardown() { seen.add(2000, { stage: "teardown" }); }
`;

describe("single samples of a fleet", () => {
  test("a script: one process, two and three agents write the same samples, as json and as csv", async (t) => {
    const outcomes = [];
    for (const n of [0, 2, 3]) {
      const { url } = await target(t);
      const script = SCRIPT(url);
      const began = Date.now();
      const { code, stderr, cwd } = await perform(t, n, { "script.js": script }, "run", "--out", "json=samples.json", "--out", "csv=samples.csv", "script.js");
      assert.equal(code, 0, stderr);
      const all = points(cwd);
      // Agents are on this machine, so the corrected times are those of its clock.
      const times = all.map(({ data }) => Date.parse(data.time));
      assert.ok(Math.min(...times) >= began - 50 && Math.max(...times) <= Date.now() + 50, `${Math.min(...times)} ${began}`);
      assert.equal(readFileSync(join(cwd, "samples.csv"), "utf8").trim().split("\n").length, all.length + 1);
      const users = all.filter(({ metric }) => metric === "vus_max").map(({ data }) => data.value);
      assert.equal(Math.max(...users), 11);
      outcomes.push(samples(cwd).map((line) => line.replaceAll(url, "URL")));
    }
    const [whole, ...parts] = outcomes;
    assert.ok(whole.length > 23 * 12, String(whole.length));
    for (const part of parts) assert.deepEqual(part, whole);
  });

  test("a NATS server that is killed and started again loses and doubles none", async (t) => {
    const { seen, url } = await target(t);
    const fleet = await Fleet.start(t, 2);
    const script = `
import http from "k6/http";
import exec from "k6/execution";
import { sleep } from "k6";
import { Counter } from "k6/metrics";
const number = new Counter("number");
export const options = { scenarios: { a: { executor: "shared-iterations", vus: 4, iterations: 400 } } };
export default function () {
  const at = String(exec.scenario.iterationInTest);
  for (let n = 0; n < 20; n += 1) number.add(1, { at: at + "." + n });
  http.get("${url}/");
  sleep(0.05);
}`;
    const run = fleet.start(script, "--out", "json=-", "--summary-mode", "disabled");
    await eventually(() => seen.n > 40, "requests");
    await fleet.nats.kill();
    await eventually(() => seen.n > 150, "requests without NATS");
    await fleet.nats.resume();
    const { code, stdout, stderr } = await run.ended();
    assert.equal(code, 0, stderr);
    const numbers = stdout.split("\n").filter((line) => line.startsWith('{"metric":"number","type":"Point"'));
    const tags = new Set(numbers.map((line) => JSON.parse(line).data.tags.at));
    assert.deepEqual([numbers.length, tags.size], [8_000, 8_000]);
  });

  test("what agents make faster than it can be sent is dropped, counted, and told with their names", async (t) => {
    const fleet = await Fleet.start(t, 2);
    const script = `
import { Counter } from "k6/metrics";
const number = new Counter("number");
export const options = { systemTags: [], scenarios: { a: { executor: "per-vu-iterations", vus: 2, iterations: 1 } } };
export default function () { for (let n = 0; n < 1500000; n += 1) number.add(1); }`;
    const { code, stdout, stderr, cwd } = await fleet.perform({ "script.js": script }, "run", "--format", "json", "--out", "csv=samples.csv", "script.js");
    const { notices, metrics } = JSON.parse(stdout);
    const n_points = readFileSync(join(cwd, "samples.csv"), "utf8").split("\nnumber,").length - 1;
    const n_lost = notices.flatMap((notice) => /^outputs miss (\d+) samples of agent a[12]: /.exec(notice)?.[1] ?? []).reduce((sum, n) => sum + Number(n), 0);
    const n_unwritten = Number(/`csv \(samples\.csv\)`: (\d+) of \d+ samples were not written/.exec(stderr)?.[1]);
    assert.ok(n_lost > 0, "nothing was dropped");
    assert.equal(code, 3, stderr);
    assert.equal(metrics.number.values?.count ?? metrics.number.count, 3_000_000);
    // What is dropped may be samples of other metrics.
    const n_others = 3_000_000 - n_unwritten - n_points;
    assert.ok(n_unwritten >= n_lost && Math.abs(n_others) < 100, JSON.stringify({ n_lost, n_unwritten, n_points }));
  });

  test("an Artillery file: the samples of --out and the sums of publish-metrics are those of one process", async (t) => {
    const outcomes = [];
    for (const n of [0, 2]) {
      const { url } = await target(t);
      const socket = createSocket("udp4");
      socket.bind(0, "127.0.0.1");
      await once(socket, "listening");
      t.after(() => socket.close());
      let lines = [];
      socket.on("message", (message) => lines.push(...message.toString().trim().split("\n")));
      const text = `
config:
  target: "${url}"
  phases: [{ duration: 1, arrivalCount: 14 }]
  plugins: { publish-metrics: [{ type: statsd, host: 127.0.0.1, port: ${socket.address().port}, prefix: of }] }
scenarios: [{ name: s, flow: [{ get: { url: /a } }, { get: { url: /b } }] }]`;
      const { code, stderr, stdout, cwd } = await perform(t, n, { "test.yml": text }, "run", "test.yml", "--out", "json=samples.json");
      assert.equal(code, 0, stderr + stdout);
      const sum = () => {
        const requests = lines.filter((line) => line.startsWith("of") && /http.?reqs?(uests)?:/.test(line));
        return requests.reduce((sum, line) => sum + Number(/:([\d.]+)\|c/.exec(line)?.[1] ?? 0), 0);
      };
      await eventually(() => sum() >= 28, "the sums of 28 requests").catch((error) => {
        throw new Error(`${error.message}: ${lines.slice(0, 20).join(" ")}`);
      });
      outcomes.push([sum(), samples(cwd).map((line) => line.replaceAll(url, "URL"))]);
    }
    assert.deepEqual(outcomes[1], outcomes[0]);
  });

  test("wsdirector scenarios and quick write the samples of one process", async (t) => {
    const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
    await once(server, "listening");
    t.after(() => server.close());
    server.on("connection", (socket) => socket.on("message", (message) => socket.send(message.toString())));
    const ws = `ws://127.0.0.1:${server.address().port}/`;
    const { url } = await target(t);
    const scenario = `- client: { name: all, multiplier: 6, actions: [{ send: { data: "x" } }, { receive: { data: "x" } }, wait_all] }`;
    for (const [files, args] of [
      [{ "a.yml": scenario }, ["run", "a.yml", "--url", ws]],
      [{}, ["quick", url, "--count", "4", "--num", "2"]],
    ]) {
      const outcomes = [];
      for (const n of [0, 2]) {
        const { code, stderr, cwd } = await perform(t, n, files, ...args, "--out", "json=samples.json");
        assert.equal(code, 0, stderr);
        outcomes.push(samples(cwd));
      }
      assert.ok(outcomes[0].length > 0);
      assert.deepEqual(outcomes[1], outcomes[0], args.join(" "));
    }
  });
});
