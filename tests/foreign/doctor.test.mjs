// `plimsoll doctor` and `serve --check`, with a real application, a real Redis, and ports that are taken.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { GrpcApp } from "./support/grpc-app.mjs";
import { Server, plimsoll, plimsollIn } from "./support/plimsoll.mjs";
import { freePort } from "./support/ports.mjs";
import { RedisServer } from "./support/redis.mjs";

/** Flags of a server that needs nothing. */
const ALONE = ["--host", "127.0.0.1", "--port", "0", "--app", "benchmark"];

/** The states of the checks by name, and the checks, of a command that ends with `code`. */
async function doctor(code, flags, ...serve) {
  return judge(code, await plimsoll("doctor", "--format", "json", ...flags, "--", ...serve));
}

function judge(code, { code: found, stdout, stderr }) {
  assert.equal(found, code, `${stdout}\n${stderr}`);
  const { checks } = JSON.parse(stdout);
  return { checks, states: Object.fromEntries(checks.map(({ name, state }) => [name, state])) };
}

const named = ({ checks }, name) => checks.find((check) => check.name === name);

describe("plimsoll doctor", () => {
  test("a server that needs nothing", async () => {
    const { states } = await doctor(0, [], ...ALONE);
    assert.equal(states.port, "ok");
    assert.equal(states["open files"], "ok");
    const { code, stdout } = await plimsoll("serve", "--check", ...ALONE);
    assert.equal(code, 0, stdout);
    assert.match(stdout, /^No problem found/);
    assert.match(stdout, /✓ port\.+: 127\.0\.0\.1:\d+ free/);
  });

  test("more clients than the limits allow, with the fix", async () => {
    const command = ["doctor", "--format", "json", "--clients", "5000", "--", ...ALONE];
    const files = named(judge(3, await plimsollIn({ n_files: 1000 }, ...command)), "open files");
    assert.equal(files.state, "problem");
    assert.match(files.finding, /1,000 allows 936 clients/);
    assert.match(files.fix, /LimitNOFILE=5064/);
    judge(0, await plimsollIn({ n_files: 6000 }, ...command));
    const own = await doctor(3, ["--clients", "11"], ...ALONE, "--max_conn", "10");
    assert.match(named(own, "--max_conn").fix, /--max_conn 11/);
  });

  test("a port that another server has", async (t) => {
    const server = await Server.start();
    t.after(() => server.stop());
    const taken = await doctor(3, [], ...ALONE.with(3, String(server.port)));
    assert.match(named(taken, "port").finding, /another program uses this port/);
  });

  test("the application, there and away", async (t) => {
    const app = await GrpcApp.start();
    t.after(() => app.kill());
    const flags = ["--host", "127.0.0.1", "--port", "0", "--http_broadcast_port", "0"];
    const there = await doctor(0, [], ...flags, "--rpc_host", app.host);
    assert.equal(there.states.application, "ok");
    const away = await doctor(3, [], ...flags, "--rpc_host", `127.0.0.1:${await freePort()}`);
    assert.equal(away.states.application, "problem");
    assert.match(named(away, "application").fix, /--rpc_host/);
  });

  test("Redis, there and away; no broadcast is taken from another server", async (t) => {
    const redis = await RedisServer.start(t);
    const client = redis.client(t);
    await client.xadd("__anycable__", "*", "payload", '{"stream":"a","data":"1"}');
    for (const adapter of ["redis", "redisx"]) {
      const flags = [...ALONE, "--broadcast_adapter", adapter];
      assert.equal((await doctor(0, [], ...flags, "--redis_url", redis.url)).states.redis, "ok");
      const away = await doctor(3, [], ...flags, "--redis_url", `redis://127.0.0.1:${await freePort()}`);
      assert.match(named(away, "redis").finding, /not reachable/);
    }
    assert.equal(await client.xlen("__anycable__"), 1);
    assert.deepEqual(await client.xinfo("GROUPS", "__anycable__"), []);
  });

  test("settings that no server would start with", async () => {
    const check = async (args, words) => {
      const { code, stderr } = await plimsoll("doctor", ...args);
      assert.deepEqual([code, words.test(stderr)], [2, true], stderr);
    };
    await check(["--", "--prot", "1"], /--port/);
    await check(["--", "--norpc", "--port", "0", "--enforce_jwt"], /token/);
    await check(["--", ...ALONE, "--broker", "redis", "--ds"], /--ds .* cannot be used with --broker redis/);
    await check(["--", ...ALONE, "--broker", "redis", "--pubsub", "nats"], /--pubsub nats and --broker redis/);
    await check(["--clients", "0"], /--clients/);
  });
});
