// The same scripts under `plimsoll run` and the real k6, against the same server: same exit code, same metrics, same
// checks, same verdicts.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { buildK6, k6In } from "./support/k6.mjs";
import { Server, plimsollIn } from "./support/plimsoll.mjs";
import { startScriptServer } from "./support/script-server.mjs";
import { folderOf } from "./support/scripts.mjs";
import { subtleKeys } from "./support/subtle.mjs";

const SCRIPTS = fileURLToPath(new URL("k6-scripts/", import.meta.url));

/** How far a counter may be from k6's where the clock decides how often something happens. */
const TIMED = 0.02;

/**
 * How many more or fewer it may be besides, of many: whether a user begins once more before a stage ends is decided by
 * milliseconds, and there are four users.
 */
const AT_EDGES = 4;
const MANY = 50;

before(() => buildK6());

/**
 * Runs one script under both at the same time: `[plimsoll, k6]`, each `{ code, stderr, data, exported }`. With two `env`
 * each has its own.
 */
function runBoth(t, script, env = {}, args = []) {
  return Promise.all(
    [plimsollIn, k6In].map(async (runIn, index) => {
      const cwd = folderOf(t, {});
      const words = ["run", "--quiet", "--no-color", "--summary-export", "exported.json", "-e", "DATA=data.json", ...args];
      for (const [name, value] of Object.entries(env[index] ?? env)) words.push("-e", `${name}=${value}`);
      // k6 ends with 0 although everything failed.
      if (index === 0) words.push("--fail-on-errors=never");
      const outcome = await runIn({ cwd }, ...words, resolve(SCRIPTS, script));
      return { ...outcome, data: readJson(join(cwd, "data.json")), exported: readJson(join(cwd, "exported.json")) };
    }),
  );
}

/** One of `scripts/chat`, with what writes its figures to a file, and without what k6 would fetch. */
function chatScript(t, name) {
  const text = readFileSync(fileURLToPath(new URL(`scripts/chat/${name}`, import.meta.url)), "utf8");
  const local = "const randomIntBetween = (low, high) => low + Math.floor(Math.random() * (high - low + 1));";
  const parts = [text.replace(/^import { randomIntBetween }.*$/m, local), `export { handleSummary } from "${join(SCRIPTS, "data.js")}";\n`];
  return join(folderOf(t, { [name]: parts.join("\n") }), name);
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
function shapeOf({ code, data, exported }) {
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
function assertAlike([ours, theirs], tolerance = 0) {
  assert.deepEqual(shapeOf(ours), shapeOf(theirs));
  if (!theirs.data) return;
  const found = countersOf(ours);
  for (const [name, expected] of Object.entries(countersOf(theirs))) {
    const distance = Math.abs(found[name] - expected);
    const edges = tolerance > 0 && expected >= MANY ? AT_EDGES : 0;
    assert.ok(distance <= Math.max(expected * tolerance, edges), `${name}: plimsoll ${found[name]}, k6 ${expected}`);
  }
}

describe("plimsoll run and k6 agree about", () => {
  test("checks, groups, custom metrics and sub-metrics", async (t) => {
    const both = await runBoth(t, "checks.js");
    assert.equal(both[0].code, 0, both[0].stderr);
    assertAlike(both);
  });

  test("all executors", async (t) => {
    const both = await runBoth(t, "executors.js");
    assert.equal(both[0].code, 0, both[0].stderr);
    assertAlike(both, TIMED);
    const [ours, theirs] = both.map(({ data: { metrics } }) => [metrics.vus.type, metrics.vus_max]);
    assert.deepEqual(ours, theirs);
  });

  test("setup data, environment, shared arrays and k6/execution", async (t) => {
    const both = await runBoth(t, "lifecycle.js", { GIVEN: "yes" });
    assert.equal(both[0].code, 0, both[0].stderr);
    assert.equal(both[0].data.metrics.checks.values.fails, 0);
    assertAlike(both);
  });

  for (const [what, script] of [
    ["pages and selectors", "values-html.js"],
    ["digests and base64", "values-bytes.js"],
    ["files and modules beside a module in another folder", "values-modules.js"],
    ["files in parts, records of files and streams", "values-files.js"],
    ["arguments of all kinds, shared arrays and the order of timers", "values-arguments.js"],
  ]) {
    test(what, async (t) => {
      const both = await runBoth(t, script);
      assert.equal(both[0].code, 0, both[0].stderr);
      assertAlike(both);
    });
  }

  test("keys, signatures, encryption and failures of crypto.subtle", async (t) => {
    const both = await runBoth(t, "values-subtle.js", { KEYS: await subtleKeys() });
    assert.equal(both[0].code, 0, both[0].stderr);
    assertAlike(both);
  });

  for (const [what, env] of Object.entries({
    "numbers": { VUS: "2", ITERATIONS: "6", BATCH: "3", TARGET: "1" },
    "empty texts": { VUS: "", ITERATIONS: "", BATCH: "", TARGET: "1" },
    "a number with a fraction": { VUS: "1.5" },
    "a stage without a target": { TARGET: "" },
  })) {
    test(`options from variables: ${what}`, async (t) => {
      const both = await runBoth(t, "text-options.js", env);
      assert.deepEqual(both.map(({ code }) => code), Array(2).fill(what.startsWith("a ") ? 104 : 0), both[0].stderr);
      assertAlike(both);
    });
  }

  test("samples that a script adds to the checks", async (t) => {
    const both = await runBoth(t, "added-checks.js");
    assert.deepEqual(both.map(({ code }) => code), [99, 99], both[0].stderr);
    assertAlike(both);
    for (const { stdout } of both) assert.match(stdout, /checks_failed\.*: 50\.00% +2 out of 4/);
  });

  test("secrets, and that no log shows them", async (t) => {
    const sources = ["mock=default,name=vault,token=verysecret", `file=name=notes,filename=${join(SCRIPTS, "secrets.txt")}`];
    const args = sources.flatMap((source) => ["--secret-source", source]);
    const both = await runBoth(t, "secrets.js", {}, args);
    assert.equal(both[0].code, 0, both[0].stderr);
    assert.equal(both[0].data.metrics.checks.values.fails, 0);
    assertAlike(both);
    for (const { stderr } of both) {
      assert.match(stderr, /the token is \*\*\*SECRET_REDACTED\*\*\* \{ password: \\?"\*\*\*SECRET_REDACTED\*\*\*\\?" \}/);
      assert.match(stderr, /no \*\*\*SECRET_REDACTED\*\*\* here/);
      assert.doesNotMatch(stderr, /verysecret|hunter2/);
    }
  });

  for (const [startVUs, ...stages] of [
    [1, ["1s", 10]],
    [1, ["1s", 5], ["0s", 10]],
    [5, ["1s", 5], ["0s", 2], ["1s", 10]],
    [10, ["0s", 2], ["1s", 2]],
    [0, ["1s", 5], ["0s", 20], ["0s", 3], ["1s", 3]],
  ]) {
    test(`how many users ${startVUs} and ${stages.map((stage) => stage.join(":"))} take`, async (t) => {
      const executor = { executor: "ramping-vus", startVUs, stages: stages.map(([duration, target]) => ({ duration, target })) };
      const options = JSON.stringify({ scenarios: { executor } });
      const cwd = folderOf(t, { "script.js": `export const options = ${options};\nexport default function () {}` });
      const both = await Promise.all(
        [plimsollIn, k6In].map((runIn) => runIn({ cwd }, "inspect", "--execution-requirements", "script.js")),
      );
      const [ours, theirs] = both.map(({ stdout }) => JSON.parse(stdout));
      assert.deepEqual([ours.maxVUs, ours.totalDuration], [theirs.maxVUs, theirs.totalDuration]);
    });
  }

  test("requests, redirects, cookies, batches and failures", async (t) => {
    const server = await startScriptServer(t);
    const both = await runBoth(t, "http.js", { BASE: server.http });
    assert.equal(both[0].code, 0, both[0].stderr);
    assert.equal(both[0].data.metrics.checks.values.fails, 0);
    assertAlike(both);
  });

  test("frames, pings, timers and refusals over k6/ws", async (t) => {
    const server = await startScriptServer(t);
    const both = await runBoth(t, "echo.js", { WS_BASE: server.ws });
    assert.equal(both[0].code, 0, both[0].stderr);
    // The order in which two users answer a check is not guaranteed.
    for (const { data } of both) data.root_group.checks.sort((one, other) => one.name.localeCompare(other.name));
    assert.equal(both[0].data.metrics.checks.values.fails, 0);
    assertAlike(both);
  });

  test("readers of a page", async (t) => {
    const server = await startScriptServer(t);
    const both = await runBoth(t, chatScript(t, "post.js"), { POST_URL: `${server.http}/post` }, ["-u", "5", "-i", "30"]);
    assert.equal(both[0].code, 0, both[0].stderr);
    assertAlike(both);
  });

  test("a visitor of a chat who speaks the cable's protocol by hand", async (t) => {
    // One chat for each, or each would hear the other; and no ping at the moment of the end.
    const env = await Promise.all(
      ["plimsoll", "k6"].map(async () => {
        const server = await Server.start("--app", "chat", "--ping_interval", "60");
        t.after(() => server.stop());
        return { WS_URL: server.ws("/cable"), WS_COOKIE: "uid=kay/1" };
      }),
    );
    const both = await runBoth(t, chatScript(t, "ws.js"), env);
    assert.equal(both[0].code, 0, both[0].stderr);
    assert.deepEqual(both[0].data.metrics.checks.values.passes, 3);
    assertAlike(both);
  });

  for (const [ending, code] of [
    ["of its own", 0],
    ["init throws", 107],
    ["init aborts", 108],
    ["setup throws", 107],
    ["setup fails", 107],
    ["setup takes too long", 100],
    ["setup aborts", 108],
    ["setup marks", 110],
    ["iterations throw", 0],
    ["iterations fail", 0],
    ["groups throw", 0],
    ["checks throw", 0],
    ["promises reject", 0],
    ["iterations abort", 108],
    ["iterations mark: it marks", 110],
    ["teardown throws", 107],
    ["teardown takes too long", 101],
    ["teardown aborts", 108],
    ["it marks, and teardown throws", 107],
  ]) {
    test(`the end when ${ending}: ${code}`, async (t) => {
      const both = await runBoth(t, "endings.js", { ENDING: ending });
      assert.equal(both[0].code, code, both[0].stderr);
      assertAlike(both);
    });
  }

  for (const [ending, code] of [
    ["of its own", 99],
    ["iterations abort", 108],
    ["iterations mark: it marks", 110],
    ["teardown throws", 107],
  ]) {
    test(`the end when a threshold does not hold and ${ending}: ${code}`, async (t) => {
      const both = await runBoth(t, "endings.js", { ENDING: ending, THRESHOLD: "1" });
      assert.equal(both[0].code, code, both[0].stderr);
      assertAlike(both);
    });
  }

  for (const [name, delay, atLeast] of [
    ["at once", "0s", 0],
    ["after a delay", "3s", 3],
  ]) {
    test(`a threshold that ends the run ${name}: 99`, async (t) => {
      const both = await runBoth(t, "aborting.js", { DELAY: delay });
      assert.equal(both[0].code, 99, both[0].stderr);
      assert.deepEqual(shapeOf(both[0]), shapeOf(both[1]));
      for (const { data } of both) {
        const seconds = data.state.testRunDurationMs / 1000;
        assert.ok(seconds >= atLeast && seconds < atLeast + 5, `ended after ${seconds} s`);
      }
    });
  }
});
