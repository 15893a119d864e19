// `plimsoll serve --broker redis`: the scenarios of shared sessions with a real Redis. docs/reference/redis-broker.md, Sessions.

import { RedisServer, sessionsIn } from "./support/redis.mjs";
import { sessionScenarios } from "./support/session-scenarios.mjs";
import { inRedis } from "./support/shared-streams.mjs";

sessionScenarios({
  flags: ({ url }) => inRedis(url),
  start: (t) => RedisServer.start(t, { options: ["--appendonly", "yes", "--appendfsync", "everysec"] }),
  sessions: sessionsIn,
});
