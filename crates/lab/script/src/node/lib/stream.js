// `stream`: readable and writable streams, as packages and the HTTP client use them.

const EventEmitter = require("events");
const { coded, invalidType } = require("internal/errors");

const HIGH_WATER_MARK = 64 * 1024;
const MOST_OBJECTS = 16;

/** Makes `constructor` a subclass without `class`, because packages call these constructors as functions. */
function extend(constructor, parent, methods) {
  constructor.prototype = Object.create(parent.prototype, { constructor: { value: constructor, writable: true, configurable: true } });
  Object.setPrototypeOf(constructor, parent);
  define(constructor, methods);
}

function define(constructor, methods) {
  for (const name of Reflect.ownKeys(methods)) {
    const descriptor = Object.getOwnPropertyDescriptor(methods, name);
    Object.defineProperty(constructor.prototype, name, { ...descriptor, enumerable: false });
  }
}

function hidden(object, name, value) {
  Object.defineProperty(object, name, { value, writable: true, configurable: true, enumerable: false });
}

const sizeOf = (chunk, isObject) => (isObject ? 1 : chunk.length);

function Stream(options) {
  EventEmitter.call(this, options);
}
extend(Stream, EventEmitter, {
  /** Sends all that is read to `target`. */
  pipe(target, { end = true } = {}) {
    const onData = (chunk) => {
      if (target.write(chunk) === false) this.pause?.();
    };
    const onDrain = () => this.resume?.();
    const onEnd = () => {
      if (end && target !== process.stdout && target !== process.stderr) target.end();
    };
    const onError = (error) => {
      stop();
      if (target.listenerCount("error") === 0) target.emit("error", error);
    };
    const stop = () => {
      this.removeListener("data", onData);
      target.removeListener("drain", onDrain);
      this.removeListener("end", onEnd);
      target.removeListener("error", onError);
      target.removeListener("close", stop);
    };
    this.on("data", onData);
    target.on("drain", onDrain);
    this.on("end", onEnd);
    this.once("end", stop);
    target.prependListener?.("error", onError);
    target.on("close", stop);
    (this._pipes ??= new Map()).set(target, stop);
    target.emit("pipe", this);
    this.resume?.();
    return target;
  },
  unpipe(target) {
    for (const [one, stop] of this._pipes ?? []) {
      if (target !== undefined && one !== target) continue;
      stop();
      this._pipes.delete(one);
      one.emit("unpipe", this);
    }
    return this;
  },
});

/** Ends a stream at once; `_destroy` cleans up. */
function destroy(stream, error) {
  const states = [stream._readableState, stream._writableState].filter(Boolean);
  if (states.some((state) => state.destroyed)) return stream;
  states.forEach((state) => (state.destroyed = true));
  if (error) states.forEach((state) => (state.errored = error));
  const done = (failure) => {
    const reason = failure ?? error;
    process.nextTick(() => {
      if (reason) stream.emit("error", reason);
      states.forEach((state) => (state.closed = true));
      if (states.every((state) => state.emitClose)) stream.emit("close");
    });
  };
  try {
    stream._destroy(error ?? null, done);
  } catch (failure) {
    done(failure);
  }
  return stream;
}

const destroying = {
  destroy(error) { return destroy(this, error); },
  _destroy(error, callback) { callback(error); },
  get destroyed() { return (this._readableState ?? this._writableState).destroyed; },
  get closed() { return (this._readableState ?? this._writableState).closed; },
  get errored() { return (this._readableState ?? this._writableState).errored; },
};

/** A stream that ended by itself closes, too. */
function closeWhenDone(stream) {
  const [r, w] = [stream._readableState, stream._writableState];
  const isDone = (!r || r.endEmitted) && (!w || w.finished);
  if (isDone && (r ?? w).autoDestroy) destroy(stream);
}

// Readable.

function Readable(options) {
  if (!(this instanceof Readable)) return new Readable(options);
  initReadable(this, options);
  Stream.call(this, options);
}

function initReadable(stream, options = {}) {
  const isObject = Boolean(options.objectMode || options.readableObjectMode);
  hidden(stream, "_readableState", {
    objectMode: isObject,
    highWaterMark: options.readableHighWaterMark ?? options.highWaterMark ?? (isObject ? MOST_OBJECTS : HIGH_WATER_MARK),
    buffer: [], length: 0, flowing: null, ended: false, endEmitted: false, reading: false, destroyed: false, closed: false, errored: null,
    decoder: null, encoding: null, isScheduled: false, autoDestroy: options.autoDestroy ?? true, emitClose: options.emitClose ?? true,
  });
  if (typeof options.read === "function") stream._read = options.read;
  if (typeof options.destroy === "function") stream._destroy = options.destroy;
  if (options.encoding) setEncoding(stream, options.encoding);
  options.signal?.addEventListener("abort", () => destroy(stream, coded(Error, "ABORT_ERR", "The operation was aborted", { name: "AbortError" })));
}

function setEncoding(stream, encoding) {
  const { StringDecoder } = require("string_decoder");
  const state = stream._readableState;
  state.decoder = new StringDecoder(encoding);
  state.encoding = state.decoder.encoding;
  const texts = state.buffer.map((chunk) => state.decoder.write(chunk)).filter((text) => text !== "");
  state.buffer = texts;
  state.length = texts.reduce((sum, text) => sum + text.length, 0);
}

function push(stream, chunk, encoding, isFirst) {
  const state = stream._readableState;
  state.reading = false;
  if (chunk === null) {
    if (!state.ended) {
      state.ended = true;
      const rest = state.decoder?.end();
      if (rest) {
        state.buffer.push(rest);
        state.length += rest.length;
      }
    }
    schedule(stream);
    return false;
  }
  if (state.ended && !isFirst) {
    stream.destroy(coded(Error, "ERR_STREAM_PUSH_AFTER_EOF", "stream.push() after EOF"));
    return false;
  }
  if (!state.objectMode) {
    if (typeof chunk === "string") chunk = state.decoder && (encoding ?? "utf8") === state.encoding ? chunk : Buffer.from(chunk, encoding);
    else if (chunk instanceof Uint8Array) chunk = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    else if (chunk !== undefined) {
      stream.destroy(invalidType("chunk", ["string", "Buffer", "TypedArray", "DataView"], chunk));
      return false;
    }
    if (state.decoder && typeof chunk !== "string" && chunk !== undefined) chunk = state.decoder.write(chunk);
    if (chunk === undefined || chunk.length === 0) {
      schedule(stream);
      return state.length < state.highWaterMark;
    }
  }
  if (isFirst) state.buffer.unshift(chunk);
  else state.buffer.push(chunk);
  state.length += sizeOf(chunk, state.objectMode);
  schedule(stream);
  return state.length < state.highWaterMark;
}

/** Has the stream looked after soon: data to readers, more data from the source, the end. */
function schedule(stream) {
  const state = stream._readableState;
  if (state.isScheduled) return;
  state.isScheduled = true;
  process.nextTick(() => {
    state.isScheduled = false;
    flow(stream);
  });
}

function more(stream) {
  const state = stream._readableState;
  if (state.reading || state.ended || state.destroyed || state.length >= Math.max(1, state.highWaterMark)) return;
  state.reading = true;
  try {
    stream._read(state.highWaterMark);
  } catch (error) {
    stream.destroy(error);
  }
}

function flow(stream) {
  const state = stream._readableState;
  if (state.destroyed) return;
  while (state.flowing && state.buffer.length > 0 && !state.destroyed) {
    const chunk = state.buffer.shift();
    state.length -= sizeOf(chunk, state.objectMode);
    stream.emit("data", chunk);
  }
  if (state.destroyed) return;
  if (!state.flowing && stream.listenerCount("readable") > 0 && (state.length > 0 || state.ended) && !state.endEmitted) stream.emit("readable");
  if (state.ended && state.length === 0) finishReading(stream);
  else if (state.flowing !== null || stream.listenerCount("readable") > 0) more(stream);
}

function finishReading(stream) {
  const state = stream._readableState;
  if (state.endEmitted || state.flowing === null && stream.listenerCount("readable") === 0) return;
  state.endEmitted = true;
  stream.emit("end");
  if (stream._writableState && stream.allowHalfOpen === false) stream.end();
  closeWhenDone(stream);
}

extend(Readable, Stream, {
  push(chunk, encoding) { return push(this, chunk, encoding, false); },
  unshift(chunk, encoding) { return push(this, chunk, encoding, true); },
  _read() { throw coded(Error, "ERR_METHOD_NOT_IMPLEMENTED", "The _read() method is not implemented"); },
  read(n) {
    const state = this._readableState;
    if (n === 0 || state.length === 0) {
      if (state.ended && state.length === 0) process.nextTick(() => {
        state.flowing ??= false;
        if (!state.endEmitted) {
          state.endEmitted = true;
          this.emit("end");
          closeWhenDone(this);
        }
      });
      else more(this);
      if (n === 0 || state.length === 0) return null;
    }
    let chunk;
    if (state.objectMode) chunk = state.buffer.shift();
    else {
      if (n !== undefined && n > state.length && !state.ended) {
        more(this);
        return null;
      }
      const all = state.decoder ? state.buffer.join("") : Buffer.concat(state.buffer);
      const size = Math.min(n ?? all.length, all.length);
      chunk = all.slice(0, size);
      state.buffer = size < all.length ? [all.slice(size)] : [];
    }
    state.length -= sizeOf(chunk, state.objectMode);
    schedule(this);
    if (chunk !== null) this.emit("data", chunk);
    return chunk;
  },
  setEncoding(encoding) {
    setEncoding(this, encoding);
    return this;
  },
  pause() {
    const state = this._readableState;
    if (state.flowing !== false) {
      state.flowing = false;
      this.emit("pause");
    }
    return this;
  },
  resume() {
    const state = this._readableState;
    if (!state.flowing) {
      state.flowing = true;
      process.nextTick(() => this.emit("resume"));
      schedule(this);
    }
    return this;
  },
  isPaused() { return this._readableState.flowing === false; },
  on(name, listener) {
    EventEmitter.prototype.on.call(this, name, listener);
    const state = this._readableState;
    if (name === "data" && state.flowing !== false) this.resume();
    if (name === "readable") {
      state.flowing = false;
      schedule(this);
      more(this);
    }
    return this;
  },
  addListener(name, listener) { return this.on(name, listener); },
  wrap(old) {
    old.on("data", (chunk) => this.push(chunk));
    old.on("end", () => this.push(null));
    old.on("error", (error) => this.destroy(error));
    this._read = () => old.resume?.();
    return this;
  },
  async *[Symbol.asyncIterator]() {
    const waiting = [];
    const wake = () => waiting.splice(0).forEach((go) => go());
    let [isEnded, failure] = [this._readableState.endEmitted, this._readableState.errored];
    this.on("readable", wake);
    this.on("end", () => { isEnded = true; wake(); });
    this.on("close", () => { isEnded = true; wake(); });
    this.on("error", (error) => { failure = error; wake(); });
    try {
      for (;;) {
        const chunk = this.destroyed ? null : this.read();
        if (chunk !== null) yield chunk;
        else if (failure) throw failure;
        else if (isEnded) return;
        else await new Promise((go) => waiting.push(go));
      }
    } finally {
      if (!this._readableState.endEmitted) destroy(this);
    }
  },
  async toArray() {
    const all = [];
    for await (const chunk of this) all.push(chunk);
    return all;
  },
  get readable() { return !this._readableState.destroyed && !this._readableState.endEmitted; },
  get readableEnded() { return this._readableState.endEmitted; },
  get readableFlowing() { return this._readableState.flowing; },
  get readableLength() { return this._readableState.length; },
  get readableObjectMode() { return this._readableState.objectMode; },
  get readableEncoding() { return this._readableState.encoding; },
  get readableHighWaterMark() { return this._readableState.highWaterMark; },
  get readableAborted() { return this._readableState.destroyed && !this._readableState.endEmitted; },
});
define(Readable, destroying);

Readable.from = (source, options) => {
  if (typeof source === "string" || source instanceof Uint8Array) source = [source];
  const iterator = source[Symbol.asyncIterator]?.() ?? source[Symbol.iterator]();
  return new Readable({
    objectMode: true,
    ...options,
    async read() {
      try {
        const { value, done } = await iterator.next();
        this.push(done ? null : await value);
      } catch (error) {
        this.destroy(error);
      }
    },
  });
};

// Writable.

function Writable(options) {
  if (!(this instanceof Writable) && !(this instanceof Duplex)) return new Writable(options);
  initWritable(this, options);
  Stream.call(this, options);
}

function initWritable(stream, options = {}) {
  const isObject = Boolean(options.objectMode || options.writableObjectMode);
  hidden(stream, "_writableState", {
    objectMode: isObject,
    highWaterMark: options.writableHighWaterMark ?? options.highWaterMark ?? (isObject ? MOST_OBJECTS : HIGH_WATER_MARK),
    decodeStrings: options.decodeStrings ?? true, defaultEncoding: options.defaultEncoding ?? "utf8",
    queue: [], length: 0, isWriting: false, needDrain: false, ending: false, isFinishing: false, finished: false, corked: 0,
    destroyed: false, closed: false, errored: null, autoDestroy: options.autoDestroy ?? true, emitClose: options.emitClose ?? true, ends: [],
  });
  for (const name of ["write", "writev", "final", "destroy"]) {
    if (typeof options[name] === "function") stream[`_${name}`] = options[name];
  }
}

function advance(stream) {
  const state = stream._writableState;
  if (state.isWriting || state.corked > 0 || state.destroyed) return;
  const next = state.queue.shift();
  if (next === undefined) {
    if (state.needDrain && !state.ending) {
      state.needDrain = false;
      process.nextTick(() => stream.emit("drain"));
    }
    if (state.ending) finishWriting(stream);
    return;
  }
  state.isWriting = true;
  let isSync = true;
  const done = (error) => {
    state.isWriting = false;
    state.length -= next.size;
    if (error) {
      next.callback?.(error);
      state.queue.splice(0).forEach((one) => one.callback?.(error));
      destroy(stream, error);
      return;
    }
    const after = () => {
      next.callback?.(null);
      advance(stream);
    };
    if (isSync) process.nextTick(after);
    else after();
  };
  try {
    stream._write(next.chunk, next.encoding, done);
  } catch (error) {
    destroy(stream, error);
  }
  isSync = false;
}

function finishWriting(stream) {
  const state = stream._writableState;
  if (state.isFinishing || state.destroyed) return;
  state.isFinishing = true;
  const done = (error) => {
    if (error) return void destroy(stream, error);
    process.nextTick(() => {
      if (state.destroyed && state.errored) return;
      state.finished = true;
      stream.emit("finish");
      state.ends.splice(0).forEach((callback) => callback());
      closeWhenDone(stream);
    });
  };
  process.nextTick(() => {
    stream.emit("prefinish");
    if (typeof stream._final !== "function") return void done();
    try {
      stream._final(done);
    } catch (error) {
      done(error);
    }
  });
}

const writing = {
  _write(chunk, encoding, callback) {
    if (typeof this._writev === "function") this._writev([{ chunk, encoding }], callback);
    else throw coded(Error, "ERR_METHOD_NOT_IMPLEMENTED", "The _write() method is not implemented");
  },
  write(chunk, encoding, callback) {
    if (typeof encoding === "function") [callback, encoding] = [encoding, undefined];
    const state = this._writableState;
    if (chunk === null) throw coded(TypeError, "ERR_STREAM_NULL_VALUES", "May not write null values to stream");
    if (!state.objectMode) {
      if (typeof chunk === "string") {
        if (state.decodeStrings) [chunk, encoding] = [Buffer.from(chunk, encoding ?? state.defaultEncoding), "buffer"];
      } else if (ArrayBuffer.isView(chunk)) {
        [chunk, encoding] = [Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength), "buffer"];
      } else throw invalidType("chunk", ["string", "Buffer", "TypedArray", "DataView"], chunk);
    }
    if (state.ending || state.destroyed) {
      const error = state.ending ? coded(Error, "ERR_STREAM_WRITE_AFTER_END", "write after end") : coded(Error, "ERR_STREAM_DESTROYED", "Cannot call write after a stream was destroyed");
      process.nextTick(() => callback?.(error));
      destroy(this, error);
      return false;
    }
    const size = sizeOf(chunk, state.objectMode);
    state.length += size;
    state.queue.push({ chunk, encoding: encoding ?? state.defaultEncoding, callback, size });
    const hasRoom = state.length < state.highWaterMark;
    if (!hasRoom) state.needDrain = true;
    advance(this);
    return hasRoom;
  },
  end(chunk, encoding, callback) {
    if (typeof chunk === "function") [callback, chunk, encoding] = [chunk, undefined, undefined];
    else if (typeof encoding === "function") [callback, encoding] = [encoding, undefined];
    const state = this._writableState;
    if (chunk !== undefined && chunk !== null) this.write(chunk, encoding);
    if (typeof callback === "function") {
      if (state.finished) process.nextTick(callback);
      else state.ends.push(callback);
    }
    state.corked = 0;
    state.ending = true;
    advance(this);
    return this;
  },
  cork() { this._writableState.corked++; },
  uncork() {
    const state = this._writableState;
    if (state.corked > 0 && --state.corked === 0) advance(this);
  },
  setDefaultEncoding(encoding) {
    this._writableState.defaultEncoding = encoding;
    return this;
  },
  get writable() {
    const state = this._writableState;
    return !state.destroyed && !state.ending;
  },
  get writableEnded() { return this._writableState.ending; },
  get writableFinished() { return this._writableState.finished; },
  get writableLength() { return this._writableState.length; },
  get writableNeedDrain() { return this._writableState.needDrain; },
  get writableObjectMode() { return this._writableState.objectMode; },
  get writableHighWaterMark() { return this._writableState.highWaterMark; },
  get writableCorked() { return this._writableState.corked; },
};
extend(Writable, Stream, writing);
define(Writable, destroying);
Object.defineProperty(Writable, Symbol.hasInstance, {
  value(object) {
    return Function.prototype[Symbol.hasInstance].call(this, object) || (this === Writable && object?._writableState !== undefined);
  },
});

// Both.

function Duplex(options) {
  if (!(this instanceof Duplex)) return new Duplex(options);
  initReadable(this, options);
  initWritable(this, options);
  this.allowHalfOpen = options?.allowHalfOpen ?? true;
  Stream.call(this, options);
}
extend(Duplex, Readable, writing);

function Transform(options) {
  if (!(this instanceof Transform)) return new Transform(options);
  Duplex.call(this, options);
  hidden(this, "_transforming", { resume: null });
  if (typeof options?.transform === "function") this._transform = options.transform;
  if (typeof options?.flush === "function") this._flush = options.flush;
}
extend(Transform, Duplex, {
  _transform() { throw coded(Error, "ERR_METHOD_NOT_IMPLEMENTED", "The _transform() method is not implemented"); },
  _write(chunk, encoding, callback) {
    this._transform(chunk, encoding, (error, result) => {
      if (error) return void callback(error);
      if (result !== undefined && result !== null) this.push(result);
      const state = this._readableState;
      if (state.length < state.highWaterMark || state.ended) callback();
      else this._transforming.resume = callback;
    });
  },
  _final(callback) {
    const end = () => {
      this.push(null);
      callback();
    };
    if (typeof this._flush !== "function") return void end();
    this._flush((error, result) => {
      if (error) return void callback(error);
      if (result !== undefined && result !== null) this.push(result);
      end();
    });
  },
  _read() {
    const { resume } = this._transforming;
    this._transforming.resume = null;
    resume?.();
  },
});

function PassThrough(options) {
  if (!(this instanceof PassThrough)) return new PassThrough(options);
  Transform.call(this, options);
}
extend(PassThrough, Transform, {
  _transform(chunk, encoding, callback) { callback(null, chunk); },
});

const { finished, pipeline } = require("internal/pipeline");

module.exports = Object.assign(Stream, {
  Stream, Readable, Writable, Duplex, Transform, PassThrough, finished, pipeline, destroy,
  addAbortSignal(signal, stream) {
    signal.addEventListener("abort", () => destroy(stream, coded(Error, "ABORT_ERR", "The operation was aborted", { name: "AbortError" })));
    return stream;
  },
  isReadable: (stream) => Boolean(stream?.readable),
  isWritable: (stream) => Boolean(stream?.writable),
});
Object.defineProperty(Stream, "promises", { get: () => require("stream/promises"), enumerable: true });
