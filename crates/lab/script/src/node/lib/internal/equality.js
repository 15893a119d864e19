// Whether two values are equal in depth, loosely (`deepEqual`) or strictly (`deepStrictEqual`).

const tag = (value) => Object.prototype.toString.call(value);

function keysOf(value, isStrict) {
  const symbols = isStrict ? Object.getOwnPropertySymbols(value).filter((key) => Object.prototype.propertyIsEnumerable.call(value, key)) : [];
  return [...Object.keys(value), ...symbols];
}

const primitivesEqual = (a, b, isStrict) => (isStrict ? Object.is(a, b) : a == b || (Number.isNaN(a) && Number.isNaN(b)));
const isObject = (value) => typeof value === "object" && value !== null;

function equal(a, b, isStrict, seen) {
  if (a === b) return a !== 0 || !isStrict || Object.is(a, b);
  if (!isObject(a) || !isObject(b)) {
    if (isStrict) return typeof a === "number" && Number.isNaN(a) && Number.isNaN(b);
    return !isObject(a) && !isObject(b) && primitivesEqual(a, b, false);
  }
  if (isStrict && Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false;
  if (tag(a) !== tag(b)) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  if (Array.isArray(a) && a.length !== b.length) return false;
  if (a instanceof Date && (!(b instanceof Date) || a.getTime() !== b.getTime())) return false;
  if (a instanceof RegExp && (String(a) !== String(b) || a.lastIndex !== b.lastIndex)) return false;
  if (a instanceof Error && (a.message !== b.message || a.name !== b.name || !equal(a.cause, b.cause, isStrict, seen))) return false;
  if (ArrayBuffer.isView(a) || a instanceof ArrayBuffer) {
    const [x, y] = [a, b].map((one) => (one instanceof ArrayBuffer ? new Uint8Array(one) : new Uint8Array(one.buffer, one.byteOffset, one.byteLength)));
    if (x.length !== y.length || !x.every((byte, i) => byte === y[i])) return false;
    return keysOf(a, isStrict).length === keysOf(b, isStrict).length;
  }
  for (const kind of [Number, String, Boolean, Symbol, BigInt]) {
    if (a instanceof kind && (!(b instanceof kind) || !Object.is(a.valueOf(), b.valueOf()))) return false;
  }
  const known = seen.find(([x, y]) => x === a && y === b);
  if (known) return true;
  seen.push([a, b]);
  const isEqual = contentsEqual(a, b, isStrict, seen);
  seen.pop();
  return isEqual;
}

function contentsEqual(a, b, isStrict, seen) {
  const [x, y] = [keysOf(a, isStrict), keysOf(b, isStrict)];
  if (x.length !== y.length || !x.every((key) => Object.prototype.propertyIsEnumerable.call(b, key))) return false;
  if (a instanceof Set && !setsEqual(a, b, isStrict, seen)) return false;
  if (a instanceof Map && !mapsEqual(a, b, isStrict, seen)) return false;
  return x.every((key) => equal(a[key], b[key], isStrict, seen));
}

function setsEqual(a, b, isStrict, seen) {
  if (a.size !== b.size) return false;
  const rest = [...b].filter((value) => !a.has(value));
  for (const value of a) {
    if (b.has(value)) continue;
    const at = rest.findIndex((other) => equal(value, other, isStrict, seen));
    if (at < 0) return false;
    rest.splice(at, 1);
  }
  return true;
}

function mapsEqual(a, b, isStrict, seen) {
  if (a.size !== b.size) return false;
  const rest = [...b].filter(([key]) => !a.has(key));
  for (const [key, value] of a) {
    if (b.has(key)) {
      if (!equal(value, b.get(key), isStrict, seen)) return false;
      continue;
    }
    const at = rest.findIndex(([other, its]) => equal(key, other, isStrict, seen) && equal(value, its, isStrict, seen));
    if (at < 0) return false;
    rest.splice(at, 1);
  }
  return true;
}

exports.isDeepEqual = (a, b) => equal(a, b, false, []);
exports.isDeepStrictEqual = (a, b) => equal(a, b, true, []);
