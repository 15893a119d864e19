// Loads the RPC application of a cable server directly, without the server between: what does one Connect and one Command cost
// the application?
//
//   plimsoll run examples/load/rpc.js -e RPC=localhost:50051 -u 20 -d 30s
//
// CHANNEL is the identifier of the subscription as JSON. HEADERS are the fields that the
// application authenticates by, for example {"cookie":"uid=kay/1"} for the chats of examples/apps.

import { check } from "k6";
import grpc from "k6/net/grpc";

const client = new grpc.Client();
client.load(["../../crates/server/rpc/proto"], "rpc.proto");

const ADDRESS = __ENV.RPC || "localhost:50051";
const CHANNEL = __ENV.CHANNEL || '{"channel":"ChatChannel","id":"demo"}';
const env = { url: "http://localhost/cable", headers: JSON.parse(__ENV.HEADERS || "{}") };

export const options = {
  thresholds: { checks: ["rate==1"], "grpc_req_duration{method:Command}": ["p(95)<200"] },
};

const succeeded = { "the application agrees": ({ status, message }) => status === grpc.StatusOK && message.status === "SUCCESS" };

export default function () {
  // One connection per user, for all its iterations.
  if (__ITER === 0) client.connect(ADDRESS, { plaintext: true });
  const params = { metadata: { sid: `load-${__VU}-${__ITER}`, protov: "v1" } };
  const connected = client.invoke("anycable.RPC/Connect", { env }, params);
  if (!check(connected, succeeded)) return;
  const identifiers = connected.message.identifiers;
  const subscribe = { command: "subscribe", identifier: CHANNEL, connectionIdentifiers: identifiers, env };
  check(client.invoke("anycable.RPC/Command", subscribe, params), succeeded);
  client.invoke("anycable.RPC/Disconnect", { identifiers, subscriptions: [CHANNEL], env }, params);
}
