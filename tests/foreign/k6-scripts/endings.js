// Every way in which a run can end: `ENDING` chooses one. `THRESHOLD` adds a threshold that does not hold.

import { check, fail, group, sleep } from "k6";
import exec from "k6/execution";
import { Counter } from "k6/metrics";

export { handleSummary } from "./data.js";

const begun = new Counter("begun");
const ending = __ENV.ENDING;

export const options = {
  vus: 1,
  iterations: 4,
  setupTimeout: "1s",
  teardownTimeout: "1s",
  thresholds: { begun: __ENV.THRESHOLD ? ["count<0"] : ["count>=0"] },
};

if (ending === "init throws") throw new Error("too early");
if (ending === "init aborts") exec.test.abort("too early");

export function setup() {
  if (ending === "setup throws") throw new Error("no room");
  if (ending === "setup fails") fail("no room");
  if (ending === "setup takes too long") sleep(60);
  if (ending === "setup aborts") exec.test.abort("enough");
  if (ending === "setup marks") exec.test.fail("bad");
}

export default async function () {
  begun.add(1);
  check(null, { fine: () => true });
  if (ending === "iterations throw") throw new Error("oops");
  if (ending === "iterations fail") fail("oops");
  if (ending === "groups throw") group("inside", () => check(null, { there: true }) && fail("oops"));
  if (ending === "checks throw") check(null, { "cannot be done": () => fail("oops"), "never reached": () => true });
  if (ending === "promises reject") await Promise.reject(new Error("oops"));
  if (ending === "iterations abort") exec.test.abort("enough");
  if (ending.includes("marks")) exec.test.fail("bad");
}

export function teardown() {
  if (ending.includes("teardown throws")) throw new Error("left over");
  if (ending === "teardown takes too long") sleep(60);
  if (ending === "teardown aborts") exec.test.abort("enough");
}
