// the options of a run, as a script reads them
import exec from "k6/execution";
export { handleSummary } from "../data.js";
export const options = { vus: 2, iterations: 4, tags: { a: "b" }, userAgent: "mine", batch: 5, throw: true, noConnectionReuse: true, hosts: { "a.test": "127.0.0.1" }, thresholds: { iterations: ["count==4"] } };
export function setup() {
  const { vus, iterations, tags, userAgent, batch, throw: throws, noConnectionReuse, thresholds } = exec.test.options;
  return { vus, iterations, tags, userAgent, batch, throws, noConnectionReuse, thresholds };
}
export default function () {}
