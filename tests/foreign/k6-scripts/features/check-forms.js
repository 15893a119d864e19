// checks of all forms
import { check } from "k6";
import { Counter } from "k6/metrics";
export { handleSummary } from "../data.js";

const n = new Counter("n_calls");
export const options = { iterations: 2, thresholds: { "checks{part:one}": ["rate==1"], "checks{check:is false}": ["rate==0"] } };

export default function () {
  const all = check("value", { "is there": true, "is false": false, "is a function": (value) => value === "value", "is a text": "x", "is null": null }, { part: "two" });
  if (!all) n.add(1, { some: "failed" });
  if (check(0, { zero: (value) => value === 0 }, { part: "one" })) n.add(1, { all: "held" });
  check(null, {});
}
