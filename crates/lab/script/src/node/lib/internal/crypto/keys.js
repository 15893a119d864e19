// Keys: secrets, and the halves of pairs. The host holds the pairs.

const { coded, invalidType, invalidValue } = require("internal/errors");
const { BYTES, KEYS, SECRET, bytesOf, ossl } = require("internal/crypto/bytes");

/** Under this name, half of a pair has its numbers. */
const HANDLE = Symbol("handle");

const TYPES = ["secret", "public", "private"];

class KeyObject {
  #type;

  constructor(type) {
    if (!TYPES.includes(type)) throw invalidValue("type", type);
    this.#type = type;
  }

  get type() { return this.#type; }
}

class SecretKeyObject extends KeyObject {
  constructor(data) {
    super("secret");
    Object.defineProperty(this, SECRET, { value: data });
  }

  get symmetricKeySize() { return this[SECRET].length; }

  equals(other) {
    needKey(other);
    return other.type === "secret" && Buffer.compare(other[SECRET], this[SECRET]) === 0;
  }

  export({ format } = {}) {
    return format === "jwk" ? { kty: "oct", k: this[SECRET].toString("base64url") } : Buffer.from(this[SECRET]);
  }
}

/** The names of curves in OpenSSL, and in Web Cryptography. */
const CURVES = { prime256v1: "P-256", secp384r1: "P-384", secp521r1: "P-521" };
const curveOf = (name) => (Object.values(CURVES).includes(name) ? name : name === "secp256r1" ? "P-256" : CURVES[name]);
const nameOf = (curve) => Object.keys(CURVES).find((name) => CURVES[name] === curve);

class AsymmetricKeyObject extends KeyObject {
  constructor(type, handle) {
    super(type);
    Object.defineProperty(this, HANDLE, { value: handle });
  }

  get asymmetricKeyType() { return this[HANDLE].curve ? "ec" : "rsa"; }

  get asymmetricKeyDetails() {
    const { bits, curve, exponent } = this[HANDLE];
    if (curve) return { namedCurve: nameOf(curve) };
    return { modulusLength: bits, publicExponent: BigInt(`0x${Buffer.from(exponent).toString("hex")}`) };
  }

  equals(other) {
    needKey(other);
    const der = (key) => Buffer.from(key[HANDLE].toDer(key.type === "public" ? "spki" : "pkcs8"));
    return other.type === this.type && Buffer.compare(der(this), der(other)) === 0;
  }

  export(options) {
    if (typeof options !== "object" || options === null) throw invalidType("options", "object", options);
    const { format = "pem", type, cipher, passphrase } = options;
    if (format === "jwk") return this[HANDLE].toJwk();
    if (format !== "pem" && format !== "der") throw invalidValue("options.format", format);
    const label = LABELS[this.type][type];
    if (label === undefined) throw invalidValue("options.type", type);
    if (cipher !== undefined || passphrase !== undefined) throw noEncryption("written");
    const der = this[HANDLE].toDer(type);
    if (der === undefined) {
      const kind = type === "sec1" ? "EC" : "RSA";
      throw coded(Error, "ERR_CRYPTO_INCOMPATIBLE_KEY_OPTIONS", `The selected key encoding ${type} can only be used for ${kind} keys.`);
    }
    if (format === "der") return Buffer.from(der);
    const lines = Buffer.from(der).toString("base64").match(/.{1,64}/g).join("\n");
    return `-----BEGIN ${label}-----\n${lines}\n-----END ${label}-----\n`;
  }
}

const LABELS = {
  public: { spki: "PUBLIC KEY", pkcs1: "RSA PUBLIC KEY" },
  private: { pkcs8: "PRIVATE KEY", pkcs1: "RSA PRIVATE KEY", sec1: "EC PRIVATE KEY" },
};

class PublicKeyObject extends AsymmetricKeyObject {
  constructor(handle) { super("public", handle); }
}

class PrivateKeyObject extends AsymmetricKeyObject {
  constructor(handle) { super("private", handle); }
}

function needKey(value) {
  if (!(value instanceof KeyObject)) throw invalidType("otherKeyObject", "KeyObject", value);
}

const noEncryption = (how) =>
  coded(Error, "ERR_FEATURE_UNAVAILABLE_ON_PLATFORM", `encrypted keys cannot be ${how} here; decrypt the key with \`openssl pkey -in encrypted.pem -out key.pem\``);

const wrongType = (found, expected) =>
  coded(TypeError, "ERR_CRYPTO_INVALID_KEY_OBJECT_TYPE", `Invalid key object type ${found}, expected ${expected}.`);

const isBytes = (value) => typeof value === "string" || ArrayBuffer.isView(value) || value instanceof ArrayBuffer;

/** The numbers that the host has read, or the error for what it says instead. */
function read(found, passphrase) {
  if (found === "none") throw ossl("1E08010C", "DECODER routines", "unsupported", "ERR_OSSL_UNSUPPORTED");
  if (found === "unsupported") {
    throw coded(Error, "ERR_OSSL_UNSUPPORTED", "the key is malformed, or of a kind that is not supported here; expected RSA, P-256, P-384 or P-521");
  }
  if (found !== "encrypted") return found;
  if (passphrase !== undefined) throw noEncryption("read");
  throw coded(TypeError, "ERR_MISSING_PASSPHRASE", "Passphrase required for encrypted key");
}

/** The numbers of a key in a document: a private one, or the public half of any. */
function handleOfDocument({ key, format = "pem", type, passphrase }, isPrivate, name) {
  if (format === "jwk") {
    if (typeof key !== "object" || key === null) throw invalidType(name, "object", key);
    const found = native.keyOfJwk(isPrivate, JSON.stringify(key));
    if (found === "none") throw coded(Error, "ERR_CRYPTO_INVALID_JWK", "Invalid JWK data");
    return found;
  }
  if (!isBytes(key)) throw invalidType(name, KEYS, key);
  if (format === "pem") return read(native.keyOfPem(isPrivate, bytesOf(key, "utf8", name)), passphrase);
  if (format !== "der") throw invalidValue("options.format", format);
  if (typeof type !== "string") throw invalidValue("options.type", type);
  return read(native.keyOfDer(isPrivate, type, bytesOf(key, "utf8", name)), passphrase);
}

/** The numbers of a key object; a private key stands for its public half, too. */
function handleOfObject(key, isPrivate) {
  if (isPrivate && key.type !== "private") throw wrongType(key.type, "private");
  if (key.type === "secret") throw wrongType(key.type, "private or public");
  return key[HANDLE];
}

/** The numbers of the key with which a call works: a private one, or the public half of any. */
function handleOf(value, isPrivate, expected = KEYS) {
  if (value instanceof KeyObject) return handleOfObject(value, isPrivate);
  if (isBytes(value)) return handleOfDocument({ key: value }, isPrivate, "key");
  if (typeof value !== "object" || value === null) throw invalidType("key", expected, value);
  if (value.key instanceof KeyObject) return handleOfObject(value.key, isPrivate);
  return handleOfDocument(value, isPrivate, "key.key");
}

function createPrivateKey(value) {
  if (value instanceof KeyObject) throw invalidType("key", BYTES, value);
  return new PrivateKeyObject(handleOf(value, true, BYTES));
}

function createPublicKey(value) {
  const key = value instanceof KeyObject ? value : value?.key;
  if (key instanceof KeyObject) {
    if (key.type !== "private") throw wrongType(key.type, "private");
    return new PublicKeyObject(key[HANDLE].publicHalf());
  }
  return new PublicKeyObject(handleOf(value, false));
}

const createSecretKey = (key, encoding) => new SecretKeyObject(Buffer.from(bytesOf(key, encoding, "key")));

module.exports = { KeyObject, PrivateKeyObject, PublicKeyObject, createPrivateKey, createPublicKey, createSecretKey, curveOf, handleOf };
