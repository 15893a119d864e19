// `plimsoll serve --broker nats`: the scenarios of shared brokers with a real NATS server with JetStream, and what only NATS has.
// docs/reference/nats-broker.md has the guarantees.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { brokerScenarios, startServer } from "./support/broker-scenarios.mjs";
import { NatsServer, cutTunnel, inJetStream, startNatsBehindTunnel, startNatsCluster } from "./support/nats.mjs";
import { plimsoll } from "./support/plimsoll.mjs";
import { eventually } from "./support/processes.mjs";
import { RedisServer } from "./support/redis.mjs";
import { PATIENCE_MS, expectNumbers, next, publish, pubsub, readiness, send, subscribed } from "./support/shared-streams.mjs";

const natsEngine = {
  name: "nats",
  flags: inJetStream,
  start: (t) => startNatsBehindTunnel(t),
  startForgetful: (t) => startNatsBehindTunnel(t, { forgets: true }),
  cut: cutTunnel,
  redis: (t) => RedisServer.start(t),
  subscribes: /SUB plimsoll\.b /,
  startText: /Streams are shared with all servers of this NATS \(--nats_prefix plimsoll\)/,
};

brokerScenarios(natsEngine);

const ready = (server) => eventually(async () => (await readiness(server)) === 200, "a server that is ready", PATIENCE_MS);

async function start(t, nats, ...flags) {
  const server = await startServer(natsEngine, nats, ...flags);
  t.after(() => server.isRunning && server.stop());
  return server;
}

test("names that are no subjects are streams of their own, and one that is too long is refused", async (t) => {
  const nats = await natsEngine.start(t);
  const [here, there] = [await start(t, nats), await start(t, nats)];
  const names = ["chat room", "*", ">", "a.*", "a..b", "$SYS", "räume/1", "~control"];
  const clients = await Promise.all(names.map((name) => subscribed(t, there, name)));
  for (const name of names) await publish(here, name, name);
  for (const [n, client] of clients.entries()) {
    const { message, offset } = await next(client);
    assert.deepEqual([message, offset], [names[n], 1]);
  }
  const refused = await send(here, { stream: "x".repeat(5000), data: "1" }, "key");
  assert.equal(refused.status, 422);
});

test("a NATS server without JetStream is named, waited for and found", async (t) => {
  const nats = await NatsServer.start(t);
  const server = await start(t, nats);
  await server.logged(/The NATS broker is away: JetStream does not answer; start NATS with it \(nats-server -js\)/);
  assert.equal(await readiness(server), 503);
  const refused = await send(server, { stream: "s", data: "1" }, "key");
  assert.equal(refused.status, 503);
  await nats.kill();
  nats.enableJetStream();
  await nats.resume();
  await ready(server);
  const client = await subscribed(t, server, "s");
  await publish(server, "s", 1);
  await expectNumbers(client, 1, 1);
});

test("a user without permissions is named, and broadcasts are answered 503", async (t) => {
  const permissions = 'authorization { users = [{ user: kay, password: secret, permissions: { publish: { deny: "plimsoll.h.>" } } }] }';
  const nats = await NatsServer.start(t, { jetStream: true, settings: permissions });
  const url = nats.url.replace("nats://", "nats://kay:secret@");
  const server = await startServer({ flags: () => ["--broker", "nats", "--nats_servers", url] }, nats);
  t.after(() => server.stop());
  await ready(server);
  const refused = await send(server, { stream: "s", data: "1" }, "key");
  assert.equal(refused.status, 503);
  await server.logged(/does not permit a part of the NATS broker: Permissions Violation for Publish to "plimsoll.h.cw"/);
});

test("the permissions of the reference are enough, and a server with other limits adapts the stream", async (t) => {
  const requests = ["STREAM.INFO", "STREAM.CREATE", "STREAM.UPDATE", "STREAM.MSG.GET"];
  const streams = ["plimsoll", "plimsoll-sessions", "plimsoll-presence"];
  const api = streams.flatMap((stream) => requests.map((name) => `$JS.API.${name}.${stream}`));
  const reads = ["plimsoll", "plimsoll-presence"].map((stream) => `$JS.API.DIRECT.GET.${stream}`);
  const publishes = ["plimsoll.>", ...api, ...reads];
  const permissions = { publish: publishes, subscribe: ["plimsoll.r.*", "plimsoll.q.*.*", "plimsoll.p.*", "plimsoll.b", "_INBOX.>"] };
  const settings = `authorization { users = ${JSON.stringify([{ user: "kay", password: "secret", permissions }])} }`;
  const nats = await NatsServer.start(t, { jetStream: true, settings });
  const engine = { flags: () => ["--broker", "nats", "--nats_servers", nats.url.replace("nats://", "nats://kay:secret@")] };
  const servers = [];
  for (const limit of ["100", "200"]) {
    const server = await startServer(engine, nats, "--history_limit", limit);
    t.after(() => server.stop());
    await ready(server);
    servers.push(server);
  }
  await servers[1].logged(/Changing the settings of the JetStream stream plimsoll: max_msgs_per_subject/);
  const client = await subscribed(t, servers[0], "s");
  for (let n = 1; n <= 4; n++) await publish(servers[n % 2], "s", n);
  await expectNumbers(client, 1, 4);
  await expectNumbers(await subscribed(t, servers[1], "s", { since: 1 }), 1, 4);
  for (const { stderr } of servers) assert.doesNotMatch(stderr, /does not permit/);
});

test("a message that is longer than NATS accepts is refused for good", async (t) => {
  const nats = await NatsServer.start(t, { jetStream: true, settings: "max_payload: 2000" });
  const server = await start(t, nats);
  await ready(server);
  const refused = await send(server, { stream: "s", data: JSON.stringify("x".repeat(3000)) }, "key");
  assert.equal(refused.status, 422);
  const client = await subscribed(t, server, "s");
  await publish(server, "s", 1);
  await expectNumbers(client, 1, 1);
});

test("a full JetStream is named, and broadcasts are answered 503", async (t) => {
  const nats = await NatsServer.start(t, { jetStream: true, settings: "jetstream { max_file_store: 100K }" });
  const server = await start(t, nats, "--history_limit", "1000");
  await ready(server);
  const data = JSON.stringify("x".repeat(20_000));
  let status = 201;
  for (let n = 0; status === 201 && n < 100; n++) ({ status } = await send(server, { stream: "s", data }, String(n)));
  assert.equal(status, 503);
  await server.logged(/JetStream does not store messages: .* Give JetStream more room/);
});

test("a message of another program at the end of a log costs that stream alone, until it is removed", async (t) => {
  const nats = await NatsServer.start(t, { jetStream: true });
  const server = await start(t, nats);
  await ready(server);
  const [client, other] = [await subscribed(t, server, "s"), await subscribed(t, server, "other")];
  await publish(server, "s", 1);
  await expectNumbers(client, 1, 1);
  const peer = await nats.peer(t);
  await peer.publish("plimsoll.h.cw", "hello");
  for (let n = 0; n < 3; n++) assert.equal((await send(server, { stream: "s", data: "2" }, "same")).status, 503);
  await server.logged(/A stream takes no messages: the last message on the subject plimsoll.h.cw in JetStream is of another program/);
  await publish(server, "other", 1);
  await expectNumbers(other, 1, 1);
  assert.equal(await readiness(server), 200);
  await peer.publish("$JS.API.STREAM.PURGE.plimsoll", JSON.stringify({ filter: "plimsoll.h.cw" }));
  await publish(server, "s", 2);
  assert.deepEqual(await next(client), { type: "reject_history", identifier: pubsub("s") });
  const { message, offset } = await next(client);
  assert.deepEqual([message, offset], [2, 1]);
});

describe("a cluster of three NATS servers", () => {
  test("with three copies it goes on when one of them dies, and no confirmed message is lost", async (t) => {
    const cluster = await startNatsCluster(t, { jetStream: true });
    // The URLs of each begin with another server of the cluster.
    const urls = (n) => [...cluster.slice(n), ...cluster.slice(0, n)].map(({ url }) => url).join(",");
    const flags = (n) => ["--nats_dont_randomize_servers", "--nats_servers", urls(n), "--nats_replicas", "3"];
    const engine = { flags: (n) => ["--broker", "nats", ...flags(n)] };
    const servers = await Promise.all([0, 1, 2].map((n) => startServer(engine, n)));
    t.after(() => Promise.all(servers.map((server) => server.stop())));
    for (const server of servers) await ready(server);
    const clients = await Promise.all(servers.map((server) => subscribed(t, server, "s")));
    const count = 60;
    const backend = async (first) => {
      for (let n = first; n < count; n += 6) {
        if (n === 30) await cluster[2].kill();
        await publish(servers[first % 3], "s", n);
      }
    };
    await Promise.all(Array.from({ length: 6 }, (_, first) => backend(first)));
    const logs = [];
    for (const client of clients) {
      const log = [];
      while (log.length < count) log.push(await next(client));
      assert.deepEqual(
        log.map(({ offset }) => offset),
        Array.from({ length: count }, (_, n) => n + 1),
      );
      logs.push(log.map(({ message }) => message));
    }
    assert.deepEqual(logs[1], logs[0]);
    assert.deepEqual(logs[2], logs[0]);
    assert.deepEqual(
      logs[0].toSorted((a, b) => a - b),
      Array.from({ length: count }, (_, n) => n),
    );
  });
});

test("settings that the broker cannot have are refused with the reason", async () => {
  for (const [flags, reason] of [
    [["--ds"], /--ds reads the streams in the memory of one server; it cannot be used with --broker nats/],
    [["--pubsub", "redis"], /--pubsub redis and --broker nats both connect the servers of a cluster/],
    [["--nats_prefix", "a.b"], /expected up to 64 letters, digits, - and _/],
  ]) {
    const { code, stderr } = await plimsoll("serve", "--broker", "nats", ...flags);
    assert.equal(code, 2);
    assert.match(stderr, reason);
  }
});
