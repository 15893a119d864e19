// groups in groups, their checks and their tags
import { check, group } from "k6";
import { Counter } from "k6/metrics";
export { handleSummary } from "../data.js";

const n = new Counter("n_calls");
export const options = {
  iterations: 3,
  thresholds: { "n_calls{group:::a::b}": ["count==3"], "n_calls{group:::a}": ["count==3"], "checks{group:::a::b::c}": ["rate==1"] },
};

export default function () {
  const given = group("a", () => {
    n.add(1);
    group("b", () => {
      n.add(1);
      group("c", () => check(1, { one: (value) => value === 1 }));
    });
    return 5;
  });
  check(given, { "a group returns": (value) => value === 5 });
  try {
    group("throws", () => {
      throw new Error("inside");
    });
  } catch {
    n.add(1);
  }
  group("a", () => check(2, { two: (value) => value === 2 }));
}
