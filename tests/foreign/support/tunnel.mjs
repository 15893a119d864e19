// A way to a server that can be shut, as for a train in a tunnel: all connections end, and no new one is made until it opens.

import { once } from "node:events";
import net from "node:net";
import { Transform } from "node:stream";

export class Tunnel {
  #sockets = new Set();
  #isOpen = true;
  #server;
  #slow;

  /** `slow`: each piece of the server's answers takes `ms` to come through on connections on which the client has sent `sent`. */
  static async to(t, port, { slow } = {}) {
    const tunnel = new Tunnel();
    tunnel.#slow = slow;
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
    }
    socket.pipe(upstream);
    const answers = this.#slow ? upstream.pipe(slowed(socket, this.#slow)) : upstream;
    answers.pipe(socket);
  }
}

function slowed(socket, { sent, ms }) {
  let isSlow = false;
  socket.on("data", (piece) => (isSlow ||= sent.test(piece.toString("latin1"))));
  return new Transform({
    transform: (piece, _encoding, pass) => (isSlow ? setTimeout(pass, ms, null, piece) : pass(null, piece)),
  });
}
