// A client's connection: its commands in their order, what the application replies, and the session that outlives it.

import { randomBytes } from "node:crypto";
import { FAILURE, SUCCESS } from "./application.mjs";
import { COMMANDS } from "./commands.mjs";
import { message } from "./hub.mjs";

/** The sub-protocol whose sessions can be resumed. */
export const EXTENDED = "actioncable-v1-ext-json";

/** Where the state of a subscription names the stream that it is present on. */
const PRESENCE = "$p";

/** Headers that the application hears of. */
const HEADERS = ["cookie", "x-api-token"];

const json = JSON.stringify;

/** Merges what the application wants to be remembered: an empty value forgets. */
function remember(state, changes = {}) {
  for (const [key, value] of Object.entries(changes)) value === "" ? delete state[key] : (state[key] = value);
}

export class Connection {
  sid = randomBytes(16).toString("base64url");
  /** Who the client is, in the application's words. */
  identifiers = "";
  cstate = {};
  /** By identifier: `streams` and `istate`, what its channel remembers. */
  subscriptions = new Map();
  #socket;
  #env;
  #last;

  constructor(server, socket, request) {
    this.server = server;
    this.#socket = socket;
    this.isExtended = socket.protocol === EXTENDED;
    this.#env = environment(request);
    this.#last = this.open(request);
    // One after the other: a command waits for the reply to the one before it.
    const next = (step) => (this.#last = this.#last.then(step).catch((error) => server.log(error)));
    socket.on("message", (data) => next(() => this.#carryOut(data.toString())));
    socket.on("error", () => {});
    this.ended = new Promise((resolve) => socket.on("close", () => next(() => this.#end()).then(resolve)));
    const ping = setInterval(() => this.send(json({ type: "ping", message: Date.now() })), server.settings.ping_interval * 1000);
    socket.on("close", () => clearInterval(ping));
  }

  send(text) {
    if (this.#socket.readyState === this.#socket.OPEN) this.#socket.send(text);
  }

  /** Ends the connection from here. */
  dismiss(reason, reconnect, code, text) {
    this.send(json({ type: "disconnect", reason, reconnect }));
    this.#socket.close(code, text);
  }

  /** A session goes on that can be resumed, or the application says who this is. */
  async open(request) {
    const session = this.isExtended && this.server.sessions.find(previous(request));
    if (session) return this.resume(session);
    const reply = await this.call("connect", {});
    if (reply.status === SUCCESS) {
      this.identifiers = reply.identifiers;
      remember(this.cstate, reply.env?.cstate);
      this.save();
    }
    reply.transmissions?.forEach((text) => this.send(text));
    if (reply.status === FAILURE) this.#socket.close(1000, "Auth Failed");
    else if (reply.status !== SUCCESS) this.#socket.close(1011, "Auth Error");
  }

  resume({ ids, cstate, subs, istate }) {
    this.identifiers = ids;
    this.cstate = cstate;
    for (const [identifier, streams] of Object.entries(subs)) {
      const subscription = { streams: new Set(), istate: istate[identifier] };
      this.subscriptions.set(identifier, subscription);
      streams.forEach((stream) => this.listen(identifier, subscription, stream));
    }
    this.save();
    this.send(json({ type: "welcome", sid: this.sid, restored: true, restored_ids: Object.keys(subs) }));
  }

  /** Keeps the session as it is now, if it can be resumed. */
  save() {
    if (!this.isExtended) return;
    const entries = [...this.subscriptions];
    this.server.sessions.save(this.sid, {
      ids: this.identifiers,
      subs: Object.fromEntries(entries.map(([identifier, { streams }]) => [identifier, [...streams]])),
      cstate: this.cstate,
      istate: Object.fromEntries(entries.map(([identifier, { istate }]) => [identifier, istate])),
    });
  }

  /** A subscription of this client. */
  subscription(identifier) {
    const subscription = this.subscriptions.get(identifier);
    if (!subscription) throw new Error(`there is no subscription ${identifier}`);
    return subscription;
  }

  /** Asks the application. */
  call(method, request, istate = {}) {
    const env = { ...this.#env, cstate: this.cstate, istate };
    return this.server.application.call(method, this.sid, { ...request, env });
  }

  /** What a command about a subscription comes to. */
  command(command, identifier, { istate }, data = "") {
    return this.call("command", { command, identifier, connection_identifiers: this.identifiers, data }, istate);
  }

  /** Does what the application replied. */
  apply(identifier, subscription, reply) {
    const stopped = reply.stop_streams ? [...subscription.streams] : (reply.stopped_streams ?? []);
    stopped.forEach((stream) => this.unlisten(identifier, subscription, stream));
    reply.streams?.forEach((stream) => this.listen(identifier, subscription, stream));
    remember(subscription.istate, reply.env?.istate);
    remember(this.cstate, reply.env?.cstate);
    this.save();
    reply.transmissions?.forEach((text) => this.send(text));
    const { type, id, info } = reply.presence ?? {};
    if (type === "join") this.join(subscription, { id, info: JSON.parse(info) });
    if (type === "leave") this.leave(subscription);
    if (reply.disconnect) this.#socket.close(1000);
  }

  listen(identifier, { streams }, stream) {
    streams.add(stream);
    this.server.hub.join(stream, this, identifier);
  }

  unlisten(identifier, { streams }, stream) {
    streams.delete(stream);
    this.server.hub.leave(stream, this, identifier);
  }

  /** Replays what a request is about, and then confirms it. */
  replay(identifier, { streams }, request) {
    if (!(request.since > 0) && !request.streams) throw new Error("a request for history names a time or offsets");
    const entries = this.server.history.replay([...streams], request);
    entries?.forEach((entry) => this.send(message(identifier, entry)));
    this.send(json({ type: entries ? "confirm_history" : "reject_history", identifier }));
  }

  /** The stream that a subscription is present on. */
  present({ istate }) {
    if (!istate[PRESENCE]) throw new Error("the channel does not support presence");
    return istate[PRESENCE];
  }

  join(subscription, { id, info }) {
    const stream = this.present(subscription);
    this.server.announce(stream, this.server.presence.join(stream, this.sid, { id, info }));
  }

  leave(subscription) {
    const stream = this.present(subscription);
    this.server.announce(stream, this.server.presence.leave(stream, this.sid));
  }

  /** Removes a subscription with all that it has; who was present by it leaves. */
  remove(identifier, subscription) {
    this.subscriptions.delete(identifier);
    if (subscription.istate[PRESENCE]) this.leave(subscription);
    for (const stream of subscription.streams) this.unlisten(identifier, subscription, stream);
    this.save();
  }

  /** Nothing more comes from the client: its session and its presence stay for a while. */
  lose() {
    this.server.presence.lose(this.sid);
    this.server.sessions.touch(this.sid);
  }

  /** A command that cannot be carried out has no reply. */
  async #carryOut(text) {
    try {
      const { command, identifier, ...fields } = parsed(text, this.#socket);
      if (!Object.hasOwn(COMMANDS, command)) throw new Error(`there is no command ${command}`);
      await COMMANDS[command](this, identifier, fields);
    } catch (error) {
      this.server.log(error.message);
    }
  }

  async #end() {
    const { subscriptions, server } = this;
    for (const [identifier, { streams }] of subscriptions) for (const stream of streams) server.hub.leave(stream, this, identifier);
    this.lose();
    if (!this.identifiers) return;
    const states = [...subscriptions].map(([identifier, { istate }]) => [identifier, json(istate)]);
    const request = { identifiers: this.identifiers, subscriptions: [...subscriptions.keys()] };
    await this.call("disconnect", request, Object.fromEntries(states));
  }
}

/** What the application hears of the request. */
function environment(request) {
  const headers = HEADERS.filter((name) => name in request.headers).map((name) => [name, request.headers[name]]);
  headers.push(["REMOTE_ADDR", request.socket.remoteAddress]);
  return { url: `http://${request.headers.host}${request.url}`, headers: Object.fromEntries(headers) };
}

/** The session that a client had; the header wins over the query. */
function previous(request) {
  const query = new URL(request.url, "http://localhost").searchParams;
  return request.headers["x-anycable-restore-sid"] ?? query.get("sid");
}

/** What is not JSON ends the connection. */
function parsed(text, socket) {
  try {
    return JSON.parse(text) ?? {};
  } catch (error) {
    socket.close(1003);
    throw error;
  }
}
