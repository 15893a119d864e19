// iterations that the end of their scenario interrupts
import { sleep } from "k6";
import { Counter } from "k6/metrics";
export { handleSummary } from "../data.js";

const begun = new Counter("begun");
const ended = new Counter("ended");
export const options = { scenarios: { cut: { executor: "constant-vus", vus: 3, duration: "1s", gracefulStop: "0s" } }, thresholds: { begun: ["count==3"], ended: ["count==0"] } };
export default function () {
  begun.add(1);
  sleep(30);
  ended.add(1);
}
