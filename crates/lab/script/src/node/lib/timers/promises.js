// `timers/promises`.

const { coded } = require("internal/errors");
const timers = require("timers");

const abort = (signal) => coded(Error, "ABORT_ERR", "The operation was aborted", { name: "AbortError", cause: signal.reason });

/** A promise of a timer, which a signal ends early. */
function promised(start, stop, value, { signal } = {}) {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(abort(signal));
    const timer = start(() => {
      signal?.removeEventListener("abort", end);
      resolve(value);
    });
    function end() {
      stop(timer);
      reject(abort(signal));
    }
    signal?.addEventListener("abort", end);
  });
}

exports.setTimeout = (delay, value, options) => promised((done) => timers.setTimeout(done, delay), timers.clearTimeout, value, options);
exports.setImmediate = (value, options) => promised((done) => timers.setImmediate(done), timers.clearImmediate, value, options);
exports.setInterval = async function* (delay, value, options) {
  for (;;) {
    await exports.setTimeout(delay, undefined, options);
    yield value;
  }
};
exports.scheduler = { wait: (delay, options) => exports.setTimeout(delay, undefined, options), yield: () => exports.setImmediate() };
