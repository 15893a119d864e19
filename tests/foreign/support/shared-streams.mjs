// Servers that share their streams in a broker: what their tests do, whatever broker it is. Every message is accounted for: which
// ones were confirmed, and which ones each client got, in which order.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
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

/** The flags of a broker in this Redis. */
export const inRedis = (url) => ["--broker", "redis", "--redis_url", url];

/**
 * A server with the broker of these flags. It must be stopped. It keeps more messages than a test publishes while a server is
 * deaf, however long that takes on a busy machine.
 */
export const startServer = (broker, ...flags) =>
  Server.start(
    ...["--public", ...broker, "--shards", "2", "--broadcast_key", "secret", "--metrics_http", "/metrics"],
    ...(flags.includes("--history_limit") ? [] : ["--history_limit", "10000"]),
    ...flags,
  );

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

/** Publishes the numbers from `first` to `last`, at the servers in turn. */
export async function publishNumbers(servers, stream, first, last) {
  for (let n = first; n <= last; n++) await publish(servers[n % servers.length], stream, n);
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

/**
 * The confirmed messages must be the numbers up to `last`, each once and in order. A message that Redis had announced before
 * its replica had it may be lost with its primary: then the client is told, and gets it again.
 */
async function expectConfirmed(client, last) {
  let [heard, isTold] = [0, false];
  while (heard < last) {
    const { type, message } = await next(client);
    if (type === "reject_history") {
      isTold = true;
    } else {
      assert.equal(message, isTold && message === heard ? heard : heard + 1, isTold ? "after reject_history" : "without a word");
      heard = message;
    }
  }
}

const expectAll = (clients, count) => Promise.all(clients.map((client) => expectNumbers(client, 1, count)));

export const readiness = async (server) => (await fetch(server.http("/ready"))).status;

/** Waits until the servers answer `/ready` so. */
export async function expectReadiness(servers, status) {
  for (const server of servers) {
    await eventually(async () => (await readiness(server)) === status, `a server whose /ready is ${status}`, PATIENCE_MS);
  }
}

/** The metrics from which `/ready` takes the figures of its cluster. */
const FIGURES = [
  "broker_servers_num",
  "broker_repaired_total",
  "broker_deaf_milliseconds_total",
  "broker_round_trip_seconds_count",
  "broker_round_trip_seconds_sum",
  "cluster_deaf_seconds",
];

/** The answer of `/ready` with its status, and the metrics of the same moment: they did not change meanwhile. */
export function clusterFigures(server) {
  const look = () => scrape(server.http("/metrics"));
  return eventually(async () => {
    const earlier = await look();
    const response = await fetch(server.http("/ready"));
    const { cluster } = await response.json();
    const metrics = await look();
    return FIGURES.every((name) => earlier[name] === metrics[name]) && { status: response.status, cluster, metrics };
  }, "figures that stay for a moment");
}

/** `/ready` has the figures of the metrics; some of the servers were deaf, and have repaired a message. */
export async function showsItsCluster(servers, engine) {
  const found = await Promise.all(servers.map(clusterFigures));
  for (const { status, cluster, metrics } of found) {
    assert.equal(status, 200);
    const { round_trip_mean_s, ...others } = cluster;
    assert.deepEqual(others, {
      engine,
      servers: metrics.broker_servers_num,
      repaired_messages: metrics.broker_repaired_total,
      deaf_s: metrics.broker_deaf_milliseconds_total / 1000,
      round_trips: metrics.broker_round_trip_seconds_count,
    });
    assert.ok(cluster.round_trips > 0);
    const mean_s = metrics.broker_round_trip_seconds_sum / metrics.broker_round_trip_seconds_count;
    assert.ok(Math.abs(round_trip_mean_s - mean_s) < 1e-9, `${round_trip_mean_s} s, in the metrics ${mean_s} s`);
  }
  for (const key of ["repaired_messages", "deaf_s"]) assert.ok(found.some(({ cluster }) => cluster[key] > 0), key);
}

/** Three clients on each of two servers. */
export const listeners = (t, servers, stream) => Promise.all([0, 1, 0, 1, 0, 1].map((n) => subscribed(t, servers[n], stream)));

/** Broadcasts into either server reach the clients of both. */
export async function reachesAll(t, servers, stream) {
  const clients = await listeners(t, servers, stream);
  await publishNumbers(servers, stream, 1, 50);
  await expectAll(clients, 50);
}

/** `cut` ends the connections on which the broker announces messages. */
export async function survivesCuts(t, servers, stream, cut) {
  const clients = await listeners(t, servers, stream);
  for (let n = 1; n <= 90; n++) {
    if (n % 30 === 0) await cut();
    await publish(servers[n % 2], stream, n);
  }
  await expectAll(clients, 90);
  const repaired = await Promise.all(servers.map((server) => scrape(server.http("/metrics"))));
  assert.ok(repaired.some(({ broker_repaired_total }) => broker_repaired_total > 0));
}

/** `fault` happens to the broker between two messages; it publishes the next one itself, when it has begun. */
export async function survives(t, servers, stream, fault) {
  const clients = await listeners(t, servers, stream);
  await publishNumbers(servers, stream, 1, 5);
  await fault(() => publish(servers[0], stream, 6));
  await publishNumbers(servers, stream, 7, 12);
  await expectAll(clients, 12);
  await expectReadiness(servers, 200);
}

/**
 * Publishes to each of these streams all the time while `change` happens. If it `mayBeTold`, Redis may lose messages that it did
 * not confirm.
 */
export async function survivesUnderLoad(t, servers, streams, change, { mayBeTold = false } = {}) {
  const clients = await Promise.all(streams.map((stream) => listeners(t, servers, stream)));
  let isOver = false;
  const loads = streams.map(async (stream) => {
    let n = 0;
    while (!isOver || n < 20) await publish(servers[++n % 2], stream, n);
    return n;
  });
  await change();
  isOver = true;
  const counts = await Promise.all(loads);
  const expectEach = (of, count) => (mayBeTold ? Promise.all(of.map((client) => expectConfirmed(client, count))) : expectAll(of, count));
  await Promise.all(counts.map((count, n) => expectEach(clients[n], count)));
}

/** A client whose server dies goes on at another one with its positions, and so does one that comes later. */
export async function goesOnElsewhere(t, broker) {
  const [first, second] = await Promise.all([startServer(broker), startServer(broker)]);
  t.after(() => second.stop());
  const client = await subscribed(t, first, "s");
  await publishNumbers([second], "s", 1, 5);
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
}

/** Each entry of a Redis stream is published once, by one of two servers. `during` happens while entries are added. */
export async function takesEntries(t, broker, admin, during = async () => {}) {
  const flags = ["--broadcast_adapter", "http,redisx", "--redisx_read_block_milliseconds", "500"];
  const servers = await Promise.all([startServer(broker, ...flags), startServer(broker, ...flags)]);
  t.after(() => Promise.all(servers.map((server) => server.stop())));
  const clients = await Promise.all(servers.map((server) => subscribed(t, server, "s")));
  await expectReadiness(servers, 200);
  for (let n = 1; n <= 20; n++) {
    if (n === 10) await during();
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
}

/** A command to disconnect that one server takes reaches the clients of both. `ways` are the flags with which each finds the broker. */
export async function disconnectsEverywhere(t, ways) {
  const flags = ["--broadcast_key", "secret", "--app", "chat"];
  const servers = await Promise.all(ways.map((broker) => Server.start(...broker, ...flags)));
  t.after(() => Promise.all(servers.map((server) => server.stop())));
  const connect = (server, uid) => CableClient.connect(server.ws("/cable"), { headers: { cookie: `uid=${uid}` } });
  const clients = await Promise.all(servers.map((server) => connect(server, "Kay/1")));
  t.after(() => clients.forEach((client) => client.socket.terminate()));
  for (const client of clients) await next(client);
  await expectReadiness(servers, 200);
  const command = { command: "disconnect", payload: { identifier: KAY, reconnect: false } };
  assert.equal((await send(servers[0], command, randomUUID())).status, 201);
  for (const client of clients) {
    assert.deepEqual(await next(client), { type: "disconnect", reason: "remote", reconnect: false });
  }
}
