// TLS with an authority and a client certificate of the script's own: `TLS` has them as JSON.

import { check } from "k6";
import grpc from "k6/net/grpc";

export { handleSummary } from "./data.js";

const client = new grpc.Client();
client.load(["protos"], "laboratory.proto");
const { ca, cert, key } = JSON.parse(__ENV.TLS);

export const options = { iterations: 1 };

function connected(params) {
  try {
    return client.connect(__ENV.ADDRESS, { timeout: "800ms", ...params });
  } catch (error) {
    return error.message;
  }
}

export default function () {
  const fails = (text) => typeof text === "string" && text.startsWith('context deadline exceeded: connection error: desc = "');
  check(connected({}), { "an unknown authority is refused": fails });
  check(connected({ tls: { cacerts: ca } }), { "a server that wants a certificate refuses": (found) => typeof found === "string" });
  check(connected({ plaintext: true }), { "plain text is refused": fails });
  check(connected({ tls: { cacerts: [ca], cert, key } }), { "both trust each other": (found) => found === true });
  const { status, message } = client.invoke("laboratory.Laboratory/Greet", { name: "you" });
  check(message, { "calls work": ({ name }) => status === grpc.StatusOK && name === "hello you" });
  client.close();
}
