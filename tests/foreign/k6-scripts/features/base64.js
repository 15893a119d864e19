// base64 in all variants
import encoding from "k6/encoding";
import { valuesOf } from "../values.js";
export { handleSummary } from "../data.js";

const functions = {};
for (const variant of ["std", "rawstd", "url", "rawurl"]) {
  for (const text of ["", "a", "ab", "abc", "??>>", "grüße"]) {
    functions[`${variant} of ${text}`] = () => {
      const encoded = encoding.b64encode(text, variant);
      return [encoded, encoding.b64decode(encoded, variant, "s"), encoding.b64decode(encoded, variant)];
    };
  }
  functions[`${variant} of bytes`] = () => encoding.b64encode(new Uint8Array([0, 255, 250]).buffer, variant);
  functions[`${variant} broken`] = () => encoding.b64decode("a", variant);
}

export const setup = () => valuesOf(functions);
export default function () {}
