// Bytes (Node's `buffer`). Texts are converted by the host.

const { coded, invalidType, outOfRange } = require("internal/errors");

const MAX_LENGTH = 2 ** 31 - 1;
const ENCODINGS = {
  utf8: "utf8", "utf-8": "utf8", hex: "hex", base64: "base64", base64url: "base64url", latin1: "latin1", binary: "latin1",
  ascii: "ascii", ucs2: "utf16le", "ucs-2": "utf16le", utf16le: "utf16le", "utf-16le": "utf16le",
};

/** The canonical name of an encoding; the default for none. */
function encodingOf(encoding) {
  if (encoding === undefined || encoding === null || encoding === "") return "utf8";
  const known = ENCODINGS[String(encoding).toLowerCase()];
  if (known === undefined) throw coded(TypeError, "ERR_UNKNOWN_ENCODING", `Unknown encoding: ${encoding}`);
  return known;
}

class FastBuffer extends Uint8Array {}

function Buffer(value, encodingOrOffset, length) {
  return typeof value === "number" ? Buffer.alloc(value) : Buffer.from(value, encodingOrOffset, length);
}
Buffer.prototype = FastBuffer.prototype;
Object.defineProperty(Buffer.prototype, "constructor", { value: Buffer, writable: true, configurable: true });
Object.setPrototypeOf(Buffer, Uint8Array);
Object.defineProperty(Buffer, Symbol.species, { get: () => FastBuffer, configurable: true });

const wrap = (buffer, offset, length) => new FastBuffer(buffer, offset, length);
const ofText = (text, encoding) => wrap(native.bytesOf(text, encodingOf(encoding)));
const isBytes = (value) => value instanceof Uint8Array;

/** An integer as `slice` understands it. */
function clamp(at, length, otherwise) {
  if (at === undefined) return otherwise;
  at = Math.trunc(Number(at)) || 0;
  return at < 0 ? Math.max(0, at + length) : Math.min(at, length);
}

function size(n) {
  if (typeof n !== "number") throw invalidType("size", "number", n);
  if (!(n >= 0 && n <= MAX_LENGTH)) throw outOfRange("size", `>= 0 && <= ${MAX_LENGTH}`, n);
  return Math.trunc(n);
}

Object.assign(Buffer, {
  poolSize: 8192,
  from(value, encodingOrOffset, length) {
    if (typeof value === "string") return ofText(value, encodingOrOffset);
    if (value instanceof ArrayBuffer || (typeof SharedArrayBuffer === "function" && value instanceof SharedArrayBuffer)) {
      const offset = Math.trunc(Number(encodingOrOffset)) || 0;
      if (offset > value.byteLength) throw coded(RangeError, "ERR_BUFFER_OUT_OF_BOUNDS", '"offset" is outside of buffer bounds');
      if (length !== undefined && offset + (Math.trunc(Number(length)) || 0) > value.byteLength) {
        throw coded(RangeError, "ERR_BUFFER_OUT_OF_BOUNDS", '"length" is outside of buffer bounds');
      }
      return wrap(value, offset, length === undefined ? undefined : Math.max(0, Math.trunc(Number(length)) || 0));
    }
    if (value !== null && typeof value === "object") {
      const primitive = typeof value.valueOf === "function" ? value.valueOf() : value;
      if (primitive !== value && primitive !== null && (typeof primitive === "string" || typeof primitive === "object")) {
        return Buffer.from(primitive, encodingOrOffset, length);
      }
      if (value.type === "Buffer" && Array.isArray(value.data)) return new FastBuffer(value.data);
      if (ArrayBuffer.isView(value) || Array.isArray(value) || typeof value.length === "number") {
        return new FastBuffer(value instanceof DataView ? [] : Array.isArray(value) || ArrayBuffer.isView(value) ? value : Array.from(value));
      }
      if (typeof value[Symbol.toPrimitive] === "function") {
        const text = value[Symbol.toPrimitive]("string");
        if (typeof text === "string") return ofText(text, encodingOrOffset);
      }
    }
    throw invalidType("first argument", ["string", "Buffer", "ArrayBuffer", "Array", "an Array-like Object"], value);
  },
  alloc(n, fill, encoding) {
    const buffer = new FastBuffer(size(n));
    return fill === undefined || fill === 0 || buffer.length === 0 ? buffer : buffer.fill(fill, encoding);
  },
  allocUnsafe: (n) => new FastBuffer(size(n)),
  allocUnsafeSlow: (n) => new FastBuffer(size(n)),
  of: (...items) => new FastBuffer(items),
  isBuffer: (value) => value instanceof FastBuffer,
  isEncoding: (encoding) => typeof encoding === "string" && ENCODINGS[encoding.toLowerCase()] !== undefined,
  byteLength(value, encoding) {
    if (typeof value === "string") return native.bytesOf(value, ENCODINGS[String(encoding ?? "utf8").toLowerCase()] ?? "utf8").byteLength;
    if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return value.byteLength;
    throw invalidType("string", ["string", "Buffer", "ArrayBuffer"], value);
  },
  concat(list, total) {
    if (!Array.isArray(list)) throw invalidType("list", "Array", list);
    list.forEach((item, index) => {
      if (!isBytes(item)) throw invalidType(`list[${index}]`, ["Buffer", "Uint8Array"], item);
    });
    total = total === undefined ? list.reduce((sum, item) => sum + item.length, 0) : size(total);
    const all = new FastBuffer(total);
    let at = 0;
    for (const item of list) {
      const part = at + item.length > total ? item.subarray(0, total - at) : item;
      all.set(part, at);
      at += part.length;
    }
    return all;
  },
  compare(a, b) {
    if (!isBytes(a)) throw invalidType("buf1", ["Buffer", "Uint8Array"], a);
    if (!isBytes(b)) throw invalidType("buf2", ["Buffer", "Uint8Array"], b);
    const n = Math.min(a.length, b.length);
    for (let i = 0; i < n; i++) if (a[i] !== b[i]) return a[i] < b[i] ? -1 : 1;
    return Math.sign(a.length - b.length);
  },
});

const text = (bytes, encoding, start, end) => native.textOf(bytes.subarray(start, end), encoding);

/** The position of a value, a text or bytes. */
function find(bytes, value, offset, encoding, isLast) {
  if (typeof offset === "string") [encoding, offset] = [offset, undefined];
  const n = bytes.length;
  offset = Number(offset);
  if (Number.isNaN(offset)) offset = isLast ? n : 0;
  offset = Math.trunc(offset);
  if (offset < 0) offset += n;
  if (offset < 0) { if (isLast) return -1; offset = 0; }
  if (typeof value === "number") {
    const byte = value & 255;
    return isLast ? Uint8Array.prototype.lastIndexOf.call(bytes, byte, offset) : Uint8Array.prototype.indexOf.call(bytes, byte, offset);
  }
  const wanted = typeof value === "string" ? ofText(value, encoding) : value;
  if (!isBytes(wanted)) throw invalidType("value", ["number", "string", "Buffer", "Uint8Array"], value);
  const isAt = (at) => wanted.every((byte, i) => bytes[at + i] === byte);
  if (isLast) {
    for (let at = Math.min(offset, n - wanted.length); at >= 0; at--) if (isAt(at)) return at;
  } else {
    if (wanted.length === 0) return Math.min(offset, n);
    for (let at = offset; at + wanted.length <= n; at++) if (isAt(at)) return at;
  }
  return -1;
}

const methods = {
  toString(encoding, start, end) {
    const from = Math.max(0, Math.trunc(Number(start ?? 0)) || 0);
    const to = Math.min(this.length, end === undefined ? this.length : Math.trunc(Number(end)) || 0);
    return to <= from ? "" : text(this, encodingOf(encoding), from, to);
  },
  toJSON() {
    return { type: "Buffer", data: Array.from(this) };
  },
  equals(other) {
    if (!isBytes(other)) throw invalidType("otherBuffer", ["Buffer", "Uint8Array"], other);
    return Buffer.compare(this, other) === 0;
  },
  compare(target, targetStart = 0, targetEnd = target.length, start = 0, end = this.length) {
    if (!isBytes(target)) throw invalidType("target", ["Buffer", "Uint8Array"], target);
    return Buffer.compare(this.subarray(start, end), target.subarray(targetStart, targetEnd));
  },
  slice(start, end) {
    return this.subarray(start, end);
  },
  subarray(start, end) {
    const from = clamp(start, this.length, 0);
    const to = clamp(end, this.length, this.length);
    return wrap(this.buffer, this.byteOffset + from, Math.max(0, to - from));
  },
  copy(target, targetStart = 0, start = 0, end = this.length) {
    const part = this.subarray(start, Math.min(end, start + Math.max(0, target.length - targetStart)));
    target.set(part, targetStart);
    return part.length;
  },
  write(string, offset, length, encoding) {
    if (typeof string !== "string") throw invalidType("string", "string", string);
    if (typeof offset === "string") [encoding, offset, length] = [offset, 0, undefined];
    else if (typeof length === "string") [encoding, length] = [length, undefined];
    offset ??= 0;
    if (offset < 0 || offset > this.length) throw outOfRange("offset", `>= 0 && <= ${this.length}`, offset);
    const room = Math.min(length ?? Infinity, this.length - offset);
    let bytes = ofText(string, encoding);
    if (bytes.length > room) {
      let end = room;
      // No part of a character is written.
      if (encodingOf(encoding) === "utf8") while (end > 0 && (bytes[end] & 0xc0) === 0x80) end--;
      if (encodingOf(encoding) === "utf16le") end -= end % 2;
      bytes = bytes.subarray(0, end);
    }
    this.set(bytes, offset);
    return bytes.length;
  },
  fill(value, offset, end, encoding) {
    if (typeof offset === "string") [encoding, offset, end] = [offset, 0, this.length];
    else if (typeof end === "string") [encoding, end] = [end, this.length];
    offset ??= 0;
    end ??= this.length;
    if (offset < 0 || offset > this.length) throw outOfRange("offset", `>= 0 && <= ${this.length}`, offset);
    if (end < 0 || end > this.length) throw outOfRange("end", `>= 0 && <= ${this.length}`, end);
    if (typeof value === "string") value = value === "" ? 0 : ofText(value, encoding);
    if (typeof value === "boolean") value = Number(value);
    if (!isBytes(value)) {
      Uint8Array.prototype.fill.call(this, Number(value) & 255, offset, end);
      return this;
    }
    if (value.length === 0) throw coded(TypeError, "ERR_INVALID_ARG_VALUE", `The argument 'value' is invalid. Received ${require("util").inspect(value)}`);
    for (let i = offset; i < end; i++) this[i] = value[(i - offset) % value.length];
    return this;
  },
  indexOf(value, offset, encoding) { return find(this, value, offset, encoding, false); },
  lastIndexOf(value, offset, encoding) { return find(this, value, offset, encoding, true); },
  includes(value, offset, encoding) { return find(this, value, offset, encoding, false) !== -1; },
  swap16() { return swap(this, 2); },
  swap32() { return swap(this, 4); },
  swap64() { return swap(this, 8); },
  readUIntLE(offset, n) { return readInt(this, offset, n, true, false); },
  readUIntBE(offset, n) { return readInt(this, offset, n, false, false); },
  readIntLE(offset, n) { return readInt(this, offset, n, true, true); },
  readIntBE(offset, n) { return readInt(this, offset, n, false, true); },
  writeUIntLE(value, offset, n) { return writeInt(this, value, offset, n, true, false); },
  writeUIntBE(value, offset, n) { return writeInt(this, value, offset, n, false, false); },
  writeIntLE(value, offset, n) { return writeInt(this, value, offset, n, true, true); },
  writeIntBE(value, offset, n) { return writeInt(this, value, offset, n, false, true); },
};

function swap(bytes, n) {
  if (bytes.length % n !== 0) throw coded(RangeError, "ERR_INVALID_BUFFER_SIZE", `Buffer size must be a multiple of ${n * 8}-bits`);
  for (let at = 0; at < bytes.length; at += n) bytes.subarray(at, at + n).reverse();
  return bytes;
}

const viewOf = (bytes) => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** Checks that `n` bytes at `offset` are there. */
function place(bytes, offset, n) {
  if (typeof offset !== "number") throw invalidType("offset", "number", offset);
  if (!Number.isInteger(offset)) throw outOfRange("offset", "an integer", offset);
  if (bytes.length < n) throw coded(RangeError, "ERR_BUFFER_OUT_OF_BOUNDS", "Attempt to access memory outside buffer bounds");
  if (offset < 0 || offset + n > bytes.length) throw outOfRange("offset", `>= 0 and <= ${bytes.length - n}`, offset);
}

function width(n) {
  if (typeof n !== "number") throw invalidType("byteLength", "number", n);
  if (!Number.isInteger(n) || n < 1 || n > 6) throw outOfRange("byteLength", ">= 1 and <= 6", n);
}

function readInt(bytes, offset, n, isLittle, isSigned) {
  width(n);
  place(bytes, offset, n);
  let value = 0;
  for (let i = 0; i < n; i++) value = value * 256 + bytes[offset + (isLittle ? n - 1 - i : i)];
  return isSigned && value >= 2 ** (8 * n - 1) ? value - 2 ** (8 * n) : value;
}

/** Checks that a number fits; the text is Node's. */
function fits(value, n, isSigned) {
  const isBig = n === 8;
  const bits = 8 * n;
  const [low, high] = isBig
    ? isSigned ? [-(2n ** 63n), 2n ** 63n - 1n] : [0n, 2n ** 64n - 1n]
    : isSigned ? [-(2 ** (bits - 1)), 2 ** (bits - 1) - 1] : [0, 2 ** bits - 1];
  if (value >= low && value <= high) return;
  let range;
  if (isBig) range = isSigned ? ">= -(2n ** 63n) and < 2n ** 63n" : ">= 0n and < 2n ** 64n";
  else if (n > 4) range = isSigned ? `>= -(2 ** ${bits - 1}) and < 2 ** ${bits - 1}` : `>= 0 and < 2 ** ${bits}`;
  else range = `>= ${low} and <= ${high}`;
  throw outOfRange("value", range, value);
}

function writeInt(bytes, value, offset, n, isLittle, isSigned) {
  width(n);
  value = Number(value);
  fits(value, n, isSigned);
  place(bytes, offset, n);
  let rest = value < 0 ? value + 2 ** (8 * n) : value;
  for (let i = 0; i < n; i++) {
    bytes[offset + (isLittle ? i : n - 1 - i)] = rest % 256;
    rest = Math.floor(rest / 256);
  }
  return offset + n;
}

for (const [kind, n] of [["Uint8", 1], ["Int8", 1], ["Uint16", 2], ["Int16", 2], ["Uint32", 4], ["Int32", 4], ["BigUint64", 8], ["BigInt64", 8], ["Float32", 4], ["Float64", 8]]) {
  const name = { Float32: "Float", Float64: "Double" }[kind] ?? kind;
  for (const [end, isLittle] of n === 1 ? [["", true]] : [["LE", true], ["BE", false]]) {
    const read = function (offset = 0) {
      place(this, offset, n);
      return viewOf(this)[`get${kind}`](offset, isLittle);
    };
    const write = function (value, offset = 0) {
      if (kind.startsWith("Big")) {
        if (typeof value !== "bigint") throw invalidType("value", "bigint", value);
        fits(value, n, kind === "BigInt64");
      } else {
        value = Number(value);
        if (!kind.startsWith("Float")) fits(value, n, kind.startsWith("Int"));
      }
      place(this, offset, n);
      viewOf(this)[`set${kind}`](offset, value, isLittle);
      return offset + n;
    };
    for (const alias of new Set([name, name.replace("Uint", "UInt")])) {
      methods[`read${alias}${end}`] = read;
      methods[`write${alias}${end}`] = write;
    }
  }
}
for (const name of ["UIntLE", "UIntBE"]) {
  for (const verb of ["read", "write"]) methods[`${verb}${name.replace("UInt", "Uint")}`] = methods[`${verb}${name}`];
}
for (const [name, encoding] of [["utf8", "utf8"], ["hex", "hex"], ["base64", "base64"], ["base64url", "base64url"], ["latin1", "latin1"], ["ascii", "ascii"], ["ucs2", "utf16le"]]) {
  methods[`${name}Slice`] = function (start = 0, end = this.length) { return text(this, encoding, start, end); };
  methods[`${name}Write`] = function (string, offset, length) { return this.write(string, offset, length, encoding); };
}
methods.toLocaleString = methods.toString;
methods[Symbol.for("nodejs.util.inspect.custom")] = function (_, options) {
  const shown = [...this.subarray(0, 50)].map((byte) => byte.toString(16).padStart(2, "0"));
  const n = this.length - shown.length;
  if (n > 0) shown.push(`... ${n} more byte${n > 1 ? "s" : ""}`);
  const own = Object.keys(this).filter((key) => !/^\d+$/.test(key));
  const more = own.map((key) => `${key}: ${require("util").inspect(this[key], options)}`);
  return `<${this.constructor.name}${shown.length ? ` ${shown.join(" ")}` : ""}${more.length ? `, ${more.join(", ")}` : ""}>`;
};
for (const name of Reflect.ownKeys(methods)) {
  Object.defineProperty(Buffer.prototype, name, { value: methods[name], writable: true, configurable: true });
}
Object.defineProperty(Buffer.prototype, "parent", { get() { return this.buffer; }, configurable: true });
Object.defineProperty(Buffer.prototype, "offset", { get() { return this.byteOffset; }, configurable: true });

/** Base64 of browsers: each character is a byte. */
function btoa(text) {
  text = String(text);
  for (const c of text) {
    if (c.codePointAt(0) > 255) throw new (require("internal/dom").DOMException)("Invalid character", "InvalidCharacterError");
  }
  return native.textOf(new Uint8Array(native.bytesOf(text, "latin1")), "base64");
}

function atob(text) {
  text = String(text).replace(/[\t\n\f\r ]/g, "");
  const plain = text.length % 4 === 0 ? text.replace(/={1,2}$/, "") : text;
  if (plain.length % 4 === 1 || /[^A-Za-z0-9+/]/.test(plain)) {
    throw new (require("internal/dom").DOMException)("The string to be decoded is not correctly encoded.", "InvalidCharacterError");
  }
  return native.textOf(new Uint8Array(native.bytesOf(plain, "base64")), "latin1");
}

module.exports = {
  Buffer,
  SlowBuffer: (n) => Buffer.alloc(n),
  btoa,
  atob,
  constants: { MAX_LENGTH, MAX_STRING_LENGTH: 2 ** 29 - 24 },
  kMaxLength: MAX_LENGTH,
  INSPECT_MAX_BYTES: 50,
  isUtf8: (bytes) => Buffer.compare(Buffer.from(native.textOf(bytes, "utf8")), Buffer.from(bytes)) === 0,
  isAscii: (bytes) => Buffer.from(bytes).every((byte) => byte < 128),
  transcode: (bytes, from, to) => Buffer.from(Buffer.from(bytes).toString(from), to),
};
Object.defineProperty(module.exports, "Blob", { get: () => require("internal/dom").Blob, enumerable: true });
