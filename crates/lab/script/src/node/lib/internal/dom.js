// Classes of the web that Node has, too: events, abort signals, blobs, exceptions.

const NAMES = { IndexSizeError: 1, NotFoundError: 8, NotSupportedError: 9, InvalidStateError: 11, SyntaxError: 12, InvalidCharacterError: 5, DataCloneError: 25, AbortError: 20, TimeoutError: 23, QuotaExceededError: 22 };

class DOMException extends Error {
  #name;

  constructor(message = "", options = "Error") {
    super(message);
    this.#name = typeof options === "object" ? options.name ?? "Error" : String(options);
    if (typeof options === "object" && "cause" in options) this.cause = options.cause;
  }

  get name() { return this.#name; }
  get code() { return NAMES[this.#name] ?? 0; }
}
for (const [name, code] of [["ABORT_ERR", 20], ["TIMEOUT_ERR", 23], ["DATA_CLONE_ERR", 25]]) Object.defineProperty(DOMException, name, { value: code });

class Event {
  #isStopped = false;
  #isPrevented = false;

  constructor(type, { bubbles = false, cancelable = false, composed = false } = {}) {
    Object.assign(this, { type: `${type}`, bubbles, cancelable, composed, target: null, currentTarget: null, timeStamp: performance.now() });
  }

  preventDefault() { if (this.cancelable) this.#isPrevented = true; }
  stopPropagation() {}
  stopImmediatePropagation() { this.#isStopped = true; }
  get defaultPrevented() { return this.#isPrevented; }
  get isStopped() { return this.#isStopped; }
}
Object.defineProperty(Event.prototype, "isStopped", { enumerable: false });

class CustomEvent extends Event {
  constructor(type, options = {}) {
    super(type, options);
    this.detail = options.detail ?? null;
  }
}

class EventTarget {
  #listeners = new Map();

  addEventListener(type, listener, options) {
    if (!listener) return;
    const { once = false, signal } = typeof options === "object" && options !== null ? options : {};
    if (signal?.aborted) return;
    const list = this.#listeners.get(type) ?? [];
    if (list.some((one) => one.listener === listener)) return;
    this.#listeners.set(type, [...list, { listener, once }]);
    signal?.addEventListener("abort", () => this.removeEventListener(type, listener));
  }

  removeEventListener(type, listener) {
    const list = this.#listeners.get(type) ?? [];
    this.#listeners.set(type, list.filter((one) => one.listener !== listener));
  }

  dispatchEvent(event) {
    event.target = event.currentTarget = this;
    for (const { listener, once } of this.#listeners.get(event.type) ?? []) {
      if (once) this.removeEventListener(event.type, listener);
      if (typeof listener === "function") listener.call(this, event);
      else listener.handleEvent(event);
      if (event.isStopped) break;
    }
    return !event.defaultPrevented;
  }
}

const key = Symbol("private");

class AbortSignal extends EventTarget {
  #reason;
  #isAborted = false;
  onabort = null;

  constructor(made) {
    super();
    if (made !== key) throw new TypeError("Illegal constructor");
  }

  get aborted() { return this.#isAborted; }
  get reason() { return this.#reason; }
  throwIfAborted() { if (this.#isAborted) throw this.#reason; }

  static end(signal, reason) {
    if (signal.#isAborted) return;
    signal.#isAborted = true;
    signal.#reason = reason === undefined ? new DOMException("This operation was aborted", "AbortError") : reason;
    const event = new Event("abort");
    signal.onabort?.(event);
    signal.dispatchEvent(event);
  }

  static abort(reason) {
    const signal = new AbortSignal(key);
    end(signal, reason);
    return signal;
  }

  static timeout(ms) {
    const signal = new AbortSignal(key);
    setTimeout(() => end(signal, new DOMException("The operation was aborted due to timeout", "TimeoutError")), ms);
    return signal;
  }

  static any(signals) {
    const all = new AbortSignal(key);
    for (const signal of signals) {
      if (signal.aborted) {
        end(all, signal.reason);
        break;
      }
      signal.addEventListener("abort", () => end(all, signal.reason), { once: true });
    }
    return all;
  }
}
const { end } = AbortSignal;
delete AbortSignal.end;

class AbortController {
  #signal = new AbortSignal(key);
  get signal() { return this.#signal; }
  abort(reason) { end(this.#signal, reason); }
}

class Blob {
  #bytes;
  #type;

  constructor(parts = [], { type = "" } = {}) {
    const all = [...parts].map((part) => {
      if (part instanceof Blob) return part.#bytes;
      if (part instanceof ArrayBuffer) return Buffer.from(part);
      return ArrayBuffer.isView(part) ? Buffer.from(part.buffer, part.byteOffset, part.byteLength) : Buffer.from(String(part));
    });
    this.#bytes = Buffer.concat(all);
    this.#type = /[^\x20-\x7e]/.test(type) ? "" : String(type).toLowerCase();
  }

  get size() { return this.#bytes.length; }
  get type() { return this.#type; }
  async text() { return this.#bytes.toString(); }
  async arrayBuffer() { return this.#bytes.buffer.slice(this.#bytes.byteOffset, this.#bytes.byteOffset + this.#bytes.length); }
  async bytes() { return new Uint8Array(await this.arrayBuffer()); }

  slice(start, end, type = "") {
    return new Blob([this.#bytes.subarray(start, end)], { type });
  }

  static bytesOf(blob) { return blob.#bytes; }
}
const { bytesOf } = Blob;
delete Blob.bytesOf;

class File extends Blob {
  constructor(parts, name, options = {}) {
    super(parts, options);
    this.name = String(name);
    this.lastModified = options.lastModified ?? Date.now();
  }
}

for (const kind of [DOMException, Event, CustomEvent, EventTarget, AbortSignal, AbortController, Blob, File]) {
  Object.defineProperty(kind.prototype, Symbol.toStringTag, { value: kind.name, configurable: true });
}

module.exports = { DOMException, Event, CustomEvent, EventTarget, AbortSignal, AbortController, Blob, File, bytesOf };
