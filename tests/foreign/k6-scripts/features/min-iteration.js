// iterations that have to last
import { Counter } from "k6/metrics";
export { handleSummary } from "../data.js";
const begun = new Counter("begun");
export const options = { vus: 2, iterations: 4, minIterationDuration: "200ms", thresholds: { iteration_duration: ["min<200"] } };
export default function () {
  begun.add(1);
}
