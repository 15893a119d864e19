// npm `ws` as the server that our load client talks to: the benchmark contracts, and ways to break them.

import { WebSocketServer } from "ws";
import { CODECS } from "./cable-codecs.mjs";

/** Sends `message` to `client`. The server under a test may be given another one, which loses or repeats some. */
const deliverOnce = (client, message) => client.send(message);

/** Tells the sender that its broadcast is done. The server under a test may be given another one, which does not. */
const acknowledgeAtOnce = (send) => send();

/**
 * The contracts of websocket-bench, one function per server type: what `client` gets for a message.
 * `broadcast(make)` delivers `make(client)` to every client and returns how to acknowledge that.
 */
const CONTRACTS = {
  echo(client, data, isBinary) {
    client.send(data, { binary: isBinary });
  },

  json(client, data, _isBinary, broadcast) {
    const { type, payload } = JSON.parse(data);
    if (type === "echo") return client.send(data.toString());
    const acknowledge = broadcast(() => JSON.stringify({ type: "broadcast", payload }));
    acknowledge(() => client.send(JSON.stringify({ type: "broadcastResult", payload })));
  },

  binary(client, data, _isBinary, broadcast) {
    if (data[0] === 0x65) return client.send(data);
    const acknowledge = broadcast(() => data);
    const result = Buffer.from(data);
    result[0] = 0x72;
    acknowledge(() => client.send(result));
  },

  actioncable(client, data, isBinary, broadcast, { read, write }) {
    const { command, identifier, data: performed } = read(data, isBinary);
    if (command === "subscribe") {
      client.identifier = identifier;
      return client.send(write({ type: "confirm_subscription", identifier }));
    }
    const { action, payload } = JSON.parse(performed);
    const say = (action) => write({ identifier, message: { action, payload } });
    if (action === "echo") return client.send(say("echo"));
    const acknowledge = broadcast(() => say("broadcast"));
    acknowledge(() => client.send(say("broadcastResult")));
  },
};

export class PeerServer {
  /** Highest number of clients that were connected at the same time. */
  n_peak = 0;
  /** Broadcasts so far. */
  n_broadcasts = 0;

  /**
   * A server of one of the types `echo`, `json`, `binary`, `actioncable` on a free port, the last one also as
   * `actioncable in msgpack` or `protobuf`. `deliver(client, message,
   * { n_broadcast, n_client })` stands between a broadcast and each of its receivers; both numbers count from 1.
   * `acknowledge(send, { n_broadcast })` stands between a broadcast and its acknowledgement. `greeting` is sent to every
   * new client.
   */
  static async start(t, kind, { deliver = deliverOnce, acknowledge = acknowledgeAtOnce, greeting } = {}) {
    const peer = new PeerServer();
    const [type, encoding = "json"] = kind.split(" in ");
    const codec = CODECS[encoding];
    const handleProtocols = (offered) => (offered.has(codec.protocol) ? codec.protocol : false);
    const server = new WebSocketServer({ port: 0, host: "127.0.0.1", handleProtocols });
    const contract = CONTRACTS[type];
    let n_clients = 0;
    server.on("connection", (client) => {
      client.number = ++n_clients;
      peer.n_peak = Math.max(peer.n_peak, server.clients.size);
      if (type === "actioncable") client.send(codec.write({ type: "welcome" }));
      if (greeting) client.send(greeting);
      const broadcast = (make) => {
        const n_broadcast = ++peer.n_broadcasts;
        for (const receiver of server.clients) {
          if (type === "actioncable" && !receiver.identifier) continue;
          deliver(receiver, make(receiver), { n_broadcast, n_client: receiver.number });
        }
        return (send) => acknowledge(send, { n_broadcast });
      };
      client.on("message", (data, isBinary) => contract(client, data, isBinary, broadcast, codec));
      client.on("error", () => {});
    });
    await new Promise((resolve) => server.on("listening", resolve));
    t.after(() => {
      server.clients.forEach((client) => client.terminate());
      server.close();
    });
    peer.url = `ws://127.0.0.1:${server.address().port}/`;
    return peer;
  }
}
