// options of the command line before those of the script
// flags --vus 2 --iterations 6 --tag of=flag --no-setup --no-teardown --summary-trend-stats min,max
import { Counter } from "k6/metrics";
export { handleSummary } from "../data.js";
const n = new Counter("n_calls");
export const options = { vus: 1, duration: "100s", tags: { of: "script", own: "yes" } };
export function setup() {
  throw new Error("is not called");
}
export default function () {
  n.add(1);
}
export function teardown() {
  throw new Error("is not called");
}
