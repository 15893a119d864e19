// iterations that fail, with and without a text
import { check, fail } from "k6";
export { handleSummary } from "../data.js";
export const options = { iterations: 2 };
export default function () {
  check(1, { "is reached": () => true });
  if (__ITER === 0) fail("on purpose");
  fail();
}
