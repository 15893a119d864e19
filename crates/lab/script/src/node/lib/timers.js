// `timers`, which are the global ones, too. A timer is an object, as in Node; the host waits.

const { needFunction } = require("internal/errors");
const host = native.timers;

class Timeout {
  #start;

  constructor(start) {
    this.#start = start;
    this.id = start(this);
    Object.defineProperty(this, "id", { enumerable: false, writable: true });
  }

  // Nothing here keeps a program running.
  ref() { return this; }
  unref() { return this; }
  hasRef() { return true; }

  refresh() {
    host.clearTimeout(this.id);
    this.id = this.#start(this);
    return this;
  }

  close() {
    clear(this);
    return this;
  }

  [Symbol.toPrimitive]() { return this.id; }
  [Symbol.dispose ?? Symbol.for("Symbol.dispose")]() { clear(this); }
}

class Immediate {
  constructor(id) { Object.defineProperty(this, "id", { value: id }); }
  ref() { return this; }
  unref() { return this; }
  hasRef() { return true; }
}

function clear(timer) {
  if (timer === null || timer === undefined) return;
  host.clearTimeout(typeof timer === "object" ? timer.id : Number(timer));
}

const setTimeout = (callback, delay, ...args) => {
  needFunction(callback, "callback");
  return new Timeout(() => host.setTimeout(callback, Math.max(1, Number(delay) || 1), ...args));
};
const setInterval = (callback, delay, ...args) => {
  needFunction(callback, "callback");
  return new Timeout(() => host.setInterval(callback, Math.max(1, Number(delay) || 1), ...args));
};
const setImmediate = (callback, ...args) => {
  needFunction(callback, "callback");
  return new Immediate(native.immediate(callback, ...args));
};

const custom = Symbol.for("nodejs.util.promisify.custom");
for (const [timer, name] of [[setTimeout, "setTimeout"], [setImmediate, "setImmediate"]]) {
  Object.defineProperty(timer, custom, { get: () => require("timers/promises")[name] });
}

module.exports = {
  setTimeout, setInterval, setImmediate, clearTimeout: clear, clearInterval: clear, clearImmediate: clear,
  get promises() { return require("timers/promises"); },
};
