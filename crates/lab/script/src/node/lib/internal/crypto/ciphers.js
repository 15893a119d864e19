// AES in the modes CBC, CTR and GCM, over data that come in pieces.

const { coded, invalidType } = require("internal/errors");
const { KEYS, bytesOf, ossl } = require("internal/crypto/bytes");
const { Transform } = require("stream");
const { StringDecoder } = require("string_decoder");

/** OpenSSL's numbers of the ciphers, for 128, 192 and 256 bits. */
const NUMBERS = { cbc: [419, 423, 427], ctr: [904, 905, 906], gcm: [895, 898, 901] };

/** `{ name: what is known of the cipher }`. */
const CIPHERS = {};
for (const [mode, numbers] of Object.entries(NUMBERS)) {
  numbers.forEach((nid, index) => {
    const bits = 128 + 64 * index;
    const name = mode === "gcm" ? `id-aes${bits}-gcm` : `aes-${bits}-${mode}`;
    CIPHERS[`aes-${bits}-${mode}`] = { mode, name, nid, blockSize: mode === "cbc" ? 16 : 1, ivLength: mode === "gcm" ? 12 : 16, keyLength: bits / 8 };
  });
}

/** What is known of a cipher, under any of its names. */
function cipherOf(name) {
  const known = name.toLowerCase().replace(/^aes(\d+)$/, "aes-$1-cbc").replace(/^id-aes(\d+)-gcm$/, "aes-$1-gcm");
  return Object.hasOwn(CIPHERS, known) ? CIPHERS[known] : undefined;
}

const TAG_LENGTHS = [4, 8, 12, 13, 14, 15, 16];
const invalidTag = (length) => coded(TypeError, "ERR_CRYPTO_INVALID_AUTH_TAG", `Invalid authentication tag length: ${length}`);
const invalidState = (what) => coded(Error, "ERR_CRYPTO_INVALID_STATE", `Invalid state for operation ${what}`);

/** The errors of an end that is wrong. */
const WRONG_ENDS = {
  length: () => ossl("1C80006B", "Provider routines", "wrong final block length", "ERR_OSSL_WRONG_FINAL_BLOCK_LENGTH"),
  padding: () => ossl("1C800064", "Provider routines", "bad decrypt", "ERR_OSSL_BAD_DECRYPT"),
  tag: () => new Error("Unsupported state or unable to authenticate data"),
};

/** Makes the host's cipher, after the checks of Node. */
function begin(encrypts, name, key, iv, { authTagLength } = {}) {
  if (typeof name !== "string") throw invalidType("cipher", "string", name);
  const secret = bytesOf(key, "utf8", "key", KEYS);
  const start = iv === null ? Buffer.alloc(0) : bytesOf(iv, "utf8", "iv");
  const cipher = cipherOf(name);
  if (cipher === undefined) throw coded(Error, "ERR_CRYPTO_UNKNOWN_CIPHER", "Unknown cipher");
  if (secret.length !== cipher.keyLength) throw coded(RangeError, "ERR_CRYPTO_INVALID_KEYLEN", "Invalid key length");
  const isFit = cipher.mode === "gcm" ? start.length > 0 : start.length === cipher.ivLength;
  if (!isFit) throw coded(TypeError, "ERR_CRYPTO_INVALID_IV", "Invalid initialization vector");
  if (cipher.mode === "gcm" && authTagLength !== undefined && !TAG_LENGTHS.includes(authTagLength)) throw invalidTag(authTagLength);
  return { ...cipher, tagLength: authTagLength, host: native.cipher(encrypts, cipher.mode, secret, start) };
}

let tagOf, setTag;

class Cipher extends Transform {
  #cipher;
  #tag;
  #decoder;
  #hasData = false;
  #isDone = false;

  static {
    tagOf = (of) => (of.#isDone ? of.#cipher.host.tag(of.#cipher.tagLength ?? 16) : undefined);
    setTag = (of, tag) => {
      const { mode, tagLength } = of.#cipher;
      if (mode !== "gcm" || of.#isDone || of.#tag !== undefined) throw invalidState("setAuthTag");
      const isFit = tagLength === undefined ? TAG_LENGTHS.includes(tag.length) : tag.length === tagLength;
      if (!isFit) throw invalidTag(tag.length);
      of.#tag = tag;
    };
  }

  constructor(encrypts, name, key, iv, options) {
    super(options);
    this.#cipher = begin(encrypts, name, key, iv, options ?? undefined);
  }

  update(data, inputEncoding, outputEncoding) {
    const bytes = bytesOf(data, inputEncoding, "data");
    if (this.#isDone) throw new Error("Trying to add data in unsupported state");
    this.#hasData = true;
    return this.#written(Buffer.from(this.#cipher.host.update(bytes)), outputEncoding, false);
  }

  final(outputEncoding) {
    if (this.#isDone) throw coded(Error, "ERR_CRYPTO_INVALID_STATE", "Invalid state");
    this.#isDone = true;
    const last = this.#cipher.host.finish(this.#tag);
    if (typeof last === "string") throw WRONG_ENDS[last]();
    return this.#written(Buffer.from(last), outputEncoding, true);
  }

  /** Texts of base64 go on where the last one ended in the middle of a digit. */
  #written(bytes, encoding, isEnd) {
    if (encoding === undefined || encoding === null || encoding === "buffer") return bytes;
    this.#decoder ??= new StringDecoder(encoding);
    return isEnd ? this.#decoder.end(bytes) : this.#decoder.write(bytes);
  }

  setAutoPadding(pads = true) {
    if (this.#isDone) throw invalidState("setAutoPadding");
    this.#cipher.host.setPadding(Boolean(pads));
    return this;
  }

  setAAD(data) {
    const bytes = bytesOf(data, "utf8", "buffer");
    if (this.#isDone || this.#hasData || this.#cipher.mode !== "gcm") throw invalidState("setAAD");
    this.#cipher.host.add(bytes);
    return this;
  }

  _transform(chunk, encoding, callback) {
    this.push(this.update(chunk, encoding));
    callback();
  }

  _flush(callback) {
    try { this.push(this.final()); } catch (error) { return callback(error); }
    callback();
  }
}

class Cipheriv extends Cipher {
  constructor(name, key, iv, options) { super(true, name, key, iv, options); }

  getAuthTag() {
    const tag = tagOf(this);
    if (tag === undefined) throw invalidState("getAuthTag");
    return Buffer.from(tag);
  }
}

class Decipheriv extends Cipher {
  constructor(name, key, iv, options) { super(false, name, key, iv, options); }

  setAuthTag(tag, encoding) {
    setTag(this, Buffer.from(bytesOf(tag, encoding, "buffer")));
    return this;
  }
}

function getCipherInfo(nameOrNumber, { keyLength, ivLength } = {}) {
  if (typeof nameOrNumber !== "string" && typeof nameOrNumber !== "number") throw invalidType("nameOrNid", ["string", "number"], nameOrNumber);
  const known = typeof nameOrNumber === "string" ? cipherOf(nameOrNumber) : Object.values(CIPHERS).find(({ nid }) => nid === nameOrNumber);
  if (!known || (keyLength !== undefined && keyLength !== known.keyLength)) return undefined;
  if (ivLength === undefined) return { ...known };
  if (known.mode === "gcm" ? ivLength < 1 : ivLength !== known.ivLength) return undefined;
  return { ...known, ivLength };
}

module.exports = {
  Cipheriv, Decipheriv, getCipherInfo,
  createCipheriv: (name, key, iv, options) => new Cipheriv(name, key, iv, options),
  createDecipheriv: (name, key, iv, options) => new Decipheriv(name, key, iv, options),
  getCiphers: () => Object.keys(CIPHERS).sort(),
};
