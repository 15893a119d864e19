// What people see of the agents of a run that goes on: in the terminal, and on its page.

import assert from "node:assert/strict";
import { availableParallelism } from "node:os";
import { eventually } from "./processes.mjs";

const N_CORES = availableParallelism();

const NUMBER = String.raw`[\d.]+`;

/** `310µs`, `1.2ms` */
const TIME = String.raw`[\d.]+(ns|µs|ms|s)`;

/** The columns that are judged at the end only. */
const JUDGED = ["busiest worker", "late by (p99)"];

/** Waits until both the terminal and the page, in this browser, show the agents `a1` and `a2` with equal parts of the load,
 *  ends the run on the page, and checks what is known then: `{ terminal, url }`. */
export async function expectTwoAgents(t, browser, { terminal, url }) {
  // A coordinator has no open files of virtual users.
  await terminal.shows(new RegExp(` generator {2}${NUMBER} of ${2 * N_CORES} cores`));
  for (const name of ["a1", "a2"]) {
    const figures = `${NUMBER} of ${N_CORES} cores {2}${TIME} late {2}50 % {2}clock [+−]${TIME} ± ${TIME}`;
    await terminal.shows(new RegExp(` ${name} {2}${figures}`));
  }
  assert.doesNotMatch(terminal.output, /open files/);

  const page = await browser.newPage(t, { viewport: { width: 1280, height: 900 } });
  const errors = [];
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  page.on("pageerror", (error) => errors.push(error.message));
  await page.goto(url);
  await page.waitForSelector("#agents caption:text-is('2 agents')");
  const { columns, rows } = await shown(page);
  assert.deepEqual(JUDGED.filter((label) => columns.includes(label)), []);
  for (const [at, row] of rows.entries()) {
    assert.equal(row.agent, `a${at + 1}`);
    assert.equal(row.share, "50 %");
    assert.match(row.cores, new RegExp(`^${NUMBER} of ${N_CORES}$`));
    assert.match(row["late by (max)"], /^[\d.]+ (µs|ms|s)$/);
    assert.match(row.clock, /^[+−]?[\d.]+ (ns|µs|ms|s) ± [\d.]+ (ns|µs|ms|s)$/);
  }
  await expectProgress(page, rows);

  // On a telephone the table is wider than the window, and keeps its place while its figures change.
  await page.setViewportSize({ width: 400, height: 800 });
  const table = page.locator("#agents .table");
  await table.evaluate((table) => table.scrollTo({ left: 60 }));
  await expectProgress(page, (await shown(page)).rows);
  assert.equal(await table.evaluate(({ scrollLeft }) => scrollLeft), 60);
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 400);

  await page.click("button:text-is('Stop')");
  await page.waitForURL(`${url}report`);
  const judged = await shown(page);
  assert.deepEqual(JUDGED.filter((label) => !judged.columns.includes(label)), []);
  // On a busy machine they are doubtful, and say so beside their names.
  assert.deepEqual(judged.rows.map(({ agent }) => agent.slice(0, 2)), ["a1", "a2"]);
  assert.equal((await terminal.end()).code, 105, terminal.output);
  assert.deepEqual(errors, []);
}

/** Waits until each agent has done more than that. */
function expectProgress(page, before) {
  return eventually(async () => {
    const { rows } = await shown(page);
    // Some agents only listen, and a quick look is one long iteration of each user.
    return rows.every(({ iterations, cores }, at) => iterations !== before[at].iterations || cores !== before[at].cores);
  }, "new figures of all agents");
}

/** The table of the agents: its columns, and its rows by them. */
function shown(page) {
  return page.evaluate(() => {
    const texts = (row) => [...row.children].map(({ textContent }) => textContent);
    const [head, ...rows] = [...document.querySelectorAll("#agents tr")].map(texts);
    return { columns: head, rows: rows.map((cells) => Object.fromEntries(cells.map((cell, at) => [head[at], cell]))) };
  });
}
