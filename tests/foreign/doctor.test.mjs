// `plimsoll doctor` and `serve --check`, with a real application, a real Redis and NATS, and ports that are taken.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { GrpcApp } from "./support/grpc-app.mjs";
import { NatsServer } from "./support/nats.mjs";
import { Server, plimsoll, plimsollIn } from "./support/plimsoll.mjs";
import { freePort } from "./support/ports.mjs";
import { RedisCluster } from "./support/redis-cluster.mjs";
import { RedisServer, Sentinel } from "./support/redis.mjs";

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
      assert.match(named(away, "redis").finding, /cannot be used: connect to Redis/);
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

/** At the same time, because a check that fails takes seconds. */
const all = (cases, check) => Promise.all(cases.map((one) => check(...one)));

/** What is said of the dependency `name` of a server with these flags, which must be like `words`. */
async function assertProblem(name, flags, words, fix) {
  const found = named(await doctor(3, [], ...ALONE, ...flags), name);
  assert.equal(found?.state, "problem", name);
  assert.match(found.finding, words);
  assert.match(found.fix, fix);
}

/** A server with these flags can use the dependencies with these names, and has no other ones. */
async function assertUsable(names, ...flags) {
  const { checks } = await doctor(0, [], ...ALONE, ...flags);
  const found = checks.filter(({ name }) => /redis|nats/.test(name));
  assert.deepEqual(
    found.map(({ name, state, finding }) => [name, state, finding]),
    names.map((name) => [name, "ok", "reachable"]),
  );
}

describe("what servers share", () => {
  test("the Redis broker", async (t) => {
    const [redis, locked] = [await RedisServer.start(t), await RedisServer.start(t, { options: ["--requirepass", "secret"] })];
    const replica = await RedisServer.start(t, { options: ["--replicaof", ...redis.address.split(":")] });
    const away = `127.0.0.1:${await freePort()}`;
    const broker = (url) => ["--broadcast_adapter", "http", "--broker", "redis", "--redis_url", url];
    await assertUsable(["redis_broker"], ...broker(redis.url));
    await assertUsable(["redis", "redis_broker"], "--broker", "redis", "--redis_url", redis.url);
    assert.deepEqual(await redis.client(t).keys("*"), []);
    const fix = /start Redis, or correct its address and password in --redis_url/;
    await all(
      [
        [`redis://${away}`, new RegExp(`connect to Redis at ${away}: Connection refused`)],
        [locked.url, /NOAUTH .*expected a password: --redis_url/],
        [`redis://:wrong@${locked.address}`, /WRONGPASS .*check the user and the password/],
        [replica.url, /is a replica; expected the primary/],
        [`${redis.url},`, /no node of a Redis Cluster \(cluster-enabled no\)/, /start the nodes of the Redis Cluster/],
      ],
      (url, words, other) => assertProblem("redis_broker", broker(url), words, other ?? fix),
    );
  });

  test("a user of Redis needs no more rights than the server", async (t) => {
    const redis = await RedisServer.start(t);
    const rights = "+@scripting +@stream +@hash +@string +@sortedset +@pubsub +@keyspace +@connection +time ~plimsoll:* &plimsoll:*";
    const client = redis.client(t);
    await client.call("ACL", "SETUSER", "kay", "on", ">secret", ...rights.split(" "));
    await client.call("ACL", "SETUSER", "max", "on", ">secret", ...rights.replace("&plimsoll:*", "resetchannels").split(" "));
    const flags = (user) => ["--broadcast_adapter", "http", "--broker", "redis", "--redis_url", `redis://${user}:secret@${redis.address}`];
    await assertUsable(["redis_broker"], ...flags("kay"));
    await assertProblem("redis_broker", flags("max"), /NOPERM .*give the user of --redis_url the rights/, /--redis_url/);
  });

  test("a Redis Cluster", async (t) => {
    const cluster = await RedisCluster.start(t);
    const one = cluster.nodes[0].url;
    for (const adapter of ["http", "redis", "redisx"]) {
      const names = adapter === "http" ? ["redis_broker"] : ["redis", "redis_broker"];
      await assertUsable(names, "--broadcast_adapter", adapter, "--broker", "redis", "--redis_url", cluster.url);
    }
    await assertUsable(["redis"], "--pubsub", "redis", "--redis_url", cluster.url);
    const broker = (url) => ["--broadcast_adapter", "http", "--broker", "redis", "--redis_url", url];
    await assertProblem("redis_broker", broker(one), /is a node of a Redis Cluster; expected its nodes with commas/, /start Redis/);
    const dead = cluster.nodes[2];
    await dead.kill();
    const fix = /start the nodes of the Redis Cluster, or correct their addresses/;
    await assertProblem("redis_broker", broker(cluster.url), new RegExp(`${dead.address}|the cluster is down`), fix);
  });

  test("sentinels", async (t) => {
    const primary = await RedisServer.start(t, { options: ["--requirepass", "data-secret"] });
    const sentinel = await Sentinel.start(t, primary, { dataPassword: "data-secret" });
    const away = `127.0.0.1:${await freePort()}`;
    const flags = (sentinels, group = "mymaster", password = "data-secret") => [
      ...["--redis_sentinels", sentinels, "--redis_url", `redis://:${password}@${group}`, "--broadcast_adapter", "http"],
    ];
    await assertUsable(["redis_broker"], ...flags(`${away},${sentinel.address}`), "--broker", "redis");
    await assertUsable(["redis"], ...flags(sentinel.address), "--pubsub", "redis");
    const fix = /start the sentinels and Redis, or correct --redis_sentinels, and the group and the password in --redis_url/;
    await all(
      [
        [flags(away), new RegExp(`find the primary of the Redis group mymaster: ${away}: connect to Redis at ${away}`)],
        [flags(sentinel.address, "other"), /the sentinel does not know the group other/],
        [flags(sentinel.address, "mymaster", "wrong"), /WRONGPASS/],
      ],
      async (flags, words) => {
        await all([["redis_broker", "--broker"], ["redis", "--pubsub"]], (name, flag) =>
          assertProblem(name, [...flags, flag, "redis"], words, fix),
        );
      },
    );
  });

  test("the NATS broker", async (t) => {
    const secret = "authorization { users = [{ user: kay, password: secret }] }";
    const nats = await NatsServer.start(t, { jetStream: true });
    const [plain, locked] = [await NatsServer.start(t), await NatsServer.start(t, { jetStream: true, settings: secret })];
    const away = `127.0.0.1:${await freePort()}`;
    const broker = (url) => ["--broker", "nats", "--nats_servers", url];
    await assertUsable(["nats_broker"], ...broker(nats.url));
    await assertUsable(["nats", "nats_broker"], "--broadcast_adapter", "nats", ...broker(nats.url));
    assert.deepEqual(await nats.streams(), []);
    const fix = /start NATS with JetStream \(nats-server -js\), or correct its address and user in --nats_servers/;
    await all(
      [
        [`nats://${away}`, new RegExp(`connect to NATS at ${away}: Connection refused`)],
        [plain.url, /JetStream does not answer; start NATS with it \(nats-server -js\)/],
        [locked.url, /NATS refused the connection: .*[Aa]uthori[sz]ation/],
      ],
      (url, words) => assertProblem("nats_broker", broker(url), words, fix),
    );
  });

  test("the streams of JetStream stay as they are, and one of another program is named", async (t) => {
    const nats = await NatsServer.start(t, { jetStream: true });
    const flags = ["--broker", "nats", "--nats_servers", nats.url];
    const server = await Server.start("--public", ...flags);
    t.after(() => server.isRunning && server.stop());
    await server.logged(/Connected to the NATS broker/);
    const before = await nats.streams();
    assert.equal(before.length, 3);
    await assertUsable(["nats_broker"], ...flags, "--history_limit", "7");
    assert.deepEqual(await nats.streams(), before);
    const other = [...flags, "--nats_prefix", "other", "--nats_stream", "plimsoll"];
    await assertProblem("nats_broker", other, /the JetStream stream plimsoll keeps other subjects than other\.h\.\*/, /nats-server -js/);
  });

  test("the engines of --pubsub", async (t) => {
    const [redis, nats] = [await RedisServer.start(t), await NatsServer.start(t)];
    const away = `127.0.0.1:${await freePort()}`;
    await assertUsable(["redis"], "--pubsub", "redis", "--redis_url", redis.url);
    await assertUsable(["nats"], "--pubsub", "nats", "--nats_servers", nats.url);
    await all(
      [
        ["redis", ["--redis_url", `redis://${away}`], /connect to Redis at .*: Connection refused/, /start Redis/],
        ["redis", ["--redis_url", `redis://:x@${redis.address}`], /expected a URL without a password/, /start Redis/],
        ["nats", ["--nats_servers", away], /connect to NATS at .*: Connection refused/, /start NATS, or/],
      ],
      (engine, flags, ...expected) => assertProblem(engine, ["--pubsub", engine, ...flags], ...expected),
    );
  });
});
