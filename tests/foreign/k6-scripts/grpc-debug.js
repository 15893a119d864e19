// One call that succeeds and one that fails, for the log of their parts.

import { Client, StatusNotFound } from "k6/net/grpc";

export { handleSummary } from "./data.js";

const client = new Client();
client.load(["protos"], "laboratory.proto");
export const options = { iterations: 1 };

export default function () {
  client.connect(__ENV.ADDRESS, { plaintext: true });
  client.invoke("laboratory.Laboratory/Greet", { name: "you" }, { metadata: { "x-mine": "yes" } });
  client.invoke("laboratory.Laboratory/Fail", { code: StatusNotFound, message: "gone" });
  client.close();
}
