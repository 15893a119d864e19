// promises, timers and microtasks of an iteration
import { check, sleep } from "k6";
import { setTimeout } from "k6/timers";
export { handleSummary } from "../data.js";
export const options = { iterations: 2 };

const after = (ms, value) => new Promise((resolve) => setTimeout(() => resolve(value), ms));

export default async function () {
  const order = [];
  setTimeout(() => order.push("timer"), 5);
  Promise.resolve().then(() => order.push("microtask"));
  order.push("at once");
  const values = await Promise.all([after(20, 1), after(10, 2)]);
  check(values, { "all": ([one, two]) => one === 1 && two === 2 });
  check(await Promise.race([after(500, "slow"), after(1, "fast")]), { "the first": (value) => value === "fast" });
  check(order, { "in order": (found) => found.join() === "at once,microtask,timer" });
  const settled = await Promise.allSettled([Promise.reject(new Error("no")), 5]);
  check(settled, { "settled": ([one, two]) => one.status === "rejected" && two.value === 5 });
  sleep(0.001);
}
