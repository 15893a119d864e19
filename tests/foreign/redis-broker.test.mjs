// `plimsoll serve --broker redis`: the scenarios of shared brokers with a real Redis.
// docs/reference/redis-broker.md has the guarantees.

import { brokerScenarios } from "./support/broker-scenarios.mjs";
import { RedisServer } from "./support/redis.mjs";

brokerScenarios({
  flags: (redis) => ["--broker", "redis", "--redis_url", redis.url],
  start: (t) => RedisServer.start(t, { options: ["--appendonly", "yes", "--appendfsync", "everysec"] }),
  startForgetful: (t) => RedisServer.start(t),
  cut: (t, redis) => {
    const admin = redis.client(t);
    return () => admin.call("CLIENT", "KILL", "TYPE", "pubsub");
  },
  redis: (_t, redis) => redis,
  startText: /Streams are shared with all servers of this Redis \(--redis_prefix plimsoll\)/,
  absences: /A session goes on at any of them, and no client is present on any stream/,
});
