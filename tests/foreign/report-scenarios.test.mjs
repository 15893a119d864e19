// The report of a run with many scenarios: each has its row, all rows show the same metric, and the page says what it
// leaves out.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { Browser } from "./support/browser.mjs";
import { plimsollIn } from "./support/plimsoll.mjs";
import { LOOKS, open } from "./support/report-page.mjs";
import { folderOf } from "./support/scripts.mjs";

const N_SCENARIOS = 24;
const N_ITERATIONS = 3;

/** Each scenario has two groups, which together are more than have figures of their own; one has none. */
const SCRIPT = `
import { group, sleep } from "k6";
const scenario = (n) => ({ executor: "per-vu-iterations", vus: 1, iterations: ${N_ITERATIONS}, exec: n === 7 ? "plain" : "grouped" });
const names = Array.from({ length: ${N_SCENARIOS} }, (_, n) => "s" + String(n).padStart(2, "0"));
export const options = { scenarios: Object.fromEntries(names.map((name, n) => [name, scenario(n)])) };
export function plain() { sleep(0.02); }
export function grouped() {
  group("first", () => sleep(0.01));
  sleep(0.02);
  group("second", () => sleep(0.01));
  group("third", () => {});
}`;

describe(`a run with ${N_SCENARIOS} scenarios`, () => {
  let browser, folder, summary, stdout;
  const cleanups = [];
  before(async () => {
    browser = await Browser.launch();
    folder = folderOf({ after: (cleanup) => cleanups.push(cleanup) }, { "many.js": SCRIPT });
    const flags = ["--report", "many.html", "--report", "many.json", "--summary-mode", "full"];
    const outcome = await plimsollIn({ cwd: folder }, "run", "--quiet", ...flags, "many.js");
    assert.equal(outcome.code, 0, outcome.stderr);
    stdout = outcome.stdout;
    summary = JSON.parse(readFileSync(join(folder, "many.json"), "utf8"));
  });
  after(async () => {
    await browser?.close();
    cleanups.forEach((cleanup) => cleanup());
  });

  test("lists every scenario with all its samples", () => {
    const { scenarios } = summary.breakdown;
    assert.equal(scenarios.length, N_SCENARIOS);
    for (const { name, metrics } of scenarios) {
      assert.equal(metrics.iterations.values.count, N_ITERATIONS, name);
      assert.equal(metrics.iteration_duration.values.count, N_ITERATIONS, name);
      const n_groups = name === "s07" ? 0 : 3 * N_ITERATIONS;
      assert.equal(metrics.group_duration?.values.count ?? 0, n_groups, name);
    }
  });

  test("lists a group with all its samples or not at all, and says how many it leaves out", () => {
    const groups = summary.breakdown.scenarios.flatMap(({ groups }) => groups);
    assert.equal(groups.length, 50);
    for (const { metrics } of groups) assert.equal(metrics.group_duration.values.count, N_ITERATIONS);
    const n_left_out = 3 * (N_SCENARIOS - 1) - 50;
    const sentence = `${n_left_out} further groups are not listed; their samples are in the figures of their scenarios`;
    assert.ok(summary.notices.includes(sentence), summary.notices.join("\n"));
    assert.ok(stdout.replaceAll(/\s+/g, " ").includes(sentence), stdout);
  });

  test("has a row for each scenario, and the same metric in all rows", async (t) => {
    const { page } = await open(t, browser, join(folder, "many.html"), LOOKS[0]);
    const table = page.locator("table", { has: page.getByText("By scenario: iteration duration", { exact: true }) });
    const rows = await table.locator("tbody tr").evaluateAll((rows) => rows.map((row) => [...row.cells].map((cell) => cell.textContent)));
    assert.deepEqual(rows.map(([name]) => name), Array.from({ length: N_SCENARIOS }, (_, n) => `s${String(n).padStart(2, "0")}`));
    // An iteration takes at least as long as its waiting; a group without waiting takes microseconds.
    for (const [name, times, median] of rows) {
      assert.equal(times, String(N_ITERATIONS), name);
      assert.match(median, /^[\d.]+ ms$/, `${name}: ${median}`);
      assert.ok(Number.parseFloat(median) >= 20, `${name}: ${median}`);
    }
    const words = await page.locator("main").innerText();
    assert.ok(words.includes("further groups are not listed"), words);
  });
});
