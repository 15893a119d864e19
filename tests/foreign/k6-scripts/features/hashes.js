// digests of k6/crypto in all encodings, in one call and in parts
import crypto from "k6/crypto";
import { valuesOf } from "../values.js";
export { handleSummary } from "../data.js";

const functions = {};
for (const name of ["md4", "md5", "sha1", "sha256", "sha384", "sha512", "sha512_224", "sha512_256", "ripemd160"]) {
  for (const encoding of ["hex", "base64", "base64url", "base64rawurl", "binary", "none"]) {
    functions[`${name} ${encoding}`] = () => crypto[name]("grüße", encoding);
  }
  functions[`${name} in parts`] = () => {
    const hash = crypto.createHash(name);
    hash.update("gr");
    hash.update("üße");
    return [hash.digest("hex"), hash.digest("base64")];
  };
  functions[`hmac ${name}`] = () => [crypto.hmac(name, "key", "text", "hex"), crypto.createHMAC(name, new Uint8Array([1]).buffer).digest("hex")];
}

export const setup = () => valuesOf(functions);
export default function () {}
