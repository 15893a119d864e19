// a threshold that its metric does not have
// exit code 104
import { Counter } from "k6/metrics";
export { handleSummary } from "../data.js";
new Counter("n_calls");
export const options = { thresholds: { n_calls: ["p(95)<1"] } };
export default function () {}
