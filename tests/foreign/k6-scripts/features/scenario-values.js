// scenarios with functions, environments and tags of their own
import exec from "k6/execution";
import { Counter } from "k6/metrics";
export { handleSummary } from "../data.js";

const done = new Counter("done");
export const options = {
  scenarios: {
    shared: { executor: "shared-iterations", vus: 2, iterations: 4, env: { WHO: "shared" }, tags: { team: "a" } },
    each: { executor: "per-vu-iterations", vus: 2, iterations: 2, exec: "each", env: { WHO: "each" }, tags: { team: "b" } },
    late: { executor: "shared-iterations", iterations: 1, exec: "late", startTime: "300ms", maxDuration: "20s" },
  },
  thresholds: { "done{team:a}": ["count==8"], "done{team:b}": ["count==8"], "done{scenario:late}": ["count==2"], "iterations{scenario:each}": ["count==4"] },
};

const act = (who) => {
  done.add(1);
  done.add(1, { name: exec.scenario.name, who: __ENV.WHO ?? who });
};
export default () => act("shared");
export const each = () => act("each");
export const late = () => act("late");
