// Encoders for @anycable/core, in Node.js and in pages: msgpack, and the protocol buffers that AnyCable's documentation describes
// with the additions of docs/protocols/encodings.md (Presence in protobuf). It imports nothing, so that a page can load it.

const SCHEMA = `
  syntax = "proto3";
  enum Type {
    no_type = 0; welcome = 1; disconnect = 2; ping = 3; confirm_subscription = 4; reject_subscription = 5;
    confirm_history = 6; reject_history = 7; pong_to_client = 101;
  }
  enum Command {
    unknown_command = 0; subscribe = 1; unsubscribe = 2; message = 3; history = 4; pong = 5; whisper = 6;
    presence = 101; join = 102; leave = 103;
  }
  message StreamHistoryRequest { string epoch = 2; int64 offset = 3; }
  message HistoryRequest { int64 since = 1; map<string, StreamHistoryRequest> streams = 2; }
  message Message {
    Type type = 1; Command command = 2; string identifier = 3; string data = 4; bytes message = 5; string reason = 6;
    bool reconnect = 7; HistoryRequest history = 8; bytes presence = 101;
  }
  message Reply {
    Type type = 1; string identifier = 2; bytes message = 3; string reason = 4; bool reconnect = 5; string stream_id = 6;
    string epoch = 7; int64 offset = 8; string sid = 9; bool restored = 10; repeated string restored_ids = 11;
    bytes presence = 101;
  }`;

/** By sub-protocol: the encoder. `encode` and `decode` are those of `@msgpack/msgpack`, `protobuf` is `protobufjs`. */
export function encoders({ encode, decode }, protobuf) {
  const { root } = protobuf.parse(SCHEMA, { keepCase: true });
  const msgpack = { encode, decode: (data) => decode(new Uint8Array(data)) };

  /** An encoder whose server sends messages of this type. */
  function protobufs(type) {
    const [Message, Answer] = ["Message", type].map((name) => root.lookupType(name));
    return {
      encode({ data, presence, ...fields }) {
        const command = { ...fields };
        // A field of the schema is a text; other values travel as msgpack.
        if (typeof data === "string") command.data = data;
        else if (data !== undefined) command.message = encode(data);
        if (presence) command.presence = encode(presence);
        return Message.encode(Message.fromObject(command)).finish();
      },
      decode(data) {
        const answer = Answer.decode(new Uint8Array(data));
        const { message, presence, ...fields } = Answer.toObject(answer, { enums: String, longs: Number });
        if (presence?.length) return { ...fields, type: "presence", message: decode(presence) };
        if (fields.type === "no_type") delete fields.type;
        return message?.length ? { ...fields, message: decode(message) } : fields;
      },
    };
  }

  return {
    "actioncable-v1-msgpack": msgpack,
    "actioncable-v1-ext-msgpack": msgpack,
    "actioncable-v1-protobuf": protobufs("Message"),
    "actioncable-v1-ext-protobuf": protobufs("Reply"),
  };
}
