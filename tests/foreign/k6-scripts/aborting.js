// A threshold that ends the run: at once, or `DELAY` after its start.

import { sleep } from "k6";
import { Rate } from "k6/metrics";

export { handleSummary } from "./data.js";

const good = new Rate("good");

export const options = {
  vus: 2,
  duration: "30s",
  thresholds: { good: [{ threshold: "rate>0.5", abortOnFail: true, delayAbortEval: __ENV.DELAY || "0s" }] },
};

export default function () {
  good.add(false);
  sleep(0.1);
}
