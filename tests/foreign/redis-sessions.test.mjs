// `plimsoll serve --broker redis`: the scenarios of shared sessions with a real Redis. docs/reference/redis-broker.md, Sessions.

import assert from "node:assert/strict";
import { test } from "node:test";
import { RedisServer, sessionsIn } from "./support/redis.mjs";
import { Cluster, counted, sessionScenarios } from "./support/session-scenarios.mjs";
import { inRedis } from "./support/shared-streams.mjs";

const engine = {
  flags: ({ url }) => inRedis(url),
  start: (t) => RedisServer.start(t, { options: ["--appendonly", "yes", "--appendfsync", "always"] }),
  sessions: sessionsIn,
};

sessionScenarios(engine);

test("a session whose key another program has written does not go on: its client connects anew, and other sessions go on", async (t) => {
  const cluster = await Cluster.start(t, engine);
  const admin = cluster.store.client(t);
  const other = await cluster.subscribed(0);
  const content = ["owner", "", "guard", "{}", "since", "1"];
  const complaints = [];
  for (const [reason, ...plant] of [
    ["WRONGTYPE", "SET", "x"],
    ["FOREIGN", "HSET", ...content],
    [null, "HSET", ...content, "content", "{"],
    ["FOREIGN", "HSET", "owner", ""],
  ]) {
    const { client, sid } = await cluster.subscribed(0);
    client.socket.terminate();
    await cluster.stored(sid, (owner) => owner === "");
    const [command, ...words] = plant;
    await admin.del(`plimsoll:record:${sid}`);
    await admin.call(command, `plimsoll:record:${sid}`, ...words);
    const { welcome } = await cluster.connect(1, { sid });
    assert.equal(welcome.restored, undefined, plant.join(" "));
    if (reason) complaints.push([sid, reason]);
  }
  await cluster.stored(other.sid, counted(0));
  other.client.socket.terminate();
  await cluster.resume(1, other.sid);
  const complaint = (sid, reason) =>
    new RegExp(`expected a hash in "plimsoll:record:${sid}", but Redis says: ${reason} [^;]+; remove them \\(in redis-cli: DEL "plimsoll:record:${sid}"\\)`);
  for (const [sid, reason] of complaints) await cluster.servers[1].logged(complaint(sid, reason));
  await cluster.servers[1].logged(/A session is not resumed: it cannot be read/);
});
