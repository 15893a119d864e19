// A small echo server of our own making on raw sockets, which can have one fault at a time: what a conformance suite has to find.
// Without one it is right.

import { createHash } from "node:crypto";
import net from "node:net";
import zlib from "node:zlib";

const GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
/** RFC 9110 section 5.6.2. */
const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/;
const TAIL = Buffer.from([0, 0, 0xff, 0xff]);
/** The longest part of a frame that is checked before its end. */
const EARLY_BYTES = 4096;
const [CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG] = [0, 1, 2, 8, 9, 10];

/** What no rule forbids a server and no client needs, each with what it does: a case has to note it, and none may call it a failure. */
const UNUSUAL = {
  "late-pong": "answers pings behind the message that they interrupt",
  "fragmented-control": "takes fragmented control frames",
  "accepts-long-lengths": "takes lengths in more bytes than they need",
};

/** What a right server may do otherwise, each with what it does: no case may call it a failure. */
export const FREEDOMS = {
  ...UNUSUAL,
  "understands-8": "opens a WebSocket for version 8, too",
  "refuses-early-data": "refuses a client that does not wait for the answer",
  "last-pong": "answers the last of several pings only",
  "skips-lines": "leaves out a line with a space before the first field",
  "replaces-zeros": "replaces zero bytes in fields by spaces",
  "takes-transfer-encoding": "lets Transfer-Encoding win over Content-Length",
  "takes-any-length-of-key": "does not decode keys",
  "keeps-limit": "closes with 1009 on messages of more than 32 KiB",
  "other-code": "answers every Close with 1001",
};

/** What a case has to catch, each with what is wrong or unusual. */
export const FAULTS = {
  ...UNUSUAL,
  "masked-frames": "masks what it sends",
  "accepts-unmasked": "takes frames without a mask",
  "wrong-accept": "computes Sec-WebSocket-Accept of something else",
  "drops-fragment": "forgets the second of three fragments",
  "other-pong": "answers pings with another payload",
  "accepts-rsv": "ignores reserved bits",
  "accepts-reserved-opcodes": "takes reserved opcodes for texts",
  "long-control": "takes control frames of more than 125 bytes",
  "no-utf8": "does not check texts",
  "late-utf8": "checks texts only when they are whole",
  "wrong-close-code": "fails connections with 1000",
  "echoes-bad-codes": "repeats close codes that must not be sent",
  "no-close": "does not answer a Close",
  "talks-after-close": "echoes what comes behind a Close",
  "truncated-length": "takes the lower half of 64-bit lengths only",
  "long-lengths": "writes short lengths in 16 bits",
  "orphan-continuation": "takes a continuation for a new message",
  "interleaves": "takes a new message inside a fragmented one",
  "compresses-unasked": "compresses without an agreement",
  "wrong-window": "compresses with a larger window than it agreed to",
  "keeps-context": "refers to older messages though it agreed not to",
  "forgets-context": "inflates each message by itself though that was not agreed",
  "loses-one": "loses one message in a thousand",
  "reorders": "swaps two messages that come together",
  "wrong-kind": "sends everything as text",
  "any-version": "opens a WebSocket for any version",
  "no-version-list": "refuses other versions without its own",
  "any-key": "opens a WebSocket for a short key",
  "chooses-protocol": "chooses a sub-protocol that was not offered",
  "bad-offer": "accepts an offer with an unknown parameter",
  "keeps-escapes": "takes a value in quotes with its escapes",
  "body-is-frames": "takes the body of a request for frames",
  "no-window": "accepts a limit of its window and does not say so",
  "leaves-tcp-open": "does not end TCP after both have said Close",
};

const isBadCode = (code) => !((code >= 1000 && code <= 1003) || (code >= 1007 && code <= 1014) || (code >= 3000 && code <= 4999));
const decodeText = (bytes, stream) => new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes, { stream });

class Failure extends Error {
  constructor(code) {
    super(`failed with ${code}`);
    this.code = code;
  }
}

class Peer {
  #socket;
  #fault;
  #bytes = Buffer.alloc(0);
  #terms = null;
  #message = null;
  #isClosed = false;
  #history = Buffer.alloc(0);
  #sent = Buffer.alloc(0);
  #n_messages = 0;
  #held = [];
  #pongs = [];

  constructor(socket, fault) {
    this.#socket = socket;
    this.#fault = fault;
    socket.setNoDelay(true);
    socket.on("error", () => {});
    socket.on("data", (chunk) => this.#receive(chunk));
    this.opened = false;
  }

  #has(fault) {
    return this.#fault === fault;
  }

  #receive(chunk) {
    this.#bytes = Buffer.concat([this.#bytes, chunk]);
    try {
      if (!this.opened && !this.#open()) return;
      while (!this.#isClosed || this.#has("talks-after-close")) {
        const frame = this.#takeFrame();
        if (!frame) break;
        this.#take(frame);
      }
      this.#flushHeld();
      if (this.#has("last-pong")) for (const answer of this.#pongs.splice(0)) this.#send(PONG, answer);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      this.#fail(error.code);
    }
  }

  #open() {
    // An empty line before a request does not count (RFC 9112 §2.2).
    while (this.#bytes.subarray(0, 2).equals(Buffer.from("\r\n"))) this.#bytes = this.#bytes.subarray(2);
    const end = this.#bytes.indexOf("\r\n\r\n");
    if (end < 0) return false;
    const head = this.#bytes.subarray(0, end).toString("latin1");
    const [line, ...lines] = (this.#has("replaces-zeros") ? head.replaceAll("\0", " ") : head).split("\r\n");
    while (this.#has("skips-lines") && lines[0]?.startsWith(" ")) lines.shift();
    this.#bytes = this.#bytes.subarray(end + 4);
    if (this.#has("refuses-early-data") && this.#bytes.length > 0) return this.#refuse(400);
    const fields = {};
    for (const field of lines) {
      const match = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([^\0\r\n]*?)[ \t]*$/.exec(field);
      if (!match) return this.#refuse(400);
      const name = match[1].toLowerCase();
      (fields[name] ??= []).push(match[2]);
    }
    const one = (name) => (fields[name]?.length === 1 ? fields[name][0] : "");
    const has = (name, token) => (fields[name] ?? []).join(",").toLowerCase().split(/[ \t]*,[ \t]*/).includes(token);
    const [method, target, version, ...more] = line.split(" ");
    if (method !== "GET" || version !== "HTTP/1.1" || !target || more.length > 0) return this.#refuse(400);
    if (!/^[^\s,/@]+$/.test(one("host"))) return this.#refuse(400);
    if (!has("upgrade", "websocket") || !has("connection", "upgrade")) return this.#refuse(426, "Upgrade: websocket");
    if (this.#has("takes-transfer-encoding") && fields["transfer-encoding"]) {
      // Only an empty body is read; another one is refused.
      const empty = Buffer.from("0\r\n\r\n");
      if (this.#bytes.equals(empty)) {
        this.#bytes = Buffer.alloc(0);
        delete fields["transfer-encoding"];
        delete fields["content-length"];
      }
    }
    const hasBody = fields["transfer-encoding"] || (fields["content-length"] ?? []).some((length) => length !== "0");
    if (hasBody && !this.#has("body-is-frames")) return this.#refuse(400);
    const asked = one("sec-websocket-version");
    const isKnown = asked === "13" || (asked === "8" && this.#has("understands-8"));
    if (!isKnown && !this.#has("any-version")) {
      const versions = this.#has("understands-8") ? "13, 8" : "13";
      return this.#refuse(426, this.#has("no-version-list") ? undefined : `Sec-WebSocket-Version: ${versions}`);
    }
    const key = one("sec-websocket-key");
    const isAnyLength = this.#has("takes-any-length-of-key") && /^([A-Za-z0-9+/]{4})+$|^([A-Za-z0-9+/]{4})*[A-Za-z0-9+/]{2,3}={1,2}$/.test(key);
    if (!/^[A-Za-z0-9+/]{22}==$/.test(key) && !isAnyLength && !this.#has("any-key")) return this.#refuse(400);
    const accept = createHash("sha1").update((this.#has("wrong-accept") ? "x" : "") + key + GUID).digest("base64");
    const answer = ["HTTP/1.1 101 Switching Protocols", "Upgrade: websocket", "Connection: Upgrade", `Sec-WebSocket-Accept: ${accept}`];
    this.#terms = this.#agree((fields["sec-websocket-extensions"] ?? []).join(", "));
    if (this.#terms === undefined) return this.#refuse(400);
    if (this.#terms) answer.push(`Sec-WebSocket-Extensions: ${this.#terms.text}`);
    if (this.#has("chooses-protocol")) answer.push("Sec-WebSocket-Protocol: mine");
    this.#socket.write(`${answer.join("\r\n")}\r\n\r\n`);
    return (this.opened = true);
  }

  #refuse(status, field) {
    this.#socket.end(`HTTP/1.1 ${status} No\r\n${field ? `${field}\r\n` : ""}Content-Length: 0\r\nConnection: close\r\n\r\n`);
    this.#isClosed = true;
    this.opened = true;
    return false;
  }

  /** The terms of the first offer that can be kept; null when there is none, undefined when the list is none. */
  #agree(header) {
    const elements = (header.match(/(?:[^,"]|"(?:[^"\\]|\\.)*")+/g) ?? []).map((element) => element.trim()).filter(Boolean);
    let agreed = null;
    for (const element of elements) {
      const parts = (element.match(/(?:[^;"]|"(?:[^"\\]|\\.)*")*/g) ?? []).map((part) => part.trim()).filter(Boolean);
      const [name, ...texts] = parts;
      const parameters = texts.map((text) => this.#parameter(text));
      if (parameters.includes(null)) return undefined;
      if (agreed || name !== "permessage-deflate") continue;
      agreed = this.#accept(parameters);
    }
    return agreed;
  }

  /** A parameter's name and its value, out of quotes and without escapes; null when one of them is not a token. */
  #parameter(text) {
    const found = /^([^\s="]+)(?:[ \t]*=[ \t]*(?:"((?:[^"\\]|\\.)*)"|([^\s"]+)))?$/.exec(text);
    if (!found) return null;
    const [, name, quoted, bare] = found;
    const value = this.#has("keeps-escapes") ? (quoted ?? bare) : (quoted?.replace(/\\(.)/g, "$1") ?? bare);
    return [name, value ?? "none"].every((word) => TOKEN.test(word)) ? { name, value } : null;
  }

  #accept(parameters) {
    const terms = { bits: 15, keepsOwn: true, keepsTheirs: true, text: "permessage-deflate" };
    const seen = new Set();
    for (const { name, value } of parameters) {
      if (seen.has(name)) return null;
      seen.add(name);
      const isBits = value !== undefined && /^([89]|1[0-5])$/.test(value);
      if (name === "server_no_context_takeover" && value === undefined) terms.keepsOwn = false;
      else if (name === "client_no_context_takeover" && value === undefined) terms.keepsTheirs = false;
      else if (name === "server_max_window_bits" && isBits && value !== "8") terms.bits = Number(value);
      else if (name === "client_max_window_bits" && (isBits || value === undefined)) continue;
      else if (!this.#has("bad-offer")) return null;
    }
    if (!terms.keepsOwn) terms.text += "; server_no_context_takeover";
    if (!terms.keepsTheirs) terms.text += "; client_no_context_takeover";
    if (seen.has("server_max_window_bits") && !this.#has("no-window")) terms.text += `; server_max_window_bits=${terms.bits}`;
    return terms;
  }

  #takeFrame() {
    const bytes = this.#bytes;
    if (bytes.length < 2) return null;
    const [first, second] = bytes;
    const frame = { fin: first >= 0x80, rsv: (first >> 4) & 7, opcode: first & 15 };
    const isControl = frame.opcode >= 8;
    const allowedRsv = this.#terms && (frame.opcode === TEXT || frame.opcode === BINARY) ? 4 : 0;
    if (frame.rsv & ~allowedRsv && !this.#has("accepts-rsv")) throw new Failure(1002);
    const isDefined = frame.opcode <= BINARY || (frame.opcode >= CLOSE && frame.opcode <= PONG);
    if (!isDefined && !this.#has("accepts-reserved-opcodes")) throw new Failure(1002);
    const isMasked = second >= 0x80;
    if (!isMasked && !this.#has("accepts-unmasked")) throw new Failure(1002);
    const takesFragments = this.#has("fragmented-control");
    if (isControl && !frame.fin && !takesFragments) throw new Failure(1002);
    let length = second & 127;
    if (isControl && length > 125 && !this.#has("long-control")) throw new Failure(1002);
    const short = length;
    let at = 2 + (short === 126 ? 2 : short === 127 ? 8 : 0) + (isMasked ? 4 : 0);
    if (bytes.length < at) return null;
    if (short === 126) length = bytes.readUInt16BE(2);
    if (short === 127) {
      if (bytes[2] >= 0x80) throw new Failure(1002);
      length = this.#has("truncated-length") ? bytes.readUInt16BE(8) : Number(bytes.readBigUInt64BE(2));
      if (length > 1 << 25) throw new Failure(1009);
    }
    const isTooLong = (short === 126 && length < 126) || (short === 127 && length < 65_536 && !this.#has("truncated-length"));
    if (isTooLong && !this.#has("accepts-long-lengths")) throw new Failure(1002);
    if (bytes.length < at + length) {
      this.#checkEarly(frame, bytes, at, isMasked);
      return null;
    }
    const payload = Buffer.from(bytes.subarray(at, at + length));
    if (isMasked) unmask(payload, bytes.subarray(at - 4, at));
    this.#bytes = bytes.subarray(at + length);
    return { ...frame, payload };
  }

  /** What is there of an unfinished frame must be text already. A long frame is checked when it is whole, not with each read again. */
  #checkEarly(frame, bytes, at, isMasked) {
    if (bytes.length - at > EARLY_BYTES) return;
    if (frame.opcode !== TEXT || frame.rsv || !isMasked || this.#has("late-utf8") || this.#has("no-utf8")) return;
    const part = Buffer.from(bytes.subarray(at));
    unmask(part, bytes.subarray(at - 4, at));
    this.#checkText(part, true);
  }

  #checkText(bytes, isUnfinished) {
    if (this.#has("no-utf8")) return;
    try {
      decodeText(bytes, isUnfinished);
    } catch {
      throw new Failure(1007);
    }
  }

  #take({ fin, rsv, opcode, payload }) {
    if (opcode === CLOSE) return this.#takeClose(payload);
    if (opcode === PONG) return;
    if (opcode === PING) {
      const answer = this.#has("other-pong") ? Buffer.from("pong") : payload;
      if (this.#has("late-pong") && this.#message) return this.#pongs.push(answer);
      if (this.#has("last-pong")) return (this.#pongs = [answer]);
      return this.#send(PONG, answer.subarray(0, 125));
    }
    if (opcode === CONTINUATION && !this.#message) {
      if (!this.#has("orphan-continuation")) throw new Failure(1002);
      this.#message = { opcode: TEXT, rsv: 0, parts: [] };
    } else if (opcode !== CONTINUATION) {
      if (this.#message && !this.#has("interleaves")) throw new Failure(1002);
      this.#message = { opcode: opcode === BINARY ? BINARY : TEXT, rsv, parts: [] };
    }
    const message = this.#message;
    message.n = (message.n ?? 0) + 1;
    if (!(this.#has("drops-fragment") && message.n === 2 && !fin)) message.parts.push(payload);
    const isPlainText = message.opcode === TEXT && !(message.rsv & 4 && this.#terms);
    if (isPlainText && !fin && !this.#has("late-utf8")) this.#checkText(Buffer.concat(message.parts), true);
    if (!fin) return;
    this.#message = null;
    const whole = Buffer.concat(message.parts);
    if (this.#has("keeps-limit") && whole.length > 32_768) throw new Failure(1009);
    const bytes = message.rsv & 4 && this.#terms ? this.#inflate(whole) : whole;
    if (message.opcode === TEXT) this.#checkText(bytes, false);
    this.#echo(message.opcode, bytes);
    for (const answer of this.#pongs.splice(0)) this.#send(PONG, answer);
  }

  #takeClose(payload) {
    if (payload.length === 1) throw new Failure(1002);
    const said = payload.length >= 2 ? payload.readUInt16BE(0) : null;
    if (said !== null && isBadCode(said) && !this.#has("echoes-bad-codes")) throw new Failure(1002);
    this.#checkText(payload.subarray(2), false);
    if (this.#isClosed) return;
    this.#flushHeld();
    const code = this.#has("other-code") ? Buffer.from([0x03, 0xe9]) : payload.subarray(0, 2);
    if (!this.#has("no-close")) this.#send(CLOSE, code);
    this.#isClosed = true;
    if (!this.#has("leaves-tcp-open") && !this.#has("talks-after-close")) this.#socket.end();
    if (this.#has("talks-after-close")) setImmediate(() => this.#socket.end());
  }

  #fail(code) {
    this.#flushHeld();
    const payload = Buffer.alloc(2);
    payload.writeUInt16BE(this.#has("wrong-close-code") ? 1000 : code);
    this.#send(CLOSE, payload);
    this.#isClosed = true;
    this.#bytes = Buffer.alloc(0);
    this.#socket.end();
  }

  #echo(opcode, bytes) {
    this.#n_messages += 1;
    if (this.#has("loses-one") && this.#n_messages % 1000 === 500) return;
    if (this.#has("reorders")) return this.#held.push([opcode, bytes]);
    this.#sendMessage(opcode, bytes);
  }

  #flushHeld() {
    const held = this.#held.splice(0);
    if (held.length > 1) held.push(...held.splice(-2).reverse());
    for (const [opcode, bytes] of held) this.#sendMessage(opcode, bytes);
  }

  #sendMessage(opcode, bytes) {
    const kind = this.#has("wrong-kind") ? TEXT : opcode;
    if (!this.#terms && !this.#has("compresses-unasked")) return this.#send(kind, bytes);
    this.#send(kind, this.#deflate(bytes), 4);
  }

  /** Messages before this one are the dictionary, as far as the terms allow. */
  #deflate(bytes) {
    if (bytes.length === 0) return Buffer.from([0]);
    const terms = this.#terms ?? { bits: 15, keepsOwn: false };
    const windowBits = this.#has("wrong-window") ? 15 : terms.bits;
    const keeps = terms.keepsOwn || this.#has("keeps-context");
    const dictionary = keeps ? this.#sent.subarray(-(1 << windowBits)) : Buffer.alloc(0);
    const options = { windowBits, finishFlush: zlib.constants.Z_SYNC_FLUSH };
    const out = zlib.deflateRawSync(bytes, dictionary.length ? { ...options, dictionary } : options);
    if (keeps) this.#sent = Buffer.concat([this.#sent, bytes]).subarray(-32_768);
    return out.subarray(0, -4);
  }

  #inflate(bytes) {
    const keeps = this.#terms.keepsTheirs && !this.#has("forgets-context");
    const dictionary = keeps ? this.#history : Buffer.alloc(0);
    let out;
    try {
      const options = { finishFlush: zlib.constants.Z_SYNC_FLUSH };
      out = zlib.inflateRawSync(Buffer.concat([bytes, TAIL]), dictionary.length ? { ...options, dictionary } : options);
    } catch {
      throw new Failure(1007);
    }
    this.#history = Buffer.concat([this.#history, out]).subarray(-32_768);
    return out;
  }

  #send(opcode, payload, rsv = 0) {
    if (this.#isClosed && !this.#has("talks-after-close")) return;
    const key = this.#has("masked-frames") ? Buffer.from([1, 2, 3, 4]) : null;
    const first = 0x80 | (rsv << 4) | opcode;
    const mask = key ? 0x80 : 0;
    const isLong = this.#has("long-lengths") && opcode < 8;
    let head;
    if (payload.length < 126 && !isLong) head = Buffer.from([first, mask | payload.length]);
    else if (payload.length < 65_536) head = Buffer.from([first, mask | 126, payload.length >> 8, payload.length & 255]);
    else {
      head = Buffer.alloc(10);
      head[0] = first;
      head[1] = mask | 127;
      head.writeBigUInt64BE(BigInt(payload.length), 2);
    }
    const body = Buffer.from(payload);
    if (key) unmask(body, key);
    this.#socket.write(Buffer.concat(key ? [head, key, body] : [head, body]));
  }
}

function unmask(bytes, key) {
  for (let at = 0; at < bytes.length; at++) bytes[at] ^= key[at & 3];
}

/** Starts the server with a fault or a freedom, or none; resolves to it. */
export function startFaulty(fault) {
  const server = net.createServer({ allowHalfOpen: false }, (socket) => new Peer(socket, fault));
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server)));
}
