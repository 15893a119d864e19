// Many calls at once over one connection, while the script goes on.

import { check } from "k6";
import grpc from "k6/net/grpc";

export { handleSummary } from "./data.js";

const client = new grpc.Client();
client.load(["protos"], "laboratory.proto");

export const options = {
  summaryTrendStats: ["count", "max"], vus: 2, iterations: 4, thresholds: { "grpc_req_duration{method:Wait}": ["max>=0"] } };

export default async function () {
  client.connect(__ENV.ADDRESS, { plaintext: true });
  const delays = Array.from({ length: 10 }, (_, index) => 100 - index * 10);
  const order = [];
  const calls = delays.map((ms) => client.asyncInvoke("laboratory.Laboratory/Wait", { ms }).then(({ message, status }) => {
    order.push(message.name);
    return status;
  }));
  check(order, { "nothing is answered at once": ({ length }) => length === 0 });
  const statuses = await Promise.all(calls);
  check(statuses, { "all are answered": (statuses) => statuses.every((status) => status === grpc.StatusOK) });
  const rejected = await client.asyncInvoke("laboratory.Laboratory/Nope", {}).catch((error) => `${error}`);
  check(rejected, { "a mistake is a rejection": (text) => String(text).includes('method "/laboratory.Laboratory/Nope" not found in file descriptors') });
  const failed = await client.asyncInvoke("laboratory.Laboratory/Fail", { code: 7, message: "no" });
  check(failed, { "a failure is an answer": ({ status, error }) => status === grpc.StatusPermissionDenied && error.message === "no" });
  client.close();
}
