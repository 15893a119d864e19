// Servers that share their streams in a broker, while the broker is cut off, stopped and killed. The scenarios are the same for
// Redis and NATS JetStream; an engine says what differs.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { CableClient } from "./cable.mjs";
import { Server } from "./plimsoll.mjs";
import { eventually } from "./processes.mjs";
import { scrape } from "./scrape.mjs";

const EXTENDED = "actioncable-v1-ext-json";

/** A fault of a broker lasts seconds, and the servers look for it at growing distances. */
export const PATIENCE_MS = 60_000;

/** The identifiers that the chat application gives the client with the cookie `uid=Kay/1`. */
const KAY = '{"name":"Kay","id":"1"}';

export const pubsub = (stream) => JSON.stringify({ channel: "$pubsub", stream_name: stream });

export const next = async (client) => JSON.parse(await client.frames.next(PATIENCE_MS));

/** A server with the broker of an engine. */
export const startServer = (engine, store, ...flags) =>
  Server.start("--public", ...engine.flags(store), "--shards", "2", "--broadcast_key", "secret", "--metrics_http", "/metrics", ...flags);

export async function subscribed(t, server, stream, history) {
  const client = await CableClient.connect(server.ws("/cable"), { protocols: [EXTENDED] });
  t.after(() => client.socket.terminate());
  await next(client);
  client.send({ command: "subscribe", identifier: pubsub(stream), ...(history && { history }) });
  assert.equal((await next(client)).type, "confirm_subscription");
  return client;
}

export async function send(server, body, key) {
  const response = await fetch(server.http("/_broadcast"), {
    method: "POST",
    headers: { authorization: "Bearer secret", "idempotency-key": key },
    body: JSON.stringify(body),
  });
  await response.text();
  return response;
}

/** Publishes as a careful backend does: again under the same key, until the message is confirmed. */
export async function publish(server, stream, message) {
  const key = randomUUID();
  await eventually(
    async () => {
      const response = await send(server, { stream, data: JSON.stringify(message) }, key);
      if (response.status === 201) return true;
      assert.equal(response.status, 503);
      assert.equal(response.headers.get("retry-after"), "1");
      return false;
    },
    `a confirmation of message ${message}`,
    PATIENCE_MS,
  );
}

/** The next `count` messages must be the numbers from `first` on, with the offsets of one log. */
export async function expectNumbers(client, first, count) {
  const heard = [];
  while (heard.length < count) {
    const message = await next(client);
    assert.equal(message.type, undefined, JSON.stringify(message));
    heard.push(message);
  }
  const numbers = Array.from({ length: count }, (_, n) => first + n);
  assert.deepEqual(
    heard.map(({ message }) => message),
    numbers,
  );
  assert.deepEqual(
    heard.map(({ offset }) => offset),
    numbers,
  );
  assert.equal(new Set(heard.map(({ epoch }) => epoch)).size, 1);
}

export const readiness = async (server) => (await fetch(server.http("/ready"))).status;

/**
 * An engine has a name, `flags(store)` for the servers, `start(t)` for a store that keeps its data when it is killed, and
 * `startForgetful(t)` for one that does not. `cut(t, store)` makes a function that cuts the subscriptions of all servers, and
 * `redis(t, store)` is a Redis for the adapter redisx.
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

    /** Three clients on each server. */
    const listeners = (t, stream) =>
      Promise.all([0, 1, 0, 1, 0, 1].map((n) => subscribed(t, servers[n], stream)));

    test("broadcasts into either reach the clients of both, once and in one order", async (t) => {
      const clients = await listeners(t, "calm");
      for (let n = 1; n <= 50; n++) await publish(servers[n % 2], "calm", n);
      await Promise.all(clients.map((client) => expectNumbers(client, 1, 50)));
    });

    test("cut subscriptions cost no message and no client", async (t) => {
      const clients = await listeners(t, "cut");
      const cut = await engine.cut(t, store);
      for (let n = 1; n <= 90; n++) {
        if (n % 30 === 0) await cut();
        await publish(servers[n % 2], "cut", n);
      }
      await Promise.all(clients.map((client) => expectNumbers(client, 1, 90)));
      const repaired = await Promise.all(servers.map((server) => scrape(server.http("/metrics"))));
      assert.ok(repaired.some(({ broker_repaired_total }) => broker_repaired_total > 0));
    });

    test("a store that stops for seconds costs no message and no client", async (t) => {
      const clients = await listeners(t, "stopped");
      for (let n = 1; n <= 5; n++) await publish(servers[n % 2], "stopped", n);
      store.signal("SIGSTOP");
      const during = publish(servers[0], "stopped", 6);
      await new Promise((resolve) => setTimeout(resolve, 4000));
      store.signal("SIGCONT");
      await during;
      for (let n = 7; n <= 12; n++) await publish(servers[n % 2], "stopped", n);
      await Promise.all(clients.map((client) => expectNumbers(client, 1, 12)));
    });

    test("a store that is killed and comes back costs no confirmed message and no client", async (t) => {
      const clients = await listeners(t, "killed");
      for (let n = 1; n <= 5; n++) await publish(servers[n % 2], "killed", n);
      await store.kill();
      await eventually(async () => (await readiness(servers[0])) === 503, "a server that is not ready", PATIENCE_MS);
      const during = publish(servers[0], "killed", 6);
      await store.resume();
      await during;
      for (let n = 7; n <= 12; n++) await publish(servers[n % 2], "killed", n);
      await Promise.all(clients.map((client) => expectNumbers(client, 1, 12)));
      for (const server of servers) {
        await eventually(async () => (await readiness(server)) === 200, "a server that is ready again", PATIENCE_MS);
      }
    });
  });

  test("a client whose server dies goes on at another one with its positions, and so does one that comes later", async (t) => {
    const store = await engine.start(t);
    const [first, second] = await Promise.all([startServer(engine, store), startServer(engine, store)]);
    t.after(() => second.stop());
    const client = await subscribed(t, first, "s");
    for (let n = 1; n <= 5; n++) await publish(second, "s", n);
    const heard = [];
    for (let n = 0; n < 3; n++) heard.push(await next(client));
    process.kill(first.pid, "SIGKILL");
    await publish(second, "s", 6);
    const { epoch, offset } = heard.at(-1);
    const back = await subscribed(t, second, "s", { streams: { s: { epoch, offset } } });
    await expectNumbers(back, 4, 3);
    assert.equal((await next(back)).type, "confirm_history");
    const late = await subscribed(t, second, "s", { since: 1 });
    await expectNumbers(late, 1, 6);
    assert.equal((await next(late)).type, "confirm_history");
  });

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
    const store = await engine.start(t);
    const flags = [...engine.flags(store), "--broadcast_key", "secret", "--app", "chat"];
    const servers = await Promise.all([Server.start(...flags), Server.start(...flags)]);
    t.after(() => Promise.all(servers.map((server) => server.stop())));
    const connect = (server, uid) => CableClient.connect(server.ws("/cable"), { headers: { cookie: `uid=${uid}` } });
    const clients = await Promise.all(servers.map((server) => connect(server, "Kay/1")));
    t.after(() => clients.forEach((client) => client.socket.terminate()));
    for (const client of clients) await next(client);
    for (const server of servers) {
      await eventually(async () => (await readiness(server)) === 200, "a server that is ready", PATIENCE_MS);
    }
    const command = { command: "disconnect", payload: { identifier: KAY, reconnect: false } };
    assert.equal((await send(servers[0], command, randomUUID())).status, 201);
    for (const client of clients) {
      assert.deepEqual(await next(client), { type: "disconnect", reason: "remote", reconnect: false });
    }
  });

  test("what the broker does not have is refused or said at the start", async (t) => {
    const store = await engine.startForgetful(t);
    const server = await startServer(engine, store);
    t.after(() => server.stop());
    await server.logged(engine.startText);
    await server.logged(engine.absences);
    const client = await subscribed(t, server, "s");
    client.send({ command: "presence", identifier: pubsub("s") });
    const { type, message } = await next(client);
    assert.deepEqual([type, message.type], ["presence", "error"]);
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
    const named = engine.flags(store).includes("--redis_url") ? [] : ["--redis_url", redis.url];
    const flags = [...named, "--broadcast_adapter", "http,redisx", "--redisx_read_block_milliseconds", "500"];
    const servers = await Promise.all([startServer(engine, store, ...flags), startServer(engine, store, ...flags)]);
    t.after(() => Promise.all(servers.map((server) => server.stop())));
    const clients = await Promise.all(servers.map((server) => subscribed(t, server, "s")));
    for (const server of servers) {
      await eventually(async () => (await readiness(server)) === 200, "a server that is ready", PATIENCE_MS);
    }
    const admin = redis.client(t);
    for (let n = 1; n <= 20; n++) {
      await admin.call("XADD", "__anycable__", "*", "payload", JSON.stringify({ stream: "s", data: String(n) }));
    }
    for (const client of clients) {
      const heard = [];
      while (heard.length < 20) heard.push((await next(client)).message);
      // Two servers take the entries, so their order is that in which the servers publish them.
      assert.deepEqual(
        heard.toSorted((a, b) => a - b),
        Array.from({ length: 20 }, (_, n) => n + 1),
      );
    }
    await eventually(async () => (await admin.call("XLEN", "__anycable__")) === 0, "an empty stream", PATIENCE_MS);
  });
}
