// a run that is aborted keeps what it has measured
// exit code 108
import exec from "k6/execution";
import { Counter } from "k6/metrics";
export { handleSummary } from "../data.js";
const n = new Counter("n_calls");
export const options = { scenarios: { one: { executor: "per-vu-iterations", vus: 1, iterations: 5 } } };
export default function () {
  n.add(1, { call: String(__ITER) });
  if (__ITER === 2) exec.test.abort("enough");
}
