// ECDH of crypto.subtle: both sides find one secret
import { check } from "k6";
export { handleSummary } from "../data.js";

const { subtle } = crypto;
const hex = (buffer) => Array.from(new Uint8Array(buffer), (byte) => byte.toString(16).padStart(2, "0")).join("");

export default async function () {
  for (const [namedCurve, bits] of [["P-256", 256], ["P-384", 384]]) {
    const pair = () => subtle.generateKey({ name: "ECDH", namedCurve }, true, ["deriveBits"]);
    const [one, other] = [await pair(), await pair()];
    const secret = (own, theirs) => subtle.deriveBits({ name: "ECDH", public: theirs.publicKey }, own.privateKey, bits);
    const [a, b] = [await secret(one, other), await secret(other, one)];
    check(null, { [namedCurve]: () => hex(a) === hex(b) && a.byteLength === bits / 8 });
  }
}
