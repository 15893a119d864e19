// `plimsoll serve --broker nats`: the scenarios of shared presence with a real NATS server with JetStream.
// docs/reference/nats-broker.md, Presence.

import { describe, test } from "node:test";
import { cutTunnel, inJetStream, inJetStreamCluster, sessionsIn, startNatsBehindTunnel, startNatsCluster } from "./support/nats.mjs";
import { comeAndGo, presenceScenarios } from "./support/presence-scenarios.mjs";

presenceScenarios({
  flags: inJetStream,
  start: (t) => startNatsBehindTunnel(t, { forgets: true }),
  cut: cutTunnel,
  sessions: sessionsIn,
});

describe("a cluster of three NATS servers with three copies", () => {
  test("has the members of a stream", (t) =>
    comeAndGo(t, {
      flags: inJetStreamCluster,
      start: (t) => startNatsCluster(t, { jetStream: true }),
    }));
});
