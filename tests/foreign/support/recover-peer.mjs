// A server of the extended protocol that clients come back to, with faults on purpose. It notes what it did wrong, so that
// tests know the truth.

import { once } from "node:events";
import { createServer } from "node:http";
import { WebSocketServer } from "ws";

const EXTENDED = "actioncable-v1-ext-json";

const json = JSON.stringify;

/**
 * `replay(entries, { n_return, truth })` may change what a request for history is answered with, and returns null to refuse
 * it. `deliver(send, entry, { n_live, truth, protocol })` may send a live message other than once. `forgets`: no session
 * is restored. `protocol`: the chosen sub-protocol, or a function that chooses; false for none.
 * `live_first`: a restored session gets a message before it can ask for history.
 */
export class RecoverPeer {
  /** What went wrong, as the server knows it. */
  truth = { lost: 0, duplicated: 0, repeated: 0, reordered: 0, refused: 0 };
  n_returns = 0;
  n_resumed = 0;
  #http;
  /** By stream: all messages, and the connections that listen. */
  #streams = new Map();
  #sessions = new Map();
  #next_sid = 0;

  static async start(faults = {}) {
    const peer = new RecoverPeer();
    peer.faults = faults;
    peer.#http = createServer((request, response) => peer.#publish(request, response));
    const { protocol = EXTENDED } = faults;
    const choose = (offered) => (typeof protocol === "function" ? protocol(offered) : protocol);
    const sockets = new WebSocketServer({ server: peer.#http, handleProtocols: choose });
    sockets.on("connection", (socket, request) => peer.#connect(socket, request));
    peer.#http.listen(0, "127.0.0.1");
    await once(peer.#http, "listening");
    return peer;
  }

  get url() {
    return `ws://127.0.0.1:${this.#http.address().port}/cable`;
  }

  stop() {
    this.#http.closeAllConnections();
    this.#http.close();
  }

  #stream(name) {
    if (!this.#streams.has(name)) this.#streams.set(name, { entries: [], listeners: new Set() });
    return this.#streams.get(name);
  }

  #publish(request, response) {
    let body = "";
    request.on("data", (chunk) => (body += chunk));
    request.on("end", () => {
      const { stream: name, data } = JSON.parse(body);
      const stream = this.#stream(name);
      const entry = { message: JSON.parse(data), stream_id: name, epoch: "e", offset: stream.entries.length + 1 };
      stream.entries.push(entry);
      stream.listeners.forEach((listener) => listener(entry));
      response.writeHead(201).end();
    });
  }

  #connect(socket, request) {
    const sid = `s${(this.#next_sid += 1)}`;
    const send = (message) => socket.readyState === socket.OPEN && socket.send(json(message));
    const before = request.headers["x-anycable-restore-sid"];
    const identifier = this.faults.forgets ? undefined : this.#sessions.get(before);
    /** The offsets that came live before the client asked for history: its replay must not repeat them. */
    const sent = new Set();
    const live = identifier && this.#listen(socket, send, identifier, sent);
    if (live) {
      this.n_resumed += 1;
      this.#sessions.set(sid, identifier);
      send({ type: "welcome", sid, restored: true, restored_ids: [identifier] });
      const last = this.#stream(live).entries.at(-1);
      if (this.faults.live_first && last) send({ identifier, ...last });
    } else send({ type: "welcome", sid });
    socket.on("message", (text) => {
      const { command, identifier, history } = JSON.parse(text.toString());
      if (command === "subscribe") {
        this.#sessions.set(sid, identifier);
        this.#listen(socket, send, identifier);
        send({ type: "confirm_subscription", identifier });
      }
      if (history) this.#replay(send, identifier, history, sent);
    });
  }

  /** Makes a connection listen; returns the name of its stream. */
  #listen(socket, send, identifier, sent = new Set()) {
    const name = JSON.parse(identifier).stream_name;
    const { listeners } = this.#stream(name);
    const context = { n_live: 0, truth: this.truth, protocol: socket.protocol };
    const once = (emit) => emit();
    const listener = (entry) => {
      context.n_live += 1;
      sent.add(entry.offset);
      (this.faults.deliver ?? once)((other = entry) => send({ identifier, ...other }), entry, context);
    };
    listeners.add(listener);
    socket.on("close", () => listeners.delete(listener));
    return name;
  }

  #replay(send, identifier, { streams = {} }, sent) {
    this.n_returns += 1;
    const name = JSON.parse(identifier).stream_name;
    const after = streams[name]?.offset ?? 0;
    const entries = this.#stream(name).entries.filter(({ offset }) => offset > after && !sent.has(offset));
    const change = this.faults.replay ?? ((all) => all);
    const changed = change(entries, { n_return: this.n_returns, truth: this.truth });
    changed?.forEach((entry) => send({ identifier, ...entry }));
    send({ type: changed ? "confirm_history" : "reject_history", identifier });
  }
}
