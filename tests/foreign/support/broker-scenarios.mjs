// Servers that share their streams in a broker, while the broker is cut off, stopped and killed. The scenarios are the same for
// Redis and NATS JetStream; an engine says what differs.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import * as streams from "./shared-streams.mjs";
import { expectNumbers, expectReadiness, next, publish, pubsub, send, subscribed } from "./shared-streams.mjs";
import { Tunnel } from "./tunnel.mjs";

/** A server with the broker of an engine. */
export const startServer = (engine, store, ...flags) => streams.startServer(engine.flags(store), ...flags);

/**
 * An engine has the `name` that `/ready` tells, `flags(store)` for the servers, `start(t)` for a store that keeps its data when it is killed, and
 * `startForgetful(t)` for one that does not. `cut(t, store)` makes a function that cuts the subscriptions of all servers, and
 * `redis(t, store)` is a Redis for the adapter redisx. `subscribes` is in what a server sends first on its connection for subscriptions.
 */
export function brokerScenarios(engine) {
  describe("two servers", () => {
    let store, servers;
    const ends = [];

    before(async () => {
      store = await engine.start({ after: (end) => ends.push(end) });
      servers = await Promise.all([startServer(engine, store), startServer(engine, store)]);
    });
    after(async () => {
      await Promise.all(servers.map((server) => server.stop()));
      for (const end of ends) await end();
    });

    test("broadcasts into either reach the clients of both, once and in one order", (t) => streams.reachesAll(t, servers, "calm"));

    test("cut subscriptions cost no message and no client", async (t) =>
      streams.survivesCuts(t, servers, "cut", await engine.cut(t, store)));

    test("a store that stops for seconds costs no message and no client", (t) =>
      streams.survives(t, servers, "stopped", async (publishDuring) => {
        store.signal("SIGSTOP");
        const during = publishDuring();
        await expectReadiness(servers, 503);
        store.signal("SIGCONT");
        await during;
      }));

    test("a store that is killed and comes back costs no confirmed message and no client", (t) =>
      streams.survives(t, servers, "killed", async (publishDuring) => {
        await store.kill();
        await expectReadiness(servers, 503);
        const during = publishDuring();
        await store.resume();
        await during;
      }));

    test("/ready has the figures of the metrics", async () => {
      await streams.expectReadiness(servers, 200);
      await streams.showsItsCluster(servers, engine.name);
    });
  });

  test("a client whose server dies goes on at another one with its positions, and so does one that comes later", async (t) =>
    streams.goesOnElsewhere(t, engine.flags(await engine.start(t))));

  test("a store that lost its data is announced to every client, and none is disconnected", async (t) => {
    const store = await engine.startForgetful(t);
    const server = await startServer(engine, store);
    t.after(() => server.stop());
    const client = await subscribed(t, server, "s");
    await publish(server, "s", 1);
    await expectNumbers(client, 1, 1);
    await store.kill();
    await store.resume();
    assert.deepEqual(await next(client), { type: "reject_history", identifier: pubsub("s") });
    await publish(server, "s", 2);
    assert.equal((await next(client)).message, 2);
  });

  test("a command to disconnect reaches the clients of all servers, whichever takes it", async (t) => {
    const flags = engine.flags(await engine.start(t));
    await streams.disconnectsEverywhere(t, [flags, flags]);
  });

  test("a server that is ready hears each command, however slow its subscription is", async (t) => {
    const store = await engine.start(t);
    const tunnel = await Tunnel.to(t, Number(store.address.split(":")[1]), { slow: { sent: engine.subscribes, ms: 300 } });
    await streams.disconnectsEverywhere(t, [engine.flags(store), engine.flags({ url: `redis://${tunnel.address}`, tunnel })]);
  });

  test("what the broker does for sessions and presence is said at the start", async (t) => {
    const store = await engine.startForgetful(t);
    const server = await startServer(engine, store);
    t.after(() => server.stop());
    await server.logged(engine.startText);
    await server.logged(/A session goes on at any of them, and clients of all servers are present together/);
    const client = await subscribed(t, server, "s");
    client.send({ command: "presence", identifier: pubsub("s") });
    const { type, message } = await next(client);
    assert.deepEqual([type, message.type], ["presence", "info"]);
  });

  test("servers that publish to one stream at the same time lose and repeat nothing, and all have one order", async (t) => {
    const store = await engine.start(t);
    const servers = await Promise.all([0, 1, 2].map(() => startServer(engine, store)));
    t.after(() => Promise.all(servers.map((server) => server.stop())));
    const clients = await Promise.all(servers.map((server) => subscribed(t, server, "busy")));
    const count = 150;
    // Five backends of each server, each of which sends its next message when the last one is confirmed.
    const backend = async (first) => {
      for (let n = first; n < count; n += 15) await publish(servers[first % 3], "busy", n);
    };
    await Promise.all(Array.from({ length: 15 }, (_, first) => backend(first)));
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

  test("a message that is sent again under its key is published once", async (t) => {
    const store = await engine.start(t);
    const servers = await Promise.all([startServer(engine, store), startServer(engine, store)]);
    t.after(() => Promise.all(servers.map((server) => server.stop())));
    const client = await subscribed(t, servers[0], "once");
    for (const server of [...servers, ...servers]) {
      assert.equal((await send(server, { stream: "once", data: "1" }, "a key")).status, 201);
    }
    await publish(servers[1], "once", 2);
    await expectNumbers(client, 1, 2);
  });

  test("an entry of a Redis stream is published once, by one server, for the clients of all", async (t) => {
    const store = await engine.start(t);
    const redis = await engine.redis(t, store);
    const flags = engine.flags(store);
    const named = flags.includes("--redis_url") ? [] : ["--redis_url", redis.url];
    await streams.takesEntries(t, [...flags, ...named], redis.client(t));
  });
}
