// `plimsoll serve --broker redis`: the scenarios of shared presence with a real Redis. docs/reference/redis-broker.md, Presence.

import { test } from "node:test";
import { comeAndGo, presenceScenarios } from "./support/presence-scenarios.mjs";
import { RedisCluster } from "./support/redis-cluster.mjs";
import { RedisServer, sessionsIn } from "./support/redis.mjs";
import { inRedis } from "./support/shared-streams.mjs";

const engine = {
  flags: ({ url }) => inRedis(url),
  start: (t) => RedisServer.start(t),
  cut: (t, redis) => {
    const admin = redis.client(t);
    return () => admin.client("KILL", "TYPE", "pubsub");
  },
  sessions: sessionsIn,
};

presenceScenarios(engine);

test("a Redis Cluster has the members of a stream on one node", (t) =>
  comeAndGo(t, { ...engine, start: (t) => RedisCluster.start(t) }));
