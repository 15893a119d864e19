// Samples of the metric of the checks that are not from check().

import { check } from "k6";
import { Rate } from "k6/metrics";

const checks = new Rate("checks");

export const options = { thresholds: { checks: ["rate>0.9"], iterations: null } };

export default function () {
  check(1, { one: true });
  checks.add(false);
  checks.add(false, { check: "two" });
  checks.add(true, { check: "one" });
}
