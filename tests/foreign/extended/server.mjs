// A server of AnyCable's extended protocol that keeps everything in memory: history, sessions and presence.
//
// It exists so that the cases of `plimsoll conform cable` about these features have a target, and does nothing for
// speed. It is made of parts, so that tests can put one with a fault in the place of a right one.

import { once } from "node:events";
import http from "node:http";
import { parseArgs } from "node:util";
import { WebSocketServer } from "ws";
import { Application } from "./application.mjs";
import { Connection, EXTENDED } from "./connection.mjs";
import { History } from "./history.mjs";
import { Hub } from "./hub.mjs";
import { Presence } from "./presence.mjs";
import { Sessions } from "./sessions.mjs";

const PROTOCOLS = ["actioncable-v1-json", EXTENDED];

/** How often what is too old is looked for. */
const SWEEP_MS = 1000;

/** AnyCable's settings, by its names and with its values; times in seconds. */
const DEFAULTS = { history_limit: 100, history_ttl: 300, sessions_ttl: 300, presence_ttl: 15, ping_interval: 3 };

/** `--port N --rpc_host URL`, and settings. */
function settings(args) {
  const names = ["port", "rpc_host", ...Object.keys(DEFAULTS)];
  const options = Object.fromEntries(names.map((name) => [name, { type: "string" }]));
  const { rpc_host, ...given } = parseArgs({ args, options }).values;
  const numbers = Object.entries(given).map(([name, value]) => [name, Number(value)]);
  return { ...DEFAULTS, ...Object.fromEntries(numbers), rpc_host };
}

export class Server {
  connections = new Set();
  #server;
  #sweeping;

  /** `log` is told of what goes wrong. */
  constructor(args, parts = {}, log = console.error) {
    this.settings = settings(args);
    this.log = log;
    const kinds = { History, Hub, Presence, Sessions, Connection, ...parts };
    this.application = new Application(this.settings.rpc_host, log);
    this.history = new kinds.History(this.settings);
    this.sessions = new kinds.Sessions(this.settings);
    this.presence = new kinds.Presence(this.settings);
    this.hub = new kinds.Hub();
    this.Connection = kinds.Connection;
  }

  /** Listens on the port of the settings, or on a free one for 0, and returns it. */
  async listen() {
    const server = http.createServer((request, response) => this.#answer(request, response));
    const handleProtocols = (offered) => [...offered].find((protocol) => PROTOCOLS.includes(protocol)) ?? false;
    const sockets = new WebSocketServer({ server, path: "/cable", handleProtocols });
    sockets.on("connection", (socket, request) => this.#connected(socket, request));
    this.#sweeping = setInterval(() => this.#sweep(), SWEEP_MS);
    this.#server = server;
    server.listen(this.settings.port, "127.0.0.1");
    await once(server, "listening");
    return server.address().port;
  }

  #connected(socket, request) {
    const connection = new this.Connection(this, socket, request);
    this.connections.add(connection);
    connection.ended.then(() => this.connections.delete(connection));
  }

  /** `POST /_broadcast` with a message, a list of messages, or a command. */
  async #answer(request, response) {
    if (request.url !== "/_broadcast") return response.writeHead(404).end();
    if (request.method !== "POST") return response.writeHead(422).end();
    const parts = await request.toArray();
    try {
      [JSON.parse(Buffer.concat(parts).toString())].flat().forEach((body) => this.publish(body));
      response.writeHead(201).end();
    } catch (error) {
      response.writeHead(422).end(error.message);
    }
  }

  publish({ command, payload, stream, data, meta = {} }) {
    if (command === "disconnect") return this.#disconnect(payload);
    const entry = meta.transient ? { stream, data } : this.history.append(stream, data);
    this.hub.deliver({ ...entry, type: meta.broadcast_type }, meta.exclude_socket);
  }

  /** Tells a stream who came or went. */
  announce(stream, event) {
    const meta = { transient: true, broadcast_type: "presence" };
    if (event) this.publish({ stream, data: JSON.stringify(event), meta });
  }

  #disconnect({ identifier, reconnect = true }) {
    const sessions = [...this.connections].filter(({ identifiers }) => identifiers === identifier);
    for (const connection of sessions) connection.dismiss("remote", reconnect, 1000, "Closed remotely");
  }

  #sweep() {
    for (const { sid } of this.connections) this.sessions.touch(sid);
    this.sessions.sweep();
    this.history.sweep();
    for (const [stream, event] of this.presence.sweep()) this.announce(stream, event);
  }

  /** Says goodbye to all clients, and ends when they have gone. */
  async end() {
    this.#server.close();
    clearInterval(this.#sweeping);
    const connections = [...this.connections];
    for (const connection of connections) connection.dismiss("server_restart", true, 1001, "Server restart");
    await Promise.all(connections.map(({ ended }) => ended));
  }
}
