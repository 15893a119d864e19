// digests of crypto.subtle of texts of several lengths
import { settledValuesOf } from "../values.js";
export { handleSummary } from "../data.js";

const hex = (buffer) => Array.from(new Uint8Array(buffer), (byte) => byte.toString(16).padStart(2, "0")).join("");
const functions = {};
for (const hash of ["SHA-1", "SHA-256", "SHA-384", "SHA-512"]) {
  for (const length of [0, 1, 55, 56, 64, 111, 112, 1000]) {
    functions[`${hash} of ${length}`] = async () => hex(await crypto.subtle.digest(hash, new Uint8Array(length).fill(7)));
  }
}
functions["an unknown digest"] = () => crypto.subtle.digest("MD5", new Uint8Array(1));

export const setup = () => settledValuesOf(functions);
export default function () {}
