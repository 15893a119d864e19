// `plimsoll run`: options from all layers, results in all forms, and what scripts do wrong, with k6's exit codes.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { Server, plimsollIn } from "./support/plimsoll.mjs";
import { folderOf } from "./support/scripts.mjs";

const NOTHING = "export default function () {}";

/** Runs `files["script.js"]` to its end. */
async function run(t, files, args = [], env = {}) {
  const cwd = folderOf(t, typeof files === "string" ? { "script.js": files } : files);
  const outcome = await plimsollIn({ cwd, env }, "run", "--quiet", ...args, "script.js");
  return { ...outcome, cwd };
}

describe("what scripts do wrong ends with k6's exit code, and says what, where and what was expected", () => {
  for (const [name, code, script, ...said] of [
    [
      "a syntax error",
      107,
      "export default function () {\n  let x = ;\n}",
      "syntax error: unexpected token",
      "script.js:2:11",
      "let x = ;",
    ],
    [
      "an import of a file that is not there",
      107,
      'import x from "./nope.js";\nexport default function () {}',
      "there is no file",
      "nope.js",
      "script.js:1:15",
    ],
    [
      "an import of a module that does not exist",
      107,
      'import x from "k6/nope";\nexport default function () {}',
      'there is no module "k6/nope"',
      "script.js:1:15",
    ],
    [
      "a name that a module of k6 does not have",
      107,
      'import { sleep, chekc } from "k6";\nexport default function () {}',
      "k6 has no `chekc`; did you mean `check`?",
      "script.js:1:17",
      "import { sleep, chekc }",
    ],
    ["no function", 107, "const x = 1;", "script.js: the script exports no function", "export default function"],
    [
      "an exception in the init context",
      107,
      'const a = 1;\nthrow new Error("too early");\nexport default function () {}',
      "too early",
      'throw new Error("too early")',
      "script.js:2",
    ],
    [
      "an exception in setup",
      107,
      'export function setup() {\n  throw new Error("no room");\n}\nexport default function () {}',
      "setup() failed: no room",
      "script.js:2",
    ],
    [
      "an exception in teardown",
      107,
      'export default function () {}\nexport function teardown() {\n  throw new Error("left over");\n}',
      "teardown() failed: left over",
      "script.js:3",
    ],
    [
      "a setup that takes too long",
      100,
      'import { sleep } from "k6";\nexport const options = { setupTimeout: "1s" };\n' +
        "export function setup() {\n  sleep(60);\n}\nexport default function () {}",
      "setup() took longer than 1s",
    ],
    [
      "a teardown that never comes back",
      101,
      'export const options = { teardownTimeout: "1s" };\nexport default function () {}\n' +
        "export function teardown() {\n  for (;;) {}\n}",
      "teardown() took longer than 1s",
    ],
    [
      "a setup whose promise never settles",
      107,
      "export async function setup() {\n  await new Promise(() => {});\n}\nexport default function () {}",
      "setup() failed",
      "never settles",
      "at setup (script.js:1:",
    ],
    [
      "an `await` at the top that never comes back",
      107,
      `await new Promise(() => {});\n${NOTHING}`,
      "script.js: an `await` outside of functions waits for a promise that never settles",
    ],
    [
      "an option of the wrong type",
      104,
      `export const options = { vus: "ten" };\n${NOTHING}`,
      'script.js: options.vus: expected a whole number, for example 10, found "ten"',
    ],
    [
      "options that are not an object",
      104,
      `export const options = [];\n${NOTHING}`,
      "script.js: options: expected an object, found []",
    ],
    [
      "an unknown field in a scenario",
      104,
      `export const options = { scenarios: { a: { executor: "constant-vus", duration: "1s", vu: 3 } } };\n${NOTHING}`,
      "options.scenarios.a.vu: is not a field here",
    ],
    [
      "a function that is not exported",
      104,
      `export const options = { scenarios: { a: { executor: "constant-vus", duration: "1s", exec: "b" } } };\n${NOTHING}`,
      "scenario `a` calls the function `b`, which is not exported; there are: default",
    ],
    [
      "shortcuts that exclude each other",
      104,
      `export const options = { iterations: 5, stages: [{ duration: "1s", target: 1 }] };\n${NOTHING}`,
      "options.stages: cannot be combined with `iterations`",
    ],
    [
      "a threshold on an unknown metric",
      104,
      `export const options = { thresholds: { itertions: ["count>1"] } };\n${NOTHING}`,
      "`itertions`, which does not exist; did you mean `iterations`?",
    ],
    [
      "a threshold with an aggregation that the metric does not have",
      104,
      `export const options = { thresholds: { checks: ["p(95)>1"] } };\n${NOTHING}`,
      "a rate has no `p(95)`; expected one of rate",
    ],
    [
      "a threshold that does not read",
      104,
      `export const options = { thresholds: { checks: ["rate is high"] } };\n${NOTHING}`,
      "script.js: options.thresholds.checks[0]: threshold `rate is high` is not valid",
      "p(95)<500",
    ],
  ]) {
    test(`${name}: ${code}`, async (t) => {
      const { code: found, signal, stderr } = await run(t, script);
      assert.deepEqual({ code: found, signal }, { code, signal: null }, stderr);
      for (const words of said) assert.ok(stderr.includes(words), `${words} in ${stderr}`);
    });
  }

  test("a name that a file does not export: 107", async (t) => {
    const script = 'import { yes, nope } from "./lib.js";\nexport default function () {\n  nope();\n}';
    const { code, stderr } = await run(t, { "script.js": script, "lib.js": "export const yes = 1;" });
    assert.equal(code, 107);
    assert.match(stderr, /^error: lib\.js does not export `nope`\n --> script\.js:1:15\n/);
  });

  test("a call of what a module does not have is a warning before it is an exception: 3", async (t) => {
    const script = 'import http from "k6/http";\nexport default function () {\n  http.gett("http://localhost");\n}';
    const { code, stderr } = await run(t, script);
    assert.equal(code, 3);
    assert.match(stderr, /^WARN\[0000\] k6\/http has no `gett`; did you mean `get`\?\n --> script\.js:3:8\n/);
  });

  test("a file that is not there: 255", async (t) => {
    const { code, stderr } = await run(t, { "other.js": NOTHING });
    assert.equal(code, 255);
    assert.match(stderr, /there is no file script\.js/);
  });

  for (const [name, script, said] of [
    ["an exception", 'export default function () {\n  throw new Error("oops");\n}', "script.js:2"],
    ["a promise that never settles", "export default async function () {\n  await new Promise(() => {});\n}", "never settles: no timer, request or socket is left that could resolve it\n --> script.js:1:"],
    ["a text of 1 GB", 'export default function () {\n  "x".repeat(1073741824);\n}', "invalid string length"],
    ["a recursion without end", "export default function () {\n  (function f() {\n    f();\n  })();\n}", "call stack size"],
  ]) {
    test(`in every iteration, ${name} is told, and the code is 3 where k6 has 0`, async (t) => {
      const { code, stdout, stderr } = await run(t, script);
      assert.equal(code, 3, stderr);
      assert.equal((await run(t, script, ["--fail-on-errors=never"])).code, 0);
      assert.ok(stderr.includes(said), `${said} in ${stderr}`);
      assert.match(stdout, /NOTHING SUCCEEDED[^]* the only iteration failed in /);
    });
  }

  test("what has no effect here is a warning: 0", async (t) => {
    const script = `export const options = { metricSamplesBufferSize: 5 };\n${NOTHING}`;
    const { code, stderr } = await run(t, script, ["--compatibility-mode", "base"]);
    assert.equal(code, 0);
    assert.match(stderr, /WARN.*the option `metricSamplesBufferSize` has no effect: /);
    assert.match(stderr, /WARN.*--compatibility-mode base has no effect: /);
  });

  test("an unknown option is a warning with the nearest name, as in k6: 0", async (t) => {
    const { code, stderr } = await run(t, `export const options = { vuss: 3 };\n${NOTHING}`);
    assert.equal(code, 0);
    assert.match(stderr, /WARN.*script\.js: unknown option `vuss`, which has no effect; did you mean `vus`\?/);
  });
});

describe("how a run went", () => {
  for (const [name, code, script, said] of [
    [
      "a threshold that does not hold",
      99,
      'import { check } from "k6";\nexport const options = { thresholds: { checks: ["rate>0.9"] } };\n' +
        "export default function () {\n  check(1, { no: () => false });\n}",
      "thresholds on metrics 'checks' have been crossed",
    ],
    [
      "a script that aborts",
      108,
      'import exec from "k6/execution";\nexport default function () {\n  exec.test.abort("enough");\n}',
      "test aborted: enough",
    ],
    [
      "a script that marks the run as failed",
      110,
      'import exec from "k6/execution";\nexport default function () {\n  exec.test.fail("bad");\n}',
      "marked as failed: bad",
    ],
  ]) {
    test(`${name}: ${code}`, async (t) => {
      const { code: found, stdout, stderr } = await run(t, script);
      assert.equal(found, code, stderr);
      assert.ok(stderr.includes(said), `${said} in ${stderr}`);
      assert.match(stdout, /TOTAL RESULTS/);
    });
  }

  test("failed checks alone fail nothing, and thresholds can be left out: 0", async (t) => {
    const script =
      'import { check } from "k6";\nexport const options = { thresholds: { checks: ["rate>0.9"] } };\n' +
      "export default function () {\n  check(1, { no: () => false });\n}";
    const { code, stdout } = await run(t, script, ["--no-thresholds"]);
    assert.equal(code, 0);
    assert.match(stdout, /✗ no/);
  });
});

describe("layers", () => {
  const FILES = {
    "script.js": `export const options = { vus: 2, iterations: 20, userAgent: "script" };\n${NOTHING}`,
    "config.json": '{ "vus": 1, "userAgent": "file", "rps": 9 }',
  };

  /** What `inspect` says that the layers together mean. */
  async function inspect(t, env, ...args) {
    const cwd = folderOf(t, FILES);
    const outcome = await plimsollIn({ cwd, env }, "inspect", "--execution-requirements", ...args, "script.js");
    assert.equal(outcome.code, 0, outcome.stderr);
    const { scenarios, ...options } = JSON.parse(outcome.stdout);
    assert.deepEqual(Object.keys(scenarios), ["default"]);
    return options;
  }

  test("the script wins over the file, and the environment over the script", async (t) => {
    const of_script = { iterations: 20, vus: 2, userAgent: "script", totalDuration: "10m30s", maxVUs: 2 };
    assert.deepEqual(await inspect(t, {}), of_script);
    assert.deepEqual(await inspect(t, {}, "--config", "config.json"), { ...of_script, rps: 9 });
    assert.deepEqual(await inspect(t, { K6_CONFIG: "config.json", K6_RPS: "3", K6_DURATION: "5s" }), {
      duration: "5s",
      vus: 2,
      userAgent: "script",
      rps: 3,
      totalDuration: "35s",
      maxVUs: 2,
    });
  });

  test("the command line wins over the environment", async (t) => {
    const { code, stdout, stderr } = await run(t, FILES, ["-i", "7", "--format", "json"], { K6_ITERATIONS: "9" });
    assert.equal(code, 0, stderr);
    assert.equal(JSON.parse(stdout).iterations.complete, 7);
  });

  for (const [name, env, args, said] of [
    ["the environment", { K6_STAGES: "10s" }, [], "K6_STAGES: expected stages as duration:target"],
    ["a variable of a flag", { K6_SUMMARY_MODE: "short" }, [], "K6_SUMMARY_MODE: "],
    ["the command line", {}, ["--stage", "ten"], "--stage: expected stages as duration:target"],
    ["the file", {}, ["--config", "script.js"], "script.js: is not a JSON object"],
    ["a file that is not there", {}, ["--config", "nope.json"], "nope.json: cannot be read"],
    ["an output", {}, ["--out", "jsn"], "did you mean `json`"],
  ]) {
    test(`a mistake in ${name} is named: 104`, async (t) => {
      const { code, stderr } = await run(t, FILES, args, env);
      assert.equal(code, 104, stderr);
      assert.ok(stderr.includes(said), `${said} in ${stderr}`);
    });
  }

  test("what k6 has and we have not is refused by name: 2", async (t) => {
    const { code, stderr } = await run(t, NOTHING, ["--traces-output", "otel"]);
    assert.equal(code, 2);
    assert.match(stderr, /--traces-output is not supported: /);
    const command = await plimsollIn({}, "cloud", "script.js");
    assert.equal(command.code, 2);
    assert.match(command.stderr, /k6's command `cloud` is not supported: /);
  });

  test("a script sees the variables of the system and those that are given", async (t) => {
    const script = "export default function () {\n  console.log(`${__ENV.A} ${__ENV.B} ${__ENV.C}`);\n}";
    const env = { A: "system", B: "system" };
    const all = await run(t, script, ["-e", "B=given"], env);
    assert.match(all.stderr, /system given undefined/);
    const some = await run(t, script, ["--include-system-env-vars=false", "-e", "A", "-e", "C="], env);
    assert.match(some.stderr, /system undefined {2}/);
  });
});

describe("results", () => {
  const SCRIPT =
    'import { check, group } from "k6";\nimport { Counter } from "k6/metrics";\nconst seen = new Counter("seen");\n' +
    'export default function () {\n  seen.add(3);\n  group("inside", () => check(1, { yes: (one) => one === 1 }));\n' +
    '  console.warn("careful");\n}';

  test("samples go to outputs, the summary to a file and to the screen", async (t) => {
    const args = ["--out", "json=samples.json", "--summary-export", "summary.json", "--log-output", "file=run.log"];
    const { code, stdout, stderr, cwd } = await run(t, SCRIPT, args);
    assert.equal(code, 0);
    assert.equal(stderr, "");
    const lines = readFileSync(join(cwd, "samples.json"), "utf8").trim().split("\n").map(JSON.parse);
    const sample = lines.find(({ type, metric }) => type === "Point" && metric === "seen");
    assert.equal(sample.data.value, 3);
    const summary = JSON.parse(readFileSync(join(cwd, "summary.json"), "utf8"));
    assert.equal(summary.metrics.seen.count, 3);
    assert.equal(summary.root_group.groups.inside.checks.yes.passes, 1);
    assert.match(readFileSync(join(cwd, "run.log"), "utf8"), /^WARN\[0000\] careful +source=console\n/);
    assert.match(stdout, /✓ yes/);
    assert.match(stdout, /seen\.+: 3 /);
  });

  test("in k6's older layout, as JSON, or not at all", async (t) => {
    const legacy = await run(t, SCRIPT, ["--summary-mode", "legacy"]);
    assert.match(legacy.stdout, /█ inside/);
    const { stdout } = await run(t, SCRIPT, ["--format", "json"]);
    assert.equal(JSON.parse(stdout).metrics.seen.values.count, 3);
    const none = await run(t, SCRIPT, ["--no-summary"]);
    assert.equal(none.stdout, "");
  });

  test("an output that cannot begin ends the run before it does: 255", async (t) => {
    for (const out of ["json=nowhere/samples.json", "csv=nowhere/samples.csv"]) {
      const { code, stdout, stderr } = await run(t, SCRIPT, ["--out", out]);
      assert.deepEqual([code, stdout], [255, ""]);
      assert.match(stderr, /cannot write to `nowhere\/samples/);
    }
  });

  test("a file that cannot be written takes nothing from the other results: 0", async (t) => {
    const exported = await run(t, SCRIPT, ["--summary-export", "nowhere/summary.json"]);
    assert.equal(exported.code, 0);
    assert.match(exported.stderr, /ERRO.*cannot write nowhere\/summary\.json/);
    assert.match(exported.stdout, /seen\.+: 3 /);
    const script = `${SCRIPT}\nexport const handleSummary = () => ({ "nowhere/a.txt": "a", stdout: "said\\n" });`;
    const { code, stdout, stderr } = await run(t, script);
    assert.deepEqual([code, stdout], [0, "said\n"]);
    assert.match(stderr, /ERRO.*cannot write nowhere\/a\.txt/);
  });

  test("a secret is in no log, no summary and no exit message", async (t) => {
    const script =
      'import secrets from "k6/secrets";\nimport exec from "k6/execution";\n' +
      'export default async function () {\n  const token = await secrets.get("token");\n  console.log(token);\n' +
      "  if (__ITER === 1) exec.test.abort(`refused ${token}`);\n  throw new Error(`refused ${token}`);\n}";
    const args = ["--secret-source", "file=secrets.txt", "-i", "2"];
    for (const form of ["text", "json"]) {
      const files = { "script.js": script, "secrets.txt": "token=verysecret\n" };
      const { code, stdout, stderr } = await run(t, files, [...args, "--format", form, "--log-format", form]);
      assert.equal(code, 108);
      assert.match(stderr, /error: test aborted: refused \*\*\*SECRET_REDACTED\*\*\*/);
      assert.match(stdout, /refused \*\*\*SECRET_REDACTED\*\*\*/);
      assert.doesNotMatch(stdout + stderr, /verysecret/);
    }
    const { code, stderr } = await run(t, { "script.js": script, "secrets.txt": "verysecret\n" }, args);
    assert.equal(code, 104);
    assert.match(stderr, /--secret-source: secrets\.txt:1: expected key=secret/);
  });

  test("handleSummary says what is printed and written", async (t) => {
    const script =
      `${SCRIPT}\nexport function setup() {\n  return { token: 7 };\n}\nexport function handleSummary(data) {\n` +
      "  return { stdout: `seen ${data.metrics.seen.values.count} ${data.setup_data.token}\\n`, " +
      '"data.json": JSON.stringify(data) };\n}';
    const { code, stdout, cwd } = await run(t, script);
    assert.equal(code, 0);
    assert.equal(stdout, "seen 3 7\n");
    const data = JSON.parse(readFileSync(join(cwd, "data.json"), "utf8"));
    assert.equal(data.state.isStdOutTTY, false);
    assert.equal(data.options.noColor, false);
    assert.equal(data.root_group.groups[0].checks[0].name, "yes");
  });

  test("a handleSummary that fails leaves the usual summary", async (t) => {
    const script = `${SCRIPT}\nexport function handleSummary() {\n  throw new Error("no summary");\n}`;
    const { code, stdout, stderr } = await run(t, script);
    assert.equal(code, 0);
    assert.match(stderr, /handleSummary\(\) failed.*no summary/s);
    assert.match(stdout, /✓ yes/);
  });

  test("what the script says with console may go to a file of its own", async (t) => {
    const script = `export const options = { consoleOutput: "console.log" };\n${SCRIPT}`;
    const { code, stderr, cwd } = await run(t, script, ["--log-format", "json"]);
    assert.equal(code, 0, stderr);
    const line = JSON.parse(readFileSync(join(cwd, "console.log"), "utf8"));
    assert.equal(line.msg, "careful");
    assert.equal(line.source, "console");
    assert.equal(line.level, "warning");
    assert.doesNotMatch(stderr, /careful/);
  });

  test("without --quiet the test is described first", async (t) => {
    const cwd = folderOf(t, { "script.js": SCRIPT });
    const { stderr } = await plimsollIn({ cwd }, "run", "-u", "3", "-d", "1s", "script.js");
    assert.match(stderr, /script: script\.js\n/);
    assert.match(stderr, /1 scenario, 3 max VUs, 31s max duration \(incl\. graceful stop\):\n/);
    assert.match(stderr, /\* default: 3 looping VUs for 1s \(gracefulStop: 30s\)\n/);
  });
});

describe("plimsoll new", () => {
  test("writes a script, and not over another one", async (t) => {
    const cwd = folderOf(t, {});
    for (const template of ["minimal", "protocol", "cable"]) {
      const file = `${template}.js`;
      const made = await plimsollIn({ cwd }, "new", file, "--template", template);
      assert.equal(made.code, 0, made.stderr);
      assert.match(made.stderr, new RegExp(`plimsoll run ${file}`));
      const read = await plimsollIn({ cwd }, "inspect", file);
      assert.equal(read.code, 0, read.stderr);
    }
    const again = await plimsollIn({ cwd }, "new", "cable.js");
    assert.equal(again.code, 2);
    assert.match(again.stderr, /cable\.js already exists/);
    assert.match(readFileSync(join(cwd, "cable.js"), "utf8"), /k6\/x\/cable/);
    assert.equal((await plimsollIn({ cwd }, "new", "cable.js", "--force")).code, 0);
    assert.doesNotMatch(readFileSync(join(cwd, "cable.js"), "utf8"), /k6\/x\/cable/);
  });

  test("writes files of other tools, which run", async (t) => {
    const server = await Server.start("--app", "benchmark", "--no-welcome");
    t.after(() => server.stop());
    const cwd = folderOf(t, {});
    for (const [template, flags, answer] of [
      ["artillery", ["--target", server.ws("/echo")], /ok: vusers\.failed == 0/],
      ["wsdirector", ["--url", server.ws("/cable"), "--scale", "2"], /Group listener: 4 clients, 0 failures/],
    ]) {
      const made = await plimsollIn({ cwd }, "new", "--template", template, "--force");
      assert.match(made.stderr, /^Wrote test\.yml\. Run it with: plimsoll run test\.yml/);
      const written = readFileSync(join(cwd, "test.yml"), "utf8");
      writeFileSync(join(cwd, "test.yml"), written.replace(/duration: \d+/g, "duration: 1").replace("think: 1", "think: 0.01"));
      const { code, stdout, stderr } = await plimsollIn({ cwd }, "run", "test.yml", ...flags);
      assert.equal(code, 0, stderr);
      assert.match(stdout, answer);
    }
  });

  test("the script for cables runs against the chat application", async (t) => {
    const server = await Server.start("--app", "chat");
    t.after(() => server.stop());
    const cwd = folderOf(t, {});
    await plimsollIn({ cwd }, "new", "chat.js", "--template", "cable");
    const args = ["--quiet", "--no-thresholds", "-u", "2", "-i", "2", "-e", `CABLE_URL=${server.ws("/cable")}`];
    const { code, stdout, stderr } = await plimsollIn({ cwd }, "run", ...args, "chat.js");
    assert.equal(code, 0, stderr);
    assert.match(stdout, /checks_succeeded\.+: 100\.00% 10 out of 10/);
    assert.match(stdout, /✓ heard its own message/);
    assert.match(stdout, /ws_sessions\.+: 2 /);
  });
});
