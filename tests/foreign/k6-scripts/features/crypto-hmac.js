// HMAC of crypto.subtle: the vectors of RFC 4231
import { check } from "k6";
export { handleSummary } from "../data.js";

const { subtle } = crypto;
const bytes = (hex) => new Uint8Array((hex.match(/../g) || []).map((pair) => parseInt(pair, 16)));
const hex = (buffer) => Array.from(new Uint8Array(buffer), (byte) => byte.toString(16).padStart(2, "0")).join("");
const VECTORS = [
  ["0b".repeat(20), "4869205468657265", "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"],
  ["4a656665", "7768617420646f2079612077616e7420666f72206e6f7468696e673f", "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"],
  ["aa".repeat(20), "dd".repeat(50), "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"],
];

export default async function () {
  for (const [index, [key, data, expected]] of VECTORS.entries()) {
    const made = await subtle.importKey("raw", bytes(key), { name: "HMAC", hash: "SHA-256" }, false, ["sign", "verify"]);
    const tag = await subtle.sign("HMAC", made, bytes(data));
    const verified = await subtle.verify("HMAC", made, tag, bytes(data));
    check(null, { [`vector ${index + 1}`]: () => hex(tag) === expected, [`vector ${index + 1} is verified`]: () => verified });
  }
}
