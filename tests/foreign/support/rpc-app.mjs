// What applications with AnyCable's RPC have in common, whatever the kind of RPC: they do what a test tells them to,
// and keep every call.

import { Inbox } from "./inbox.mjs";

export const CHAT = '{"channel":"ChatChannel","id":7}';

export const json = JSON.stringify;
export const confirm = (identifier) => json({ type: "confirm_subscription", identifier });
export const reject = (identifier) => json({ type: "reject_subscription", identifier });
export const transmission = (identifier, message) => json({ identifier, message });

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

export const METHODS = Object.keys(HABITS);

/** Subclasses listen, and call `answer`. Their statics `rejection` and `overload` make what habits throw. */
export class RpcApp {
  /** Calls by method: the request with `sid` and `protov` of its metadata. */
  calls = Object.fromEntries(METHODS.map((method) => [method, new Inbox(`${method} calls`)]));
  /** The connections that calls came on, as `address:port`. */
  peers = new Set();
  options;
  #habits;

  /**
   * `habits` replace what the methods answer; they get a call and return a response, throw a failure, or wait.
   * `options` are those of the kind of server.
   */
  static async start(habits = {}, options = {}) {
    const app = new this();
    app.#habits = { ...HABITS, ...habits };
    app.options = options;
    await app.listen();
    return app;
  }

  async answer(method, call, peer) {
    this.peers.add(peer);
    this.calls[method].push(call);
    return this.#habits[method](call);
  }
}

/** Something that happens when a test says so. */
export function gate() {
  let open;
  const passed = new Promise((resolve) => (open = resolve));
  return { passed, open };
}
