// ECDSA of crypto.subtle with new keys of all curves
import { check } from "k6";
export { handleSummary } from "../data.js";

const { subtle } = crypto;
const data = new Uint8Array([1, 2, 3]);

export default async function () {
  for (const [namedCurve, length] of [["P-256", 64], ["P-384", 96], ["P-521", 132]]) {
    for (const hash of ["SHA-256", "SHA-384", "SHA-512"]) {
      const { privateKey, publicKey } = await subtle.generateKey({ name: "ECDSA", namedCurve }, true, ["sign", "verify"]);
      const signature = await subtle.sign({ name: "ECDSA", hash }, privateKey, data);
      const right = await subtle.verify({ name: "ECDSA", hash }, publicKey, signature, data);
      const wrong = await subtle.verify({ name: "ECDSA", hash }, publicKey, signature, new Uint8Array([1]));
      const { kty, crv } = await subtle.exportKey("jwk", publicKey);
      check(signature, {
        [`${namedCurve} ${hash}`]: ({ byteLength }) => byteLength === length && right && !wrong,
        [`${namedCurve} ${hash} as a JSON Web Key`]: () => kty === "EC" && crv === namedCurve,
      });
    }
  }
}
