// What streams carried: the latest messages of each, with their positions.

import { randomBytes } from "node:crypto";

/** The record of a stream outlives its messages so many times: offsets go on where they were. */
const RECORD_TTLS = 10;

export class History {
  /** By stream: the last offset, and the messages that are left. */
  #records = new Map();
  #limit;
  #ttl_ms;
  /** Which counting of offsets this is: another process begins anew. */
  epoch = randomBytes(3).toString("base64url");

  /** The most messages of a stream, and the seconds after which they are forgotten. */
  constructor({ history_limit, history_ttl }) {
    this.#limit = history_limit;
    this.#ttl_ms = history_ttl * 1000;
  }

  /** Keeps a message; returns it with its position. */
  append(stream, data) {
    const record = this.#records.get(stream) ?? { last: 0, entries: [] };
    record.last += 1;
    record.at = Date.now();
    const entry = { stream, data, epoch: this.epoch, offset: record.last, at: record.at };
    record.entries.push(entry);
    if (record.entries.length > this.#limit) record.entries.shift();
    this.#records.set(stream, record);
    return entry;
  }

  /** What a request is answered with, stream by stream; null if one of them cannot be answered. */
  replay(streams, { since = 0, streams: positions = {} }) {
    const parts = streams.map((stream) => {
      if (Object.hasOwn(positions, stream)) return this.after(stream, positions[stream]);
      return since > 0 ? this.since(stream, since) : [];
    });
    return parts.includes(null) ? null : parts.flat();
  }

  /** Messages after a position; null if it is of another epoch, or not among those that are kept. */
  after(stream, { offset, epoch }) {
    const entries = this.entries(stream);
    const isKnown = epoch === this.epoch && offset >= entries[0]?.offset && offset <= entries.at(-1)?.offset;
    return isKnown ? entries.filter((entry) => entry.offset > offset) : null;
  }

  /** Messages of a second and of all later ones. */
  since(stream, seconds) {
    return this.entries(stream).filter(({ at }) => Math.floor(at / 1000) >= seconds);
  }

  /** What is kept of a stream, oldest first. */
  entries(stream) {
    const oldest = Date.now() - this.#ttl_ms;
    return (this.#records.get(stream)?.entries ?? []).filter(({ at }) => at >= oldest);
  }

  /** Forgets what is too old. */
  sweep() {
    const now = Date.now();
    for (const [stream, record] of this.#records) {
      record.entries = this.entries(stream);
      if (record.at + RECORD_TTLS * this.#ttl_ms < now) this.#records.delete(stream);
    }
  }
}
