// `util`.

const { coded, invalidType, needFunction } = require("internal/errors");
const { inspect, format, formatWithOptions, ESCAPES } = require("internal/inspect");
const { isDeepStrictEqual } = require("internal/equality");

const customPromisify = Symbol.for("nodejs.util.promisify.custom");

function promisify(original) {
  needFunction(original, "original");
  const own = original[customPromisify];
  if (own) {
    needFunction(own, "util.promisify.custom");
    return Object.defineProperty(own, customPromisify, { value: own, configurable: true });
  }
  function promised(...args) {
    return new Promise((resolve, reject) => {
      Reflect.apply(original, this, [...args, (error, value) => (error ? reject(error) : resolve(value))]);
    });
  }
  Object.setPrototypeOf(promised, Object.getPrototypeOf(original));
  Object.defineProperty(promised, customPromisify, { value: promised, configurable: true });
  return Object.defineProperties(promised, Object.getOwnPropertyDescriptors(original));
}
promisify.custom = customPromisify;

function callbackify(original) {
  needFunction(original, "original");
  return function (...args) {
    const callback = args.pop();
    needFunction(callback, "last argument");
    Reflect.apply(original, this, args).then(
      (value) => process.nextTick(callback, null, value),
      (reason) => {
        const error = reason || coded(Error, "ERR_FALSY_VALUE_REJECTION", "Promise was rejected with falsy value", { reason });
        process.nextTick(callback, error);
      },
    );
  };
}

function inherits(constructor, parent) {
  needFunction(constructor, "ctor");
  needFunction(parent, "superCtor");
  if (parent.prototype === undefined) throw invalidType("superCtor.prototype", "Object", parent.prototype);
  Object.defineProperty(constructor, "super_", { value: parent, writable: true, configurable: true });
  Object.setPrototypeOf(constructor.prototype, parent.prototype);
}

const warned = new Set();

function deprecate(original, message, code) {
  let isTold = false;
  function deprecated(...args) {
    if (!isTold && !warned.has(code)) {
      isTold = true;
      if (code !== undefined) warned.add(code);
      process.emitWarning(message, "DeprecationWarning", code);
    }
    return new.target ? Reflect.construct(original, args, new.target) : Reflect.apply(original, this, args);
  }
  Object.setPrototypeOf(deprecated, original);
  if (original.prototype) deprecated.prototype = original.prototype;
  return deprecated;
}

function debuglog(section) {
  const wanted = (process.env.NODE_DEBUG ?? "").toUpperCase().split(",");
  const isOn = wanted.includes(section.toUpperCase());
  const log = (...args) => {
    if (isOn) console.error(`${section.toUpperCase()} ${process.pid}: ${format(...args)}`);
  };
  log.enabled = isOn;
  return log;
}

module.exports = {
  inspect, format, formatWithOptions, promisify, callbackify, inherits, deprecate, debuglog, debug: debuglog, isDeepStrictEqual,
  types: require("util/types"),
  isArray: Array.isArray,
  stripVTControlCharacters: (text) => String(text).replace(ESCAPES, ""),
  toUSVString: (text) => String(text).toWellFormed(),
  TextEncoder: globalThis.TextEncoder,
  TextDecoder: globalThis.TextDecoder,
  isBoolean: (value) => typeof value === "boolean",
  isBuffer: (value) => Buffer.isBuffer(value),
  isDate: (value) => value instanceof Date,
  isError: (value) => value instanceof Error,
  isFunction: (value) => typeof value === "function",
  isNull: (value) => value === null,
  isNullOrUndefined: (value) => value === null || value === undefined,
  isNumber: (value) => typeof value === "number",
  isObject: (value) => value !== null && typeof value === "object",
  isPrimitive: (value) => value === null || (typeof value !== "object" && typeof value !== "function"),
  isRegExp: (value) => value instanceof RegExp,
  isString: (value) => typeof value === "string",
  isSymbol: (value) => typeof value === "symbol",
  isUndefined: (value) => value === undefined,
};
