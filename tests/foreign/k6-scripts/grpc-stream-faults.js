// Streams that end badly: a message that has no form, a timeout, a client that is closed, an exception.

import { check } from "k6";
import { Client, Stream } from "k6/net/grpc";

export { handleSummary } from "./data.js";

const client = new Client();
client.load(["protos"], "laboratory.proto");

export const options = { scenarios: {
  faults: { executor: "per-vu-iterations", vus: 1, iterations: 1, exec: "faults" },
  exception: { executor: "per-vu-iterations", vus: 1, iterations: 1, exec: "exception" },
} };

const words = (text) => text.replace(/\u00a0/g, " ");

function errorOf(method, act, params) {
  return new Promise((resolve) => {
    const stream = new Stream(client, `/laboratory.Laboratory/${method}`, params);
    let error = "none";
    stream.on("error", ({ code, message }) => (error = `${Number(code)} ${words(message)}`));
    stream.on("end", () => resolve(error));
    act(stream);
  });
}

export async function faults() {
  client.connect(__ENV.ADDRESS, { plaintext: true });
  const unusable = await errorOf("Sum", (stream) => stream.write({ value: "x" }));
  check(unusable, {
    "the fault of a message": (text) => text === "2 can't serialise request object to protocol buffer: proto: (line 1:10): invalid value for int64 field value: \"x\"",
  });
  const overdue = await errorOf("Count", (stream) => {
    stream.write({ n: 1, ms: 60000 });
    stream.end();
  }, { timeout: "200ms" });
  check(overdue, { "a timeout": (text) => text.startsWith("4 ") });
  const nothing = await errorOf("Sum", (stream) => {
    stream.write(null);
    stream.write({});
    stream.on("nothing", () => {});
    stream.end();
    stream.end();
  });
  check(nothing, { "empty messages": (text) => text === "none" });
  let thrown = "";
  try {
    new Stream(client, "laboratory.Laboratory/Sum").on("data", "x");
  } catch (error) {
    thrown = "thrown";
  }
  check(thrown, { "a handler that is no function": (text) => text === "thrown" });
  client.close();
}

export function exception() {
  client.connect(__ENV.ADDRESS, { plaintext: true });
  const stream = new Stream(client, "laboratory.Laboratory/Count");
  stream.on("data", () => {
    throw new Error("enough");
  });
  stream.on("error", () => check("", { "an exception is an error of the stream": () => true }));
  stream.write({ n: 1 });
  stream.end();
}
