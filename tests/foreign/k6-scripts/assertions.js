// Assertions that hold, and one that does not: what becomes of the iteration, the checks and the run.

import { check } from "k6";
import exec from "k6/execution";
import { Counter } from "k6/metrics";
import { expect } from "https://jslib.k6.io/k6-testing/0.6.1/index.js";

export { handleSummary } from "./data.js";

const { ENDING } = __ENV;
const after = new Counter("after");

export const options = { scenarios: { all: { executor: "shared-iterations", vus: 1, iterations: 4 } } };

export function setup() {
  expect("ready").toBe("ready");
  if (ENDING === "in setup") expect("ready").toBe("soon");
}

export default function () {
  const page = { status: 200, items: [{ id: 1 }, { id: 2 }], at: new Date(0) };
  expect(page.status, "the status").toBe(200);
  expect(page.items).toHaveLength(2);
  expect(page).toHaveProperty("items[1].id", 2);
  expect(page).not.toHaveProperty("items[2]");
  expect(page.items).toContainEqual({ id: 1 });
  expect(page.at).toBeInstanceOf(Date);
  expect(new Set(["a"])).toContain("a");
  check(page, { "is there": ({ status }) => status === 200 });
  if (exec.scenario.iterationInTest === 1) {
    if (ENDING === "hard") expect(page.status).toBe(404);
    if (ENDING === "soft") expect.soft(page.status).toBe(404);
    if (ENDING === "soft and thrown") expect.configure({ softMode: "throw" }).soft(page.status).toBe(404);
  }
  after.add(1);
}
