// require, global and __ENV as they are without an import
import { check } from "k6";
export { handleSummary } from "../data.js";
const k6 = require("k6");
const { Counter } = require("k6/metrics");
const n = new Counter("n_calls");
export const options = { iterations: 2 };
export default function () {
  n.add(1);
  check(k6, { "the module": ({ sleep, group }) => typeof sleep === "function" && typeof group === "function" });
  check(global, { "the global": (it) => it === globalThis && typeof it.__ENV === "object" });
  check(__VU, { "a user": (vu) => vu === 1 });
}
