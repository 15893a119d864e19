// AES of crypto.subtle in all modes and lengths, there and back
import { check } from "k6";
export { handleSummary } from "../data.js";

const { subtle } = crypto;
const data = new Uint8Array(37).fill(9);

export default async function () {
  for (const [name, params] of [
    ["AES-CBC", { iv: new Uint8Array(16).fill(1) }],
    ["AES-CTR", { counter: new Uint8Array(16).fill(2), length: 64 }],
    ["AES-GCM", { iv: new Uint8Array(12).fill(3), additionalData: new Uint8Array(5) }],
  ]) {
    for (const length of [128, 192, 256]) {
      const key = await subtle.generateKey({ name, length }, true, ["encrypt", "decrypt"]);
      const encrypted = await subtle.encrypt({ name, ...params }, key, data);
      const decrypted = new Uint8Array(await subtle.decrypt({ name, ...params }, key, encrypted));
      const raw = await subtle.exportKey("raw", key);
      check(decrypted, {
        [`${name} ${length}`]: (found) => found.length === 37 && found.every((byte) => byte === 9),
        [`${name} ${length} is hidden`]: () => new Uint8Array(encrypted).slice(0, 37).some((byte) => byte !== 9),
        [`${name} ${length} has a key`]: () => raw.byteLength === length / 8 && key.algorithm.length === length,
      });
    }
  }
}
