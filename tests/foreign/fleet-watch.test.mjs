// `plimsoll agent --watch`: what the target of a fleet used, seen by an agent beside it that makes no load.

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { join } from "node:path";
import { describe, test } from "node:test";
import { Fleet } from "./support/fleet.mjs";
import { Server, plimsollIn } from "./support/plimsoll.mjs";
import { eventually } from "./support/processes.mjs";
import { folderOf } from "./support/scripts.mjs";

/** A real server, which ends with the test. */
async function serve(t) {
  const server = await Server.start("--app", "benchmark");
  t.after(() => server.stop());
  return server;
}

/** A script that loads this URL for some seconds. */
const script = (url, duration, pause = 0.01) => `
import http from "k6/http";
import { sleep } from "k6";
export const options = { vus: 4, duration: "${duration}" };
export default function () { http.get("${url}"); sleep(${pause}); }
`;

/** Asserts that a target has these series, with a number for every second of the run. */
function isWhole(target, { timeline }, ...names) {
  for (const name of names) {
    const series = target.series[name];
    assert.equal(series?.length, timeline.n_intervals, `${target.name}: ${name}`);
    assert.ok(series.every((value) => value !== null && value >= 0), `${target.name}: ${name}: ${series}`);
  }
}

/** Asserts that two numbers differ by at most this part of the second. */
function near(found, expected, part, what) {
  assert.ok(Math.abs(found - expected) <= part * expected, `${what}: ${found} instead of ${expected}`);
}

const names = (things) => things.map(({ name }) => name);

describe("an agent that watches", () => {
  test("measures what a target beside it uses, as the run itself would, and makes no load", async (t) => {
    const server = await serve(t);
    const fleet = await Fleet.start(t, 2);
    const observer = await fleet.watch("db-1", [`:${server.port}`, `web=:${server.port}`]);
    const { text, agents } = await fleet.list();
    assert.match(text, new RegExp(`db-1 .* watches :${server.port}, web\\n`));
    assert.deepEqual(agents.map(({ watches }) => watches), [[], [], [`:${server.port}`, "web"]]);
    // Each run has it.
    for (const duration of ["4s", "2s"]) {
      const { code, stderr, summary } = await fleet.run(script(server.http("/health"), duration), "--watch", `here=:${server.port}`);
      assert.equal(code, 0, stderr);
      assert.deepEqual(names(summary.agents), ["a1", "a2"]);
      assert.deepEqual(names(summary.targets), ["here", `:${server.port} on db-1`, "web on db-1"]);
      const [here, ...there] = summary.targets;
      for (const target of there) {
        assert.deepEqual([target.what, target.ended], [`port ${server.port}`, null]);
        isWhole(target, summary, "cpu_cores", "rss_bytes", "threads", "open_files");
        near(target.rss_max_bytes, here.rss_max_bytes, 0.05, "RSS");
        assert.ok(target.sockets_max > 0 && target.sampling_cpu_seconds > 0 && target.cpu_seconds > 0);
        near(target.cpu_seconds, here.cpu_seconds, 0.25, "CPU");
      }
      assert.deepEqual(summary.notices, []);
      await fleet.free();
    }
    observer.signal("SIGTERM");
    assert.equal((await observer.ended()).code, 0);
  });

  test("is not one of the agents that a run asks for", async (t) => {
    const server = await serve(t);
    const fleet = await Fleet.start(t, 1);
    await fleet.watch("db-1", [`:${server.port}`]);
    const { code, stderr } = await fleet.run(script(server.http("/health"), "1s"), "--agents", "2", "--agents-timeout", "1s");
    assert.equal(code, 111, stderr);
    assert.match(stderr, new RegExp(`1 of 2 agents came within 1 s .*; agent db-1: it watches :${server.port} and makes no load`));
  });

  test("takes part in benches and in quick runs", async (t) => {
    const server = await serve(t);
    const fleet = await Fleet.start(t, 2);
    await fleet.watch("db-1", [`:${server.port}`]);
    const cable = ["--server-type", "actioncable"];
    const size = ["--step-size", "20", "--total-steps", "2", "--sample-size", "6000"];
    const flags = ["--quiet", "--format", "json", "--report", "summary.json"];
    const bench = await fleet.bench("echo", server.ws("/cable"), ...cable, ...size, ...flags);
    assert.equal(bench.code, 0, bench.stderr);
    const result = JSON.parse(bench.stdout);
    assert.deepEqual(names(result.plimsoll.agents), ["a1", "a2"]);
    assert.deepEqual(names(result.plimsoll.targets), [`:${server.port} on db-1`]);
    await fleet.free();
    const quick = await fleet.perform({}, "quick", server.http("/health"), "--count", "4", "--num", "300", "--format", "json");
    assert.equal(quick.code, 0, quick.stderr);
    for (const summary of [bench.read("summary.json"), JSON.parse(quick.stdout)]) {
      assert.deepEqual(names(summary.targets), [`:${server.port} on db-1`]);
      const [target] = summary.targets;
      isWhole(target, summary, "cpu_cores", "rss_bytes");
      assert.ok(target.cpu_seconds > 0 && target.rss_max_bytes > 1 << 20);
      assert.deepEqual(summary.notices, []);
    }
  });

  test("may die without harm to the run, which says where its figures end", async (t) => {
    const { url, asked } = await counting(t);
    const fleet = await Fleet.start(t, 2);
    const observer = await fleet.watch("db-1", [`me=${process.pid}`]);
    // Eighty requests per second.
    const run = fleet.start(script(url, "6s", 0.05), "--format", "json");
    await eventually(() => asked() > 200, "the middle of the run");
    observer.signal("SIGKILL");
    const { code, stdout, stderr } = await run.ended();
    assert.equal(code, 0, stderr);
    const { targets, notices, timeline, conclusion } = JSON.parse(stdout);
    assert.notEqual(conclusion.verdict, "incomplete");
    assert.equal(notices.length, 1);
    const [, text] = notices[0].match(/^the figures of me on db-1 end at second (\d+): agent db-1: it did not answer within 5 s$/);
    const second = Number(text);
    assert.ok(second >= 1 && second <= 4, notices[0]);
    assert.ok(stderr.includes("the figures of me on db-1 end at second"), stderr);
    const { rss_bytes } = targets[0].series;
    assert.equal(rss_bytes.length, timeline.n_intervals);
    assert.deepEqual(rss_bytes.map((value) => value !== null), rss_bytes.map((_, at) => at < second));
    assert.equal(targets[0].ended, null, "the target itself is there");
  });

  test("tells of a target that is not there, or is gone", async (t) => {
    const { url } = await counting(t);
    const fleet = await Fleet.start(t, 2);
    const server = await serve(t);
    const observer = await fleet.watch("db-1", [`:${server.port}`, `me=${process.pid}`]);
    await server.stop();
    const missing = `no process listens on port ${server.port} of this machine; start the target first, or check the port`;
    const { code, stderr, summary } = await fleet.run(script(url, "2s"));
    assert.equal(code, 0, stderr);
    assert.deepEqual(names(summary.targets), ["me on db-1"]);
    isWhole(summary.targets[0], summary, "cpu_cores", "rss_bytes");
    assert.deepEqual(summary.notices, [`:${server.port} on db-1 is not watched: ${missing}`]);
    await observer.said(`:${server.port} is not watched: ${missing}.`);
    // An agent that finds nothing from the beginning was started with a wrong target.
    const started = await plimsollIn({}, "agent", "--fleet", fleet.nats.url, "--watch", `:${server.port}`);
    assert.equal(started.code, 1);
    assert.ok(started.stderr.includes(`--watch port ${server.port}: ${missing}`), started.stderr);
  });

  test("obeys only the coordinator that has its key", async (t) => {
    const { url } = await counting(t);
    const keys = folderOf(t, { "fleet.key": "0123456789abcdef0123", "other.key": "another key that is long" });
    const fleet = await Fleet.start(t, 1, { flags: ["--fleet-key", join(keys, "fleet.key")] });
    const flags = (key) => ({ flags: ["--fleet", fleet.nats.url, "--fleet-key", join(keys, key)] });
    await fleet.watch("db-1", [`me=${process.pid}`], flags("fleet.key"));
    await fleet.watch("db-2", [`me=${process.pid}`], flags("other.key"));
    const { code, stderr, summary } = await fleet.run(script(url, "1s"));
    assert.equal(code, 0, stderr);
    assert.deepEqual(names(summary.targets), ["me on db-1"]);
    const [notice] = summary.notices;
    assert.match(notice, /^me on db-2 is not watched: the package is not signed with the key of this agent/);
    await fleet.free();
  });
});

/** A target that counts requests. */
async function counting(t) {
  let n = 0;
  const server = createServer((_request, response) => {
    n += 1;
    response.end("ok");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  return { url: `http://127.0.0.1:${server.address().port}/`, asked: () => n };
}
