// The binary sub-protocols of `plimsoll serve`: the unmodified @anycable/core with encoders made of `@msgpack/msgpack` and
// `protobufjs`, next to clients in JSON, and single frames from npm `ws`.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { createCable } from "@anycable/core";
import { decode, encode } from "@msgpack/msgpack";
import protobuf from "protobufjs";
import WebSocket from "ws";
import { within } from "./support/deadline.mjs";
import { Inbox } from "./support/inbox.mjs";
import { Server } from "./support/plimsoll.mjs";

/** The messages that AnyCable's documentation describes. */
const { root } = protobuf.parse(
  `
  syntax = "proto3";
  enum Type {
    no_type = 0; welcome = 1; disconnect = 2; ping = 3; confirm_subscription = 4; reject_subscription = 5;
    confirm_history = 6; reject_history = 7;
  }
  enum Command { unknown_command = 0; subscribe = 1; unsubscribe = 2; message = 3; history = 4; pong = 5; whisper = 6; }
  message StreamHistoryRequest { string epoch = 2; int64 offset = 3; }
  message HistoryRequest { int64 since = 1; map<string, StreamHistoryRequest> streams = 2; }
  message Message {
    Type type = 1; Command command = 2; string identifier = 3; string data = 4; bytes message = 5; string reason = 6;
    bool reconnect = 7; HistoryRequest history = 8;
  }
  message Reply {
    Type type = 1; string identifier = 2; bytes message = 3; string reason = 4; bool reconnect = 5; string stream_id = 6;
    string epoch = 7; int64 offset = 8; string sid = 9; bool restored = 10; repeated string restored_ids = 11;
  }`,
  { keepCase: true },
);

const msgpack = { encode, decode: (data) => decode(new Uint8Array(data)) };

/** An encoder as @anycable/core wants it, whose server sends messages of this type. */
function protobufs(type) {
  const [Message, Answer] = ["Message", type].map((name) => root.lookupType(name));
  return {
    encode: (command) => Message.encode(Message.fromObject(command)).finish(),
    decode(data) {
      const message = Answer.decode(new Uint8Array(data));
      const { message: payload, ...fields } = Answer.toObject(message, { enums: String, longs: Number });
      if (fields.type === "no_type") delete fields.type;
      return payload?.length ? { ...fields, message: decode(payload) } : fields;
    },
  };
}

const ENCODERS = {
  "actioncable-v1-msgpack": msgpack,
  "actioncable-v1-ext-msgpack": msgpack,
  "actioncable-v1-protobuf": protobufs("Message"),
  "actioncable-v1-ext-protobuf": protobufs("Reply"),
};

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

    test("@anycable/core whispers, and gets what it missed", { skip: !isExtended(protocol) && "the base protocol resumes nothing" }, async (t) => {
      const [one, other] = [connect(t), connect(t)];
      const stream = `private ${protocol}`;
      const [whispering, listening] = [one, other].map((cable) => cable.streamFrom(stream));
      const heard = new Inbox("messages");
      listening.on("message", (message) => heard.push(message));
      listening.on("info", ({ type }) => heard.push(type));
      await within(Promise.all([whispering.ensureSubscribed(), listening.ensureSubscribed()]), "the subscriptions");
      // protobufjs takes no object for a text.
      const whisper = encoder === msgpack ? { a: [1] } : "psst";
      await whispering.whisper(whisper);
      assert.deepEqual(await heard.next(), whisper);
      await publish(stream, { n: 1 });
      assert.deepEqual(await heard.next(), { n: 1 });
      other.transport.ws.terminate();
      await publish(stream, { n: 2 });
      assert.deepEqual(await heard.next(20_000), { n: 2 });
      assert.equal(await heard.next(), "history_received");
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
  });
}

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
