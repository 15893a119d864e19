// The same script under `plimsoll run` and the real k6 at the same time, and the comparison of both: exit codes, metrics,
// checks, verdicts, single samples with their tags, and the lines of the console.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { k6In } from "./k6.mjs";
import { plimsollIn } from "./plimsoll.mjs";
import { folderOf } from "./scripts.mjs";

export const SCRIPTS = fileURLToPath(new URL("../k6-scripts/", import.meta.url));

/**
 * How many more or fewer it may be besides, of many: whether a user begins once more before a stage ends is decided by
 * milliseconds, and there are four users.
 */
const AT_EDGES = 4;
const MANY = 50;

/**
 * Runs one script under both at the same time: `[plimsoll, k6]`, each `{ code, stderr, data, exported, samples }`. With two
 * scripts or two `env` each has its own.
 */
export function runBoth(t, script, env = {}, args = []) {
  return Promise.all(
    [plimsollIn, k6In].map(async (runIn, index) => {
      const cwd = folderOf(t, {});
      const words = ["run", "--quiet", "--no-color", "--summary-export", "exported.json", "-e", "DATA=data.json", ...args];
      for (const [name, value] of Object.entries(env[index] ?? env)) words.push("-e", `${name}=${value}`);
      // k6 ends with 0 although everything failed.
      if (index === 0) words.push("--fail-on-errors=never");
      const outcome = await runIn({ cwd }, ...words, resolve(SCRIPTS, Array.isArray(script) ? script[index] : script));
      return { ...outcome, data: readJson(join(cwd, "data.json")), exported: readJson(join(cwd, "exported.json")), samples: readLines(join(cwd, "samples.json")) };
    }),
  );
}

/** The lines of JSON that a file holds; none where there is no file. */
function readLines(path) {
  if (!existsSync(path)) return [];
  return readFileSync(path, "utf8").split("\n").filter(Boolean).map((line) => JSON.parse(line));
}

/** What a file holds; null where there is none, which the two have to agree on, too. */
function readJson(path) {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    if (error.code === "ENOENT") return null;
    throw error;
  }
}

/** All that must be the same, however long anything took: names, types, keys, verdicts, checks. */
export function shapeOf({ code, data, exported }) {
  return {
    code,
    data: data && {
      keys: sharedKeysOf(data),
      options: data.options,
      state: keysOf(data.state),
      setup: data.setup_data,
      metrics: mapValues(withoutUsers(data.metrics), ({ type, contains, values, thresholds = {} }) => ({
        type,
        contains,
        values: keysOf(values),
        thresholds,
      })),
      groups: groupShape(data.root_group),
    },
    exported: exported && {
      keys: sharedKeysOf(exported),
      metrics: mapValues(withoutUsers(exported.metrics), ({ thresholds = {}, ...values }) => ({ values: keysOf(values), thresholds })),
      groups: exported.root_group,
    },
  };
}

/** k6 samples its users once a second, so that short runs have none; ours have. Runs that last are compared apart. */
function withoutUsers({ vus, vus_max, ...metrics }) {
  return metrics;
}

const keysOf = (object) => Object.keys(object).sort();

/** Without `generator`, which tells whether the figures are to be believed, and which k6 does not have. */
const sharedKeysOf = (object) => keysOf(object).filter((key) => key !== "generator");

/** In the order of the keys, so that a difference is shown where it is. */
const mapValues = (object, translate) =>
  Object.fromEntries(keysOf(object).map((key) => [key, translate(object[key])]));

function groupShape({ groups, checks, ...rest }) {
  return { ...rest, groups: groups.map(groupShape), checks };
}

/** `{ metric: count }` of all counters; bytes are not counted alike, because no two clients write the same headers. */
function countersOf({ data }) {
  const counters = Object.entries(data.metrics).filter(([, { type, contains }]) => type === "counter" && contains !== "data");
  return Object.fromEntries(counters.map(([name, { values }]) => [name, values.count]));
}

/** Both, with counters at most `tolerance` apart, as a share of k6's. */
export function assertAlike([ours, theirs], tolerance = 0) {
  assert.deepEqual(shapeOf(ours), shapeOf(theirs));
  if (!theirs.data) return;
  const found = countersOf(ours);
  for (const [name, expected] of Object.entries(countersOf(theirs))) {
    const distance = Math.abs(found[name] - expected);
    const edges = tolerance > 0 && expected >= MANY ? AT_EDGES : 0;
    assert.ok(distance <= Math.max(expected * tolerance, edges), `${name}: plimsoll ${found[name]}, k6 ${expected}`);
  }
}

/** Metrics whose samples come at moments of the program's own, and those that k6 does not have. */
const OF_THE_PROGRAM = ["vus", "vus_max", "data_sent", "data_received", "iteration_duration_scheduled", "iteration_lateness"];

/**
 * Of a run with `--out json=samples.json`, by metric and tags: the sum of a counter, and of others how many samples there are
 * with each value, or how many at all where the clock decides about the values.
 */
export function samplesOf({ samples }) {
  const found = {};
  const definitions = {};
  for (const { type, metric, data } of samples) {
    if (type === "Metric") definitions[metric] = data;
    if (type !== "Point" || OF_THE_PROGRAM.includes(metric)) continue;
    // A request without a connection has no times here; in k6 they are 0.
    if (data.tags?.status === "0" && definitions[metric].contains === "time") continue;
    const isCounter = definitions[metric].type === "counter";
    const isFixed = !isCounter && definitions[metric].contains === "default";
    // The words of errors are each program's own.
    const tags = Object.entries(data.tags ?? {}).filter(([name]) => name !== "error").sort();
    const key = [metric, ...tags.map((tag) => tag.join("=")), ...(isFixed ? [data.value] : [])].join(" ");
    found[key] = (found[key] ?? 0) + (isCounter ? data.value : 1);
  }
  return mapValues(found, (count) => count);
}

/** Of a run with `--log-format json`, the lines that the script has written to the console: `[level, text]`. */
export function consoleOf({ stderr }) {
  const lines = stderr.split("\n").filter((line) => line.startsWith("{")).map((line) => JSON.parse(line));
  return lines.filter(({ source }) => source === "console").map(({ level, msg }) => [level, msg]);
}
