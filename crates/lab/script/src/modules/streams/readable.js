// Readable streams (WHATWG Streams §4) with default readers and controllers.

/** The private states of the public objects. */
const streams = new WeakMap();
const readers = new WeakMap();
const controllers = new WeakMap();

const canEnqueue = (stream) => stream.state === "readable" && !stream.closing;

const desiredSize = (stream) => {
  if (stream.state === "errored") return null;
  return stream.state === "closed" ? 0 : stream.highWaterMark - stream.total;
};

const wantsMore = (stream) =>
  canEnqueue(stream) && stream.started && (stream.reader?.requests.length > 0 || desiredSize(stream) > 0);

function pullIfNeeded(stream) {
  if (!wantsMore(stream)) return;
  if (stream.pulling) {
    stream.pullsAgain = true;
    return;
  }
  stream.pulling = true;
  called(() => stream.pull()).then(
    () => {
      stream.pulling = false;
      if (!stream.pullsAgain) return;
      stream.pullsAgain = false;
      pullIfNeeded(stream);
    },
    (error) => fail(stream, error),
  );
}

function forgetSource(stream) {
  stream.queue = [];
  stream.total = 0;
  stream.pull = stream.cancel = () => {};
}

function finish(stream) {
  stream.state = "closed";
  if (!stream.reader) return;
  stream.reader.closed.resolve();
  stream.reader.requests.splice(0).forEach(({ resolve }) => resolve({ value: undefined, done: true }));
}

function fail(stream, error) {
  if (stream.state !== "readable") return;
  forgetSource(stream);
  stream.state = "errored";
  stream.error = error;
  if (!stream.reader) return;
  stream.reader.closed.reject(error);
  stream.reader.requests.splice(0).forEach(({ reject }) => reject(error));
}

function enqueue(stream, value) {
  if (!canEnqueue(stream)) throw new TypeError("the stream is closed, so it takes no further chunks");
  const request = stream.reader?.requests.shift();
  if (request) {
    request.resolve({ value, done: false });
  } else {
    let size;
    try {
      size = stream.sizeOf(value);
    } catch (error) {
      fail(stream, error);
      throw error;
    }
    stream.queue.push({ value, size });
    stream.total += size;
  }
  pullIfNeeded(stream);
}

function read(stream) {
  if (stream.state === "closed") return Promise.resolve({ value: undefined, done: true });
  if (stream.state === "errored") return Promise.reject(stream.error);
  const request = deferred();
  const next = stream.queue.shift();
  if (!next) {
    stream.reader.requests.push(request);
    pullIfNeeded(stream);
    return request.promise;
  }
  stream.total = stream.queue.length > 0 ? stream.total - next.size : 0;
  if (stream.closing && stream.queue.length === 0) {
    forgetSource(stream);
    finish(stream);
  } else {
    pullIfNeeded(stream);
  }
  return Promise.resolve({ value: next.value, done: false });
}

function cancel(stream, reason) {
  if (stream.state === "closed") return Promise.resolve();
  if (stream.state === "errored") return Promise.reject(stream.error);
  const cancelSource = stream.cancel;
  forgetSource(stream);
  finish(stream);
  return called(() => cancelSource(reason)).then(() => undefined);
}

class ReadableStreamDefaultController {
  get desiredSize() {
    return desiredSize(stateOf(controllers, this, "ReadableStreamDefaultController"));
  }

  enqueue(chunk) {
    enqueue(stateOf(controllers, this, "ReadableStreamDefaultController"), chunk);
  }

  close() {
    const stream = stateOf(controllers, this, "ReadableStreamDefaultController");
    if (!canEnqueue(stream)) throw new TypeError("the stream is closed, so it cannot be closed");
    stream.closing = true;
    if (stream.queue.length > 0) return;
    forgetSource(stream);
    finish(stream);
  }

  error(reason) {
    fail(stateOf(controllers, this, "ReadableStreamDefaultController"), reason);
  }
}

class ReadableStream {
  constructor(source = {}, strategy = {}) {
    if (source === null || typeof source !== "object") throw new TypeError("the source of a stream is an object");
    if (source.type !== undefined) throw new TypeError("streams of bytes are not supported; leave out `type`");
    const controller = new ReadableStreamDefaultController();
    const pull = functionOf(source, "pull");
    const stream = {
      state: "readable",
      queue: [],
      total: 0,
      ...strategyOf(strategy),
      pull: () => pull(controller),
      cancel: functionOf(source, "cancel"),
    };
    streams.set(this, stream);
    controllers.set(controller, stream);
    Promise.resolve(functionOf(source, "start")(controller)).then(
      () => {
        stream.started = true;
        pullIfNeeded(stream);
      },
      (error) => fail(stream, error),
    );
  }

  get locked() {
    return stateOf(streams, this, "ReadableStream").reader !== undefined;
  }

  cancel(reason) {
    const stream = stateOf(streams, this, "ReadableStream");
    if (stream.reader) return Promise.reject(new TypeError("the stream is locked; cancel its reader"));
    return cancel(stream, reason);
  }

  getReader(options = {}) {
    if (options?.mode !== undefined) throw new TypeError("readers of bytes are not supported; leave out `mode`");
    return new ReadableStreamDefaultReader(this);
  }
}

class ReadableStreamDefaultReader {
  constructor(readable) {
    const stream = stateOf(streams, readable, "ReadableStream");
    if (stream.reader) throw new TypeError("the stream has a reader; release it first with releaseLock()");
    const reader = { stream, requests: [], closed: quiet() };
    stream.reader = reader;
    readers.set(this, reader);
    if (stream.state === "closed") reader.closed.resolve();
    if (stream.state === "errored") reader.closed.reject(stream.error);
  }

  get closed() {
    return stateOf(readers, this, "ReadableStreamDefaultReader").closed.promise;
  }

  read() {
    const { stream } = stateOf(readers, this, "ReadableStreamDefaultReader");
    return stream ? read(stream) : Promise.reject(new TypeError("the reader was released"));
  }

  cancel(reason) {
    const { stream } = stateOf(readers, this, "ReadableStreamDefaultReader");
    return stream ? cancel(stream, reason) : Promise.reject(new TypeError("the reader was released"));
  }

  releaseLock() {
    const reader = stateOf(readers, this, "ReadableStreamDefaultReader");
    if (!reader.stream) return;
    const released = new TypeError("the reader was released");
    if (reader.stream.state !== "readable") {
      reader.closed = quiet();
    }
    reader.closed.reject(released);
    reader.requests.splice(0).forEach(({ reject }) => reject(released));
    reader.stream.reader = undefined;
    reader.stream = undefined;
  }
}
