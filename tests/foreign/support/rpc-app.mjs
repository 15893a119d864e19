// An application with AnyCable's RPC service, made with gRPC's own library from the project's `.proto`, whose names
// and numbers the specification of AnyCable gives. It does what a test tells it to, and keeps every call.

import { fileURLToPath } from "node:url";
import grpc from "@grpc/grpc-js";
import protoLoader from "@grpc/proto-loader";
import { Inbox } from "./inbox.mjs";

const PROTO = fileURLToPath(new URL("../../../crates/rpc/proto/rpc.proto", import.meta.url));
const { anycable } = grpc.loadPackageDefinition(
  protoLoader.loadSync(PROTO, { keepCase: true, enums: String, defaults: true }),
);

export const { status: Code } = grpc;

export const CHAT = '{"channel":"ChatChannel","id":7}';

export const json = JSON.stringify;
export const confirm = (identifier) => json({ type: "confirm_subscription", identifier });
export const reject = (identifier) => json({ type: "reject_subscription", identifier });
export const transmission = (identifier, message) => json({ identifier, message });

/** An error with a gRPC status, for handlers to throw. */
export const failure = (code, details = "as told") => Object.assign(new Error(details), { code, details });

/** What the application does unless a test says otherwise. */
const HABITS = {
  Connect: ({ sid }) => ({
    status: "SUCCESS",
    identifiers: json({ user: "kay" }),
    transmissions: [json({ type: "welcome", sid })],
  }),
  Command: ({ command, identifier }) =>
    command === "subscribe"
      ? { status: "SUCCESS", streams: ["room"], transmissions: [confirm(identifier)] }
      : { status: "SUCCESS", stop_streams: command === "unsubscribe" },
  Disconnect: () => ({ status: "SUCCESS" }),
};

export class RpcApp {
  /** Calls by method: the request with `sid` and `protov` of its metadata. */
  calls = { Connect: new Inbox("Connect calls"), Command: new Inbox("Command calls"), Disconnect: new Inbox("Disconnect calls") };
  /** The connections that calls came on, as `address:port`. */
  peers = new Set();
  #habits;
  #options;
  #server;
  #port = 0;

  /**
   * `habits` replace what the methods answer; they get a call and return a response, throw a failure, or wait.
   * `options` go to gRPC's server.
   */
  static async start(habits = {}, options = {}) {
    const app = new RpcApp();
    app.#habits = { ...HABITS, ...habits };
    app.#options = options;
    await app.listen();
    return app;
  }

  /** Starts to listen, again on the same port after `kill`. */
  async listen() {
    this.#server = new grpc.Server(this.#options);
    const methods = Object.keys(HABITS).map((name) => [name, (call, done) => this.#answer(name, call, done)]);
    this.#server.addService(anycable.RPC.service, Object.fromEntries(methods));
    const bind = this.#server.bindAsync.bind(this.#server);
    this.#port = await new Promise((resolve, reject) => {
      const address = `127.0.0.1:${this.#port}`;
      bind(address, grpc.ServerCredentials.createInsecure(), (error, port) => (error ? reject(error) : resolve(port)));
    });
  }

  /** Ends at once, calls under way included. */
  kill() {
    this.#server.forceShutdown();
  }

  get host() {
    return `127.0.0.1:${this.#port}`;
  }

  async #answer(name, stream, done) {
    const { request, metadata } = stream;
    this.peers.add(stream.getPeer());
    const [sid] = metadata.get("sid");
    const [protov] = metadata.get("protov");
    const call = { ...request, sid, protov };
    this.calls[name].push(call);
    try {
      done(null, await this.#habits[name](call));
    } catch (error) {
      done(error);
    }
  }
}

/** Something that happens when a test says so. */
export function gate() {
  let open;
  const passed = new Promise((resolve) => (open = resolve));
  return { passed, open };
}
