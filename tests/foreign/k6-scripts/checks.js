// Checks, groups, custom metrics of all kinds, tags and the sub-metrics that thresholds make of them.

import { check, group } from "k6";
import exec from "k6/execution";
import { Counter, Gauge, Rate, Trend } from "k6/metrics";

export { handleSummary } from "./data.js";

const sold = new Counter("sold");
const level = new Gauge("level");
const lucky = new Rate("lucky");
const size = new Trend("size");
const took = new Trend("took", true);
new Trend("never_used");

export const options = {
  scenarios: { all: { executor: "per-vu-iterations", vus: 3, iterations: 4, tags: { part: "one" } } },
  summaryTrendStats: ["avg", "min", "med", "max", "p(90)", "p(99.9)", "count"],
  tags: { run: "parity" },
  thresholds: {
    checks: ["rate>0.5"],
    "checks{kind:odd}": ["rate<1"],
    "sold{fruit:apple}": ["count==24"],
    "sold{fruit:pear}": ["count==0"],
    "size{run:parity,part:one}": ["max<100", "p(90)>0"],
    lucky: ["rate>=0.25"],
    level: ["value<100"],
    took: ["med<10000"],
    "iteration_duration{scenario:all}": ["max<60000"],
    group_duration: ["max<60000"],
  },
};

export default function () {
  group("outer", () => {
    check(exec.vu.iterationInInstance, { "is even": (n) => n % 2 === 0, "is there": true }, { kind: "odd" });
    group("inner", () => {
      check(null, ["by index"]);
      took.add(1.5);
      took.add(1500, { slow: true });
    });
    sold.add(2, { fruit: "apple" });
  });
  check("text", { "is text": (text) => text.length === 4, "is empty": (text) => text === "" });
  sold.add(1);
  level.add(__ITER);
  lucky.add(__ITER === 0);
  size.add(10 * __ITER);
  size.add("7");
}
