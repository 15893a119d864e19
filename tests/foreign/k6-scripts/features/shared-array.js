// a shared array of several users
import { SharedArray } from "k6/data";
import { check } from "k6";
export { handleSummary } from "../data.js";

const names = new SharedArray("names", () => JSON.parse('["a", "b", "c"]'));
const failed = [];
for (const make of [() => new SharedArray("", () => []), () => new SharedArray("x"), () => new SharedArray("y", () => 5), () => new SharedArray("z", async () => [])]) {
  try {
    make();
    failed.push("made");
  } catch {
    failed.push("refused");
  }
}
export const options = { scenarios: { users: { executor: "per-vu-iterations", vus: 2, iterations: 2 } } };
export const setup = () => ({ failed });
export default function () {
  check(names[__ITER], { "a name": (name) => ["a", "b"][__ITER] === name });
  check(names, { "all of them": (all) => all.length === 3 && all.filter((name) => name !== "b").join() === "a,c" });
}
