// The webhook of presence: `plimsoll serve --presence_webhook` against Node's HTTP server.

import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { once } from "node:events";
import http from "node:http";
import { test } from "node:test";
import { CableClient } from "./support/cable.mjs";
import { within } from "./support/deadline.mjs";
import { Inbox } from "./support/inbox.mjs";
import { Server } from "./support/plimsoll.mjs";
import { eventuallyCounts } from "./support/scrape.mjs";

const pubsub = (stream) => JSON.stringify({ channel: "$pubsub", stream_name: stream });

/** A backend that notes each request, and answers with the next planned status, or 204. */
class Backend {
  requests = new Inbox("requests of the webhook");
  statuses = [];
  #server;
  #port = 0;

  static async start(t) {
    const backend = new Backend();
    await backend.listen();
    t.after(() => backend.kill());
    return backend;
  }

  async listen() {
    this.#server = http.createServer(async (request, response) => {
      const body = JSON.parse(Buffer.concat(await request.toArray()).toString());
      const { method, url, headers } = request;
      const status = this.statuses.shift() ?? 204;
      this.requests.push({ method, url, headers, body, status });
      response.writeHead(status, { "retry-after": "0" }).end();
    });
    this.#server.listen(this.#port, "127.0.0.1");
    await once(this.#server, "listening");
    this.#port = this.#server.address().port;
  }

  kill() {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  get url() {
    return `http://127.0.0.1:${this.#port}/presence?of=web-1`;
  }

  /** The next `n` events, and the batches that brought them. Batches that were not taken bring none. */
  async events(n) {
    const events = [];
    const batches = [];
    while (events.length < n) {
      const { body, status } = await this.requests.next();
      if (status >= 300) continue;
      batches.push(body);
      events.push(...body.events);
    }
    return { events: events.map(({ at_ms, ...event }) => event), batches, times: events.map(({ at_ms }) => at_ms) };
  }
}

const start = (backend, ...flags) =>
  Server.start("--public", "--broker", "memory", "--presence_ttl", "1", "--metrics_http", "/metrics", "--presence_webhook", backend.url, ...flags);

async function member(t, server, stream, id, info) {
  const identifier = pubsub(stream);
  const client = await CableClient.connect(server.ws("/cable"));
  t.after(() => client.socket.terminate());
  await client.frames.next();
  await client.subscribe(identifier);
  client.send({ command: "join", identifier, presence: { id, info } });
  return { client, identifier };
}

test("joins, updates and leaves come in order, with the key", async (t) => {
  const backend = await Backend.start(t);
  const server = await start(backend, "--secret", "qwerty", "--presence_updates");
  t.after(() => server.stop());
  const first = await backend.requests.next();
  const key = createHmac("sha256", "qwerty").update("presence-cable").digest("hex");
  assert.deepEqual([first.method, first.url], ["POST", "/presence?of=web-1"]);
  assert.equal(first.headers.authorization, `Bearer ${key}`);
  assert.equal(first.headers["content-type"], "application/json");
  assert.equal(first.headers["idempotency-key"], `${first.body.server}-1`);
  assert.deepEqual(first.body, { server: first.body.server, number: 1, dropped: 0, events: [] });
  assert.match(first.body.server, /^[\w-]{12}$/);

  const before = Date.now();
  const { client, identifier } = await member(t, server, "chat/1", "kay", { n: 1.5 });
  const { events, times, batches } = await backend.events(1);
  assert.deepEqual(events, [{ type: "join", stream: "chat/1", id: "kay", info: { n: 1.5 } }]);
  assert.ok(times[0] >= before && times[0] <= Date.now());
  assert.deepEqual(batches.map(({ server, number, dropped }) => [server, number, dropped]), [[first.body.server, 2, 0]]);

  client.send({ command: "join", identifier, presence: { id: "kay", info: { n: 2 } } });
  client.send({ command: "leave", identifier });
  client.send({ command: "join", identifier, presence: { id: "kay" } });
  client.socket.terminate();
  assert.deepEqual((await backend.events(4)).events, [
    { type: "update", stream: "chat/1", id: "kay", info: { n: 2 } },
    { type: "leave", stream: "chat/1", id: "kay" },
    { type: "join", stream: "chat/1", id: "kay" },
    { type: "leave", stream: "chat/1", id: "kay" },
  ]);
});

test("many members come in few requests", async (t) => {
  const backend = await Backend.start(t);
  const server = await start(backend);
  t.after(() => server.stop());
  await backend.requests.next();
  const identifier = pubsub("crowd");
  const client = await CableClient.connect(server.ws("/cable"));
  t.after(() => client.socket.terminate());
  await client.frames.next();
  await client.subscribe(identifier);
  // One session after the other is present: 600 joins and 600 leaves.
  for (let n = 0; n < 600; n++) {
    client.send({ command: "join", identifier, presence: { id: `m${n}` } });
    client.send({ command: "leave", identifier });
  }
  const { events, batches } = await within(backend.events(1200), "1,200 events");
  const expected = Array.from({ length: 600 }, (_, n) => ["join", "leave"].map((type) => ({ type, stream: "crowd", id: `m${n}` })));
  assert.deepEqual(events, expected.flat());
  assert.ok(batches.length < 30, `${batches.length} requests`);
  assert.ok(batches.every(({ events }) => events.length <= 500));
});

test("what a backend does not take is sent again, and what it refuses is missing in the next batch", async (t) => {
  const backend = await Backend.start(t);
  const server = await start(backend);
  t.after(() => server.stop());
  await backend.requests.next();
  backend.statuses = [500, 503, 302];
  await member(t, server, "a", "kay");
  const requests = [];
  while (requests.length < 4) requests.push(await backend.requests.next());
  assert.deepEqual(requests.map(({ status }) => status), [500, 503, 302, 204]);
  assert.equal(new Set(requests.map(({ headers, body }) => JSON.stringify([headers["idempotency-key"], body]))).size, 1);
  await server.logged(/webhook of presence fails, and is tried again: the answer is 500/);
  await server.logged(/webhook of presence works again/);

  backend.statuses = [422];
  await member(t, server, "a", "ann");
  assert.equal((await backend.requests.next()).status, 422);
  // The backend learns at once that something is missing.
  const { body } = await backend.requests.next();
  assert.deepEqual([body.dropped, body.events, body.number], [1, [], 4]);
  await eventuallyCounts(server.http("/metrics"), {
    presence_webhook_events_total: 1,
    presence_webhook_dropped_total: 1,
    presence_webhook_failures_total: 4,
    presence_webhook_queue_size: 0,
  });
});

test("a backend that was away gets everything, and a new server has another name", async (t) => {
  const backend = await Backend.start(t);
  const server = await start(backend);
  t.after(() => server.stop());
  const first = (await backend.requests.next()).body;
  backend.kill();
  await member(t, server, "a", "kay");
  await server.logged(/webhook of presence fails, and is tried again: client error/);
  await member(t, server, "a", "ann");
  await backend.listen();
  const { events, batches } = await backend.events(2);
  assert.deepEqual(events.map(({ id }) => id), ["kay", "ann"]);
  assert.ok(batches.every(({ server, dropped }) => server === first.server && dropped === 0));
  await server.restart();
  const { body } = await backend.requests.next();
  assert.deepEqual([body.number, body.events], [1, []]);
  assert.notEqual(body.server, first.server);
});

test("a server that stops sends what is left", async (t) => {
  const backend = await Backend.start(t);
  const server = await start(backend);
  await backend.requests.next();
  const { client, identifier } = await member(t, server, "a", "kay");
  client.send({ command: "presence", identifier });
  while (JSON.parse(await client.frames.next()).message?.type !== "info");
  assert.equal((await server.stop()).code, 0);
  assert.deepEqual((await backend.events(1)).events, [{ type: "join", stream: "a", id: "kay" }]);
});

test("settings that cannot be are refused", async () => {
  const refused = (...flags) => assert.rejects(Server.start("--public", "--broker", "memory", ...flags).then((server) => server.stop()), /exited with 2/);
  await refused("--presence_webhook", "app.example/hook");
  await refused("--presence_webhook", "http://me:pw@localhost/");
  await refused("--presence_webhook", "http://localhost/", "--presence_webhook_secret", "a\nb");
});
