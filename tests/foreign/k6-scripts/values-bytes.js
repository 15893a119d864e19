// Digests and base64, in all their kinds.
import crypto from "k6/crypto";
import encoding from "k6/encoding";
import { valuesOf } from "./values.js";

export { handleSummary } from "./data.js";

const INPUTS = {
  empty: "", ascii: "a", punctuation: "~~>?", umlauts: "grün 😀", half: "\ud83d", long: "x".repeat(1000),
  buffer: new Uint8Array([0, 1, 254, 255]).buffer, view: new Uint8Array([1, 2, 3, 250]).subarray(1, 3),
};
const DIGESTS = ["md4", "md5", "sha1", "sha256", "sha384", "sha512", "sha512_224", "sha512_256", "ripemd160"];
const ENCODINGS = ["hex", "base64", "base64url", "base64rawurl", "binary", "hax"];

const functions = {};
for (const [name, input] of Object.entries(INPUTS)) {
  for (const digest of DIGESTS) {
    for (const encoding of ENCODINGS) {
      functions[`${digest} ${encoding} ${name}`] = () => crypto[digest](input, encoding);
      functions[`hmac ${digest} ${encoding} ${name}`] = () => crypto.hmac(digest, input, input, encoding);
    }
    functions[`hash ${digest} ${name}`] = () => {
      const hash = crypto.createHash(digest);
      hash.update(input);
      const early = hash.digest("hex");
      hash.update("more");
      return [early, hash.digest("base64url")];
    };
    functions[`mac ${digest} ${name}`] = () => {
      const mac = crypto.createHMAC(digest, "key");
      mac.update(input);
      mac.update(input);
      return mac.digest("hex");
    };
  }
  functions[`hexEncode ${name}`] = () => crypto.hexEncode(input);
  for (const variant of ["std", "rawstd", "url", "rawurl"]) {
    functions[`b64 ${variant} ${name}`] = () => {
      const text = encoding.b64encode(input, variant);
      return [text, encoding.b64decode(text, variant), encoding.b64decode(text, variant, "s")];
    };
  }
}
for (const text of ["YQ==", "YQ", "YWI=", "YWI", "YR==", "Y", "YQ=", "Y Q==", "YQ\n==", "YQ==\n", "-_8=", "+/8=", "-_8", "****", "YQ==YQ=="]) {
  for (const variant of ["std", "rawstd", "url", "rawurl"]) {
    functions[`decode ${variant} ${JSON.stringify(text)}`] = () => encoding.b64decode(text, variant, "s");
  }
}
functions.random = () => [1, 16, 0, -1, "7"].map((n) => valuesOf({ n: () => crypto.randomBytes(n).byteLength }));
functions["an unknown digest"] = () => crypto.hmac("sha3", "a", "b", "hex");

export const setup = () => valuesOf(functions);

export default function () {}
