// The bytes that calls of `crypto` are given and give.

const { coded, invalidType } = require("internal/errors");

const BYTES = ["string", "ArrayBuffer", "Buffer", "TypedArray", "DataView"];

/** What calls take for a key. */
const KEYS = [...BYTES, "KeyObject", "CryptoKey"];

/** Under this name, a secret key has its bytes. */
const SECRET = Symbol("secret");

/** The bytes of a text or of a view; `expected` are the types in the error for anything else. */
function bytesOf(value, encoding, name, expected = BYTES) {
  if (typeof value === "string") return Buffer.from(value, encoding === "buffer" ? "utf8" : encoding);
  if (ArrayBuffer.isView(value)) return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  if (value instanceof ArrayBuffer) return Buffer.from(value);
  if (value?.[SECRET]) return Buffer.from(value[SECRET]);
  throw invalidType(name, name === "data" ? ["string", "Buffer", "TypedArray", "DataView"] : expected, value);
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

/** The digests of signatures and of OAEP: their names in Web Cryptography, and their lengths in bytes. */
const OF_KEYS = { sha1: ["SHA-1", 20], sha256: ["SHA-256", 32], sha384: ["SHA-384", 48], sha512: ["SHA-512", 64] };

const invalidDigest = (name) => coded(TypeError, "ERR_CRYPTO_INVALID_DIGEST", `Invalid digest: ${name}`);

/** Name and length of a digest that keys can use. */
function digestOfKeys(name) {
  const notKnown = () => coded(TypeError, "ERR_CRYPTO_INVALID_DIGEST", "Invalid digest");
  const found = OF_KEYS[digestOf(name, notKnown)];
  if (!found) throw notKnown();
  return found;
}

/** An error of OpenSSL. */
const ossl = (number, library, reason, code) => coded(Error, code, `error:${number}:${library}::${reason}`, { library, reason });

module.exports = { BYTES, KEYS, SECRET, bytesOf, encoded, digestOf, digestOfKeys, invalidDigest, ossl };
