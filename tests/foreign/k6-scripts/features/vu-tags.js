// tags of a virtual user, which stay for the iterations of a scenario
import exec from "k6/execution";
import http from "k6/http";
import { Counter } from "k6/metrics";
export { handleSummary } from "../data.js";

const seen = new Counter("seen");
const once = (more) => ({ executor: "per-vu-iterations", vus: 1, ...more });
export const options = {
  scenarios: {
    first: once({ iterations: 4, exec: "first" }),
    second: once({ iterations: 1, exec: "second", startTime: "2s" }),
  },
  thresholds: {
    "seen{page:home}": ["count==2"],
    "iterations{page:home}": ["count==2"],
    "iteration_duration{page:home}": ["max>=0"],
    "http_reqs{page:home}": ["count==2"],
  },
};

export function first() {
  if (exec.vu.iterationInScenario === 1) exec.vu.metrics.tags.page = "home";
  if (exec.vu.iterationInScenario === 3) delete exec.vu.metrics.tags.page;
  http.get(`${__ENV.BASE}/`);
  seen.add(1);
}

export function second() {
  seen.add(1, { has: String("page" in exec.vu.metrics.tags) });
}
