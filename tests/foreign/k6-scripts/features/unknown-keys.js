// unknown keys of threshold objects
import { Counter } from "k6/metrics";
export { handleSummary } from "../data.js";

const n = new Counter("n_calls");
export const options = { iterations: 2, thresholds: { n_calls: [{ threshold: "count==2", abortOnFail: false, note: "mine" }, "count<5"] } };

export default function () {
  n.add(1);
}
