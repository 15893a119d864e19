// iterations that throw values of all kinds
import { Counter } from "k6/metrics";
export { handleSummary } from "../data.js";

const begun = new Counter("begun");
const VALUES = ["text", 5, null, undefined, { message: "like an error" }, [1], new RangeError("far"), 10n];
export const options = { scenarios: { one: { executor: "per-vu-iterations", vus: 1, iterations: VALUES.length } } };

export default function () {
  begun.add(1, { n: String(__ITER) });
  throw VALUES[__ITER];
}
