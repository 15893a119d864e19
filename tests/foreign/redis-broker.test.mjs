// `plimsoll serve --broker redis`: the scenarios of shared brokers with a real Redis, and what only Redis has.
// docs/reference/redis-broker.md has the guarantees.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { describe, test } from "node:test";
import { brokerScenarios } from "./support/broker-scenarios.mjs";
import { plimsoll } from "./support/plimsoll.mjs";
import { eventually } from "./support/processes.mjs";
import { RedisServer } from "./support/redis.mjs";
import {
  PATIENCE_MS,
  expectNumbers,
  expectReadiness,
  inRedis,
  next,
  publish,
  pubsub,
  send,
  startServer,
  subscribed,
} from "./support/shared-streams.mjs";

const durable = (t) => RedisServer.start(t, { options: ["--appendonly", "yes", "--appendfsync", "always"] });

brokerScenarios({
  name: "redis",
  flags: (redis) => inRedis(redis.url),
  start: durable,
  startForgetful: (t) => RedisServer.start(t),
  cut: (t, redis) => {
    const admin = redis.client(t);
    return () => admin.call("CLIENT", "KILL", "TYPE", "pubsub");
  },
  redis: (_t, redis) => redis,
  subscribes: /SUBSCRIBE/,
  startText: /Streams are shared with all servers of this Redis \(--redis_prefix plimsoll\)/,
});

test("with --redis_wait a message is confirmed when a replica has it, and published once", async (t) => {
  const redis = await durable(t);
  const replica = await RedisServer.start(t, { options: ["--replicaof", ...redis.address.split(":")] });
  const admin = redis.client(t);
  await eventually(async () => /connected_slaves:1[^]*state=online/.test(await admin.info("replication")), "a replica");
  const server = await startServer(inRedis(redis.url), "--redis_wait", "1");
  t.after(() => server.stop());
  const client = await subscribed(t, server, "s");
  await publish(server, "s", 1);
  const replicated = await replica.client(t).call("XLEN", "plimsoll:{s}:log");
  assert.equal(replicated, 1);
  replica.signal("SIGSTOP");
  const key = randomUUID();
  const message = { stream: "s", data: "2" };
  assert.equal((await send(server, message, key)).status, 503);
  // It is stored, and the same key does not make it confirmed.
  assert.equal((await send(server, message, key)).status, 503);
  await server.logged(/0 replicas of Redis have confirmed the message in time, and --redis_wait asks for 1/);
  replica.signal("SIGCONT");
  await eventually(async () => (await send(server, message, key)).status === 201, "a confirmation", PATIENCE_MS);
  await publish(server, "s", 3);
  await expectNumbers(client, 1, 3);
});

test("a Redis that is full refuses messages, which one line says, and goes on when it is not", async (t) => {
  const redis = await durable(t);
  const server = await startServer(inRedis(redis.url));
  t.after(() => server.stop());
  const client = await subscribed(t, server, "s");
  await publish(server, "s", 1);
  const admin = redis.client(t);
  await admin.config("SET", "maxmemory", "1");
  for (let n = 0; n < 5; n++) assert.equal((await send(server, { stream: "s", data: "2" }, "same")).status, 503);
  await server.logged(/Redis refused the command: OOM .*; Redis is full: raise its maxmemory, or keep less/);
  assert.equal(server.stderr.match(/OOM/g).length, 1);
  await admin.config("SET", "maxmemory", "0");
  assert.equal((await send(server, { stream: "s", data: "2" }, "same")).status, 201);
  await expectNumbers(client, 1, 2);
});

/** Waits for the line of the log that says that keys cannot be used. It is the only one, and has these parts. */
async function complained(server, ...parts) {
  const complaint = /.*The Redis broker does not take all requests: another program, or another version of Plimsoll, has written .*/;
  await server.logged(complaint);
  const lines = server.stderr.split("\n").filter((line) => complaint.test(line));
  assert.equal(lines.length, 1, server.stderr);
  for (const part of [...parts, "or give the servers another --redis_prefix"]) assert.ok(lines[0].includes(part), `${part} in ${lines[0]}`);
}

describe("keys of another program cost their stream alone, until they are removed", () => {
  const expectedKeys = 'expected a stream in "plimsoll:{s}:log", a hash in "plimsoll:{s}:head"';
  const remedy = 'in redis-cli: DEL "plimsoll:{s}:log" "plimsoll:{s}:head"';
  const head = (...fields) => ["HSET", "plimsoll:{s}:head", "e", "epoch", "t", "5", ...fields];
  for (const [what, expected, ...plants] of [
    ["a head that is no hash", "WRONGTYPE", ["SET", "plimsoll:{s}:head", "x"]],
    ["a head without a number", "FOREIGN the hash does not have an epoch e, an offset s and a time t", head("s", "many")],
    ["a log that is no stream", "WRONGTYPE", head("s", "3"), ["RPUSH", "plimsoll:{s}:log", "x"]],
    ["a log with greater ids", "ERR The ID specified in XADD is equal or smaller than the target stream top item", head("s", "3"), ["XADD", "plimsoll:{s}:log", "*", "f", "1"]],
  ]) {
    for (const isHeard of [true, false]) {
      test(`${what} of a stream that is ${isHeard ? "heard" : "not heard"}: broadcasts are answered 503`, async (t) => {
        const redis = await RedisServer.start(t);
        const admin = redis.client(t);
        const server = await startServer(inRedis(redis.url));
        t.after(() => server.stop());
        const other = await subscribed(t, server, "other");
        const client = isHeard && (await subscribed(t, server, "s"));
        if (isHeard) {
          await publish(server, "s", 0);
          assert.equal((await next(client)).message, 0);
        }
        await admin.del("plimsoll:{s}:head", "plimsoll:{s}:log");
        for (const plant of plants) await admin.call(...plant);
        for (let n = 0; n < 3; n++) assert.equal((await send(server, { stream: "s", data: "1" }, "same")).status, 503);
        await complained(server, expectedKeys, `but Redis says: ${expected}`, remedy);
        await publish(server, "other", 1);
        await expectNumbers(other, 1, 1);
        await expectReadiness([server], 200);
        await admin.del("plimsoll:{s}:head", "plimsoll:{s}:log");
        assert.equal((await send(server, { stream: "s", data: "1" }, "same")).status, 201);
        if (isHeard) {
          assert.deepEqual(await next(client), { type: "reject_history", identifier: pubsub("s") });
          await expectNumbers(client, 1, 1);
        }
        await expectNumbers(await subscribed(t, server, "s", { since: 1 }), 1, 1);
      });
    }
  }

  test("a stream that is only read: the log says which keys cannot be used, and the stream is heard when they are removed", async (t) => {
    const redis = await RedisServer.start(t);
    const admin = redis.client(t);
    const server = await startServer(inRedis(redis.url));
    t.after(() => server.stop());
    for (const plant of [head("s", "3"), ["SET", "plimsoll:{s}:log", "x"]]) await admin.call(...plant);
    const client = await subscribed(t, server, "s");
    await complained(server, expectedKeys, "but Redis says: WRONGTYPE", `(${remedy})`);
    await admin.del("plimsoll:{s}:head", "plimsoll:{s}:log");
    assert.deepEqual(await next(client), { type: "reject_history", identifier: pubsub("s") });
    await publish(server, "s", 1);
    await expectNumbers(client, 1, 1);
  });

  test("a log without a head is replaced, and entries of another form are left out, which a client that asks for them is told", async (t) => {
    const redis = await RedisServer.start(t);
    const admin = redis.client(t);
    const server = await startServer(inRedis(redis.url));
    t.after(() => server.stop());
    await admin.set("plimsoll:{s}:log", "x");
    await publish(server, "s", 1);
    // Neither is a message: other fields, and a payload that is no JSON.
    await admin.call("XADD", "plimsoll:{s}:log", "2-0", "other", "field");
    await admin.call("XADD", "plimsoll:{s}:log", "3-0", "t", "5", "b", "5", "p", "{");
    await admin.hset("plimsoll:{s}:head", "s", "3");
    await publish(server, "s", 2);
    const client = await subscribed(t, server, "s", { since: 1 });
    assert.equal((await next(client)).type, "reject_history");
    await publish(server, "s", 3);
    assert.equal((await next(client)).message, 3);
    await server.logged(/A message of the broker is dropped: another program has written it/);
  });

  test("members that are no hash: messages go on, and who is there is told when the key is removed", async (t) => {
    const redis = await RedisServer.start(t);
    const admin = redis.client(t);
    const server = await startServer(inRedis(redis.url));
    t.after(() => server.stop());
    const client = await subscribed(t, server, "s");
    await admin.set("plimsoll:{s}:members", "x");
    client.send({ command: "join", identifier: pubsub("s"), presence: { id: "kay" } });
    await complained(server, 'expected a hash in "plimsoll:{s}:members"', "but Redis says: WRONGTYPE", 'DEL "plimsoll:{s}:members"');
    await publish(server, "s", 1);
    await expectNumbers(client, 1, 1);
    await admin.del("plimsoll:{s}:members");
    const { type, message } = await next(client);
    assert.deepEqual([type, message], ["presence", { type: "join", id: "kay" }]);
  });
});

describe("a Redis that cannot be used is named, in one line, and does not end the server", () => {
  for (const [what, settings, url, expected] of [
    ["a password that is missing", { options: ["--requirepass", "right"] }, ({ address }) => `redis://${address}`, /NOAUTH.*; expected a password: --redis_url redis:\/\/:PASSWORD@HOST/],
    ["a wrong password", { options: ["--requirepass", "right"] }, ({ address }) => `redis://:wrong@${address}`, /WRONGPASS.*; check the user and the password of --redis_url/],
    ["a replica", { options: ["--replicaof", "127.0.0.1", "1"] }, ({ url }) => url, /Redis at \S+ is a replica; expected the primary/],
    ["no TLS", {}, ({ address }) => `rediss://${address}`, /encrypt the connection to Redis at .*expected a server with TLS at this port/],
    ["several URLs", {}, ({ url }) => `${url},${url}`, /it is no node of a Redis Cluster \(cluster-enabled no\), and --redis_url has a comma/],
    ["one node of a cluster", { isNode: true }, ({ url }) => url, /is a node of a Redis Cluster; expected its nodes with commas/],
  ]) {
    test(what, async (t) => {
      const redis = await RedisServer.start(t, settings);
      const server = await startServer(inRedis(url(redis)), "--broadcast_adapter", "http");
      t.after(() => server.stop());
      await server.logged(expected);
      assert.equal((await send(server, { stream: "s", data: "1" }, randomUUID())).status, 503);
      await expectReadiness([server], 503);
      const lines = server.stderr.split("\n").filter((line) => expected.test(line));
      // Commands and announcements have a connection each.
      assert.ok(lines.length <= 2, lines.join("\n"));
      assert.doesNotMatch(server.stderr, /wrong@|right/);
    });
  }

  test("databases and settings that a cluster cannot have", async () => {
    for (const [url, expected] of [
      ["redis://a/1,redis://b/1", "a Redis Cluster has only the database 0, and the URL asks for 1"],
      ["redis://:x@a,redis://:y@b", "b:6379 differs from the first URL"],
      ["redis://a,rediss://b", "b:6379 differs from the first URL"],
    ]) {
      const { code, stderr } = await plimsoll("serve", "--port", "0", "--broker", "redis", "--redis_url", url);
      assert.equal(code, 2, stderr);
      assert.ok(stderr.includes(expected), stderr);
    }
  });
});
