// Signatures, and encryption with the keys of a pair.

const { coded, invalidType, invalidValue, needFunction } = require("internal/errors");
const { bytesOf, digestOfKeys, encoded, ossl } = require("internal/crypto/bytes");
const constants = require("internal/crypto/constants");
const { KeyObject, handleOf } = require("internal/crypto/keys");
const { Writable } = require("stream");

const { RSA_PKCS1_PADDING, RSA_PKCS1_OAEP_PADDING, RSA_PKCS1_PSS_PADDING, RSA_PSS_SALTLEN_DIGEST, RSA_PSS_SALTLEN_AUTO } = constants;

/** What a call says besides the key. */
const optionsOf = (key) => (key instanceof KeyObject || typeof key !== "object" || key === null || ArrayBuffer.isView(key) ? {} : key);

/** The length of the salt of PSS: negative for the longest one, or for any; undefined for PKCS#1. */
function saltOf({ padding = RSA_PKCS1_PADDING, saltLength = RSA_PSS_SALTLEN_AUTO }, digestLength) {
  if (typeof padding !== "number") throw invalidValue("options.padding", padding);
  if (!Number.isInteger(saltLength)) throw invalidValue("options.saltLength", saltLength);
  if (padding === RSA_PKCS1_PADDING) return undefined;
  if (padding !== RSA_PKCS1_PSS_PADDING) {
    throw ossl("1C8000A5", "Provider routines", "illegal or unsupported padding mode", "ERR_OSSL_ILLEGAL_OR_UNSUPPORTED_PADDING_MODE");
  }
  return saltLength === RSA_PSS_SALTLEN_DIGEST ? digestLength : saltLength;
}

function isDer({ dsaEncoding = "der" }) {
  if (dsaEncoding !== "der" && dsaEncoding !== "ieee-p1363") throw invalidValue("options.dsaEncoding", dsaEncoding);
  return dsaEncoding === "der";
}

function signed([digest, length], data, key) {
  const options = optionsOf(key);
  const handle = handleOf(key, true);
  const salt = handle.curve ? undefined : saltOf(options, length);
  return Buffer.from(handle.sign(digest, salt, isDer(options), data));
}

function verified([digest, length], data, key, signature) {
  const options = optionsOf(key);
  const handle = handleOf(key, false);
  const salt = handle.curve ? undefined : saltOf(options, length);
  return handle.verify(digest, salt, isDer(options), data, signature);
}

/** Digest and data of a signature; the data only once. */
let collected;

/** Collects the data of a signature. */
class Signing extends Writable {
  #digest;
  #parts = [];

  static {
    collected = (of) => [of.#digest, Buffer.concat(of.#parts.splice(0))];
  }

  constructor(algorithm, options) {
    super(options);
    if (typeof algorithm !== "string") throw invalidType("algorithm", "string", algorithm);
    this.#digest = digestOfKeys(algorithm);
  }

  update(data, encoding) {
    // A copy, because the caller may change its bytes.
    this.#parts.push(Buffer.from(bytesOf(data, encoding, "data")));
    return this;
  }

  _write(chunk, encoding, callback) {
    this.update(chunk, encoding);
    callback();
  }
}

class Sign extends Signing {
  sign(key, encoding) {
    if (!key) throw coded(Error, "ERR_CRYPTO_SIGN_KEY_REQUIRED", "No key provided to sign");
    return encoded(signed(...collected(this), key), encoding);
  }
}

class Verify extends Signing {
  verify(key, signature, encoding) {
    return verified(...collected(this), key, bytesOf(signature, encoding, "signature"));
  }
}

/** Gives the value of a call, or hands it to a callback later. */
function answered(callback, compute) {
  if (callback === undefined) return compute();
  needFunction(callback, "callback");
  let outcome;
  try { outcome = [null, compute()]; } catch (error) { outcome = [error]; }
  setImmediate(() => callback(...outcome));
}

/** Without an algorithm, OpenSSL takes SHA-256. */
const digestOrUsual = (algorithm) => digestOfKeys(algorithm ?? "sha256");

function sign(algorithm, data, key, callback) {
  const digest = digestOrUsual(algorithm);
  const bytes = bytesOf(data, undefined, "data");
  if (!key) throw coded(Error, "ERR_CRYPTO_SIGN_KEY_REQUIRED", "No key provided to sign");
  return answered(callback, () => signed(digest, bytes, key));
}

function verify(algorithm, data, key, signature, callback) {
  const digest = digestOrUsual(algorithm);
  const bytes = bytesOf(data, undefined, "data");
  if (typeof signature === "string") throw invalidType("signature", ["ArrayBuffer", "Buffer", "TypedArray", "DataView"], signature);
  const given = bytesOf(signature, undefined, "signature");
  return answered(callback, () => verified(digest, bytes, key, given));
}

/** The digest of OAEP, or undefined for PKCS#1. */
function oaepDigest({ padding = RSA_PKCS1_OAEP_PADDING, oaepHash = "sha1" }) {
  if (padding === RSA_PKCS1_OAEP_PADDING) return digestOfKeys(oaepHash)[0];
  if (padding === RSA_PKCS1_PADDING) return undefined;
  throw ossl("1C8000A5", "Provider routines", "illegal or unsupported padding mode", "ERR_OSSL_ILLEGAL_OR_UNSUPPORTED_PADDING_MODE");
}

/** What goes through a key, as `encrypt` and `decrypt` of the host take it. */
function envelopeOf(key, data) {
  const options = optionsOf(key);
  const label = options.oaepLabel === undefined ? Buffer.alloc(0) : bytesOf(options.oaepLabel, options.encoding, "key.oaepLabel");
  return [oaepDigest(options), label, bytesOf(data, options.encoding, "buffer")];
}

function publicEncrypt(key, data) {
  const envelope = envelopeOf(key, data);
  const handle = handleOf(key, false);
  try {
    return Buffer.from(handle.encrypt(...envelope));
  } catch {
    throw ossl("0200006E", "rsa routines", "data too large for key size", "ERR_OSSL_RSA_DATA_TOO_LARGE_FOR_KEY_SIZE");
  }
}

function privateDecrypt(key, data) {
  const envelope = envelopeOf(key, data);
  const handle = handleOf(key, true);
  try {
    return Buffer.from(handle.decrypt(...envelope));
  } catch {
    throw ossl("02000079", "rsa routines", "oaep decoding error", "ERR_OSSL_RSA_OAEP_DECODING_ERROR");
  }
}

module.exports = {
  Sign, Verify, sign, verify, publicEncrypt, privateDecrypt,
  createSign: (algorithm, options) => new Sign(algorithm, options),
  createVerify: (algorithm, options) => new Verify(algorithm, options),
};
