// The summary as data: what runs print has the shape that the schema says, and what happened over time adds up to the totals.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { once } from "node:events";
import { describe, test } from "node:test";
import { inflateSync } from "node:zlib";
import { Server, plimsollIn, plimsollJson } from "./support/plimsoll.mjs";
import { assertOfShape } from "./support/schema.mjs";
import { folderOf } from "./support/scripts.mjs";

/** Every sum over the timeline is the total of the run. */
function assertAddsUp({ metrics, timeline, iterations, generator, targets, vus_max }) {
  const sum = (numbers) => numbers.reduce((sum, number) => sum + number, 0);
  for (const [name, { type, values }] of Object.entries(metrics)) {
    const series = timeline.metrics[name];
    switch (type) {
      case "counter":
        assert.equal(sum(series?.counts ?? []), values.count, name);
        break;
      case "rate":
        assert.equal(sum(series?.passes ?? []), values.passes, name);
        assert.equal(sum(series?.totals ?? []), values.passes + values.fails, name);
        break;
      case "trend": {
        const counted = (heat) => sum(heat.filter((_, position) => position % 2 === 1));
        assert.equal(sum(series?.counts ?? []), values.count, name);
        assert.deepEqual(series?.heat.map(counted) ?? [], series?.counts ?? [], name);
        assert.equal(Math.max(0, ...(series?.max ?? [])), values.max, name);
        break;
      }
      case "gauge":
        assert.equal(series.values.findLast((value) => value !== null), values.value, name);
    }
  }
  assert.equal(sum(timeline.iterations), iterations.complete);
  assert.equal(sum(timeline.failed), iterations.failed);
  assert.ok(timeline.vus.every((vus) => vus <= vus_max), `${timeline.vus}`);
  const lists = [timeline.vus, timeline.failed, ...Object.values(generator.series)];
  lists.push(...targets.flatMap(({ series }) => Object.values(series)));
  lists.push(...Object.values(timeline.metrics).flatMap(({ type, ...lists }) => Object.values(lists)));
  lists.forEach((list) => assert.equal(list.length, timeline.n_intervals));
}

/** A summary as it has to be. */
function assertGood(summary) {
  assertOfShape("summary", summary);
  assertAddsUp(summary);
}

test("the program prints the schema that is in the repository", async () => {
  const { stdout } = await plimsollIn({}, "schema", "summary");
  assert.equal(stdout, readFileSync(new URL("../../docs/schema/summary.json", import.meta.url), "utf8"));
});

describe("a script", () => {
  const SCRIPT = `
    import { check, group, sleep } from "k6";
    import { Counter, Gauge, Rate, Trend } from "k6/metrics";
    const [numbers, level, odd, took, sizes] =
      [new Counter("numbers"), new Gauge("level"), new Rate("odd"), new Trend("took", true), new Trend("sizes")];
    export const options = { vus: 3, iterations: 60, thresholds: { "took{kind:odd}": ["p(95)<1"], never: ["count>1"] } };
    new Counter("never");
    export function setup() { numbers.add(1000); }
    export function teardown() { numbers.add(7); }
    export default function () {
      const n = __ITER;
      numbers.add(0.5);
      level.add(n);
      odd.add(n % 2);
      took.add(n + 0.25, { kind: n % 2 ? "odd" : "even" });
      sizes.add(n * 1000);
      group("outer", () => check(n, { "is small": (n) => n < 5 }));
      sleep(0.07);
      if (n === 3) throw new Error("user " + (10000 + __VU) + " is gone");
    }`;

  test("has every sample in an interval, from setup to teardown", async (t) => {
    const cwd = folderOf(t, { "chat.js": SCRIPT });
    const { stdout, stderr } = await plimsollIn({ cwd }, "run", "-q", "--format", "json", "chat.js");
    const summary = JSON.parse(stdout);
    assertGood(summary);
    const { metadata, environment, plan, errors, metrics } = summary;
    assert.equal(metrics.numbers.values.count, 1037, stderr);
    assert.equal(metrics["took{kind:odd}"].type, "trend");
    assert.equal(metadata.kind, "k6");
    assert.equal(metadata.name, "chat.js");
    assert.match(metadata.id, /^\d{8}T\d{6}\.\d{3}Z-[0-9a-f]{8}$/);
    assert.equal(plan.scenarios[0].description.split(" (")[0], "60 iterations shared among 3 VUs");
    assert.ok(environment.cores >= 1 && environment.memory_bytes > 0 && environment.workers >= 1);
    assert.equal(errors.length, 1);
    assert.match(errors[0].cause, /user … is gone/);
    assert.match(errors[0].example, /user 1000\d is gone/);
    assert.equal(errors[0].count, summary.iterations.failed);
    assert.ok(errors[0].first_seconds > 0 && errors[0].first_seconds <= errors[0].last_seconds);
  });

  test("with everything that a summary can have is of the schema's shape", async (t) => {
    const cwd = folderOf(t, { "chat.js": SCRIPT });
    const args = ["run", "-q", "--format", "json", "--summary-mode", "full", "--watch", `me=${process.pid}`, "chat.js"];
    const { stdout } = await plimsollIn({ cwd }, ...args);
    const summary = JSON.parse(stdout);
    assertGood(summary);
    assert.deepEqual(summary.breakdown.groups.map(({ name }) => name).sort(), ["outer", "setup", "teardown"]);
    assert.equal(summary.targets[0].name, "me");
  });

  test("has histograms as HdrHistogram has them", async (t) => {
    const cwd = folderOf(t, { "chat.js": SCRIPT });
    const { stdout } = await plimsollIn({ cwd }, "run", "-q", "--format", "json", "chat.js");
    const { histogram, values } = JSON.parse(stdout).metrics.took;
    const bytes = Buffer.from(histogram, "base64");
    assert.equal(bytes.readUInt32BE(0), 0x1c849314);
    assert.equal(bytes.readUInt32BE(4), bytes.length - 8);
    const plain = inflateSync(bytes.subarray(8));
    assert.equal(plain.readUInt32BE(0), 0x1c849313);
    assert.equal(plain.readUInt32BE(4), plain.length - 40);
    assert.equal(plain.readUInt32BE(12), 3);
    assert.equal(countOf(plain.subarray(40)), values.count);
  });

  test("that fails in setup has a summary without intervals to speak of", async (t) => {
    const cwd = folderOf(t, { "a.js": 'export function setup() { throw new Error("no"); }\nexport default function () {}' });
    const { stdout } = await plimsollIn({ cwd }, "run", "-q", "--format", "json", "a.js");
    const summary = JSON.parse(stdout);
    assertGood(summary);
    assert.equal(summary.end.cause, "setup_failed");
  });
});

/** Samples in the counts of a histogram: ZigZag numbers in base 128, of which negative ones are zeros left out. */
function countOf(bytes) {
  let [sum, at] = [0n, 0];
  while (at < bytes.length) {
    let [value, shift] = [0n, 0n];
    for (let more = true; more; shift += 7n) {
      const byte = bytes[at++];
      more = byte >= 0x80 && shift < 56n;
      value |= BigInt(shift < 56n ? byte & 0x7f : byte) << shift;
    }
    const number = (value >> 1n) ^ -(value & 1n);
    if (number > 0n) sum += number;
  }
  return Number(sum);
}

test("the demo has a summary of the schema's shape", async () => {
  const { report, stderr } = await plimsollJson("demo", "--users", "8", "--time", "3");
  assert.ok(report, stderr);
  assertGood(report);
  assert.equal(report.metadata.kind, "demo");
  assert.ok(report.timeline.vus.some((vus) => vus > 0));
});

test("a scenario of wsdirector has a summary, and its clients besides", async (t) => {
  const server = await Server.start("--noauth", "--public");
  t.after(() => server.stop());
  const cwd = folderOf(t, { "a.yml": "- receive:\n    data: {type: welcome}\n" });
  const args = ["run", "a.yml", "--url", server.ws("/cable"), "--format", "json", "--scale", "3"];
  const { stdout, stderr } = await plimsollIn({ cwd }, ...args);
  const { scenario, ...summary } = JSON.parse(stdout || assert.fail(stderr));
  assertGood(summary);
  assert.equal(summary.metadata.kind, "wsdirector");
  assert.ok(scenario);
});

test("requests that fail are errors of the summary, by cause and with an example", async (t) => {
  const server = createServer((request, response) => {
    response.statusCode = request.url.startsWith("/bad") ? 503 : 200;
    response.end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  const gone = createServer();
  gone.listen(0, "127.0.0.1");
  await once(gone, "listening");
  const gonePort = gone.address().port;
  await new Promise((closed) => gone.close(closed));
  const script = `
    import http from "k6/http";
    export default function () {
      http.get("http://127.0.0.1:${server.address().port}/good");
      http.get("http://127.0.0.1:${server.address().port}/bad?user=" + (20000 + __ITER));
      http.get("http://127.0.0.1:${gonePort}/");
    }`;
  const cwd = folderOf(t, { "a.js": script });
  const { stdout } = await plimsollIn({ cwd }, "run", "-q", "-i", "5", "--format", "json", "a.js");
  const summary = JSON.parse(stdout);
  assertGood(summary);
  const { errors, metrics } = summary;
  assert.equal(metrics.http_req_failed.values.passes, 10);
  assert.deepEqual(
    errors.map(({ cause, count }) => [cause, count]).sort(),
    [["request answered 503", 5], ["request failed: dial: connection refused: is the server running, and is this its address?", 5]],
  );
  const [answered] = errors.filter(({ cause }) => cause.includes("503"));
  assert.match(answered.example, /^GET http:\/\/127\.0\.0\.1:\d+\/bad\?user=2000\d answered 503$/);
  assert.ok(errors.every(({ first_seconds, last_seconds }) => first_seconds <= last_seconds));
});
