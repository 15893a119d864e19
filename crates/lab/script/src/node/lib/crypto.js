// `crypto`: digests, HMACs, random values, derived keys. The host computes.

const { coded, invalidType, outOfRange, needFunction } = require("internal/errors");

const BYTES = ["string", "ArrayBuffer", "Buffer", "TypedArray", "DataView"];

/** The bytes of a text or of a view. */
function bytesOf(value, encoding, name) {
  if (typeof value === "string") return Buffer.from(value, encoding === "buffer" ? "utf8" : encoding);
  if (ArrayBuffer.isView(value)) return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  if (value instanceof ArrayBuffer) return Buffer.from(value);
  if (value instanceof KeyObject && value.type === "secret") return value.export();
  throw invalidType(name, name === "data" ? ["string", "Buffer", "TypedArray", "DataView"] : BYTES, value);
}

const encoded = (bytes, encoding) => {
  const buffer = Buffer.from(bytes);
  return encoding === undefined || encoding === null || encoding === "buffer" ? buffer : buffer.toString(encoding);
};

/** The host's name of a digest. */
function digestOf(name, notKnown) {
  if (typeof name !== "string") throw invalidType("algorithm", "string", name);
  const short = name.toLowerCase().replace(/^rsa-/, "").replace(/^sha-(\d)/, "sha$1").replace(/^sha512[-/](\d+)$/, "sha512_$1").replace(/^(rmd160|ripemd)$/, "ripemd160");
  if (!native.digests().includes(short)) throw notKnown(name);
  return short;
}

const { Transform } = require("stream");

/** Digests and HMACs collect what they are given; they are streams, too. */
class Digesting extends Transform {
  #parts = [];
  #isDone = false;

  constructor(options) {
    super(options);
  }

  get parts() { return this.#parts; }

  update(data, encoding) {
    if (this.#isDone) throw coded(Error, "ERR_CRYPTO_HASH_FINALIZED", "Digest already called");
    // A copy, because the caller may change its bytes.
    this.#parts.push(Buffer.from(bytesOf(data, encoding, "data")));
    return this;
  }

  digest(encoding) {
    if (this.#isDone) {
      if (this instanceof Hmac) return encoded(Buffer.alloc(0), encoding);
      throw coded(Error, "ERR_CRYPTO_HASH_FINALIZED", "Digest already called");
    }
    this.#isDone = true;
    return encoded(this.compute(Buffer.concat(this.#parts.splice(0))), encoding);
  }

  get isDone() { return this.#isDone; }

  _transform(chunk, encoding, callback) {
    this.update(chunk, encoding);
    callback();
  }

  _flush(callback) {
    this.push(this.digest());
    callback();
  }
}
for (const name of ["parts", "isDone"]) Object.defineProperty(Digesting.prototype, name, { enumerable: false });

class Hash extends Digesting {
  constructor(algorithm, options) {
    super(options);
    const name = digestOf(algorithm, () => coded(Error, "ERR_OSSL_EVP_UNSUPPORTED", "Digest method not supported"));
    Object.defineProperty(this, "compute", { value: (bytes) => native.digest(name, bytes) });
    Object.defineProperty(this, "again", { value: () => new Hash(algorithm, options) });
  }

  copy() {
    if (this.isDone) throw coded(Error, "ERR_CRYPTO_HASH_FINALIZED", "Digest already called");
    const copy = this.again();
    copy.parts.push(...this.parts);
    return copy;
  }
}

class Hmac extends Digesting {
  constructor(algorithm, key, options) {
    super(options);
    const name = digestOf(algorithm, (given) => coded(TypeError, "ERR_CRYPTO_INVALID_DIGEST", `Invalid digest: ${given}`));
    const secret = Buffer.from(bytesOf(key, options?.encoding, "key"));
    Object.defineProperty(this, "compute", { value: (bytes) => native.hmac(name, secret, bytes) });
  }
}

/** A secret. Key pairs do not exist here. */
class KeyObject {
  #data;

  constructor(type, data) {
    if (type !== "secret") throw require("internal/errors").invalidValue("type", type);
    this.#data = data;
  }

  get type() { return "secret"; }
  get symmetricKeySize() { return this.#data.length; }
  equals(other) { return other instanceof KeyObject && Buffer.compare(other.export(), this.#data) === 0; }

  export({ format } = {}) {
    return format === "jwk" ? { kty: "oct", k: this.#data.toString("base64url") } : Buffer.from(this.#data);
  }
}

/** Packages try whether a text is such a key before they take it for a secret. */
const noKeyPair = () => {
  throw coded(Error, "ERR_OSSL_UNSUPPORTED", "keys of a key pair are not supported here; use a secret, for example with HS256");
};

const MOST_RANDOM = 2 ** 31 - 1;

function countOf(size) {
  if (typeof size !== "number") throw invalidType("size", "number", size);
  if (!(size >= 0 && size <= MOST_RANDOM)) throw outOfRange("size", `>= 0 && <= ${MOST_RANDOM}`, size);
  return size;
}

/** Runs at once, and tells a callback later. */
function later(callback, compute) {
  if (callback === undefined) return compute();
  needFunction(callback, "callback");
  const value = compute();
  setImmediate(() => callback(null, value));
}

const randomBytes = (size, callback) => {
  countOf(size);
  return later(callback, () => Buffer.from(native.random(size)));
};

function randomFillSync(target, offset = 0, size = target.byteLength - offset) {
  const bytes = target instanceof ArrayBuffer ? new Uint8Array(target) : new Uint8Array(target.buffer, target.byteOffset, target.byteLength);
  bytes.set(new Uint8Array(native.random(size)), offset);
  return target;
}

function randomFill(target, ...rest) {
  const callback = rest.pop();
  needFunction(callback, "callback");
  randomFillSync(target, ...rest);
  setImmediate(() => callback(null, target));
}

function randomInt(min, max, callback) {
  if (max === undefined || typeof max === "function") [min, max, callback] = [0, min, max];
  if (!Number.isSafeInteger(min)) throw invalidType("min", "a safe integer", min);
  if (!Number.isSafeInteger(max)) throw invalidType("max", "a safe integer", max);
  if (max <= min) throw outOfRange("max", `greater than the value of "min" (${min})`, max);
  const range = max - min;
  if (range > 2 ** 48 - 1) throw outOfRange("max - min", `<= ${2 ** 48 - 1}`, range);
  return later(callback, () => {
    // Values of the last, incomplete round would make small numbers more frequent.
    const limit = 2 ** 48 - (2 ** 48 % range);
    for (;;) {
      const value = Buffer.from(native.random(6)).readUIntBE(0, 6);
      if (value < limit) return min + (value % range);
    }
  });
}

function pbkdf2Sync(password, salt, iterations, length, digest) {
  if (typeof digest !== "string") throw invalidType("digest", "string", digest);
  const name = digestOf(digest, (given) => coded(TypeError, "ERR_CRYPTO_INVALID_DIGEST", `Invalid digest: ${given}`));
  if (!(iterations >= 1)) throw outOfRange("iterations", ">= 1 && <= 2147483647", iterations);
  return Buffer.from(native.pbkdf2(name, bytesOf(password, "utf8", "password"), bytesOf(salt, "utf8", "salt"), iterations, length));
}

function pbkdf2(password, salt, iterations, length, digest, callback) {
  needFunction(callback, "callback");
  const key = pbkdf2Sync(password, salt, iterations, length, digest);
  setImmediate(() => callback(null, key));
}

/** RFC 5869. */
function hkdfSync(digest, key, salt, info, length) {
  const extracted = createHmac(digest, bytesOf(salt, "utf8", "salt")).update(bytesOf(key, "utf8", "ikm")).digest();
  const context = bytesOf(info, "utf8", "info");
  const parts = [];
  let last = Buffer.alloc(0);
  for (let i = 1; parts.length * extracted.length < length; i++) {
    last = createHmac(digest, extracted).update(last).update(context).update(Buffer.from([i])).digest();
    parts.push(last);
  }
  const all = Buffer.concat(parts).subarray(0, length);
  return all.buffer.slice(all.byteOffset, all.byteOffset + all.length);
}

function timingSafeEqual(a, b) {
  const [x, y] = [bytesOf(a, undefined, "buf1"), bytesOf(b, undefined, "buf2")];
  if (x.length !== y.length) throw coded(RangeError, "ERR_CRYPTO_TIMING_SAFE_EQUAL_LENGTH", "Input buffers must have the same byte length");
  let difference = 0;
  for (let i = 0; i < x.length; i++) difference |= x[i] ^ y[i];
  return difference === 0;
}

const createHash = (algorithm, options) => new Hash(algorithm, options);
const createHmac = (algorithm, key, options) => new Hmac(algorithm, key, options);

const constants = {};

const webcrypto = globalThis.crypto;

module.exports = {
  createHash, createHmac, Hash, Hmac,
  hash(algorithm, data, encoding = "hex") { return createHash(algorithm).update(data).digest(encoding); },
  getHashes: () => native.digests().map((name) => name.replace("sha512_", "sha512-")),
  KeyObject, createSecretKey: (key, encoding) => new KeyObject("secret", Buffer.from(bytesOf(key, encoding, "key"))),
  createPrivateKey: noKeyPair, createPublicKey: noKeyPair,
  randomBytes, pseudoRandomBytes: randomBytes, randomFill, randomFillSync, randomInt,
  randomUUID: () => webcrypto.randomUUID(),
  getRandomValues: (view) => webcrypto.getRandomValues(view),
  timingSafeEqual, pbkdf2, pbkdf2Sync, hkdfSync,
  hkdf(digest, key, salt, info, length, callback) { later(callback, () => hkdfSync(digest, key, salt, info, length)); },
  constants, webcrypto,
};
