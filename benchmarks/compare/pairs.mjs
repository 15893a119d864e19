// Whether comparisons are right on this machine: pairs of equal runs, and pairs with a planted slowdown.
//
//     node benchmarks/compare/pairs.mjs [PAIRS] [SECONDS] [SLOWDOWN]      default: 20 pairs, 15 s, 1.2
//
// Each pair is three runs of 15 s against a server that holds its answers: 20 ms, 20 ms again, and 24 ms. The first is
// compared with both others. PLIMSOLL_BIN names the program (default: target/release/plimsoll), RESULTS a file to which
// each pair is appended as a line of JSON, so that many short calls add up: the table at the end is of the whole file.
//
// Right is: equal runs are never `worse` or `better`, slowed ones never `better` or `equal`; four of five slowed ones are
// `worse`, and every `inconclusive` comes with advice. The exit code is 1 if a verdict was wrong or too few were found.

import { spawn, spawnSync } from "node:child_process";
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";

const [pairs = 20, seconds = 15, slowdown = 1.2] = process.argv.slice(2).map(Number);
const program = process.env.PLIMSOLL_BIN ?? "target/release/plimsoll";
const results = process.env.RESULTS;
const HELD_MS = 20;
const CONCURRENCY = "10";
/** The share of slowed pairs that must be found. */
const LEAST_FOUND = 0.8;

const folder = mkdtempSync(join(tmpdir(), "plimsoll-pairs-"));
let heldMs = HELD_MS;
const server = createServer((_, response) => setTimeout(() => response.end("ok"), heldMs)).listen(0, "127.0.0.1");
await once(server, "listening");
const url = `http://127.0.0.1:${server.address().port}/`;

/** One run; returns its report. */
async function run(ms, name) {
  heldMs = ms;
  const report = join(folder, `${name}.json`);
  const flags = ["-k", "-q", "-c", CONCURRENCY, "--duration", `${seconds}s`, "--no-save", "--report", report];
  const child = spawn(program, ["bench", "http", ...flags, url], { stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  child.stderr.on("data", (text) => (said += text));
  await once(child, "close");
  if (!existsSync(report)) throw new Error(`${program} made no report: ${said}`);
  return report;
}

function compare(baseline, candidate) {
  const { stdout, status } = spawnSync(program, ["report", baseline, candidate, "--format", "json"], { encoding: "utf8" });
  const [{ verdict, advice, obstacles, differences }] = JSON.parse(stdout);
  const p50 = differences.find(({ figure }) => figure === "p50");
  return { verdict, exit: status, advice, obstacles, p50: { change: p50.change, interval: p50.interval } };
}

const found = results && existsSync(results) ? readFileSync(results, "utf8").trim().split("\n").map(JSON.parse) : [];
for (let pair = 0; pair < pairs; pair++) {
  const first = await run(HELD_MS, "first");
  const again = await run(HELD_MS, "again");
  const slowed = await run(HELD_MS * slowdown, "slowed");
  const line = { seconds, slowdown, equal: compare(first, again), slowed: compare(first, slowed) };
  console.log(`equal: ${line.equal.verdict}, slowed: ${line.slowed.verdict}`);
  if (results) appendFileSync(results, `${JSON.stringify(line)}\n`);
  found.push(line);
}
server.close();
rmSync(folder, { recursive: true });

const count = (kind, ...verdicts) => found.filter((line) => verdicts.includes(line[kind].verdict)).length;
const table = ["equal", "slowed"].map((kind) => {
  const verdicts = ["worse", "better", "equal", "inconclusive"];
  return [kind, Object.fromEntries(verdicts.map((verdict) => [verdict, count(kind, verdict)]))];
});
console.table(Object.fromEntries(table));
const isSilent = ({ verdict, advice }) => verdict === "inconclusive" && advice.length === 0;
const nWrong = count("equal", "worse", "better") + count("slowed", "better", "equal");
const nSilent = found.filter(({ equal, slowed }) => isSilent(equal) || isSilent(slowed)).length;
const nFound = count("slowed", "worse");
console.log(`${found.length} pairs: ${nWrong} wrong, ${nFound} slowdowns found, ${nSilent} without advice`);
process.exitCode = nWrong > 0 || nSilent > 0 || nFound < LEAST_FOUND * found.length ? 1 : 0;
