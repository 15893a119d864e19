import grpc from "k6/net/grpc";
import { check, sleep } from "k6";

%HEAD%
const [, scheme, address] = /^(wss?|https?):\/\/([^/]+)/.exec(URL);
const client = new grpc.Client();
// To call a method: client.load(["."], "service.proto") here, then client.invoke("package.Service/Method", {}) below.

export default function () {
  client.connect(address, { plaintext: scheme === "ws" || scheme === "http", timeout: "5s" });
  check(client, { connected: (is) => is });
  sleep(1);
  client.close();
}
