// A server whose capacity is known, because it is a number of connections and not its speed, and a script for it.

import { once } from "node:events";
import { createServer } from "node:http";
import { WebSocketServer } from "ws";

/** Replies to what is beyond the capacity of a server that is slow there, in ms; far from any limit of these tests. */
const SLOW_MS = 700;

/** An echo server with a limit on connections. */
export class Limiter {
  #http = createServer();
  #sockets = new Set();
  #n_open = 0;
  /** The most that were open at the same time, and how many were refused. */
  peak = 0;
  n_refused = 0;

  /**
   * `beyond` is what happens to connections beyond `capacity`: `refuse` them, be `slow` to all while there are some, or
   * `die` for good.
   */
  static async start(t, capacity, beyond) {
    const limiter = new Limiter();
    const sockets = new WebSocketServer({ noServer: true });
    limiter.#http.on("connection", (socket) => {
      limiter.#sockets.add(socket);
      socket.on("error", () => {});
      socket.once("close", () => limiter.#sockets.delete(socket));
    });
    limiter.#http.on("upgrade", (request, socket, head) => {
      if (beyond === "die" && limiter.#n_open >= capacity) return limiter.stop();
      if (beyond === "refuse" && limiter.#n_open >= capacity) {
        limiter.n_refused += 1;
        return socket.end("HTTP/1.1 503 Full\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
      }
      limiter.#n_open += 1;
      limiter.peak = Math.max(limiter.peak, limiter.#n_open);
      limiter.#http.emit("peak");
      socket.once("close", () => (limiter.#n_open -= 1));
      sockets.handleUpgrade(request, socket, head, (peer) => {
        peer.on("error", () => {});
        peer.on("message", (data, isBinary) => {
          const isSlow = beyond === "slow" && limiter.#n_open > capacity;
          setTimeout(() => peer.send(data, { binary: isBinary }), isSlow ? SLOW_MS : 1);
        });
      });
    });
    limiter.#http.listen(0, "127.0.0.1");
    await once(limiter.#http, "listening");
    t.after(() => limiter.stop());
    return limiter;
  }

  get port() {
    return this.#http.address()?.port ?? this.#port;
  }

  /** Resolves when so many have been open at the same time. */
  reached(n) {
    return new Promise((resolve) => {
      this.#http.on("peak", () => this.peak >= n && resolve());
    });
  }

  #port;

  stop() {
    this.#port ??= this.#http.address()?.port;
    this.#http.close();
    this.#sockets.forEach((socket) => socket.destroy());
  }
}

/** Users that stay connected for the whole step and say something now and then. */
export const CHAT = `
import ws from "k6/ws";
import { sleep } from "k6";
import { Trend } from "k6/metrics";
const rtt = new Trend("rtt", true);
export const options = { scenarios: { chat: { executor: "constant-vus", vus: 1, duration: "1m", gracefulStop: "0s" } } };
export default function () {
  let isOpen = false;
  ws.connect(__ENV.URL, null, (socket) => {
    let sent;
    const say = () => { sent = Date.now(); socket.send("hi"); };
    socket.on("open", () => { isOpen = true; say(); });
    socket.on("message", () => { rtt.add(Date.now() - sent); socket.setTimeout(say, 100); });
    socket.on("error", () => {});
});
  if (!isOpen) { sleep(0.2); throw new Error("refused"); }
}
`;
