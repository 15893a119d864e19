// Runs with gRPC that end in different ways: `ENDING` says how.

import grpc from "k6/net/grpc";

export { handleSummary } from "./data.js";

const client = new grpc.Client();
if (__ENV.ENDING === "no definitions") client.load(["protos"], "nothing.proto");
client.load(["protos"], "laboratory.proto");
if (__ENV.ENDING === "connecting in init") client.connect(__ENV.ADDRESS, { plaintext: true });

export const options = {
  iterations: 1,
  thresholds: __ENV.ENDING === "too slow" ? { "grpc_req_duration{method:Wait}": ["max<50"] } : {},
};

export default function () {
  if (__ENV.ENDING === "refused") client.connect(__ENV.CLOSED, { plaintext: true });
  client.connect(__ENV.ADDRESS, { plaintext: true });
  if (__ENV.ENDING === "unknown method") client.invoke("laboratory.Laboratory/Nope", {});
  client.invoke("laboratory.Laboratory/Wait", { ms: 100 });
  client.close();
}
