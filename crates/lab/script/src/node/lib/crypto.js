// `crypto`: digests, HMACs, random values and derived keys here; keys, signatures and ciphers in files of their own, which
// are loaded when they are first used. The host computes.

const { coded, invalidType, outOfRange, needFunction } = require("internal/errors");
const { bytesOf, encoded, digestOf, invalidDigest } = require("internal/crypto/bytes");

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
    const name = digestOf(algorithm, invalidDigest);
    const secret = Buffer.from(bytesOf(key, options?.encoding, "key"));
    Object.defineProperty(this, "compute", { value: (bytes) => native.hmac(name, secret, bytes) });
  }
}

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
  const name = digestOf(digest, invalidDigest);
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

const webcrypto = globalThis.crypto;

module.exports = {
  createHash, createHmac, Hash, Hmac,
  hash(algorithm, data, encoding = "hex") { return createHash(algorithm).update(data).digest(encoding); },
  getHashes: () => native.digests().map((name) => name.replace("sha512_", "sha512-")),
  randomBytes, pseudoRandomBytes: randomBytes, randomFill, randomFillSync, randomInt,
  randomUUID: () => webcrypto.randomUUID(),
  getRandomValues: (view) => webcrypto.getRandomValues(view),
  timingSafeEqual, pbkdf2, pbkdf2Sync, hkdfSync,
  hkdf(digest, key, salt, info, length, callback) { later(callback, () => hkdfSync(digest, key, salt, info, length)); },
  getCurves: () => ["prime256v1", "secp384r1", "secp521r1"],
  constants: require("internal/crypto/constants"), webcrypto,
};

/** What is loaded when it is first used. */
const LATER = {
  keys: ["KeyObject", "createPrivateKey", "createPublicKey", "createSecretKey"],
  pairs: ["generateKeyPair", "generateKeyPairSync"],
  signatures: ["Sign", "Verify", "createSign", "createVerify", "sign", "verify", "publicEncrypt", "privateDecrypt"],
  ciphers: ["Cipheriv", "Decipheriv", "createCipheriv", "createDecipheriv", "getCiphers", "getCipherInfo"],
};
const getting = (get) => ({ get, enumerable: true, configurable: true });
for (const [file, names] of Object.entries(LATER)) {
  for (const name of names) Object.defineProperty(module.exports, name, getting(() => require(`internal/crypto/${file}`)[name]));
}
Object.defineProperty(module.exports, "subtle", getting(() => webcrypto.subtle));
