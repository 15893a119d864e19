// Between clients and a right server of cables: passes everything on, or does what a fault says (see cable.mjs).

import { once } from "node:events";
import http from "node:http";
import { WebSocket, WebSocketServer } from "ws";

/** The only sub-protocol that the server speaks. */
const BASE = "actioncable-v1-json";

export class Proxy {
  #upstream;
  #fault;
  #headers;
  /** What the fault remembers of all connections. */
  #shared = {};
  #sockets = new WebSocketServer({ noServer: true, handleProtocols: (offered, request) => request.agreed || false });
  #server = http.createServer((request, response) => this.#forward(request, response));

  /** `upstream` is the right server's address; it gets `headers` with each upgrade. */
  constructor(upstream, fault, headers = {}) {
    this.#upstream = upstream;
    this.#fault = fault;
    this.#headers = headers;
    this.#server.on("upgrade", (request, socket, head) => this.#upgrade(request, socket, head));
  }

  /** Listens on a port of 127.0.0.1, and returns it. */
  async listen(port) {
    this.#server.listen(port, "127.0.0.1");
    await once(this.#server, "listening");
    return this.#server.address().port;
  }

  /** Accepts no more connections. */
  close() {
    this.#server.close();
  }

  /** Ends all connections. */
  kill() {
    this.close();
    this.#server.closeAllConnections();
    for (const client of this.#sockets.clients) client.terminate();
  }

  /** Whether no WebSocket is open. */
  get isIdle() {
    return [...this.#sockets.clients].every(({ readyState }) => readyState === WebSocket.CLOSED);
  }

  #forward(request, response) {
    const { method, url: path, headers } = request;
    const [host, port] = this.#upstream.split(":");
    const forwarded = http.request({ method, path, headers, host, port }, (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
    });
    forwarded.on("error", () => response.destroy());
    request.pipe(forwarded);
  }

  #upgrade(request, socket, head) {
    const fault = this.#fault;
    const offered = (request.headers["sec-websocket-protocol"] ?? "").split(/, */).filter(Boolean);
    const { path, headers } = (fault.handshake ?? ((it) => it))({ path: request.url, headers: own(request.headers) });
    // `ws` gives up on a server that takes none of its offers, which is what the suite wants to see.
    const known = offered.filter((protocol) => protocol === BASE);
    const options = { headers: { ...headers, ...this.#headers }, perMessageDeflate: false };
    const above = new WebSocket(`ws://${this.#upstream}${path}`, known, options);
    above.on("error", () => socket.destroy());
    above.once("open", () => {
      request.agreed = fault.protocol ? fault.protocol(offered) : above.protocol;
      this.#sockets.handleUpgrade(request, socket, head, (below) => join({ below, above, socket, fault, shared: this.#shared }));
    });
  }
}

/** Headers of the client itself; those of the handshake are made anew. */
function own(headers) {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !/^(connection|upgrade|sec-websocket-.*)$/.test(name)));
}

function join({ below, above, socket, fault, shared }) {
  const notes = { shared };
  const cut = () => {
    socket.destroy();
    above.terminate();
  };
  const toClient = (text) => below.send(text);
  const toServer = (text) => above.send(text);
  const pass = (text, { pass }) => pass(text);
  const down = fault.toClient ?? pass;
  const up = fault.toServer ?? pass;
  above.on("message", (data) => down(data.toString(), { pass: toClient, notes, cut }));
  const close = (code, reason) => below.close(...(code === 1005 || code === 1006 ? [] : [code, reason]));
  below.on("message", (data) => up(data.toString(), { pass: toServer, toClient, notes, cut, close }));
  above.on("close", (code, reason) => (fault.closed ? fault.closed({ cut }) : close(code, reason)));
  below.on("close", () => above.close());
  below.on("error", () => above.terminate());
}
