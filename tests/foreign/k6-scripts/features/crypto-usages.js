// keys of crypto.subtle that may not do what they are asked to
import { check } from "k6";
export { handleSummary } from "../data.js";

const { subtle } = crypto;
const refused = async (promise) => {
  try {
    await promise();
    return false;
  } catch {
    return true;
  }
};

export default async function () {
  const signing = await subtle.generateKey({ name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  const locked = await subtle.generateKey({ name: "AES-GCM", length: 128 }, false, ["encrypt"]);
  const cases = {
    "cannot verify": () => subtle.verify("HMAC", signing, new Uint8Array(32), new Uint8Array(1)),
    "cannot be exported": () => subtle.exportKey("raw", locked),
    "cannot decrypt": () => subtle.decrypt({ name: "AES-GCM", iv: new Uint8Array(12) }, locked, new Uint8Array(32)),
    "is of another algorithm": () => subtle.sign("HMAC", locked, new Uint8Array(1)),
    "has a wrong length": () => subtle.generateKey({ name: "AES-GCM", length: 100 }, true, ["encrypt"]),
    "has no usages": () => subtle.generateKey({ name: "AES-GCM", length: 128 }, true, []),
    "has wrong bytes": () => subtle.importKey("raw", new Uint8Array(5), "AES-CBC", true, ["encrypt"]),
  };
  for (const [name, promise] of Object.entries(cases)) check(await refused(promise), { [name]: (found) => found });
}
