// `plimsoll serve --redis_sentinels`: real sentinels watch a real primary and its replica, and name another one.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { describe, test } from "node:test";
import { CableClient } from "./support/cable.mjs";
import { plimsoll, Server } from "./support/plimsoll.mjs";
import { eventually } from "./support/processes.mjs";
import { RedisServer, Sentinel } from "./support/redis.mjs";

const EXTENDED = "actioncable-v1-ext-json";
const PATIENCE_MS = 60_000;
const STREAM = "news";
const IDENTIFIER = JSON.stringify({ channel: "$pubsub", stream_name: STREAM });

const next = async (client) => JSON.parse(await client.frames.next(PATIENCE_MS));

/** A server that finds its Redis through `sentinels`. */
async function serve(t, sentinels, ...flags) {
  const named = ["--redis_url", "redis://:data-secret@mymaster", "--redis_sentinels", sentinels];
  const server = await Server.start("--public", "--broadcast_key", "secret", ...named, ...flags);
  t.after(() => server.isRunning && server.stop());
  return server;
}

async function listen(t, server, history) {
  const client = await CableClient.connect(server.ws("/cable"), { protocols: [EXTENDED] });
  t.after(() => client.socket.terminate());
  await next(client);
  client.send({ command: "subscribe", identifier: IDENTIFIER, ...(history && { history }) });
  assert.equal((await next(client)).type, "confirm_subscription");
  return client;
}

/** Publishes over HTTP, again under the same key until the server has stored it. */
async function publish(server, message) {
  const headers = { authorization: "Bearer secret", "idempotency-key": randomUUID() };
  const body = JSON.stringify({ stream: STREAM, data: JSON.stringify(message) });
  const isStored = async () => (await fetch(server.http("/_broadcast"), { method: "POST", headers, body })).status === 201;
  await eventually(isStored, `message ${message} to be stored`, PATIENCE_MS);
}

/** A primary and its replica. */
async function pair(t) {
  const secrets = ["--requirepass", "data-secret", "--masterauth", "data-secret", "--repl-diskless-sync-delay", "0"];
  const primary = await RedisServer.start(t, { options: secrets });
  const replica = await RedisServer.start(t, { options: [...secrets, "--replicaof", ...primary.address.split(":")] });
  const data = replica.client(t, { password: "data-secret" });
  await eventually(async () => (await data.info("replication")).includes("master_link_status:up"), "the replica to follow");
  return { primary, replica, data };
}

function assertNoSecrets({ stderr }) {
  assert.doesNotMatch(stderr, /data-secret|sentinel-secret/);
}

test("when the primary dies, its replica goes on, and no client notices", async (t) => {
  const { primary, replica, data } = await pair(t);
  const sentinel = await Sentinel.start(t, primary, { password: "sentinel-secret", dataPassword: "data-secret" });
  await eventually(async () => (await sentinel.replicas()).length === 1, "the sentinel to know the replica", PATIENCE_MS);
  const servers = [];
  for (let n = 0; n < 2; n++) servers.push(await serve(t, `127.0.0.1:1,:sentinel-secret@${sentinel.address}`, "--broker", "redis"));
  const clients = await Promise.all(servers.map((server) => listen(t, server)));
  await publish(servers[0], 1);
  for (const client of clients) assert.equal((await next(client)).message, 1);
  await eventually(async () => (await data.dbsize()) > 0, "the replica to have the message");
  await primary.kill();
  await publish(servers[1], 2);
  for (const client of clients) {
    const { message, offset } = await next(client);
    assert.deepEqual([message, offset], [2, 2]);
  }
  const late = await listen(t, servers[0], { since: 1 });
  assert.deepEqual([(await next(late)).message, (await next(late)).message], [1, 2]);
  assert.equal(await sentinel.primary(), replica.address);
  servers.forEach(assertNoSecrets);
});

test("what a replica never had is announced by a new epoch", async (t) => {
  const { primary, replica, data } = await pair(t);
  const sentinel = await Sentinel.start(t, primary, { dataPassword: "data-secret" });
  const server = await serve(t, sentinel.address, "--broker", "redis");
  const client = await listen(t, server);
  await publish(server, 1);
  const first = await next(client);
  await eventually(async () => (await data.dbsize()) > 0, "the replica to have the message");
  // A sentinel would make it follow again.
  await sentinel.forget();
  await data.call("REPLICAOF", "NO", "ONE");
  await publish(server, 2);
  assert.equal((await next(client)).message, 2);
  await primary.kill();
  await sentinel.watch(replica);
  assert.equal((await next(client)).type, "reject_history", "the client is told");
  await publish(server, 3);
  const { message, epoch } = await next(client);
  assert.equal(message, 3);
  assert.notEqual(epoch, first.epoch);
});

test("a primary that only the sentinels have left is left, too", async (t) => {
  const [old, other] = await Promise.all([0, 1].map(() => RedisServer.start(t, { options: ["--requirepass", "data-secret"] })));
  const sentinel = await Sentinel.start(t, old, { dataPassword: "data-secret" });
  const server = await serve(t, sentinel.address, "--broadcast_adapter", "redis", "--redis_sentinel_discovery_interval", "1");
  const client = await listen(t, server);
  const send = async (redis, message) => {
    const payload = JSON.stringify({ stream: STREAM, data: JSON.stringify(message) });
    return redis.client(t, { password: "data-secret" }).publish("__anycable__", payload);
  };
  await eventually(async () => (await send(old, "from the old one")) === 1, "the server to listen", PATIENCE_MS);
  assert.equal((await next(client)).message, "from the old one");
  await sentinel.watch(other);
  await eventually(async () => (await send(other, "from the other one")) === 1, "the server to listen there", PATIENCE_MS);
  assert.equal((await next(client)).message, "from the other one");
  await eventually(() => server.stderr.includes(`The primary of the Redis group mymaster is now ${other.address}, no longer ${old.address}.`), "a line");
});

describe("mistakes are named", () => {
  const adapter = ["--broadcast_adapter", "redis"];

  test("an unknown group, and a sentinel that is not there", async (t) => {
    const redis = await RedisServer.start(t);
    const sentinel = await Sentinel.start(t, redis, {});
    const named = ["--redis_url", "redis://another", "--redis_sentinels", `127.0.0.1:1,${sentinel.address}`];
    const server = await Server.start(...adapter, ...named);
    t.after(() => server.isRunning && server.stop());
    const isTold = () =>
      /find the primary of the Redis group another: 127\.0\.0\.1:1: connect to Redis at 127\.0\.0\.1:1: .*; 127\.0\.0\.1:\d+: the sentinel does not know the group another, which is the host of the Redis URL/.test(server.stderr);
    await eventually(isTold, "a line that says so");
    assert.equal((await fetch(server.http("/ready"))).status, 503);
  });

  for (const [flags, expected] of [
    [["--redis_sentinels", "h"], "--redis_sentinels needs --redis_url redis://GROUP"],
    [["--redis_url", "redis://g", "--redis_sentinels", "h:many"], "not a Redis URL"],
    [["--redis_url", "redis-sentinel://h:26379/g"], "--redis_sentinels HOST:26379"],
  ]) {
    test(flags.join(" "), async () => {
      const { code, stderr } = await plimsoll("serve", "--port", "0", ...adapter, ...flags);
      assert.equal(code, 2, stderr);
      assert.ok(stderr.includes(expected), stderr);
    });
  }
});
