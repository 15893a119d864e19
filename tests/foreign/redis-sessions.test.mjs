// `plimsoll serve --broker redis`: the scenarios of shared sessions with a real Redis. docs/reference/redis-broker.md, Sessions.

import { RedisServer } from "./support/redis.mjs";
import { sessionScenarios } from "./support/session-scenarios.mjs";

sessionScenarios({
  flags: ({ url }) => ["--broker", "redis", "--redis_url", url],
  start: (t) => RedisServer.start(t, { options: ["--appendonly", "yes", "--appendfsync", "everysec"] }),
  sessions: (t, redis) => {
    const admin = redis.client(t);
    return (sid) => admin.call("HMGET", `plimsoll:record:${sid}`, "owner", "content");
  },
});
