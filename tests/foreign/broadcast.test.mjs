// What a backend may say about a broadcast, and what clients may send to each other.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { createCable } from "@anycable/core";
import WebSocket from "ws";
import { BENCHMARK, CableClient } from "./support/cable.mjs";
import { within } from "./support/deadline.mjs";
import { Inbox } from "./support/inbox.mjs";
import { Server } from "./support/plimsoll.mjs";
import { GrpcApp } from "./support/grpc-app.mjs";
import { freePort } from "./support/ports.mjs";
import { CHAT, confirm, json } from "./support/rpc-app.mjs";

/** A client that listens, with the session id that the server gave it. */
async function listener(t, server, ...identifiers) {
  const client = await CableClient.connect(server.ws("/cable"));
  t.after(() => client.close());
  client.sid = JSON.parse(await client.frames.next()).sid;
  for (const identifier of identifiers) assert.equal(await client.subscribe(identifier), confirm(identifier));
  return client;
}

const data = (identifier, message) => `{"identifier":${json(identifier)},"message":${message}}`;
const typed = (type, identifier, message) => `{"type":${json(type)},${data(identifier, message).slice(1)}`;

describe("meta of a broadcast", () => {
  let server;
  before(async () => (server = await Server.start("--broadcast_key", "secret", "--shards", "4")));
  after(() => server.stop());

  const publish = async (...messages) => {
    for (const message of messages) assert.equal((await server.broadcast({ stream: "all", ...message })).status, 201);
  };

  test("exclude_socket: one session gets nothing, whatever its subscriptions; all others do", async (t) => {
    const clients = [];
    for (let n = 0; n < 8; n++) clients.push(await listener(t, server, BENCHMARK));
    const [excluded, ...others] = clients;
    await excluded.subscribe('{"channel":"BenchmarkChannel","second":1}');
    await publish({ data: "1", meta: { exclude_socket: excluded.sid } }, { data: "2" });
    assert.deepEqual(await excluded.received(), [data(BENCHMARK, "2"), data('{"channel":"BenchmarkChannel","second":1}', "2")]);
    for (const other of others) assert.deepEqual(await other.received(), [data(BENCHMARK, "1"), data(BENCHMARK, "2")]);
  });

  test("exclude_socket of a session that does not listen, or does not exist, excludes nobody", async (t) => {
    const [hearer, stranger] = [await listener(t, server, BENCHMARK), await listener(t, server)];
    await publish(
      { data: "1", meta: { exclude_socket: stranger.sid } },
      { data: "2", meta: { exclude_socket: "nobody" } },
      { data: "3", meta: { exclude_socket: "" } },
      { data: "4", meta: { exclude_socket: null } },
      { data: "5", meta: null },
    );
    assert.deepEqual(
      await hearer.received(),
      ["1", "2", "3", "4", "5"].map((message) => data(BENCHMARK, message)),
    );
  });

  test("broadcast_type is the message's type; transient and what is unknown change nothing", async (t) => {
    const client = await listener(t, server, BENCHMARK);
    await publish(
      { data: '{"b": 1.0}', meta: { broadcast_type: "presence" } },
      { data: "1", meta: { broadcast_type: "" } },
      { data: "2", meta: { transient: true, colour: "red" } },
      { data: "3", meta: { transient: false }, offset: 7 },
    );
    assert.deepEqual(await client.received(), [
      typed("presence", BENCHMARK, '{"b": 1.0}'),
      ...["1", "2", "3"].map((message) => data(BENCHMARK, message)),
    ]);
  });

  test("a batch may exclude another session in every message", async (t) => {
    const [a, b] = [await listener(t, server, BENCHMARK), await listener(t, server, BENCHMARK)];
    const batch = [
      { stream: "all", data: "1", meta: { exclude_socket: a.sid } },
      { stream: "all", data: "2", meta: { exclude_socket: b.sid, broadcast_type: "t" } },
      { stream: "all", data: "3" },
    ];
    assert.equal((await server.broadcast(batch)).status, 201);
    assert.deepEqual(await a.received(), [typed("t", BENCHMARK, "2"), data(BENCHMARK, "3")]);
    assert.deepEqual(await b.received(), [data(BENCHMARK, "1"), data(BENCHMARK, "3")]);
  });

  for (const [body, expected] of [
    ['{"stream":"all","data":"1","meta":"kay"}', /"meta" must be an object/],
    ['{"stream":"all","data":"1","meta":{"exclude_socket":1}}', /"meta\.exclude_socket" must be a string/],
    ['{"stream":"all","data":"1","meta":{"broadcast_type":{}}}', /"meta\.broadcast_type" must be a string/],
    ['[{"stream":"all","data":"1"},{"stream":"all","data":"2","meta":{"transient":1}}]', /message 1: "meta\.transient" must be true or false/],
  ]) {
    test(`of a wrong type is refused: ${body}`, async (t) => {
      const client = await listener(t, server, BENCHMARK);
      const answer = await server.broadcast(body);
      assert.equal(answer.status, 400);
      assert.match(await answer.text(), expected);
      assert.deepEqual(await client.received(), []);
    });
  }
});

describe("--http_broadcast_port with a key", () => {
  const post = (url, headers) => fetch(url, { method: "POST", headers, body: '{"stream":"all","data":"1"}' });
  const key = { authorization: "Bearer secret" };

  test("takes broadcasts with the key there, and nowhere else", async (t) => {
    const port = await freePort();
    const server = await Server.start("--broadcast_key", "secret", "--http_broadcast_port", String(port));
    t.after(() => server.stop());
    const client = await listener(t, server, BENCHMARK);
    const url = `http://127.0.0.1:${port}/_broadcast`;
    assert.equal((await post(url, {})).status, 401);
    assert.equal((await post(server.http("/_broadcast"), key)).status, 404);
    assert.deepEqual(await client.received(), []);
    assert.equal((await post(url, key)).status, 201);
    assert.deepEqual(await client.received(), [data(BENCHMARK, "1")]);
  });

  test("is the main one when it is 0, AnyCable's default", async (t) => {
    const server = await Server.start("--broadcast_key", "secret", "--http_broadcast_port", "0");
    t.after(() => server.stop());
    assert.equal((await post(server.http("/_broadcast"), key)).status, 201);
  });
});

describe("--http_broadcast_cors", () => {
  const start = async (t, ...args) => {
    const server = await Server.start("--broadcast_key", "secret", ...args);
    t.after(() => server.stop());
    return server;
  };
  const ask = (server, method, headers) =>
    fetch(server.http("/_broadcast"), { method, headers, ...(method === "POST" && { body: '{"stream":"all","data":"1"}' }) });
  const preflight = { origin: "https://app.example", "access-control-request-method": "POST", "access-control-request-headers": "authorization" };

  test("lets pages ask with the key whether they may broadcast, and read the answer", async (t) => {
    const server = await start(t, "--http_broadcast_cors", "--allowed_origins", "app.example");
    const asked = await ask(server, "OPTIONS", preflight);
    assert.equal(asked.status, 200);
    assert.equal(asked.headers.get("access-control-allow-origin"), "https://app.example");
    assert.match(asked.headers.get("access-control-allow-headers"), /Authorization/);
    const published = await ask(server, "POST", { origin: "https://app.example", authorization: "Bearer secret" });
    assert.equal(published.status, 201);
    assert.equal(published.headers.get("access-control-allow-origin"), "https://app.example");
    const unauthorized = await ask(server, "POST", { origin: "https://app.example" });
    assert.equal(unauthorized.status, 401);
    assert.equal(unauthorized.headers.get("access-control-allow-origin"), "https://app.example", "pages may read the refusal");
    const foreign = await ask(server, "OPTIONS", { ...preflight, origin: "https://evil.example" });
    assert.equal(foreign.headers.get("access-control-allow-origin"), null);
  });

  test("is off by default", async (t) => {
    const server = await start(t);
    const asked = await ask(server, "OPTIONS", preflight);
    assert.equal(asked.status, 422);
    assert.equal(asked.headers.get("access-control-allow-origin"), null);
  });
});

/** An application that lets the clients of ChatChannel whisper on the stream `room`. */
async function startChat(t, habits = {}) {
  const whispering = ({ command, identifier }) =>
    command === "subscribe"
      ? { status: "SUCCESS", streams: ["room"], transmissions: [confirm(identifier)], env: { istate: { $w: "room" } } }
      : { status: "SUCCESS", stop_streams: command === "unsubscribe" };
  const app = await GrpcApp.start({ Command: whispering, ...habits });
  const server = await Server.start("--rpc_host", app.host, "--broadcast_key", "secret", "--shards", "4");
  // In this order: a server tells its application of the end of all sessions, and tries for seconds.
  t.after(() => server.stop());
  t.after(() => app.kill());
  return server;
}

/** Publishes something that all get, so that whatever was published before has arrived. */
async function until(server, client) {
  await server.broadcast({ stream: "room", data: '"the end"' });
  const frames = [];
  for (;;) {
    const frame = await client.frames.next();
    if (JSON.parse(frame).message === "the end") return frames;
    frames.push(frame);
  }
}

test("to_others: a broadcast of an action without its sender reaches all other clients", async (t) => {
  let server;
  server = await startChat(t, {
    Command: async ({ command, identifier, data: action, sid }) => {
      if (command === "subscribe") return { status: "SUCCESS", streams: ["room"], transmissions: [confirm(identifier)] };
      await server.broadcast({ stream: "room", data: action, meta: { exclude_socket: sid } });
      return { status: "SUCCESS" };
    },
  });
  const [sender, ...others] = [await listener(t, server, CHAT), await listener(t, server, CHAT), await listener(t, server, CHAT)];
  sender.perform(CHAT, { action: "speak", text: "hi" });
  for (const other of others) assert.equal(await other.frames.next(), data(CHAT, '{"action":"speak","text":"hi"}'));
  assert.deepEqual(await until(server, sender), []);
});

describe("whisper", () => {
  test("reaches all other clients of the stream, byte for byte, and never its sender", async (t) => {
    const server = await startChat(t);
    const clients = [];
    for (let n = 0; n < 6; n++) clients.push(await listener(t, server, CHAT));
    const [sender, ...others] = clients;
    await sender.subscribe('{"channel":"ChatChannel","second":1}');
    const messages = ['{"b": 1.0,"a":12345678901234567890,"t":"<ä>"}', '"text"', "[1, 2]", "0", "false", '""', "null"];
    for (const message of messages) sender.send(`{"command":"whisper","identifier":${json(CHAT)},"data":${message}}`);
    for (const other of others) {
      assert.deepEqual(
        await other.frames.take(messages.length),
        messages.map((message) => data(CHAT, message === "null" ? '"null"' : message)),
      );
    }
    assert.deepEqual(await until(server, sender), []);
  });

  test("is ignored where the application did not allow it, and after an unsubscribe", async (t) => {
    const silent = '{"channel":"ChatChannel","silent":true}';
    const server = await startChat(t, {
      Command: ({ command, identifier }) => {
        const istate = identifier === CHAT ? { $w: "room" } : {};
        if (command === "subscribe") return { status: "SUCCESS", streams: ["room"], transmissions: [confirm(identifier)], env: { istate } };
        return { status: "SUCCESS", env: { istate: { $w: "room" } } };
      },
    });
    const [sender, hearer] = [await listener(t, server, silent, CHAT), await listener(t, server, silent)];
    const whisper = (identifier, rest) => sender.send(`{"command":"whisper","identifier":${json(identifier)}${rest}}`);
    whisper(silent, ',"data":1');
    whisper('{"channel":"Unknown"}', ',"data":2');
    sender.send({ command: "unsubscribe", identifier: CHAT });
    whisper(CHAT, ',"data":3');
    sender.send({ command: "ping" });
    assert.equal(await sender.frames.next(), '{"type":"pong"}');
    assert.deepEqual(await until(server, hearer), []);
  });

  test("of @anycable/core arrives as a message", async (t) => {
    const server = await startChat(t);
    const subscribe = async () => {
      const cable = createCable(server.ws("/cable"), { websocketImplementation: WebSocket, logLevel: "error" });
      t.after(() => cable.disconnect());
      const channel = cable.subscribeTo("ChatChannel", { id: 7 });
      const messages = new Inbox("messages");
      channel.on("message", (message) => messages.push(message));
      await within(channel.ensureSubscribed(), "the subscription");
      return { channel, messages };
    };
    const [sender, hearer] = [await subscribe(), await subscribe()];
    await sender.channel.whisper({ event: "typing", user: "Kay" });
    assert.deepEqual(await hearer.messages.next(), { event: "typing", user: "Kay" });
    await server.broadcast({ stream: "room", data: '"the end"' });
    assert.equal(await sender.messages.next(), "the end", "the sender heard nothing before");
  });
});

describe("what needs a server that keeps messages or presence", () => {
  let server;
  before(async () => (server = await Server.start()));
  after(() => server.stop());

  const history = { since: 1_754_000_000, streams: { all: { offset: 1, epoch: "e" } } };
  const reject = `{"type":"reject_history","identifier":${json(BENCHMARK)}}`;

  test("history is rejected, after the confirmation of a subscription that asks for it", async (t) => {
    const client = await listener(t, server);
    client.send({ command: "history", identifier: BENCHMARK, history });
    client.send({ command: "subscribe", identifier: BENCHMARK, history });
    assert.deepEqual(await client.frames.take(2), [confirm(BENCHMARK), reject]);
    client.send({ command: "history", identifier: BENCHMARK, history });
    client.send({ command: "history", identifier: BENCHMARK, history: { since: 0 } });
    client.send({ command: "history", identifier: BENCHMARK });
    assert.deepEqual(await client.settle(), [reject, reject, reject], "one for each request");
    client.send({ command: "subscribe", identifier: '{"channel":"NoSuchChannel"}', history });
    assert.match(await client.frames.next(), /reject_subscription/);
    assert.deepEqual(await client.settle(), []);
  });

  test("presence and joining are errors with their reason, and leaving changes nothing", async (t) => {
    const client = await listener(t, server, BENCHMARK);
    client.send({ command: "presence", identifier: "unknown" });
    client.send({ command: "presence", identifier: BENCHMARK, data: { return_records: true } });
    client.send({ command: "join", identifier: BENCHMARK, presence: { id: "kay", info: {} } });
    client.send({ command: "leave", identifier: BENCHMARK });
    const refused = '{"type":"error","total":0,"reason":"this server keeps no presence; see --broker"}';
    const answers = ["unknown", BENCHMARK, BENCHMARK].map((identifier) => typed("presence", identifier, refused));
    assert.deepEqual(await client.settle(), answers);
  });
});
