// RSA of crypto.subtle with new keys: signatures and encryption
import { check } from "k6";
export { handleSummary } from "../data.js";

const { subtle } = crypto;
const of = { modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]), hash: { name: "SHA-256" } };
const data = new Uint8Array([5, 6, 7]);

export default async function () {
  for (const [name, params] of [["RSASSA-PKCS1-v1_5", {}], ["RSA-PSS", { saltLength: 32 }]]) {
    const { privateKey, publicKey } = await subtle.generateKey({ name, ...of }, true, ["sign", "verify"]);
    const signature = await subtle.sign({ name, ...params }, privateKey, data);
    const verified = await subtle.verify({ name, ...params }, publicKey, signature, data);
    check(signature, { [name]: ({ byteLength }) => byteLength === 256 && verified });
  }
  const { privateKey, publicKey } = await subtle.generateKey({ name: "RSA-OAEP", ...of }, true, ["encrypt", "decrypt"]);
  const encrypted = await subtle.encrypt({ name: "RSA-OAEP" }, publicKey, data);
  const decrypted = new Uint8Array(await subtle.decrypt({ name: "RSA-OAEP" }, privateKey, encrypted));
  check(decrypted, { "RSA-OAEP": (found) => found.join() === "5,6,7" && encrypted.byteLength === 256 });
}
