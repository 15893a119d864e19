// random values and UUIDs
import { check } from "k6";
import k6crypto from "k6/crypto";
export { handleSummary } from "../data.js";

export default function () {
  const values = new Uint32Array(4);
  check(crypto.getRandomValues(values), { "the same array": (found) => found === values && values.some((value) => value !== 0) });
  check(crypto.randomUUID(), { "a UUID": (uuid) => /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(uuid) });
  check(k6crypto.randomBytes(16), { "bytes": ({ byteLength }) => byteLength === 16 });
  let refused = false;
  try {
    k6crypto.randomBytes(-1);
  } catch {
    refused = true;
  }
  check(refused, { "fewer than none": (found) => found });
}
