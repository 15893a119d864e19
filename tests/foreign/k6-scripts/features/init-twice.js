// the init context of each user
import { Counter } from "k6/metrics";
export { handleSummary } from "../data.js";
const n = new Counter("n_calls");
let calls = 0;
export const options = { scenarios: { users: { executor: "per-vu-iterations", vus: 3, iterations: 2 } } };
export default function () {
  calls += 1;
  n.add(calls, { call: String(calls) });
}
