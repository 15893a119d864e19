// `plimsoll serve --broker redis`: the scenarios of shared brokers with a real Redis, and what only Redis has.
// docs/reference/redis-broker.md has the guarantees.

import assert from "node:assert/strict";
import { test } from "node:test";
import { PATIENCE_MS, brokerScenarios, next, readiness, startServer, subscribed } from "./support/broker-scenarios.mjs";
import { eventually } from "./support/processes.mjs";
import { RedisServer } from "./support/redis.mjs";

const redisEngine = {
  flags: (redis) => ["--broker", "redis", "--redis_url", redis.url],
  start: (t) => RedisServer.start(t, { options: ["--appendonly", "yes", "--appendfsync", "everysec"] }),
  startForgetful: (t) => RedisServer.start(t),
  cut: (t, redis) => {
    const admin = redis.client(t);
    return () => admin.call("CLIENT", "KILL", "TYPE", "pubsub");
  },
  startText: /Streams are shared with all servers of this Redis \(--redis_prefix plimsoll\)/,
};

brokerScenarios(redisEngine);

test("an entry of a Redis stream is published once, by one server, for the clients of all", async (t) => {
  const redis = await redisEngine.start(t);
  const flags = ["--broadcast_adapter", "http,redisx", "--redisx_read_block_milliseconds", "500"];
  const servers = await Promise.all([startServer(redisEngine, redis, ...flags), startServer(redisEngine, redis, ...flags)]);
  t.after(() => Promise.all(servers.map((server) => server.stop())));
  const clients = await Promise.all(servers.map((server) => subscribed(t, server, "s")));
  for (const server of servers) {
    await eventually(async () => (await readiness(server)) === 200, "a server that is ready", PATIENCE_MS);
  }
  const admin = redis.client(t);
  for (let n = 1; n <= 20; n++) {
    await admin.call("XADD", "__anycable__", "*", "payload", JSON.stringify({ stream: "s", data: String(n) }));
  }
  for (const client of clients) {
    const heard = [];
    while (heard.length < 20) heard.push((await next(client)).message);
    // Two servers take the entries, so their order is that in which the servers publish them.
    assert.deepEqual(
      heard.toSorted((a, b) => a - b),
      Array.from({ length: 20 }, (_, n) => n + 1),
    );
  }
  await eventually(async () => (await admin.call("XLEN", "__anycable__")) === 0, "an empty stream", PATIENCE_MS);
});
