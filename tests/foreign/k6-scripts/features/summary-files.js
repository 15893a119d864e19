// a summary in several places
import { Trend } from "k6/metrics";
const size = new Trend("size");
export const options = { iterations: 4, summaryTrendStats: ["min", "p(75)", "count"], summaryTimeUnit: "ms" };
export default function () {
  size.add(__ITER);
}
export function handleSummary(data) {
  return { stdout: "written\n", [__ENV.DATA]: JSON.stringify(data), "other.txt": "text" };
}
