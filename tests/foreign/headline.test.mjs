// The sentence of a run, traced to samples: each of its numbers is computed again from the single samples that the run
// wrote with `--out`.

import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { Server, plimsollIn } from "./support/plimsoll.mjs";

/** Workers report at full seconds, some milliseconds late: so long a sample may belong to the second before. */
const LATE_MS = 400;

/** A histogram knows each sample within 0.1 %, and the sentence has three digits. */
const DIGITS = 0.006;

/** Times in the sentence are in µs, ms or s. */
const UNITS = { µs: 1e-3, ms: 1, s: 1e3 };

/** Every user says how many users there are: so a percentile of the wrong load is a wrong number. */
const script = (options) => `
import exec from "k6/execution";
import { sleep } from "k6";
import { Trend } from "k6/metrics";
const rtt = new Trend("rtt", true);
export const options = ${JSON.stringify(options)};
export default function () {
  rtt.add(10 * exec.instance.vusActive + (__ITER % 10) / 10);
  sleep(0.05);
}`;

/** Runs `words` with samples and a summary: what both say, and what was printed. */
async function run(t, words, files = {}) {
  const folder = mkdtempSync(join(tmpdir(), "plimsoll-headline-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const flags = ["--out", "json=samples.json", "--report", "run.json", "--report", "run.md"];
  const { code, stderr } = await plimsollIn({ cwd: folder }, ...words, ...flags);
  const read = (name) => readFileSync(join(folder, name), "utf8");
  const lines = read("samples.json").trim().split("\n").map((line) => JSON.parse(line));
  const samples = lines
    .filter(({ type }) => type === "Point")
    .map(({ metric, data }) => ({ metric, at: Date.parse(data.time), value: data.value, tags: data.tags }));
  const [, , line] = read("run.md").split("\n");
  const sentence = line.replaceAll("&lt;", "<");
  const summary = JSON.parse(read("run.json"));
  assertTold(stderr, summary, sentence, code);
  return { code, stderr, samples, summary, sentence };
}

/** Terminal, summary and exit code agree: the last lines of standard error have the verdict and the sentence. */
function assertTold(stderr, { conclusion }, sentence, code) {
  assert.equal(conclusion.exit_code, code);
  assert.ok(stderr.replaceAll(/\s+/g, " ").includes(`${conclusion.verdict}: ${sentence}`), `${sentence} in ${stderr}`);
}

/** k6's percentile. */
function percentile(values, percent) {
  const sorted = values.toSorted((a, b) => a - b);
  const position = (percent / 100) * (sorted.length - 1);
  const [lower, upper] = [sorted[Math.floor(position)], sorted[Math.ceil(position)]];
  return lower + (upper - lower) * (position % 1);
}

const number = (text) => Number(text.replaceAll(",", ""));

/** The figures that a sentence has of `rtt`. */
function figures(sentence) {
  const found = /p95 of rtt ([\d.,]+) (µs|ms|s) \(([\d,]+) samples?\)/.exec(sentence);
  assert.ok(found, sentence);
  return { p95: number(found[1]) * UNITS[found[2]], n: number(found[3]) };
}

/** Checks the figures of a sentence with the samples of a part of the run; samples at its edges may be on either side. */
function assertTraced(sentence, { samples, summary }, { start_seconds, seconds }) {
  const start = Date.parse(summary.metadata.started_at) + start_seconds * 1e3;
  const end = start + seconds * 1e3;
  const all = samples.filter(({ metric }) => metric === "rtt");
  const within = (slack) => all.filter(({ at }) => at >= start - slack && at < end + slack);
  const inside = within(-LATE_MS);
  const least = inside.map(({ value }) => value);
  const most = within(LATE_MS);
  const known = new Set(inside);
  const atEdges = most.filter((sample) => !known.has(sample)).map(({ value }) => value).sort((a, b) => a - b);
  const { p95, n } = figures(sentence);
  assert.ok(least.length > 0 && n >= least.length && n <= most.length, `${n} of ${least.length} to ${most.length}: ${sentence}`);
  // So many samples of the edges are in the figure: at least the fastest, at most the slowest.
  const n_edges = n - least.length;
  const chosen = [atEdges.slice(0, n_edges), n_edges > 0 ? atEdges.slice(-n_edges) : []];
  const expected = chosen.map((more) => percentile([...least, ...more], 95));
  assert.ok(p95 >= Math.min(...expected) * (1 - DIGITS) && p95 <= Math.max(...expected) * (1 + DIGITS), `${p95} for ${expected}: ${sentence}`);
}

/** The generator of a busy machine says first that the figures are doubtful. */
const BEGIN = "(?:(?:The load generator was the bottleneck|The load was lower than planned|P95 latencies may be up to [\\d.]+ ms too high); )?";

test("a load that was held is named with its own figures", async (t) => {
  const stages = [
    { duration: "2s", target: 2 },
    { duration: "0s", target: 8 },
    { duration: "4s", target: 8 },
    { duration: "2s", target: 1 },
  ];
  const found = await run(t, ["run", "steps.js"], {
    "steps.js": script({ startVUs: 2, stages, gracefulRampDown: "0s" }),
  });
  assert.equal(found.code, 0, found.stderr);
  const said = new RegExp(`^${BEGIN}[Hh]eld 8 users for ([\\d.]+) s: p95 of rtt`).exec(found.sentence);
  assert.ok(said, found.sentence);
  const held = found.summary.by_load.plateaus.find(({ least }) => least === 8);
  assert.ok(Math.abs(number(said[1]) - held.seconds) < 0.1, found.sentence);
  assert.ok(held.start_seconds >= 2 && held.start_seconds + held.seconds <= 6, JSON.stringify(held));
  assertTraced(found.sentence, found, held);
  // Of the whole run it would be less.
  const { p95 } = figures(found.sentence);
  assert.ok(p95 > 80 && p95 < 81.5, `${p95}`);
});

test("a load that was only reached is not said to be held, and its band has its own figures", async (t) => {
  const found = await run(t, ["run", "ramp.js"], {
    "ramp.js": script({ startVUs: 1, stages: [{ duration: "6s", target: 24 }], gracefulRampDown: "0s" }),
  });
  assert.equal(found.code, 0, found.stderr);
  const said = new RegExp(`^${BEGIN}[Rr]eached (\\d+) users, held no load: with (\\d+) to (\\d+) users \\(([\\d.]+) s\\) p95`).exec(
    found.sentence,
  );
  assert.ok(said, found.sentence);
  const band = found.summary.by_load.curve.at(-1);
  assert.equal(number(said[1]), Math.max(...found.summary.timeline.vus));
  assert.deepEqual(said.slice(2).map(number).slice(0, 2), [band.least, band.most]);
  assertTraced(found.sentence, found, band);
  // All parts together are the run.
  const counts = found.summary.by_load.curve.map(({ latency }) => latency?.count ?? 0);
  const all = found.samples.filter(({ metric }) => metric === "rtt").length;
  assert.equal(counts.reduce((sum, n) => sum + n, 0), all);
});

test("the step of a bench with the most clients has its own figures, exactly", async (t) => {
  const server = await Server.start("--app", "benchmark");
  t.after(() => server.stop());
  const words = ["bench", "echo", server.ws("/cable"), "--server-type", "actioncable"];
  const steps = ["--step-size", "5", "--total-steps", "3", "--sample-size", "200"];
  const found = await run(t, [...words, ...steps]);
  assert.equal(found.code, 0, found.stderr);
  const said = new RegExp(`^${BEGIN}[Hh]eld 15 users for`).exec(found.sentence);
  assert.ok(said, found.sentence);
  const values = found.samples.filter(({ metric, tags }) => metric === "rtt" && tags.step === "3").map(({ value }) => value);
  const { p95, n } = figures(found.sentence);
  assert.equal(n, values.length);
  const expected = percentile(values, 95);
  assert.ok(Math.abs(p95 / expected - 1) < DIGITS, `${p95} for ${expected}`);
  const { curve, curve_is_held } = found.summary.by_load;
  assert.deepEqual([curve.map(({ least }) => least), curve_is_held], [[5, 10, 15], true]);
});

test("a failed threshold, a run of one second and one without requests claim no more than they have", async (t) => {
  const failing = await run(t, ["run", "failing.js"], {
    "failing.js": script({ vus: 4, duration: "3s", thresholds: { rtt: ["p(95)<5"], http_req_duration: ["p(95)<5"] } }),
  });
  assert.equal(failing.code, 99, failing.stderr);
  assert.match(failing.sentence, /^Failed the threshold rtt p\(95\)<5 \(40\.\d ms in the whole run\); (?:(?:the load generator was the bottleneck|p95 latencies may be up to [\d.]+ ms too high); )?held 4 users for 3(\.1)? s: p95/);
  const [, unsampled] = failing.summary.thresholds.toSorted((a, b) => b.metric.localeCompare(a.metric));
  assert.deepEqual([unsampled.metric, unsampled.value, unsampled.passed], ["http_req_duration", null, true]);

  const short = await run(t, ["run", "short.js"], { "short.js": script({ vus: 4, duration: "1s" }) });
  assert.match(short.sentence, new RegExp(`^${BEGIN}[Hh]eld 4 users for [\\d.]+ s: p95 of rtt`));
  assertTraced(short.sentence, short, short.summary.by_load.plateaus[0]);

  const refused = await run(t, ["run", "refused.js"], {
    "refused.js": 'import http from "k6/http"; import { sleep } from "k6"; export const options = { vus: 2, duration: "1s" }; export default () => { http.get("http://127.0.0.1:1/"); sleep(0.1); };',
  });
  const n_refused = refused.samples.filter(({ metric, value }) => metric === "http_req_failed" && value === 1).length;
  assert.equal(refused.sentence, `All ${n_refused} requests failed`);

  const idle = await run(t, ["run", "idle.js"], {
    "idle.js": 'import { sleep } from "k6"; export const options = { scenarios: { all: { executor: "constant-vus", vus: 2, duration: "2s", gracefulStop: "0s" } } }; export default () => sleep(60);',
  });
  assert.match(idle.sentence, new RegExp(`^${BEGIN}[Hh]eld 2 users for [\\d.]+ s: no iteration was completed$`));
});

test("the demo holds loads, loses nothing, and knows the memory per user or says why not", async (t) => {
  const found = await run(t, ["demo", "--users", "40", "--time", "32"]);
  assert.equal(found.code, 0, found.stderr);
  assert.match(found.sentence, new RegExp(`^${BEGIN}[Hh]eld 40 users for [\\d.]+ s: p95 of rtt .*; in the whole run 0 lost of`));
  const { plateaus, curve_is_held } = found.summary.by_load;
  assert.deepEqual([plateaus.map(({ least }) => Math.round(least)), curve_is_held], [[10, 20, 30, 40], true]);
  assertTraced(found.sentence, found, plateaus.at(-1));
});
