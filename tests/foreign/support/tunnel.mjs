// A way to a server that can be shut, as for a train in a tunnel: all connections end, and no new one is made until it opens.

import { once } from "node:events";
import net from "node:net";

export class Tunnel {
  #sockets = new Set();
  #isOpen = true;
  #server;

  static async to(t, port) {
    const tunnel = new Tunnel();
    tunnel.#server = net.createServer((socket) => tunnel.#pass(socket, port)).listen(0, "127.0.0.1");
    await once(tunnel.#server, "listening");
    t.after(() => {
      tunnel.shut();
      tunnel.#server.close();
    });
    return tunnel;
  }

  /** The address of a path behind the tunnel. */
  ws(path) {
    return `ws://${this.address}${path}`;
  }

  /** Host and port. */
  get address() {
    return `127.0.0.1:${this.#server.address().port}`;
  }

  shut() {
    this.#isOpen = false;
    for (const socket of this.#sockets) socket.destroy();
  }

  open() {
    this.#isOpen = true;
  }

  #pass(socket, port) {
    if (!this.#isOpen) return socket.destroy();
    const upstream = net.connect(port, "127.0.0.1");
    for (const [one, other] of [[socket, upstream], [upstream, socket]]) {
      this.#sockets.add(one);
      one.on("error", () => {});
      one.on("close", () => {
        this.#sockets.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
  }
}
