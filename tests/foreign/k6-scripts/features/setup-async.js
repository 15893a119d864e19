// setup and teardown that wait
import { sleep } from "k6";
import { setTimeout } from "k6/timers";
import { Counter } from "k6/metrics";
export { handleSummary } from "../data.js";
const n = new Counter("n_calls");
export const options = { iterations: 1, setupTimeout: "20s" };
export async function setup() {
  await new Promise((resolve) => setTimeout(resolve, 20));
  n.add(1, { part: "setup" });
  return "data";
}
export default async function (data) {
  n.add(1, { part: data });
  await Promise.resolve();
}
export async function teardown() {
  sleep(0.01);
  n.add(1, { part: "teardown" });
}
