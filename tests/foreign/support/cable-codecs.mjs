// The encodings of Action Cable as a server speaks them, made with the codecs of others: `@msgpack/msgpack` and `protobufjs`.

import assert from "node:assert/strict";
import { decode, encode } from "@msgpack/msgpack";
import protobuf from "protobufjs";

const { root } = protobuf.parse(`
  syntax = "proto3";
  enum Type { no_type = 0; welcome = 1; disconnect = 2; ping = 3; confirm_subscription = 4; reject_subscription = 5; }
  enum Command { unknown_command = 0; subscribe = 1; unsubscribe = 2; message = 3; history = 4; pong = 5; whisper = 6; }
  message Message {
    Type type = 1;
    Command command = 2;
    string identifier = 3;
    string data = 4;
    bytes message = 5;
    string reason = 6;
    bool reconnect = 7;
  }
`);
const Message = root.lookupType("Message");

/** msgpack of a value; BigInts are whole numbers of 64 bits, and `options` are those of the encoder. */
export const msgpack = (value, options) => encode(value, { useBigInt64: true, ...options });

function assertBinary(isBinary) {
  assert.ok(isBinary, "expected a binary message, got text");
}

/** JSON in which BigInts are numbers. */
function json(message) {
  const marked = JSON.stringify(message, (_, value) => (typeof value === "bigint" ? `BigInt ${value}` : value));
  return marked.replaceAll(/"BigInt (\d+)"/g, "$1");
}

/**
 * By name: the sub-protocol, `write(message, options)`, the content of a server message, and `read(data, isBinary)`, a
 * client's command.
 */
export const CODECS = {
  json: {
    protocol: "actioncable-v1-json",
    write: json,
    read(data, isBinary) {
      assert.ok(!isBinary, "expected a text message, got a binary one");
      return JSON.parse(data);
    },
  },
  msgpack: {
    protocol: "actioncable-v1-msgpack",
    write: (message, options) => msgpack(message, options),
    read(data, isBinary) {
      assertBinary(isBinary);
      return decode(data);
    },
  },
  protobuf: {
    protocol: "actioncable-v1-protobuf",
    write({ message, ...fields }, options) {
      const payload = message === undefined ? {} : { message: msgpack(message, options) };
      return Message.encode(Message.fromObject({ ...fields, ...payload })).finish();
    },
    read(data, isBinary) {
      assertBinary(isBinary);
      return Message.toObject(Message.decode(data), { enums: String });
    },
  },
};
