// An application over HTTP, on Node's own servers.

import { once } from "node:events";
import http from "node:http";
import https from "node:https";
import { METHODS, RpcApp } from "./rpc-app.mjs";

const STATUSES = { ERROR: 0, SUCCESS: 1, FAILURE: 2 };

/** An answer that is not a reply, for habits to throw. */
export const httpAnswer = (status, body = "", headers = {}) => Object.assign(new Error(body), { status, headers });

/** Options: `tls: { key, cert }` in PEM. */
export class HttpApp extends RpcApp {
  static kind = "HTTP";
  static rejection = (text = "as told") => httpAnswer(422, text);
  static overload = () => httpAnswer(503, "busy");

  /** The headers of the last request. */
  headers;
  #server;
  #port = 0;

  /** Starts to listen, again on the same port after `kill`. */
  async listen() {
    const { tls } = this.options;
    const answer = (request, response) => this.#answer(request, response);
    this.#server = tls ? https.createServer(tls, answer) : http.createServer(answer);
    this.#server.listen(this.#port, "127.0.0.1");
    await once(this.#server, "listening");
    this.#port = this.#server.address().port;
  }

  /** Ends at once, calls in progress included. */
  kill() {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  get port() {
    return this.#port;
  }

  /** For `--rpc_host`. */
  get host() {
    return `${this.options.tls ? "https" : "http"}://127.0.0.1:${this.#port}/_anycable`;
  }

  async #answer(request, response) {
    this.headers = request.headers;
    const method = METHODS.find((method) => request.url === `/_anycable/${method.toLowerCase()}`);
    const chunks = await request.toArray();
    if (request.method !== "POST" || !method) return void response.writeHead(404).end(`no ${request.url} here`);
    const { "x-anycable-meta-sid": sid, "x-anycable-meta-protov": protov } = request.headers;
    const call = { ...JSON.parse(Buffer.concat(chunks).toString()), sid, protov };
    try {
      const reply = await this.answer(method, call, `${request.socket.remoteAddress}:${request.socket.remotePort}`);
      const body = JSON.stringify({ ...reply, status: STATUSES[reply.status] });
      response.writeHead(200, { "content-type": "application/json" }).end(body);
    } catch ({ status = 500, message, headers }) {
      response.writeHead(status, headers).end(message);
    }
  }
}
