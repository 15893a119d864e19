// What streams of both directions are made of.

const stateOf = (map, object, name) => {
  const state = map.get(object);
  if (!state) throw new TypeError(`this is not a ${name}`);
  return state;
};

/** A promise with its functions. */
const deferred = () => {
  const parts = {};
  parts.promise = new Promise((resolve, reject) => Object.assign(parts, { resolve, reject }));
  return parts;
};

/** The promise of `closed`: few scripts look at it, and its rejection is no failure of the iteration. */
const quiet = () => {
  const parts = deferred();
  parts.promise.catch(() => {});
  return parts;
};

/** The result of a function of the script as a promise. */
const called = (run) => {
  try {
    return Promise.resolve(run());
  } catch (error) {
    return Promise.reject(error);
  }
};

function functionOf(object, name) {
  const value = object[name];
  if (value !== undefined && typeof value !== "function") throw new TypeError(`${name} is not a function`);
  return value === undefined ? () => {} : (...values) => value.apply(object, values);
}

/** How much a stream takes: `highWaterMark`, and the size of a chunk. */
function strategyOf(strategy) {
  const given = strategy?.highWaterMark;
  const highWaterMark = given === undefined ? 1 : Number(given);
  if (!(highWaterMark >= 0)) throw new RangeError("highWaterMark must be a number from 0");
  if (strategy?.size !== undefined && typeof strategy.size !== "function") throw new TypeError("size is not a function");
  const size = strategy?.size ?? (() => 1);
  const sizeOf = (chunk) => {
    const found = Number(size(chunk));
    if (!(found >= 0) || found === Infinity) throw new RangeError("the size of a chunk must be a number from 0");
    return found;
  };
  return { highWaterMark, sizeOf };
}

class CountQueuingStrategy {
  constructor(options) {
    if (options === null || typeof options !== "object" || options.highWaterMark === undefined) {
      throw new TypeError("CountQueuingStrategy needs an object with `highWaterMark`");
    }
    const fixed = { enumerable: true };
    Object.defineProperties(this, { highWaterMark: { value: options.highWaterMark, ...fixed }, size: { value: () => 1, ...fixed } });
  }
}
