// One right server for many runs of `plimsoll conform cable` at the same time, each behind a proxy with a fault of its own.
//
// A run is the application of its own clients: a header, which the server passes on with every call, says to which run
// the call goes.

import { once } from "node:events";
import http from "node:http";
import { Server } from "../support/plimsoll.mjs";
import { freePort } from "../support/ports.mjs";
import { Proxy } from "./proxy.mjs";
import { RUN, SERVE } from "./settings.mjs";

/** The reply to calls for a run that has ended: nothing depends on it any more. */
const GONE = JSON.stringify({ status: 1 });

export class SharedServer {
  /** The proxies and the ports of the applications. */
  #runs = [];
  #calls = http.createServer((request, response) => this.#call(request, response));
  #server;

  static async start() {
    const shared = new SharedServer();
    shared.#calls.listen(0, "127.0.0.1");
    await once(shared.#calls, "listening");
    const rpcHost = `http://127.0.0.1:${shared.#calls.address().port}/_anycable`;
    shared.#server = await Server.start("--rpc_host", rpcHost, ...SERVE);
    return shared;
  }

  async stop() {
    for (const { proxy } of this.#runs) proxy.kill();
    await this.#server.stop();
    this.#calls.close();
    this.#calls.closeAllConnections();
  }

  /** Arguments of `plimsoll conform cable` for a run with this fault. */
  async run(fault) {
    const rpcPort = await freePort();
    const proxy = new Proxy(this.#server.address, fault, { [RUN]: String(this.#runs.length) });
    this.#runs.push({ proxy, rpcPort });
    const port = await proxy.listen(0);
    return [`ws://127.0.0.1:${port}/cable`, "--rpc", "http", "--rpc-listen", `127.0.0.1:${rpcPort}`];
  }

  /** Passes a call of the server on to its run. */
  async #call(request, response) {
    const body = Buffer.concat(await request.toArray());
    const { rpcPort } = this.#runs[JSON.parse(body).env.headers[RUN]];
    const { method, url: path, headers } = request;
    const call = http.request({ host: "127.0.0.1", port: rpcPort, method, path, headers, agent: false }, (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
    });
    call.on("error", () => response.writeHead(200, { "content-type": "application/json" }).end(GONE));
    call.end(body);
  }
}
