// a part of a run
// flags --execution-segment 1/3:2/3 --execution-segment-sequence 0,1/3,2/3,1
import exec from "k6/execution";
import { Counter } from "k6/metrics";
export { handleSummary } from "../data.js";

const n = new Counter("n_calls");
export const options = { scenarios: { shared: { executor: "per-vu-iterations", vus: 7, iterations: 3 } } };
export default function () {
  n.add(1, { user: String(exec.vu.idInTest) });
}
