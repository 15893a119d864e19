// New pairs of keys.

const { absent, invalidType, invalidValue, needFunction } = require("internal/errors");
const { PrivateKeyObject, createPrivateKey, createPublicKey, curveOf } = require("internal/crypto/keys");

/** Kinds of Node that do not exist here. */
const OTHERS = ["rsa-pss", "dsa", "dh", "ed25519", "ed448", "x25519", "x448"];

/** The kind of a pair, checked. */
function checked(type, options) {
  if (OTHERS.includes(type)) throw absent(`a new pair of keys of ${type}`, "use rsa or ec");
  if (type !== "rsa" && type !== "ec") throw invalidValue("type", type, "must be a supported key type");
  if (typeof options !== "object" || options === null) throw invalidType("options", "object", options);
  if (type === "rsa") return { modulus: modulusOf(options), exponent: exponentOf(options) };
  if (typeof options.namedCurve !== "string") throw invalidType("options.namedCurve", "string", options.namedCurve);
  const curve = curveOf(options.namedCurve);
  if (curve === undefined) throw require("internal/errors").coded(TypeError, "ERR_CRYPTO_INVALID_CURVE", "Invalid EC curve name");
  return { curve };
}

function modulusOf({ modulusLength }) {
  if (typeof modulusLength !== "number") throw invalidType("options.modulusLength", "number", modulusLength);
  return modulusLength;
}

/** The public exponent, big-endian. */
function exponentOf({ publicExponent = 0x10001 }) {
  if (typeof publicExponent !== "number") throw invalidType("options.publicExponent", "number", publicExponent);
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(publicExponent);
  return bytes;
}

/** Both keys, as objects or in the wanted forms. */
function pairOf(privateKey, { publicKeyEncoding, privateKeyEncoding } = {}) {
  const publicKey = createPublicKey(privateKey);
  return {
    publicKey: publicKeyEncoding ? publicKey.export(publicKeyEncoding) : publicKey,
    privateKey: privateKeyEncoding ? privateKey.export(privateKeyEncoding) : privateKey,
  };
}

function generateKeyPairSync(type, options) {
  const { curve, modulus, exponent } = checked(type, options);
  const handle = curve ? native.newEcKey(curve) : native.newRsaKey(modulus, exponent);
  return pairOf(new PrivateKeyObject(handle), options);
}

/** The numbers are found on another thread, by Web Cryptography. */
async function generated({ curve, modulus, exponent }) {
  const { subtle } = globalThis.crypto;
  const algorithm = curve
    ? { name: "ECDSA", namedCurve: curve }
    : { name: "RSASSA-PKCS1-v1_5", modulusLength: modulus, publicExponent: new Uint8Array(exponent), hash: "SHA-256" };
  const { privateKey } = await subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const key = Buffer.from(await subtle.exportKey("pkcs8", privateKey));
  return createPrivateKey({ key, format: "der", type: "pkcs8" });
}

function generateKeyPair(type, options, callback) {
  if (typeof options === "function") [options, callback] = [undefined, options];
  needFunction(callback, "callback");
  const wanted = checked(type, options);
  const done = generated(wanted).then((privateKey) => pairOf(privateKey, options));
  done.then(({ publicKey, privateKey }) => setImmediate(callback, null, publicKey, privateKey), (error) => setImmediate(callback, error));
}

// A promise has one value.
Object.defineProperty(generateKeyPair, Symbol.for("nodejs.util.promisify.custom"), {
  value: (type, options) =>
    new Promise((resolve, reject) => {
      generateKeyPair(type, options, (error, publicKey, privateKey) => (error ? reject(error) : resolve({ publicKey, privateKey })));
    }),
});

module.exports = { generateKeyPair, generateKeyPairSync };
