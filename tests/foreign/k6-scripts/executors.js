// Every executor for a short time; each iteration is counted under its scenario.

import { sleep } from "k6";
import exec from "k6/execution";
import { Counter } from "k6/metrics";

export { handleSummary } from "./data.js";

const begun = new Counter("begun");

export const options = {
  scenarios: {
    shared: { executor: "shared-iterations", vus: 3, iterations: 30, exec: "short" },
    each: { executor: "per-vu-iterations", vus: 3, iterations: 10, exec: "short" },
    leftover: { executor: "per-vu-iterations", vus: 2, iterations: 100, maxDuration: "1s", gracefulStop: "5s", exec: "long" },
    constant: { executor: "constant-vus", vus: 4, duration: "2s", exec: "tenth" },
    ramping: {
      executor: "ramping-vus",
      startVUs: 1,
      stages: [
        { duration: "1s", target: 4 },
        { duration: "1s", target: 4 },
        { duration: "0s", target: 2 },
        { duration: "1s", target: 2 },
      ],
      gracefulRampDown: "1s",
      exec: "tenth",
    },
    arrivals: {
      executor: "constant-arrival-rate",
      rate: 50,
      duration: "2s",
      preAllocatedVUs: 10,
      exec: "short",
    },
    climbing: {
      executor: "ramping-arrival-rate",
      startRate: 0,
      stages: [
        { duration: "2s", target: 100 },
        { duration: "1s", target: 100 },
      ],
      preAllocatedVUs: 10,
      exec: "short",
      startTime: "1s",
    },
    overload: {
      executor: "constant-arrival-rate",
      rate: 10,
      duration: "1s",
      preAllocatedVUs: 1,
      gracefulStop: "0s",
      exec: "stuck",
    },
    controlled: { executor: "externally-controlled", vus: 2, maxVUs: 3, duration: "2s", exec: "tenth" },
  },
  thresholds: Object.fromEntries(
    ["shared", "each", "leftover", "constant", "ramping", "arrivals", "climbing", "overload", "controlled"].map((name) => [
      `begun{scenario:${name}}`,
      ["count>0"],
    ]),
  ),
};

function count() {
  begun.add(1, { executor: exec.scenario.executor });
}

export function short() {
  count();
}

export function tenth() {
  count();
  sleep(0.1);
}

export function long() {
  count();
  sleep(0.7);
}

export function stuck() {
  count();
  sleep(60);
}
