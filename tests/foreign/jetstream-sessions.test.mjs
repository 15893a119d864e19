// `plimsoll serve --broker nats`: the scenarios of shared sessions with a real NATS server with JetStream.
// docs/reference/nats-broker.md, Sessions.

import { describe } from "node:test";
import { NatsServer, inJetStream, inJetStreamCluster, sessionsIn, startNatsCluster } from "./support/nats.mjs";
import { sessionScenarios } from "./support/session-scenarios.mjs";

sessionScenarios({ flags: inJetStream, start: (t) => NatsServer.start(t, { jetStream: true }), sessions: sessionsIn });

describe("a cluster of three NATS servers with three copies", () => {
  sessionScenarios({
    flags: ({ servers }) => inJetStreamCluster(servers),
    start: async (t) => {
      const servers = await startNatsCluster(t, { jetStream: true });
      return { servers, signal: (name) => servers.forEach((server) => server.signal(name)) };
    },
    sessions: (t, { servers }) => sessionsIn(t, servers[0]),
  });
});
