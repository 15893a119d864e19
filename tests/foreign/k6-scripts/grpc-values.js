// What calls over gRPC give for requests of all kinds, as data that the test compares: setup returns it. `ADDRESS` is that
// of `support/laboratory.mjs`.

import grpc from "k6/net/grpc";

export { handleSummary } from "./data.js";

const client = new grpc.Client();
client.load(["protos"], "laboratory.proto");

const CASES = [
  {},
  { textValue: "a\u0000\"ü", small: "5", large: 9007199254740993, largest: "18446744073709551615" },
  { single: NaN, double: -Infinity, flag: true, data: "aGk=", colour: "DARK_BLUE" },
  { single: 0.1, double: 1e300, data: "-_8", colour: 1, zigzag: -5, fixed: 1e3, unsigned: 4294967295 },
  { inner: { text: "t", inner: {} }, numbers: [1, "2", 3.0], inners: [{ text: "a" }, {}] },
  { counts: { a: 1, b: "2" }, byNumber: { 1: { text: "x" } }, maybe: "", word: "" },
  { number: 7, renamed: "by its own name", colours: ["RED", 2, 77] },
  { at: "2020-01-02T03:04:05.678Z", lasts: "1.5s" },
  { at: new Date(1600000000000), lasts: "-3s" },
  { object: { a: [1, null, "x"], b: { c: true } }, anything: [1, { x: 2 }] },
  { anything: null, wrapped: "w", wrapped_large: "77", mask: "fooBar,baz.quxQuux", nothing: {} },
  { any: { "@type": "type.googleapis.com/laboratory.Inner", text: "q" } },
  { any: { "@type": "type.googleapis.com/google.protobuf.Duration", value: "2s" } },
  { textValue: null, inner: null, numbers: null, wrapped: null, word: null },
  { textValue: undefined, small: 1.0 },
  // Requests that have no form in protobuf.
  { flag: "true" },
  { data: "*" },
  { data: 5 },
  { colour: "PINK" },
  { colour: true },
  { numbers: 5 },
  { numbers: [5, "x"] },
  { inner: 5 },
  { counts: { a: "x" } },
  { byNumber: { x: {} } },
  { at: "x" },
  { at: 5 },
  { lasts: "1" },
  { any: { text: "q" } },
  { any: { "@type": "x/y.Z" } },
  { small: 3e9 },
  { small: 1.5 },
  { unsigned: -1 },
  { single: 1e39 },
  { textValue: "a", text_value: "b" },
  { word: "x", number: 1 },
  { mask: "a_b" },
  { wrapped: 5 },
  { inner: { text: 1 } },
  { unknown: 1 },
  [],
  "x",
  5,
];

// One program writes a space that the other one writes as U+00A0 in some of its builds.
const words = (error) => String(error.message).replace(/\u00a0/g, " ");

function attempt(act) {
  try {
    return act();
  } catch (error) {
    return words(error);
  }
}

function withoutDates({ headers: { date: one, ...headers }, trailers: { date: other, ...trailers }, ...rest }) {
  return { ...rest, headers, trailers };
}

export function setup() {
  client.connect(__ENV.ADDRESS, { plaintext: true });
  const invoke = (...args) => attempt(() => withoutDates(client.invoke(...args)));
  const circle = {};
  circle.circle = circle;
  const values = {
    echoes: CASES.map((request) => invoke("laboratory.Laboratory/Echo", request)),
    circle: invoke("laboratory.Laboratory/Greet", circle),
    metadata: invoke("/laboratory.Laboratory/Greet", { name: "you" }, { metadata: { "X-One": "1", "x-two-bin": new Uint8Array([1, 2, 200]) } }),
    failures: [3, 5, 14, 16].map((code) => invoke("laboratory.Laboratory/Fail", { code, message: `no such thing ü%\n` })),
    discarded: invoke("laboratory.Laboratory/Greet", { name: "you" }, { discardResponseMessage: true }),
    "a failure without its message": invoke("laboratory.Laboratory/Fail", { code: 5 }, { discardResponseMessage: true }),
    "a stream": invoke("laboratory.Laboratory/Count", { n: 2 }),
    overdue: invoke("laboratory.Laboratory/Greet", {}, { timeout: -1 }),
    keys: Object.keys(client.invoke("laboratory.Laboratory/Greet", {})),
    health: attempt(() => client.healthCheck().status),
    constants: Object.fromEntries(Object.entries(grpc).filter(([name]) => /^(Status|Health)/.test(name)).map(([name, value]) => [name, Number(value)])),
  };
  client.close();
  return { ...values, "after close": invoke("laboratory.Laboratory/Greet", {}) };
}

export default function () {}
