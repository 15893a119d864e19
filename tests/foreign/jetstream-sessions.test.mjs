// `plimsoll serve --broker nats`: the scenarios of shared sessions with a real NATS server with JetStream.
// docs/reference/nats-broker.md, Sessions.

import assert from "node:assert/strict";
import { describe } from "node:test";
import { NatsServer, startNatsCluster } from "./support/nats.mjs";
import { sessionScenarios } from "./support/session-scenarios.mjs";

const NOTHING = [null, null];

/** NO MESSAGE FOUND, and the answer to requests before there is a stream. */
const ABSENT = [10037, 10059];

/** What `plimsoll.s.SID` last said: `STATE OWNER SINCE AFTER GUARD_BYTES` in a header, and guard and content behind it. */
function ownerAndContent({ message, error }) {
  if (error) {
    assert.ok(ABSENT.includes(error.err_code), JSON.stringify(error));
    return NOTHING;
  }
  const text = (base64 = "") => Buffer.from(base64, "base64").toString();
  const [, state, owner] = text(message.hdrs).match(/^Plimsoll-Record: (\S+) (\S+)/m);
  return state === "removed" ? NOTHING : [{ held: owner, left: "", taken: "-" }[state], text(message.data)];
}

/** Finds a session through one of the servers. */
async function sessions(t, nats) {
  const admin = await nats.peer(t);
  return async (sid) => {
    const wanted = JSON.stringify({ last_by_subj: `plimsoll.s.${sid}` });
    return ownerAndContent(JSON.parse(await admin.request("$JS.API.STREAM.MSG.GET.plimsoll-sessions", wanted)));
  };
}

sessionScenarios({
  flags: ({ url }) => ["--broker", "nats", "--nats_servers", url],
  start: (t) => NatsServer.start(t, { jetStream: true }),
  sessions,
});

describe("a cluster of three NATS servers with three copies", () => {
  sessionScenarios({
    flags: ({ urls }) => ["--broker", "nats", "--nats_servers", urls, "--nats_replicas", "3"],
    start: async (t) => {
      const servers = await startNatsCluster(t, { jetStream: true });
      const urls = servers.map(({ url }) => url).join(",");
      return { servers, urls, signal: (name) => servers.forEach((server) => server.signal(name)) };
    },
    sessions: (t, { servers }) => sessions(t, servers[0]),
  });
});
