// Definitions from the server itself, and its health: `ADDRESS` is that of a server with both services.

import { check } from "k6";
import grpc from "k6/net/grpc";

export { handleSummary } from "./data.js";

const client = new grpc.Client();

export const options = { vus: 2, iterations: 2 };

export default function () {
  client.connect(__ENV.ADDRESS, { plaintext: true, reflect: true, reflectMetadata: { "x-asked": "yes" } });
  const { status, message } = client.invoke("laboratory.Laboratory/Greet", { name: "you" });
  check(message, { "calls work": ({ name }) => status === grpc.StatusOK && name === "hello you" });
  const kinds = client.invoke("laboratory.Laboratory/Echo", { at: "2020-01-02T03:04:05Z", any: { "@type": "x/laboratory.Inner", text: "q" } });
  check(kinds, { "imported definitions are there": ({ message }) => message.at === "2020-01-02T03:04:05Z" && message.any.text === "q" });
  check(client.healthCheck(), { "the server is healthy": ({ status }) => status === grpc.HealthCheckServing });
  check(client.healthCheck("sick"), { "a service is not": ({ status }) => status === grpc.HealthCheckNotServing });
  let unknown = "";
  try {
    client.healthCheck("unknown");
  } catch (error) {
    unknown = error.message;
  }
  check(unknown, { "an unknown one is an error": (text) => text === "rpc error: code = NotFound desc = unknown service" });
  client.close();
}
