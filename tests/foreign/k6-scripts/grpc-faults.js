// The words of errors of `k6/net/grpc`, as data that the test compares. `ADDRESS` is that of `support/laboratory.mjs`, and
// `CLOSED` one without a server.

import grpc from "k6/net/grpc";

export { handleSummary } from "./data.js";

const client = new grpc.Client();
const words = (error) => String(error.message).replace(/\u00a0/g, " ");

function attempt(act) {
  try {
    const value = act();
    return value === undefined ? "undefined" : value;
  } catch (error) {
    return words(error);
  }
}

const inInit = {
  methods: attempt(() => client.load(["protos"], "laboratory.proto").map(({ full_method: path }) => path).sort()),
  method: attempt(() => {
    const method = client.load(["file://protos"], "laboratory.proto").find(({ name }) => name === "Chat");
    return [method.package, method.service, method.full_method, method.is_client_stream, method.is_server_stream];
  }),
  "from a set": attempt(() => new grpc.Client().loadProtoset("protos/laboratory.pb").map(({ full_method: path }) => path).sort()),
  nothing: attempt(() => new grpc.Client().load([])),
  "no arguments": attempt(() => new grpc.Client().load()),
  connect: attempt(() => client.connect(__ENV.ADDRESS, { plaintext: true })),
  invoke: attempt(() => client.invoke("laboratory.Laboratory/Greet", {})),
  close: attempt(() => client.close()),
  stream: attempt(() => new grpc.Stream(client, "laboratory.Laboratory/Chat")),
};

const BAD_CONNECTIONS = [
  { foo: 1 },
  { plaintext: 1 },
  { plaintext: null },
  { reflect: "x" },
  { timeout: "x" },
  { timeout: true },
  { timeout: {} },
  { maxReceiveSize: "1" },
  { maxReceiveSize: -1 },
  { maxSendSize: 1.5 },
  { tls: 1 },
  { tls: { cert: 1 } },
  { tls: { key: 1 } },
  { tls: { cacerts: 1 } },
  { tls: { cacerts: [1, "x"] } },
  { tls: { cacerts: ["x"] } },
  { authority: 1 },
  { reflectMetadata: 1 },
  "x",
];

const PARAMS = [
  null,
  5,
  "x",
  { foo: 1 },
  { metadata: 1 },
  { metadata: [] },
  { metadata: null },
  { metadata: { a: 1 } },
  { metadata: { "a-bin": "x" } },
  { metadata: { "a-bin": new Uint8Array([1]).buffer } },
  { metadata: { "a b": "x" } },
  { metadata: { a: "ü" } },
  { tags: 1 },
  { tags: { a: {} } },
  { tags: { a: 1, b: true, c: "x" } },
  { timeout: "x" },
  { timeout: null },
  { timeout: 0 },
  { timeout: "1m" },
  { discardResponseMessage: 1 },
];

export function setup() {
  const invoke = (...args) => attempt(() => client.invoke(...args).status);
  const values = {
    "load late": attempt(() => client.load(["protos"], "laboratory.proto")),
    "a set late": attempt(() => client.loadProtoset("protos/laboratory.pb")),
    "before connect": invoke("laboratory.Laboratory/Greet", {}),
    "bad connections": BAD_CONNECTIONS.map((params) => attempt(() => client.connect(__ENV.ADDRESS, params))),
    refused: attempt(() => client.connect(__ENV.CLOSED, { plaintext: true })),
    "no port": attempt(() => client.connect("127.0.0.1", { plaintext: true })),
    "no address": attempt(() => client.connect()),
    "no time": attempt(() => client.connect(__ENV.ADDRESS, { plaintext: true, timeout: 0 })),
    connected: attempt(() => client.connect(__ENV.ADDRESS, { plaintext: true, authority: "else.where", maxReceiveSize: 40, maxSendSize: 50 })),
  };
  Object.assign(values, {
    "no method": invoke("", {}),
    "unknown method": invoke("laboratory.Laboratory/Nope", {}),
    "unknown service": invoke("/x.Y/Z", {}),
    "no request": invoke("laboratory.Laboratory/Greet"),
    "undefined request": invoke("laboratory.Laboratory/Greet", undefined),
    "null request": invoke("laboratory.Laboratory/Greet", null),
    "too long to send": attempt(() => client.invoke("laboratory.Laboratory/Greet", { name: "x".repeat(60) }).error),
    "too long to receive": attempt(() => client.invoke("laboratory.Laboratory/Greet", { name: "x".repeat(40) }).error),
    params: PARAMS.map((params) => attempt(() => client.invoke("laboratory.Laboratory/Greet", { name: "x" }, params).error)),
    "streams without arguments": attempt(() => new grpc.Stream()),
    "streams of others": attempt(() => new grpc.Stream({}, "laboratory.Laboratory/Chat")),
    "streams of unknown methods": attempt(() => new grpc.Stream(client, "laboratory.Laboratory/Nope")),
    "streams of no method": attempt(() => new grpc.Stream(client, "")),
    "streams with bad params": attempt(() => new grpc.Stream(client, "laboratory.Laboratory/Chat", { foo: 1 })),
    "streams with bad metadata": attempt(() => new grpc.Stream(client, "laboratory.Laboratory/Chat", { metadata: { "a b": "x" } })),
    closed: attempt(() => client.close()),
    "closed again": attempt(() => client.close()),
  });
  return { inInit, ...values };
}

export default function () {}
