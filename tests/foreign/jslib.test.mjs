// The embedded equivalents of k6's libraries, run by Node.js with modules of k6 that are three lines long.

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { folderOf } from "./support/scripts.mjs";

const FOLDER = new URL("../../crates/lab/script/src/source/jslib/", import.meta.url);

/** The parts of a library as one module. `builtins` maps ids of k6's modules to their sources. */
async function library(paths, builtins = {}) {
  const parts = await Promise.all(paths.map((path) => readFile(new URL(path, FOLDER), "utf8")));
  let source = parts.join("\n");
  for (const [id, text] of Object.entries(builtins)) {
    source = source.replaceAll(`from "${id}"`, `from "${asUrl(text)}"`);
  }
  return import(asUrl(source));
}

function asUrl(source) {
  return `data:text/javascript,${encodeURIComponent(source)}`;
}

test("random values stay within what was asked for", async () => {
  const { randomIntBetween, randomItem, randomString } = await library(["k6-utils/random.js"]);
  const numbers = new Set(Array.from({ length: 1000 }, () => randomIntBetween(5, 7)));
  assert.deepEqual([...numbers].sort(), [5, 6, 7]);
  assert.deepEqual(new Set(Array.from({ length: 200 }, () => randomItem(["a", "b"]))), new Set(["a", "b"]));
  assert.match(randomString(20), /^[a-z]{20}$/);
  assert.match(randomString(20, "01"), /^[01]{20}$/);
  assert.equal(randomString(0), "");
});

test("UUIDs are of version 4", async () => {
  const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
  const plain = await library(["k6-utils/uuid.js"]);
  const secure = await library(["k6-utils/secure_uuid.js"], {
    "k6/crypto": "export const randomBytes = (n) => new Uint8Array(n).fill(255).buffer;",
  });
  for (const text of [plain.uuidv4(), secure.uuidv4()]) {
    assert.match(text, uuid);
  }
  assert.equal(secure.uuidv4(true), "ffffffff-ffff-4fff-bfff-ffffffffffff");
});

test("texts between others are found", async () => {
  const { findBetween } = await library(["k6-utils/find_between.js"]);
  const cases = [
    ["<b>1</b><b>2</b>", "<b>", "</b>", "1", ["1", "2"]],
    ["<b>1", "<b>", "</b>", "", []],
    ["", "<b>", "</b>", "", []],
    ["|1|2|", "|", "|", "1", ["1"]],
    ["ab", "", "", "", ["", ""]],
  ];
  for (const [content, left, right, first, all] of cases) {
    assert.equal(findBetween(content, left, right), first, content);
    assert.deepEqual(findBetween(content, left, right, true), all, content);
  }
});

test("stages follow a bell curve", async () => {
  const { normalDistributionStages } = await library(["k6-utils/normal_distribution.js"]);
  const stages = normalDistributionStages(10, 20, 5);
  assert.deepEqual(stages.map((stage) => stage.target), [1, 6, 10, 6, 1]);
  assert.deepEqual(new Set(stages.map((stage) => stage.duration)), new Set(["4000ms"]));
  assert.equal(normalDistributionStages(100, 60).length, 10);
  assert.deepEqual(normalDistributionStages(7, 1, 1), [{ duration: "1000ms", target: 7 }]);
});

const EXECUTION = `
  const scenario = { name: "chat", startTime: 0 };
  const stages = [{ duration: "10s", target: 5 }, { duration: 5000, target: 5 }, { duration: "1m", target: 0 }];
  export default { scenario, test: { options: { scenarios: { chat: { startVUs: 1, stages } } } }, vu: { metrics: { tags: {} } } };
`;

test("stages are known by their time", async (context) => {
  const builtins = { "k6/execution": EXECUTION };
  const utils = await library(["k6-utils/stages.js"], builtins);
  const exec = (await import(asUrl(EXECUTION))).default;
  let time = 0;
  context.mock.method(Date, "now", () => time);
  for (const [now, index, profile] of [
    [0, "0", "ramp-up"],
    [9_999, "0", "ramp-up"],
    [10_000, "1", "steady"],
    [15_000, "2", "ramp-down"],
    [999_999, "2", "ramp-down"],
  ]) {
    time = now;
    utils.tagWithCurrentStageIndex();
    utils.tagWithCurrentStageProfile();
    assert.deepEqual(exec.vu.metrics.tags, { stage: index, stage_profile: profile });
  }
  exec.scenario.name = "other";
  assert.throws(() => utils.getCurrentStageIndex(), /scenario other has no stages/);
});

test("durations are read as k6 writes them", async () => {
  const { parseDuration } = await library(["k6-utils/stages.js"], { "k6/execution": EXECUTION });
  for (const [text, milliseconds] of [["1h30m", 5_400_000], ["1.5s", 1500], ["2d3ms", 172_800_003], ["500", 500], [7, 7]]) {
    assert.equal(parseDuration(text), milliseconds);
  }
  for (const text of ["", "1x", "s", undefined]) {
    assert.throws(() => parseDuration(text), /is no duration/);
  }
});

test("checks wait for promises", async () => {
  const builtins = {
    k6: `export const seen = []; export const check = (value, sets, tags) => {
      const [[name, result]] = Object.entries(sets); seen.push([name, result, tags]); return result; };`,
  };
  const { check } = await library(["k6-utils/check.js"], builtins);
  const { seen } = await import(asUrl(builtins.k6));
  assert.equal(check(1, { one: (value) => value === 1, truthy: "x" }, { a: "b" }), true);
  assert.equal(await check(Promise.resolve(2), { later: async (value) => value === 1, now: true }), false);
  assert.throws(() => check(3, { thrown: () => { throw new Error("no"); } }), /no/);
  await assert.rejects(check(3, { rejected: async () => { throw new Error("no"); } }), /no/);
  assert.deepEqual(seen, [
    ["one", true, { a: "b" }],
    ["truthy", true, { a: "b" }],
    ["now", true, {}],
    ["later", false, {}],
    ["thrown", false, {}],
    ["rejected", false, {}],
  ]);
});

/** The assertions, with `k6/execution` that notes what was asked for. */
async function assertions(t, { env = {}, mode = "soft_fails.js" } = {}) {
  const parts = ["values.js", "matchers.js", "message.js", mode, "expect.js"].map((name) => `k6-testing/${name}`);
  const texts = await Promise.all(parts.map((path) => readFile(new URL(path, FOLDER), "utf8")));
  const cwd = folderOf(t, {});
  mkdirSync(join(cwd, "k6-testing"));
  const execution = `export const orders = []; export default { test: {
    abort(text) { orders.push(["abort", text]); throw new Error("aborted"); }, fail: (text) => orders.push(["fail", text]) } };`;
  writeFileSync(join(cwd, "k6-testing/execution.mjs"), execution);
  const source = texts.join("\n").replace(`"k6/execution"`, `"./execution.mjs"`);
  writeFileSync(join(cwd, "k6-testing/index.mjs"), source);
  globalThis.__ENV = env;
  const load = (name) => import(pathToFileURL(join(cwd, "k6-testing", name)));
  const [{ expect }, { orders }] = [await load("index.mjs"), await load("execution.mjs")];
  return { expect, orders };
}

class Point {
  constructor(x) {
    this.x = x;
  }
}

const SET = new Set([1, "a"]);
const OBJECT = { a: { b: [{ c: 1 }] }, "": 2, n: undefined };

/** Matcher, received value, arguments, whether it holds. */
const ASSERTIONS = [
  ["toBe", 1, [1], true],
  ["toBe", NaN, [NaN], true],
  ["toBe", 0, [-0], false],
  ["toBe", {}, [{}], false],
  ["toBeCloseTo", 1.234, [1.235], true],
  ["toBeCloseTo", 1.23, [1.3], false],
  ["toBeCloseTo", 1.5, [2, 0], false],
  ["toBeCloseTo", Infinity, [Infinity], true],
  ["toBeCloseTo", "1", [1], false],
  ["toBeDefined", null, [], true],
  ["toBeDefined", undefined, [], false],
  ["toBeFalsy", "", [], true],
  ["toBeFalsy", [], [], false],
  ["toBeGreaterThan", 2, [1], true],
  ["toBeGreaterThan", 2n, [1], true],
  ["toBeGreaterThan", 2, [2], false],
  ["toBeGreaterThan", "b", ["a"], false],
  ["toBeGreaterThanOrEqual", 2, [2], true],
  ["toBeInstanceOf", new Point(1), [Point], true],
  ["toBeInstanceOf", null, [Point], false],
  ["toBeLessThan", 1, [2], true],
  ["toBeLessThanOrEqual", 3, [2], false],
  ["toBeNaN", NaN, [], true],
  ["toBeNaN", "x", [], false],
  ["toBeNull", null, [], true],
  ["toBeNull", undefined, [], false],
  ["toBeTruthy", "0", [], true],
  ["toBeTruthy", 0, [], false],
  ["toBeUndefined", undefined, [], true],
  ["toContain", "hello", ["ell"], true],
  ["toContain", [1, NaN], [NaN], true],
  ["toContain", SET, ["a"], true],
  ["toContain", [{ a: 1 }], [{ a: 1 }], false],
  ["toContain", 5, [5], false],
  ["toContainEqual", [{ a: 1 }], [{ a: 1 }], true],
  ["toContainEqual", new Set([[1]]), [[1]], true],
  ["toContainEqual", "a", ["a"], false],
  ["toEqual", { a: [1, { b: 2 }] }, [{ a: [1, { b: 2 }] }], true],
  ["toEqual", { a: 1, b: 2 }, [{ b: 2, a: 1 }], true],
  ["toEqual", { a: undefined }, [{ b: undefined }], false],
  ["toEqual", [], [{}], false],
  ["toEqual", new Date(1), [new Date(2)], false],
  ["toEqual", new Map([[1, { a: 1 }]]), [new Map([[1, { a: 1 }]])], true],
  ["toEqual", new Uint8Array([1]).buffer, [new Uint8Array([2]).buffer], false],
  ["toHaveLength", "abc", [3], true],
  ["toHaveLength", [], [1], false],
  ["toHaveLength", 5, [1], false],
  ["toHaveProperty", OBJECT, ["a.b[0].c"], true],
  ["toHaveProperty", OBJECT, ["a.b[0].c", 1], true],
  ["toHaveProperty", OBJECT, ["a.b", [{ c: 1 }]], true],
  ["toHaveProperty", OBJECT, ["a.b[1]"], false],
  ["toHaveProperty", OBJECT, ["a.x"], false],
  ["toHaveProperty", OBJECT, ["n"], true],
  ["toHaveProperty", OBJECT, [""], false],
  ["toHaveProperty", OBJECT, ["toString"], false],
  ["toHaveProperty", "text", ["length"], false],
];

test("assertions hold or end the test", async (t) => {
  const { expect, orders } = await assertions(t);
  for (const [name, received, args, holds] of ASSERTIONS) {
    const what = `expect(${String(received)}).${name}(${args.map(String)})`;
    for (const [object, isHeld] of [[expect(received), holds], [expect(received).not, !holds], [expect(received).not.not, holds]]) {
      orders.length = 0;
      if (isHeld) object[name](...args);
      else assert.throws(() => object[name](...args), /^Error: aborted$/, what);
      assert.equal(orders.length, isHeld ? 0 : 1, what);
    }
  }
  assert.throws(() => expect(1).toBeVisible(), /k6\/browser\), which is not supported/);
  assert.throws(() => expect(1).toBeInstanceOf("x"), /needs a class, not "x"/);
});

test("a failed assertion says what it was about", async (t) => {
  const { expect, orders } = await assertions(t, { env: { K6_TESTING_COLORIZE: "FALSE" } });
  assert.throws(() => expect({ a: 1 }).not.toHaveProperty("a", 1));
  const lines = orders[0][1].split("\n");
  const place = /^ +At: (.*jslib\.test\.mjs):(\d+):\d+$/.exec(lines[2]);
  assert.ok(place, lines[2]);
  assert.deepEqual(lines.toSpliced(2, 1), [
    "",
    "                         Error: expect(received).not.toHaveProperty(keyPath, expected)",
    "",
    "                 Property path: a",
    "Expected property not to equal: 1",
    "               Received object: {",
    '                                  "a": 1',
    "                                }",
    "",
    "                      Filename: jslib.test.mjs",
    `                          Line: ${place[2]}`,
    "",
  ]);
  const inline = expect.configure({ display: "inline" });
  assert.throws(() => inline([1], "only one item").toHaveLength(2));
  assert.match(
    orders[1][1],
    /^error="only one item" at=\S+ expected_length=2 received_length=1 received_value="\[\\n {2}1\\n\]" filename=jslib\.test\.mjs line=\d+$/,
  );
  const colored = expect.configure({ colorize: true });
  assert.throws(() => colored(1).toBe(2));
  assert.match(orders[2][1], /Received: \x1b\[31m1\x1b\[0m\n/);
  assert.deepEqual([expect.config.colorize, colored.config.colorize, inline.config.display], [false, true, "inline"]);
});

test("soft assertions let the iteration go on, or end only the iteration", async (t) => {
  const { expect, orders } = await assertions(t);
  expect.soft(1).toBe(2);
  expect.configure({ soft: true })(1).toBe(2);
  assert.deepEqual(orders.map(([order]) => order), ["fail", "fail"]);
  assert.throws(() => expect.configure({ softMode: "throw" }).soft(1).toBe(2), { name: "AssertionFailedError" });
  assert.throws(() => expect.configure({ softMode: "no" }), /softMode is "no"; expected fail or throw/);
  const old = await assertions(t, { mode: "soft_throws.js" });
  assert.throws(() => old.expect.soft(1).toBe(2), { name: "AssertionFailedError" });
  const chosen = await assertions(t, { env: { K6_TESTING_SOFT_MODE: "throw", K6_TESTING_TIMEOUT: "20" } });
  assert.throws(() => chosen.expect.soft(1).toBe(2), { name: "AssertionFailedError" });
  assert.deepEqual([chosen.expect.config.timeout, chosen.expect.config.interval], [20, 100]);
  for (const [env, words] of [
    [{ K6_TESTING_DISPLAY: "big" }, /K6_TESTING_DISPLAY is "big"; expected pretty or inline/],
    [{ K6_TESTING_INTERVAL: "-1" }, /K6_TESTING_INTERVAL is "-1"; expected a number of milliseconds/],
  ]) {
    await assert.rejects(assertions(t, { env }), words);
  }
});

const trend = (...values) => ({
  type: "trend",
  contains: "time",
  values: Object.fromEntries(["avg", "min", "med", "max", "p(90)", "p(95)"].map((name, index) => [name, values[index]])),
});

const DATA = {
  options: { summaryTrendStats: ["avg", "min", "med", "max", "p(90)", "p(95)"], summaryTimeUnit: "" },
  root_group: {
    name: "",
    checks: [{ name: "success login", passes: 10, fails: 0 }],
    groups: [{ name: "post", checks: [{ name: "is open", passes: 2, fails: 1 }], groups: [] }],
  },
  metrics: {
    vus: { type: "gauge", contains: "default", values: { value: 11, min: 11, max: 100 } },
    checks: {
      type: "rate",
      contains: "default",
      values: { rate: 1, passes: 10, fails: 0 },
      thresholds: { "rate>0.99": { ok: true } },
    },
    http_req_duration: { ...trend(23540, 15180, 23450, 32150, 32000, 32080), thresholds: { "p(95)<500": { ok: false } } },
    "http_req_duration{expected_response:true}": trend(23540, 15180, 23450, 32150, 32000, 32080),
    http_req_blocked: trend(0.26749, 0.185, 0.2635, 0.365, 0.3362, 0.3506),
    data_received: { type: "counter", contains: "data", values: { count: 826_321, rate: 18_570 } },
    http_req_failed: { type: "rate", contains: "default", values: { rate: 0, passes: 0, fails: 10 } },
    iterations: { type: "counter", contains: "default", values: { count: 10, rate: 0.2247091 } },
    removed_by_the_script: undefined,
  },
};

test("summaries look as they did before k6 1.0", async () => {
  const { textSummary } = await library(["k6-summary/humanize.js", "k6-summary/text.js"]);
  const text = textSummary(DATA, { indent: " ", enableColors: false });
  assert.equal(
    text,
    `     ✓ success login

     █ post

       ✗ is open
        ↳  66% — ✓ 2 / ✗ 1

   ✓ checks.........................: 100.00% ✓ 10       ✗ 0
     data_received..................: 826 kB  19 kB/s
     http_req_blocked...............: avg=267.49µs min=185µs  med=263.5µs max=365µs  p(90)=336.2µs p(95)=350.6µs
   ✗ http_req_duration..............: avg=23.54s   min=15.18s med=23.45s  max=32.15s p(90)=32s     p(95)=32.08s
       { expected_response:true }...: avg=23.54s   min=15.18s med=23.45s  max=32.15s p(90)=32s     p(95)=32.08s
     http_req_failed................: 0.00%   ✓ 0        ✗ 10
     iterations.....................: 10      0.224709/s
     vus............................: 11      min=11     max=100`,
  );
  const colored = textSummary(DATA, { indent: "", enableColors: true });
  assert.match(colored, /\x1b\[32m✓ success login\x1b\[0m/);
  assert.equal(colored.replace(/\x1b\[\d+m/g, ""), text.replace(/^ /gm, ""));
});

test("values are in the unit that fits", async () => {
  const { humanizeValue } = await library(["k6-summary/humanize.js"]);
  const time = { type: "trend", contains: "time" };
  const data = { type: "counter", contains: "data" };
  const cases = [
    [0, time, "0s"],
    [0.000_5, time, "500ns"],
    [0.001, time, "1µs"],
    [0.29, time, "290µs"],
    [999.999, time, "999.99ms"],
    [59_999, time, "59.99s"],
    [90_000, time, "1m30s"],
    [3_723_000, time, "1h2m3s"],
    [7_200_000, time, "2h0m0s"],
    [0, data, "0 B"],
    [301, data, "301 B"],
    [5_000, data, "5.0 kB"],
    [9_960, data, "10 kB"],
    [1_300_000_000, data, "1.3 GB"],
    [0.999_99, { type: "rate" }, "99.99%"],
    [0.224_709_1, { type: "counter", contains: "default" }, "0.224709"],
    [12, { type: "gauge" }, "12"],
  ];
  for (const [value, metric, expected] of cases) {
    assert.equal(humanizeValue(value, metric), expected);
  }
  assert.equal(humanizeValue(1234.5, time, "s"), "1.23s");
  assert.equal(humanizeValue(1.5, time, "ms"), "1.50ms");
  assert.equal(humanizeValue(1.5, time, "us"), "1500.00µs");
});

test("thresholds become test cases", async () => {
  const { jUnit } = await library(["k6-summary/junit.js"]);
  const xml = jUnit(DATA, { name: "chat & co" });
  assert.match(xml, /<testsuites tests="2" failures="1">/);
  assert.match(xml, /<testsuite name="chat &amp; co" tests="2" failures="1">/);
  assert.match(xml, /<testcase name="checks - rate&gt;0.99" \/>/);
  assert.match(xml, /<testcase name="http_req_duration - p\(95\)&lt;500"><failure message="failed" \/><\/testcase>/);
});

test("pages of Rails tell about their cables", async () => {
  const rails = await library(["k6-rails.js"]);
  const attributes = {
    "meta[name=action-cable-url]": { content: "ws://localhost/cable" },
    "meta[name=csrf-token]": { content: "secret" },
    "meta[name=csrf-param]": { content: "authenticity_token" },
    "meta[name=user]": { value: "7" },
    "#chat turbo-cable-stream-source": { "signed-stream-name": "abc" },
    "turbo-cable-stream-source": { "signed-stream-name": "def", channel: "Own" },
  };
  const doc = { find: (selector) => ({ attr: (name) => attributes[selector]?.[name] }) };
  assert.equal(rails.cableUrl(doc), "ws://localhost/cable");
  assert.equal(rails.csrfToken(doc), "secret");
  assert.equal(rails.csrfParam(doc), "authenticity_token");
  assert.equal(rails.readMeta(doc, "user", "value"), "7");
  assert.deepEqual(rails.turboStreamSource(doc, "#chat"), { streamName: "abc", channelName: "Turbo::StreamsChannel" });
  assert.deepEqual(rails.turboStreamSource(doc), { streamName: "def", channelName: "Own" });
});
