// Keys, signatures and secrets of `crypto.subtle` in a script, as Node.js' own Web Cryptography finds them.

import assert from "node:assert/strict";
import { webcrypto } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { plimsollIn } from "./support/plimsoll.mjs";
import { folderOf } from "./support/scripts.mjs";
import { DATA, hex, unhex } from "./support/subtle.mjs";

const { subtle } = webcrypto;

const SCRIPT = `
const { subtle } = crypto;
const hex = (buffer) => Array.from(new Uint8Array(buffer), (byte) => byte.toString(16).padStart(2, "0")).join("");
const bytes = (hex) => new Uint8Array(hex.match(/../g).map((pair) => parseInt(pair, 16)));
const data = bytes(__ENV.DATA);
const modulus = { modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]), hash: "SHA-256" };
const pairs = [
  [{ name: "RSASSA-PKCS1-v1_5", ...modulus }, { name: "RSASSA-PKCS1-v1_5" }],
  [{ name: "RSA-PSS", ...modulus }, { name: "RSA-PSS", saltLength: 32 }],
  ...["P-256", "P-384", "P-521"].flatMap((namedCurve) =>
    ["SHA-1", "SHA-256", "SHA-512"].map((hash) => [{ name: "ECDSA", namedCurve }, { name: "ECDSA", hash }])),
];

export async function setup() {
  const signed = [];
  for (const [algorithm, scheme] of pairs) {
    const { privateKey, publicKey } = await subtle.generateKey(algorithm, true, ["sign", "verify"]);
    const { publicExponent, ...plain } = algorithm;
    signed.push({
      algorithm: plain,
      scheme,
      jwk: await subtle.exportKey("jwk", publicKey),
      privateJwk: await subtle.exportKey("jwk", privateKey),
      spki: hex(await subtle.exportKey("spki", publicKey)),
      pkcs8: hex(await subtle.exportKey("pkcs8", privateKey)),
      signature: hex(await subtle.sign(scheme, privateKey, data)),
    });
  }
  const { privateKey, publicKey } = await subtle.generateKey({ name: "RSA-OAEP", ...modulus }, true, ["encrypt", "decrypt"]);
  const oaep = { pkcs8: hex(await subtle.exportKey("pkcs8", privateKey)), secret: hex(await subtle.encrypt("RSA-OAEP", publicKey, data)) };
  const secrets = [];
  for (const length of [128, 192, 256]) {
    const key = await subtle.generateKey({ name: "AES-GCM", length }, true, ["encrypt", "decrypt"]);
    const iv = crypto.getRandomValues(new Uint8Array(12));
    secrets.push({ jwk: await subtle.exportKey("jwk", key), iv: hex(iv), secret: hex(await subtle.encrypt({ name: "AES-GCM", iv }, key, data)) });
  }
  return { signed, oaep, secrets };
}

export default function () {}
export const handleSummary = ({ setup_data }) => ({ "made.json": JSON.stringify(setup_data) });
`;

test("Node.js verifies and decrypts what a script signed and encrypted with new keys", async (t) => {
  const cwd = folderOf(t, { "script.js": SCRIPT });
  const { code, stderr } = await plimsollIn({ cwd }, "run", "--quiet", "-e", `DATA=${hex(DATA)}`, "script.js");
  assert.equal(code, 0, stderr);
  const { signed, oaep, secrets } = JSON.parse(readFileSync(join(cwd, "made.json"), "utf8"));
  assert.equal(signed.length, 11);
  for (const { algorithm, scheme, jwk, privateJwk, spki, pkcs8, signature } of signed) {
    const importing = (format, key, usage) => subtle.importKey(format, key, algorithm, true, [usage]);
    const publicKeys = [await importing("jwk", jwk, "verify"), await importing("spki", unhex(spki), "verify")];
    const privateKeys = [await importing("jwk", privateJwk, "sign"), await importing("pkcs8", unhex(pkcs8), "sign")];
    const signatures = [unhex(signature), ...(await Promise.all(privateKeys.map((key) => subtle.sign(scheme, key, DATA))))];
    for (const key of publicKeys) {
      const verified = await Promise.all(signatures.map((one) => subtle.verify(scheme, key, one, DATA)));
      assert.deepEqual(verified, [true, true, true], JSON.stringify([algorithm, scheme]));
    }
  }
  const key = await subtle.importKey("pkcs8", unhex(oaep.pkcs8), { name: "RSA-OAEP", hash: "SHA-256" }, true, ["decrypt"]);
  assert.equal(hex(await subtle.decrypt("RSA-OAEP", key, unhex(oaep.secret))), hex(DATA));
  for (const { jwk, iv, secret } of secrets) {
    const key = await subtle.importKey("jwk", jwk, "AES-GCM", true, ["decrypt"]);
    assert.equal(hex(await subtle.decrypt({ name: "AES-GCM", iv: unhex(iv) }, key, unhex(secret))), hex(DATA));
  }
});
