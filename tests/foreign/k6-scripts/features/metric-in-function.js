// a metric that is made outside of the init context
import { Counter } from "k6/metrics";
export { handleSummary } from "../data.js";
export const options = { iterations: 2 };
export default function () {
  new Counter("late");
}
