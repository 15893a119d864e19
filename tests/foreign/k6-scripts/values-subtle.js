// `crypto.subtle` with keys, signatures and secrets that another program made: KEYS is the data of `support/subtle.mjs`.
import { settledValuesOf } from "./values.js";

export { handleSummary } from "./data.js";

export const options = { iterations: 1 };

const { subtle } = crypto;
const { rsa, curves, data: dataHex } = JSON.parse(__ENV.KEYS);
const HASHES = ["SHA-1", "SHA-256", "SHA-384", "SHA-512"];

const bytes = (hex) => new Uint8Array((hex.match(/../g) || []).map((pair) => parseInt(pair, 16)));
const hex = (buffer) => Array.from(new Uint8Array(buffer), (byte) => byte.toString(16).padStart(2, "0")).join("");
const ascending = (n) => Uint8Array.from({ length: n }, (_, index) => index);
const data = bytes(dataHex);
const other = ascending(9);

const functions = {};
for (const hash of HASHES) {
  functions[`digest ${hash}`] = async () => [hex(await subtle.digest(hash, data)), hex(await subtle.digest({ name: hash }, other))];
  functions[`hmac ${hash}`] = async () => {
    const key = await subtle.importKey("raw", other, { name: "HMAC", hash }, true, ["sign", "verify"]);
    const tag = await subtle.sign("HMAC", key, data);
    const { kty, k, alg, key_ops: usages } = await subtle.exportKey("jwk", key);
    const verified = [await subtle.verify("HMAC", key, tag, data), await subtle.verify("HMAC", key, tag, other)];
    return [hex(tag), verified, kty, k, alg, usages, key.type, key.extractable, key.algorithm.hash.name, key.algorithm.length];
  };
  functions[`pbkdf2 ${hash}`] = async () => {
    const password = await subtle.importKey("raw", data, "PBKDF2", false, ["deriveBits", "deriveKey"]);
    const salted = { name: "PBKDF2", hash, salt: other, iterations: 17 };
    const key = await subtle.deriveKey(salted, password, { name: "AES-GCM", length: 256 }, true, ["encrypt"]);
    return [hex(await subtle.deriveBits(salted, password, 200)), hex(await subtle.exportKey("raw", key)), key.usages];
  };
  functions[`rsa pkcs1 ${hash}`] = async () => {
    const algorithm = { name: "RSASSA-PKCS1-v1_5", hash };
    const privateKey = await subtle.importKey("pkcs8", bytes(rsa.pkcs8), algorithm, true, ["sign"]);
    const publicKey = await subtle.importKey("spki", bytes(rsa.spki), algorithm, true, ["verify"]);
    const signature = await subtle.sign(algorithm.name, privateKey, data);
    const ofOther = bytes(rsa.pkcs1[hash]);
    const verified = [signature, ofOther, ofOther.slice(1)].map((one) => subtle.verify(algorithm.name, publicKey, one, data));
    return [hex(signature), await Promise.all(verified), hex(await subtle.exportKey("spki", publicKey)), publicKey.algorithm.modulusLength];
  };
  functions[`rsa pss ${hash}`] = async () => {
    const algorithm = { name: "RSA-PSS", hash };
    const privateKey = await subtle.importKey("jwk", rsa.privateJwk, algorithm, true, ["sign"]);
    // k6 verifies nothing with a public key that was a JSON Web Key.
    const publicKey = await subtle.importKey("spki", bytes(rsa.spki), algorithm, true, ["verify"]);
    const salted = { name: "RSA-PSS", saltLength: 24 };
    const signature = await subtle.sign(salted, privateKey, data);
    const ofOther = bytes(rsa.pss[hash]);
    const pairs = [[signature, data], [signature, other], [ofOther, data]];
    const { kty, n, e } = await subtle.exportKey("jwk", publicKey);
    return [await Promise.all(pairs.map(([one, of]) => subtle.verify(salted, publicKey, one, of))), kty, n, e];
  };
  functions[`rsa oaep ${hash}`] = async () => {
    const algorithm = { name: "RSA-OAEP", hash };
    const privateKey = await subtle.importKey("pkcs8", bytes(rsa.pkcs8), algorithm, true, ["decrypt"]);
    const publicKey = await subtle.importKey("spki", bytes(rsa.spki), algorithm, true, ["encrypt"]);
    const labelled = { name: "RSA-OAEP", label: other };
    const own = await subtle.encrypt(labelled, publicKey, data);
    const { n, e, d, p, q, dp, dq, qi } = await subtle.exportKey("jwk", privateKey);
    return [hex(await subtle.decrypt(labelled, privateKey, own)), hex(await subtle.decrypt(labelled, privateKey, bytes(rsa.oaep[hash]))), n, e, d, p, q, dp, dq, qi];
  };
}
for (const length of [16, 24, 32]) {
  for (const [name, parameters] of Object.entries({
    "AES-CBC": [{ iv: ascending(16) }],
    "AES-CTR": [{ counter: ascending(16), length: 64 }, { counter: ascending(16), length: 128 }],
    "AES-GCM": [{}, ...[96, 104, 112, 120, 128].map((tagLength) => ({ tagLength, additionalData: other }))].map((more) => ({ iv: ascending(12), ...more })),
  })) {
    functions[`${name} ${length}`] = async () => {
      const key = await subtle.importKey("raw", ascending(length), name, true, ["encrypt", "decrypt"]);
      const { kty, k, alg, key_ops: usages } = await subtle.exportKey("jwk", key);
      const again = await subtle.importKey("jwk", { kty, k }, { name }, true, ["decrypt"]);
      const texts = [hex(await subtle.exportKey("raw", key)), kty, k, alg, usages, key.algorithm.length, key.algorithm.name];
      for (const more of parameters) {
        const secret = await subtle.encrypt({ name, ...more }, key, data);
        texts.push(hex(secret), hex(await subtle.decrypt({ name, ...more }, again, secret)));
      }
      return texts;
    };
  }
}
for (const [namedCurve, { pkcs8, spki, raw, privateJwk, publicJwk, signatures, otherSpki }] of Object.entries(curves)) {
  functions[`ecdsa ${namedCurve}`] = async () => {
    const algorithm = { name: "ECDSA", namedCurve };
    const privateKeys = [await subtle.importKey("pkcs8", bytes(pkcs8), algorithm, true, ["sign"]), await subtle.importKey("jwk", privateJwk, algorithm, true, ["sign"])];
    const publicKeys = [
      await subtle.importKey("spki", bytes(spki), algorithm, true, ["verify"]),
      await subtle.importKey("raw", bytes(raw), algorithm, true, ["verify"]),
      await subtle.importKey("jwk", publicJwk, algorithm, true, ["verify"]),
    ];
    const verified = [];
    for (const hash of HASHES) {
      const hashed = { name: "ECDSA", hash };
      const all = [bytes(signatures[hash]), ...(await Promise.all(privateKeys.map((key) => subtle.sign(hashed, key, data))))];
      for (const key of publicKeys) {
        for (const signature of all) verified.push(await subtle.verify(hashed, key, signature, data), await subtle.verify(hashed, key, signature, other));
      }
    }
    const texts = await Promise.all([["pkcs8", privateKeys[1]], ["spki", publicKeys[2]], ["raw", publicKeys[0]]].map(([format, key]) => subtle.exportKey(format, key)));
    const { kty, crv, d } = await subtle.exportKey("jwk", privateKeys[0]);
    return [verified, texts.map(hex), kty, crv, d, publicKeys[0].algorithm.namedCurve, publicKeys[0].type];
  };
  functions[`ecdh ${namedCurve}`] = async () => {
    const algorithm = { name: "ECDH", namedCurve };
    const own = await subtle.importKey("pkcs8", bytes(pkcs8), algorithm, true, ["deriveBits"]);
    const theirs = await subtle.importKey("spki", bytes(otherSpki), algorithm, true, []);
    const lengths = [256, 128, 8];
    return Promise.all(lengths.map(async (length) => hex(await subtle.deriveBits({ name: "ECDH", public: theirs }, own, length))));
  };
}

const importAes = (length, usages, extractable = true) => subtle.importKey("raw", ascending(length), "AES-GCM", extractable, usages);
Object.assign(functions, {
  "an unknown digest": () => subtle.digest("SHA-3", data),
  "an unknown algorithm": () => subtle.importKey("raw", data, "AES-XYZ", true, ["encrypt"]),
  "a key of a wrong length": () => importAes(15, ["encrypt"]),
  "a wrong usage": () => importAes(16, ["sign"]),
  "no usage": () => importAes(16, []),
  "a key that is not extractable": async () => subtle.exportKey("raw", await importAes(16, ["encrypt"], false)),
  "a key for another usage": async () => subtle.encrypt({ name: "AES-GCM", iv: ascending(12) }, await importAes(16, ["decrypt"]), data),
  "a key of another algorithm": async () => subtle.encrypt({ name: "AES-CBC", iv: ascending(16) }, await importAes(16, ["encrypt"]), data),
  "an iv of a wrong length": async () => subtle.encrypt({ name: "AES-GCM", iv: ascending(13) }, await importAes(16, ["encrypt"]), data),
  "a tag of a wrong length": async () => subtle.encrypt({ name: "AES-GCM", iv: ascending(12), tagLength: 99 }, await importAes(16, ["encrypt"]), data),
  "a forged text": async () => subtle.decrypt({ name: "AES-GCM", iv: ascending(12) }, await importAes(16, ["decrypt"]), ascending(40)),
  "a short iv of CBC": async () => {
    const key = await subtle.importKey("raw", ascending(16), "AES-CBC", true, ["encrypt"]);
    return subtle.encrypt({ name: "AES-CBC", iv: ascending(15) }, key, data);
  },
  "wrong padding": async () => {
    const key = await subtle.importKey("raw", ascending(16), "AES-CBC", true, ["decrypt"]);
    return subtle.decrypt({ name: "AES-CBC", iv: ascending(16) }, key, ascending(16));
  },
  "no iterations": async () => {
    const key = await subtle.importKey("raw", data, "PBKDF2", false, ["deriveBits"]);
    return subtle.deriveBits({ name: "PBKDF2", hash: "SHA-1", salt: data, iterations: 0 }, key, 8);
  },
  "a password that is extractable": () => subtle.importKey("raw", data, "PBKDF2", true, ["deriveBits"]),
  "a modulus without an end": () => subtle.importKey("spki", bytes(rsa.spki).slice(0, 50), { name: "RSA-PSS", hash: "SHA-1" }, true, ["verify"]),
  "a point beside the curve": () => subtle.importKey("raw", bytes(curves["P-256"].raw).fill(7, 9), { name: "ECDH", namedCurve: "P-256" }, true, []),
  "an unknown curve": () => subtle.generateKey({ name: "ECDSA", namedCurve: "P-192" }, true, ["sign"]),
  "a new key of a wrong length": () => subtle.generateKey({ name: "AES-CBC", length: 100 }, true, ["encrypt"]),
});

export const setup = () => settledValuesOf(functions);

export default function () {}
