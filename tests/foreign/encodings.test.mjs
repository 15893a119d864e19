// The binary sub-protocols of `plimsoll serve`: the unmodified @anycable/core with encoders made of `@msgpack/msgpack` and
// `protobufjs`, next to clients in JSON, and single frames from npm `ws`.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { createCable } from "@anycable/core";
import { decode, encode } from "@msgpack/msgpack";
import protobuf from "protobufjs";
import WebSocket from "ws";
import { within } from "./support/deadline.mjs";
import { encoders } from "./support/encoders.mjs";
import { Inbox } from "./support/inbox.mjs";
import { Server } from "./support/plimsoll.mjs";

const ENCODERS = encoders({ encode, decode }, protobuf);

const isExtended = (protocol) => protocol.includes("-ext-");

let server;
before(async () => (server = await Server.start("--public", "--broker", "memory", "--broadcast_key", "secret", "--enable_ws_compression")));
after(() => server.stop());

const publish = async (stream, message) =>
  assert.equal((await server.broadcast({ stream, data: JSON.stringify(message) })).status, 201);

for (const [protocol, encoder] of Object.entries(ENCODERS)) {
  describe(protocol, () => {
    function connect(t) {
      const cable = createCable(server.ws("/cable"), { protocol, encoder, websocketImplementation: WebSocket, logLevel: "error" });
      t.after(() => cable.disconnect());
      return cable;
    }

    test("@anycable/core subscribes, hears broadcasts of all shapes, and gets pings", async (t) => {
      const cable = connect(t);
      const pings = new Inbox("pings");
      cable.on("keepalive", (time) => pings.push(time));
      const channel = cable.streamFrom("news");
      const heard = new Inbox("messages");
      channel.on("message", (message) => heard.push(message));
      await within(channel.ensureSubscribed(), "the subscription");
      for (const message of [1, -2.5, "ü 💬 \u0000", [1, [null, true]], { deep: { a: { b: [2 ** 40] } } }, "x".repeat(100_000)]) {
        await publish("news", message);
        assert.deepEqual(await heard.next(), message);
      }
      const forged = cable.subscribeTo("$pubsub", { signed_stream_name: "forged" });
      await assert.rejects(within(forged.ensureSubscribed(), "the rejection"));
      // Other messages keep the connection alive, too, without a time.
      const time = await pings.until((time) => time !== undefined, 20_000);
      assert.ok(Math.abs(time - Date.now() / 1000) < 60, `${time}`);
      await channel.disconnect();
    });

    test("a frame that is not a command in the encoding ends the connection with 1003", async (t) => {
      for (const frame of ['{"command":"ping"}', Buffer.from([0xc1, 0xff])]) {
        const socket = new WebSocket(server.ws("/cable"), protocol);
        t.after(() => socket.terminate());
        const closed = new Promise((resolve) => socket.on("close", (code, reason) => resolve([code, String(reason)])));
        await within(new Promise((resolve) => socket.once("message", resolve)), "the welcome");
        socket.send(frame);
        const encoding = protocol.slice(protocol.lastIndexOf("-") + 1);
        assert.deepEqual(await within(closed, "the end"), [1003, `Command is not a binary message in ${encoding}`]);
      }
    });

    // The base protocol resumes nothing, and @anycable/core has presence in the extended one alone.
    if (!isExtended(protocol)) return;

    test("@anycable/core whispers, and gets what it missed", async (t) => {
      const [one, other] = [connect(t), connect(t)];
      const stream = `private ${protocol}`;
      const [whispering, listening] = [one, other].map((cable) => cable.streamFrom(stream));
      const heard = new Inbox("messages");
      listening.on("message", (message) => heard.push(message));
      listening.on("info", ({ type }) => heard.push(type));
      await within(Promise.all([whispering.ensureSubscribed(), listening.ensureSubscribed()]), "the subscriptions");
      for (const whisper of ["psst", { a: [1] }]) {
        await whispering.whisper(whisper);
        assert.deepEqual(await heard.next(), whisper);
      }
      await publish(stream, { n: 1 });
      assert.deepEqual(await heard.next(), { n: 1 });
      other.transport.ws.terminate();
      await publish(stream, { n: 2 });
      assert.deepEqual(await heard.next(20_000), { n: 2 });
      assert.equal(await heard.next(), "history_received");
    });

    test("@anycable/core joins, leaves and asks who is present", async (t) => {
      const [one, other] = [connect(t), connect(t)];
      const [member, onlooker] = [one, other].map((cable) => cable.streamFrom(`room of ${protocol}`));
      const events = new Inbox("presence");
      onlooker.on("presence", (event) => events.push(event));
      await within(Promise.all([member.ensureSubscribed(), onlooker.ensureSubscribed()]), "the subscriptions");
      member.presence.join("kay", { name: "Kay", n: 2 ** 40 });
      assert.deepEqual(await events.next(), { type: "join", info: { name: "Kay", n: 2 ** 40 }, id: "kay" });
      assert.deepEqual(await within(onlooker.presence.info(), "who is present"), { kay: { name: "Kay", n: 2 ** 40 } });
      // `info` is an event of the asker, too.
      member.presence.leave();
      assert.deepEqual(await events.until(({ type }) => type === "leave"), { type: "leave", id: "kay" });
    });
  });
}

test("a client of AnyCable's schema takes presence for pings", async (t) => {
  const { root } = protobuf.parse(`
    syntax = "proto3";
    message Reply { uint32 type = 1; string identifier = 2; bytes message = 3; }
    message Message { uint32 command = 2; string identifier = 3; }`);
  const [Reply, Message] = ["Reply", "Message"].map((name) => root.lookupType(name));
  const identifier = JSON.stringify({ channel: "$pubsub", stream_name: "hall" });
  const messages = new Inbox("messages");
  const old = new WebSocket(server.ws("/cable"), "actioncable-v1-ext-protobuf");
  t.after(() => old.terminate());
  old.on("message", (data) => messages.push(Reply.toObject(Reply.decode(data))));
  assert.equal((await messages.next()).type, 1, "welcome");
  old.send(Message.encode({ command: 1, identifier }).finish());
  assert.deepEqual(await messages.until(({ type }) => type !== 3), { type: 4, identifier });
  const cable = createCable(server.ws("/cable"), { websocketImplementation: WebSocket, protocol: "actioncable-v1-ext-json" });
  t.after(() => cable.disconnect());
  const member = cable.streamFrom("hall");
  await within(member.ensureSubscribed(), "the subscription");
  member.presence.join("kay", { name: "Kay" });
  // A ping of the server has a time and no identifier.
  assert.deepEqual(await messages.until((message) => message.type !== 3 || message.identifier), { type: 3, identifier });
});

test("a client that offers only unknown sub-protocols is told all six", async () => {
  const socket = new WebSocket(server.ws("/cable"), "graphql-ws");
  const answer = await within(
    new Promise((resolve) => socket.on("unexpected-response", (_, response) => resolve(response))),
    "the answer",
  );
  assert.equal(answer.statusCode, 400);
  let text = "";
  for await (const part of answer) text += part;
  for (const protocol of ["actioncable-v1-json", "actioncable-v1-ext-json", ...Object.keys(ENCODERS)]) {
    assert.ok(text.includes(protocol), text);
  }
});
