// Writable streams (WHATWG Streams §5) with default writers and controllers. One write at a time is under way; the others wait
// in a queue.

/** The private states of the public objects. */
const writables = new WeakMap();
const writers = new WeakMap();
const sinkControllers = new WeakMap();

const rejected = (error) => {
  const parts = quiet();
  parts.reject(error);
  return parts;
};

const room = (stream) => {
  if (stream.state === "closed") return 0;
  return stream.state === "writable" ? stream.highWaterMark - stream.total : null;
};

function tellRoom(stream) {
  if (stream.state !== "writable" || stream.closing) return;
  const isFull = room(stream) <= 0;
  if (stream.writer && isFull !== stream.isFull) {
    if (isFull) stream.writer.ready = quiet();
    else stream.writer.ready.resolve();
  }
  stream.isFull = isFull;
}

function startErroring(stream, error) {
  if (stream.state !== "writable") return;
  stream.state = "erroring";
  stream.error = error;
  refuse(stream.writer, error);
  if (!stream.isBusy && stream.started) finishErroring(stream);
}

/** A writer that waits for room waits no longer. */
function refuse(writer, error) {
  if (!writer) return;
  writer.ready.reject(error);
  writer.ready = rejected(error);
}

function finishErroring(stream) {
  stream.state = "errored";
  stream.total = 0;
  for (const { request } of stream.queue.splice(0)) request.reject(stream.error);
  const abort = stream.abort;
  stream.abort = undefined;
  const end = () => stream.writer?.closed.reject(stream.error);
  if (!abort) return end();
  if (abort.wasErroring) {
    abort.reject(stream.error);
    return end();
  }
  called(() => stream.sink.abort(abort.reason)).then(
    () => {
      abort.resolve();
      end();
    },
    (error) => {
      abort.reject(error);
      end();
    },
  );
}

function failWriting(stream, error) {
  if (stream.state === "writable") startErroring(stream, error);
  else finishErroring(stream);
}

function advance(stream) {
  if (!stream.started || stream.isBusy) return;
  if (stream.state === "erroring") return finishErroring(stream);
  const [next] = stream.queue;
  if (!next) return;
  stream.isBusy = true;
  called(() => (next.isClose ? stream.sink.close() : stream.sink.write(next.chunk, stream.controller))).then(
    () => {
      stream.isBusy = false;
      stream.queue.shift();
      stream.total = Math.max(stream.total - next.size, 0);
      next.request.resolve();
      if (next.isClose) return finishClosing(stream);
      tellRoom(stream);
      advance(stream);
    },
    (error) => {
      stream.isBusy = false;
      stream.queue.shift();
      next.request.reject(error);
      if (next.isClose) {
        stream.abort?.reject(error);
        stream.abort = undefined;
      }
      failWriting(stream, error);
    },
  );
}

function finishClosing(stream) {
  stream.state = "closed";
  stream.abort?.resolve();
  stream.abort = undefined;
  stream.writer?.ready.resolve();
  stream.writer?.closed.resolve();
}

function write(stream, chunk) {
  let size = 1;
  if (stream.state === "writable") {
    try {
      size = stream.sizeOf(chunk);
    } catch (error) {
      startErroring(stream, error);
    }
  }
  if (stream.state === "erroring" || stream.state === "errored") return Promise.reject(stream.error);
  if (stream.closing) return Promise.reject(new TypeError("the stream is closed, so it takes no further chunks"));
  const request = deferred();
  stream.queue.push({ chunk, size, request });
  stream.total += size;
  tellRoom(stream);
  advance(stream);
  return request.promise;
}

function closeWritable(stream) {
  if (stream.closing || stream.state === "closed" || stream.state === "errored") {
    return Promise.reject(new TypeError("the stream is closed, so it cannot be closed"));
  }
  stream.closing = true;
  const request = deferred();
  if (stream.writer && stream.isFull && stream.state === "writable") stream.writer.ready.resolve();
  stream.queue.push({ isClose: true, size: 0, request });
  advance(stream);
  return request.promise;
}

function abortWritable(stream, reason) {
  if (stream.state === "closed" || stream.state === "errored") return Promise.resolve();
  if (stream.abort) return stream.abort.promise;
  const wasErroring = stream.state === "erroring";
  const abort = deferred();
  stream.abort = Object.assign(abort, { wasErroring, reason: wasErroring ? undefined : reason });
  startErroring(stream, reason);
  return abort.promise;
}

class WritableStreamDefaultController {
  error(reason) {
    startErroring(stateOf(sinkControllers, this, "WritableStreamDefaultController"), reason);
  }
}

class WritableStream {
  constructor(sink = {}, strategy = {}) {
    if (sink === null || typeof sink !== "object") throw new TypeError("the sink of a stream is an object");
    if (sink.type !== undefined) throw new RangeError("sinks have no type; leave out `type`");
    const controller = new WritableStreamDefaultController();
    const functions = Object.fromEntries(["write", "close", "abort"].map((name) => [name, functionOf(sink, name)]));
    const stream = { state: "writable", queue: [], total: 0, ...strategyOf(strategy), sink: functions, controller };
    stream.isFull = room(stream) <= 0;
    writables.set(this, stream);
    sinkControllers.set(controller, stream);
    Promise.resolve(functionOf(sink, "start")(controller)).then(
      () => {
        stream.started = true;
        advance(stream);
      },
      (error) => {
        stream.started = true;
        failWriting(stream, error);
      },
    );
  }

  get locked() {
    return stateOf(writables, this, "WritableStream").writer !== undefined;
  }

  abort(reason) {
    const stream = stateOf(writables, this, "WritableStream");
    return stream.writer ? Promise.reject(new TypeError("the stream is locked; abort its writer")) : abortWritable(stream, reason);
  }

  close() {
    const stream = stateOf(writables, this, "WritableStream");
    return stream.writer ? Promise.reject(new TypeError("the stream is locked; close its writer")) : closeWritable(stream);
  }

  getWriter() {
    return new WritableStreamDefaultWriter(this);
  }
}

class WritableStreamDefaultWriter {
  constructor(writable) {
    const stream = stateOf(writables, writable, "WritableStream");
    if (stream.writer) throw new TypeError("the stream has a writer; release it first with releaseLock()");
    const writer = { stream, ready: quiet(), closed: quiet() };
    stream.writer = writer;
    writers.set(this, writer);
    if (stream.state === "erroring" || stream.state === "errored") writer.ready.reject(stream.error);
    else if (stream.state === "closed" || stream.closing || !stream.isFull) writer.ready.resolve();
    if (stream.state === "closed") writer.closed.resolve();
    if (stream.state === "errored") writer.closed.reject(stream.error);
  }

  get closed() {
    return stateOf(writers, this, "WritableStreamDefaultWriter").closed.promise;
  }

  get ready() {
    return stateOf(writers, this, "WritableStreamDefaultWriter").ready.promise;
  }

  get desiredSize() {
    const { stream } = stateOf(writers, this, "WritableStreamDefaultWriter");
    if (!stream) throw new TypeError("the writer was released");
    return room(stream);
  }

  write(chunk) {
    return this.#with((stream) => write(stream, chunk));
  }

  close() {
    return this.#with(closeWritable);
  }

  abort(reason) {
    return this.#with((stream) => abortWritable(stream, reason));
  }

  releaseLock() {
    const writer = stateOf(writers, this, "WritableStreamDefaultWriter");
    if (!writer.stream) return;
    const released = new TypeError("the writer was released");
    refuse(writer, released);
    writer.closed.reject(released);
    writer.closed = rejected(released);
    writer.stream.writer = undefined;
    writer.stream = undefined;
  }

  #with(act) {
    const { stream } = stateOf(writers, this, "WritableStreamDefaultWriter");
    return stream ? act(stream) : Promise.reject(new TypeError("the writer was released"));
  }
}
