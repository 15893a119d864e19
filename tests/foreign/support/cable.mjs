// A cable client that hides nothing: npm `ws` and the frames as they came.

import { randomUUID } from "node:crypto";
import { once } from "node:events";
import WebSocket from "ws";
import { within } from "./deadline.mjs";
import { Inbox } from "./inbox.mjs";

export const BENCHMARK = '{"channel":"BenchmarkChannel"}';

export class CableClient {
  /** All text frames but pings, as strings. */
  frames = new Inbox("frames");
  /** Pings, as strings. */
  pings = new Inbox("pings");

  /** Connects and leaves the welcome in `frames`. */
  static async connect(url, { protocols = ["actioncable-v1-json"], ...options } = {}) {
    const client = new CableClient();
    const socket = (client.socket = new WebSocket(url, protocols, options));
    socket.on("message", (data) => {
      const text = data.toString();
      (text.startsWith('{"type":"ping"') ? client.pings : client.frames).push(text);
    });
    // Not `once`, which takes an error for the end of the wait.
    client.closed = new Promise((resolve) => {
      socket.on("close", (code, reason) => resolve({ code, reason: reason.toString() }));
    });
    await within(once(socket, "open"), `a connection to ${url}`);
    return client;
  }

  /** Connects, takes the welcome and subscribes. */
  static async subscribed(url, identifier = BENCHMARK, options = {}) {
    const client = await CableClient.connect(url, options);
    await client.frames.next();
    await client.subscribe(identifier);
    return client;
  }

  /** Sends a command; strings go out as they are. */
  send(command) {
    this.socket.send(typeof command === "string" ? command : JSON.stringify(command));
  }

  /** Subscribes and returns the answer. */
  async subscribe(identifier) {
    this.send({ command: "subscribe", identifier });
    return this.frames.next();
  }

  perform(identifier, data) {
    this.send({ command: "message", identifier, data: JSON.stringify(data) });
  }

  /**
   * Everything that came before the server's answer to a command sent now. Commands of one connection are carried
   * out in order, so whatever an earlier one leads to on this connection is among it.
   */
  async settle() {
    const identifier = `{"channel":"NoSuchChannel","n":${++this.#settled}}`;
    this.send({ command: "subscribe", identifier });
    const before = [];
    for (;;) {
      const frame = await this.frames.next();
      if (frame.startsWith('{"type":"reject_subscription"') && JSON.parse(frame).identifier === identifier) return before;
      before.push(frame);
    }
  }
  #settled = 0;

  /**
   * Everything that was published to this client before now; the server's application is that for load tests. A broadcast
   * of its own, on a stream that it alone hears, is the last in the mailboxes of all shards; an answer that is no
   * broadcast could overtake what waits there.
   */
  async received() {
    const identifier = `{"channel":"BenchmarkChannel","id":"mark-${randomUUID()}"}`;
    this.send({ command: "subscribe", identifier });
    this.perform(identifier, { action: "broadcast" });
    const before = [];
    for (;;) {
      const frame = await this.frames.next();
      const parsed = JSON.parse(frame);
      if (parsed.identifier !== identifier) before.push(frame);
      else if (parsed.message?.action === "broadcastResult") return before;
    }
  }

  close() {
    this.socket.close();
    return this.closed;
  }
}
