// `structuredClone` (HTML, safe passing of structured data), without transfers.

const { DOMException } = require("internal/dom");
const ERRORS = { Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError };

function refuse(value) {
  const shown = typeof value === "symbol" ? String(value) : typeof value === "function" ? String(value) : `#<${value.constructor?.name ?? "Object"}>`;
  throw new DOMException(`${shown} could not be cloned.`, "DataCloneError");
}

function copy(value, known) {
  if (typeof value === "symbol" || typeof value === "function") refuse(value);
  if (value === null || typeof value !== "object") return value;
  if (known.has(value)) return known.get(value);
  const keep = (made) => {
    known.set(value, made);
    return made;
  };
  for (const kind of [Boolean, Number, String, BigInt]) if (value instanceof kind) return keep(Object(value.valueOf()));
  if (value instanceof Date) return keep(new Date(value.getTime()));
  if (value instanceof RegExp) return keep(new RegExp(value.source, value.flags));
  if (value instanceof ArrayBuffer) return keep(value.slice(0));
  if (ArrayBuffer.isView(value)) {
    const buffer = copy(value.buffer, known);
    const Kind = value instanceof DataView ? DataView : globalThis[value[Symbol.toStringTag]];
    return keep(new Kind(buffer, value.byteOffset, value instanceof DataView ? value.byteLength : value.length));
  }
  if (value instanceof Map) {
    const made = keep(new Map());
    for (const [key, item] of [...value]) made.set(copy(key, known), copy(item, known));
    return made;
  }
  if (value instanceof Set) {
    const made = keep(new Set());
    for (const item of [...value]) made.add(copy(item, known));
    return made;
  }
  if (value instanceof Error) {
    const made = keep(Object.create((ERRORS[value.name] ?? Error).prototype));
    for (const name of ["message", "stack", "cause"]) {
      if (Object.hasOwn(value, name)) Object.defineProperty(made, name, { value: copy(value[name], known), writable: true, configurable: true });
    }
    return made;
  }
  if (value instanceof Promise || value instanceof WeakMap || value instanceof WeakSet || value instanceof WeakRef) refuse(value);
  const made = keep(Array.isArray(value) ? new Array(value.length) : {});
  for (const key of Object.keys(value)) made[key] = copy(value[key], known);
  return made;
}

module.exports = function structuredClone(value, options) {
  if (arguments.length === 0) throw new TypeError("The \"value\" argument must be specified");
  if (options?.transfer?.length > 0) throw new DOMException("Transferring is not supported here.", "DataCloneError");
  return copy(value, new Map());
};
