// Keys, signatures and secrets of Node.js' own Web Cryptography, for scripts that use `crypto.subtle`.

import { webcrypto } from "node:crypto";

const { subtle } = webcrypto;
const HASHES = ["SHA-1", "SHA-256", "SHA-384", "SHA-512"];
const CURVES = ["P-256", "P-384", "P-521"];

export const hex = (buffer) => Buffer.from(buffer).toString("hex");
export const unhex = (text) => new Uint8Array(Buffer.from(text, "hex"));

/** 53 bytes of data, which no length of a block divides. */
export const DATA = Uint8Array.from({ length: 53 }, (_, index) => 255 - index);

/** The label of what `KEYS` has encrypted. */
const LABEL = Uint8Array.from({ length: 9 }, (_, index) => index);

async function exported({ privateKey, publicKey }) {
  const [pkcs8, spki] = await Promise.all([subtle.exportKey("pkcs8", privateKey), subtle.exportKey("spki", publicKey)]);
  const [privateJwk, publicJwk] = await Promise.all([privateKey, publicKey].map((key) => subtle.exportKey("jwk", key)));
  return { pkcs8: hex(pkcs8), spki: hex(spki), privateJwk, publicJwk };
}

const byHash = async (make) => Object.fromEntries(await Promise.all(HASHES.map(async (hash) => [hash, hex(await make(hash))])));

async function rsaKeys() {
  const of = { modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]), hash: "SHA-256" };
  const keys = await exported(await subtle.generateKey({ name: "RSA-PSS", ...of }, true, ["sign", "verify"]));
  const importing = (format, data, name, hash, usage) => subtle.importKey(format, unhex(data), { name, hash }, true, [usage]);
  const signed = (name, more = {}) =>
    byHash(async (hash) => subtle.sign({ name, ...more }, await importing("pkcs8", keys.pkcs8, name, hash, "sign"), DATA));
  // The parts that say what the key is for would not let it be imported for anything else.
  for (const jwk of [keys.privateJwk, keys.publicJwk]) ["alg", "key_ops", "ext"].forEach((part) => delete jwk[part]);
  return {
    ...keys,
    pkcs1: await signed("RSASSA-PKCS1-v1_5"),
    pss: await signed("RSA-PSS", { saltLength: 24 }),
    oaep: await byHash(async (hash) => {
      const key = await importing("spki", keys.spki, "RSA-OAEP", hash, "encrypt");
      return subtle.encrypt({ name: "RSA-OAEP", label: LABEL }, key, DATA);
    }),
  };
}

async function curveKeys(namedCurve) {
  const generate = () => subtle.generateKey({ name: "ECDSA", namedCurve }, true, ["sign", "verify"]);
  const [pair, other] = [await generate(), await generate()];
  const keys = await exported(pair);
  for (const jwk of [keys.privateJwk, keys.publicJwk]) ["alg", "key_ops", "ext"].forEach((part) => delete jwk[part]);
  return {
    ...keys,
    raw: hex(await subtle.exportKey("raw", pair.publicKey)),
    otherSpki: hex(await subtle.exportKey("spki", other.publicKey)),
    signatures: await byHash((hash) => subtle.sign({ name: "ECDSA", hash }, pair.privateKey, DATA)),
  };
}

/** What `k6-scripts/values-subtle.js` needs, as JSON. */
export async function subtleKeys() {
  const curves = await Promise.all(CURVES.map(async (curve) => [curve, await curveKeys(curve)]));
  return JSON.stringify({ data: hex(DATA), rsa: await rsaKeys(), curves: Object.fromEntries(curves) });
}
