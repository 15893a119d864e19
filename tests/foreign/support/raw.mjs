// WebSocket without a WebSocket library: bytes that no well-behaved client would send, and what came back.

import { once } from "node:events";
import net from "node:net";
import tls from "node:tls";
import { within } from "./deadline.mjs";

/** An upgrade request; `more` are header lines without line ends. */
export function upgradeRequest(path, more = []) {
  return [
    `GET ${path} HTTP/1.1`,
    "Host: localhost",
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    ...more,
    "",
    "",
  ].join("\r\n");
}

/** A client frame with mask key zero, which leaves the payload readable; `first` is the first header byte. */
export function frame(first, payload, { masked = true } = {}) {
  const body = Buffer.from(payload);
  const mask = masked ? 0x80 : 0;
  let head;
  if (body.length < 126) {
    head = Buffer.from([first, mask | body.length]);
  } else if (body.length < 65_536) {
    head = Buffer.from([first, mask | 126, body.length >> 8, body.length & 0xff]);
  } else {
    head = Buffer.alloc(10);
    head[0] = first;
    head[1] = mask | 127;
    head.writeBigUInt64BE(BigInt(body.length), 2);
  }
  return Buffer.concat([head, masked ? Buffer.alloc(4) : Buffer.alloc(0), body]);
}

export const text = (payload) => frame(0x81, payload);

export class RawSocket {
  /** Bytes that have come in all. */
  n_received = 0;
  #received = Buffer.alloc(0);
  #arrived = () => {};

  /** With `secure`, options of Node.js's TLS, the bytes travel in TLS. */
  static async connect(port, secure) {
    const raw = new RawSocket();
    const to = { port, host: "127.0.0.1" };
    raw.socket = secure ? tls.connect({ ...to, ...secure }) : net.connect(to);
    // Resets are one of the ways in which a server may end a connection.
    raw.socket.on("error", () => {});
    raw.socket.on("data", (chunk) => {
      raw.n_received += chunk.length;
      raw.#received = Buffer.concat([raw.#received, chunk]);
      raw.#arrived();
    });
    // Not `once`, which takes an error for the end of the wait.
    raw.closed = new Promise((resolve) => raw.socket.on("close", resolve)).then(() => raw.#arrived(true));
    await within(once(raw.socket, secure ? "secureConnect" : "connect"), "a connection");
    return raw;
  }

  /** Connects and upgrades; what follows are frames. */
  static async upgraded(port, path, secure) {
    const raw = await RawSocket.connect(port, secure);
    raw.write(upgradeRequest(path));
    const head = await raw.head();
    if (!head.startsWith("HTTP/1.1 101 ")) throw new Error(`no upgrade: ${head}`);
    return raw;
  }

  write(bytes) {
    this.socket.write(bytes);
  }

  /** The HTTP head that the server sends; takes it from what was received. */
  async head() {
    for (;;) {
      const end = this.#received.indexOf("\r\n\r\n");
      if (end >= 0) {
        const head = this.#received.subarray(0, end + 4).toString("latin1");
        this.#received = this.#received.subarray(end + 4);
        return head;
      }
      if (await this.#more("an HTTP head")) return this.#received.toString("latin1");
    }
  }

  /** Takes everything that has come, as text, as soon as it matches. */
  async until(pattern) {
    for (;;) {
      const text = this.#received.toString();
      if (pattern.test(text)) {
        this.#received = Buffer.alloc(0);
        return text;
      }
      if (await this.#more(`text like ${pattern}`)) throw new Error(`the server hung up after ${text}`);
    }
  }

  /** The code of the server's Close frame; text frames before it are passed over. Null when it hangs up without one. */
  async closeCode() {
    for (;;) {
      const frame = this.#takeFrame();
      if (frame?.opcode === 8) return frame.payload.length >= 2 ? frame.payload.readUInt16BE(0) : 1005;
      if (!frame && (await this.#more("a Close frame"))) return null;
    }
  }

  /** Does `action`, then waits for a text frame that matches and returns it; those before it are passed over. */
  async textFrame(pattern, action) {
    action();
    for (;;) {
      const frame = this.#takeFrame();
      const payload = frame?.opcode === 1 ? frame.payload.toString() : null;
      if (payload !== null && pattern.test(payload)) return payload;
      if (!frame && (await this.#more(`a text frame like ${pattern}`))) throw new Error("the server hung up");
    }
  }

  /** Sends, and says whether the kernel took it all within a second. */
  async accepted(bytes) {
    const taken = new Promise((resolve) => this.socket.write(bytes, (error) => resolve(!error)));
    return within(taken, "room in the socket", 1000).catch(() => false);
  }

  /** An unmasked frame from the front of what was received. */
  #takeFrame() {
    const bytes = this.#received;
    if (bytes.length < 2) return null;
    const short = bytes[1] & 0x7f;
    if (short === 127) throw new Error("no server frame of these tests is that long");
    const head = short === 126 ? 4 : 2;
    if (bytes.length < head) return null;
    const length = short === 126 ? bytes.readUInt16BE(2) : short;
    if (bytes.length < head + length) return null;
    this.#received = bytes.subarray(head + length);
    return { opcode: bytes[0] & 0x0f, payload: bytes.subarray(head, head + length) };
  }

  /** Waits for more bytes; true when there will be none. */
  async #more(what) {
    if (this.socket.closed) return true;
    const arrival = new Promise((resolve) => (this.#arrived = resolve));
    return (await within(arrival, what)) === true;
  }

  destroy() {
    this.socket.destroy();
  }
}
