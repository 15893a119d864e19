// `events`: emitters, and waiting for one event.

const { coded, needFunction, outOfRange } = require("internal/errors");

const errorMonitor = Symbol("events.errorMonitor");

function EventEmitter() {
  EventEmitter.init.call(this);
}
EventEmitter.init = function () {
  if (this._events === undefined || this._events === Object.getPrototypeOf(this)._events) {
    this._events = Object.create(null);
    this._eventsCount = 0;
  }
  this._maxListeners ??= undefined;
};
EventEmitter.prototype._events = undefined;
EventEmitter.prototype._eventsCount = 0;
EventEmitter.prototype._maxListeners = undefined;
EventEmitter.defaultMaxListeners = 10;

const listOf = (emitter, name) => emitter._events?.[name] ?? [];

function add(emitter, name, listener, isFirst) {
  needFunction(listener, "listener");
  if (emitter._events === undefined) EventEmitter.init.call(emitter);
  if (emitter._events.newListener !== undefined) emitter.emit("newListener", name, listener.listener ?? listener);
  const known = emitter._events[name];
  if (known === undefined) emitter._eventsCount++;
  // A copy, so that an emission in progress keeps its list.
  emitter._events[name] = isFirst ? [listener, ...(known ?? [])] : [...(known ?? []), listener];
  return emitter;
}

function onceOf(emitter, name, listener) {
  needFunction(listener, "listener");
  const once = function (...args) {
    emitter.removeListener(name, once);
    return listener.apply(emitter, args);
  };
  once.listener = listener;
  return once;
}

function remove(emitter, name, listener) {
  needFunction(listener, "listener");
  const known = listOf(emitter, name);
  const at = known.findLastIndex((one) => one === listener || one.listener === listener);
  if (at < 0) return emitter;
  const rest = known.toSpliced(at, 1);
  if (rest.length > 0) emitter._events[name] = rest;
  else {
    delete emitter._events[name];
    emitter._eventsCount--;
  }
  if (emitter._events.removeListener !== undefined) emitter.emit("removeListener", name, listener);
  return emitter;
}

const methods = {
  setMaxListeners(n) {
    if (typeof n !== "number" || !(n >= 0)) throw outOfRange("setMaxListeners", ">= 0", n);
    this._maxListeners = n;
    return this;
  },
  getMaxListeners() { return this._maxListeners ?? EventEmitter.defaultMaxListeners; },
  emit(name, ...args) {
    if (name === "error" && listOf(this, errorMonitor).length > 0) this.emit(errorMonitor, ...args);
    const listeners = listOf(this, name);
    if (listeners.length === 0) {
      if (name !== "error") return false;
      const [error] = args;
      if (error instanceof Error) throw error;
      const shown = typeof error === "string" ? `'${error}'` : require("util").inspect(error);
      throw coded(Error, "ERR_UNHANDLED_ERROR", `Unhandled error. (${shown})`, { context: error });
    }
    for (const listener of listeners) Reflect.apply(listener, this, args);
    return true;
  },
  addListener(name, listener) { return add(this, name, listener, false); },
  prependListener(name, listener) { return add(this, name, listener, true); },
  once(name, listener) { return add(this, name, onceOf(this, name, listener), false); },
  prependOnceListener(name, listener) { return add(this, name, onceOf(this, name, listener), true); },
  removeListener(name, listener) { return remove(this, name, listener); },
  removeAllListeners(name) {
    if (this._events === undefined) return this;
    const names = name === undefined ? Reflect.ownKeys(this._events) : [name];
    for (const name of names) {
      for (const listener of listOf(this, name).toReversed()) remove(this, name, listener);
    }
    return this;
  },
  listeners(name) { return listOf(this, name).map((one) => one.listener ?? one); },
  rawListeners(name) { return [...listOf(this, name)]; },
  listenerCount(name, listener) {
    const list = listOf(this, name);
    return listener ? list.filter((one) => one === listener || one.listener === listener).length : list.length;
  },
  eventNames() { return this._events === undefined ? [] : Reflect.ownKeys(this._events); },
};
methods.on = methods.addListener;
methods.off = methods.removeListener;
for (const [name, method] of Object.entries(methods)) {
  Object.defineProperty(EventEmitter.prototype, name, { value: method, writable: true, configurable: true, enumerable: true });
}

/** Both kinds of targets: emitters, and those of the web. */
function listen(target, name, listener) {
  if (typeof target.on === "function") {
    target.on(name, listener);
    return () => target.removeListener(name, listener);
  }
  target.addEventListener(name, listener);
  return () => target.removeEventListener(name, listener);
}

const aborted = (signal) => coded(Error, "ABORT_ERR", "The operation was aborted", { name: "AbortError", cause: signal.reason });

function once(target, name, { signal } = {}) {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(aborted(signal));
    const undo = [];
    const end = (settle) => (...args) => {
      undo.forEach((stop) => stop());
      settle(args);
    };
    undo.push(listen(target, name, end(resolve)));
    if (name !== "error" && typeof target.on === "function") undo.push(listen(target, "error", end(([error]) => reject(error))));
    if (signal) undo.push(listen(signal, "abort", end(() => reject(aborted(signal)))));
  });
}

function on(target, name, { signal } = {}) {
  const ready = [];
  const waiting = [];
  let failure;
  let isDone = false;
  const undo = [];
  const fail = (error) => {
    undo.forEach((stop) => stop());
    isDone = true;
    const first = waiting.shift();
    if (first) first.reject(error);
    else failure = error;
    for (const one of waiting.splice(0)) one.resolve({ value: undefined, done: true });
  };
  const finish = () => {
    undo.forEach((stop) => stop());
    isDone = true;
    for (const one of waiting.splice(0)) one.resolve({ value: undefined, done: true });
    return Promise.resolve({ value: undefined, done: true });
  };
  undo.push(listen(target, name, (...args) => {
    const first = waiting.shift();
    if (first) first.resolve({ value: args, done: false });
    else ready.push(args);
  }));
  if (name !== "error" && typeof target.on === "function") undo.push(listen(target, "error", fail));
  if (signal) undo.push(listen(signal, "abort", () => fail(aborted(signal))));
  if (signal?.aborted) throw aborted(signal);
  return {
    next() {
      if (ready.length > 0) return Promise.resolve({ value: ready.shift(), done: false });
      if (failure) {
        const error = failure;
        failure = undefined;
        return Promise.reject(error);
      }
      if (isDone) return Promise.resolve({ value: undefined, done: true });
      return new Promise((resolve, reject) => waiting.push({ resolve, reject }));
    },
    return: finish,
    throw(error) {
      fail(error);
      return Promise.resolve({ value: undefined, done: true });
    },
    [Symbol.asyncIterator]() { return this; },
  };
}

module.exports = Object.assign(EventEmitter, {
  EventEmitter,
  once,
  on,
  errorMonitor,
  captureRejectionSymbol: Symbol.for("nodejs.rejection"),
  usingDomains: false,
  listenerCount: (emitter, name) => emitter.listenerCount(name),
  getEventListeners: (emitter, name) => emitter.listeners(name),
  setMaxListeners(n = EventEmitter.defaultMaxListeners, ...targets) {
    if (targets.length === 0) EventEmitter.defaultMaxListeners = n;
    else targets.forEach((target) => target.setMaxListeners?.(n));
  },
});
