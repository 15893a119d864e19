// The view in a terminal: when there is one, what keys do, and that the terminal is left as it was found.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { Server, plimsollIn } from "./support/plimsoll.mjs";
import { folderOf } from "./support/scripts.mjs";
import { Terminal } from "./support/terminal.mjs";

const LONG = `
import { sleep } from "k6";
export const options = { vus: 2, duration: "10m" };
export default function () { console.log("line " + __VU); sleep(1000); }
export function teardown() { console.log("torn down"); }
`;

const CONTROLLED = `
import { sleep } from "k6";
export const options = { scenarios: { all: { executor: "externally-controlled", vus: 1, maxVUs: 4, duration: "10m" } } };
export default function () { sleep(0.1); }
`;

/** Only the view says this. */
const VIEW = /end the run and show its summary/;

/** Only the plain progress says this. */
const PLAIN = /default +\[[=>-]+\] +2 VUs/;

const SIGTERM = 15;

const AS_FOUND = { echo: true, lineMode: true };

const CTRL_C = "\x03";

function start(t, surroundings, script, ...args) {
  const cwd = folderOf(t, { "script.js": script });
  return { cwd, terminal: Terminal.start(t, { cwd, ...surroundings }, "run", ...args, "script.js") };
}

describe("the view", () => {
  test("is there in a wide terminal, and q ends the run with its summary: 105", async (t) => {
    const { terminal } = start(t, {}, LONG);
    await terminal.shows(/script\.js {2}running {2}/);
    await terminal.shows(/users 2 of 2 active/);
    await terminal.shows(VIEW);
    terminal.press("q");
    // As after Ctrl-C.
    await terminal.shows(/vus_max\.+: 2 /);
    assert.deepEqual(await terminal.end(), { code: 105, signal: null, ...AS_FOUND });
    assert.match(terminal.output, /the run was stopped on its page or with a key/);
    for (const line of ["line 1 ", "line 2 ", "torn down"]) {
      assert.equal(terminal.output.split(line).length, 2, `${line} once, above the view: ${terminal.output}`);
    }
    assert.doesNotMatch(terminal.output, /\x1b\[[0-9;]*m/, "NO_COLOR");
  });

  test("q after q is no second Ctrl-C", async (t) => {
    const slow = LONG.replace('console.log("torn down")', 'console.log("cleaning"); sleep(1)');
    const { terminal } = start(t, {}, slow);
    await terminal.shows(/running {2}/);
    terminal.press("q");
    await terminal.shows(/cleaning/);
    terminal.press("q");
    await terminal.shows(/vus_max\.+: 2 /);
    assert.equal((await terminal.end()).code, 105);
  });

  for (const [why, surroundings, args] of [
    ["a narrow terminal", { size: [99, 40] }, []],
    ["a low terminal", { size: [120, 23] }, []],
    ["--no-tui", {}, ["--no-tui"]],
    ["a run that is not long", {}, ["--duration", "10s"]],
  ]) {
    test(`is not there by itself: ${why}`, async (t) => {
      const { terminal } = start(t, surroundings, LONG, ...args);
      await terminal.shows(PLAIN);
      terminal.press(CTRL_C);
      assert.deepEqual(await terminal.end(), { code: 105, signal: null, ...AS_FOUND });
      assert.doesNotMatch(terminal.output, VIEW);
    });
  }

  test("is not there where nothing can be drawn, nor with --quiet", async (t) => {
    const { terminal } = start(t, { env: { TERM: "dumb" } }, LONG, "--duration", "11s", "--vus", "1");
    await terminal.shows(/running \(/);
    terminal.press(CTRL_C);
    await terminal.end();
    assert.doesNotMatch(terminal.output, VIEW);
    const cwd = folderOf(t, { "script.js": LONG });
    for (const [args, expected] of [
      [["--tui"], /--tui: standard error is not a terminal with cursor control/],
      [["--tui", "--quiet"], /'--tui' cannot be used with '--quiet'|'--quiet' cannot be used with '--tui'/],
    ]) {
      const refused = await plimsollIn({ cwd }, "run", ...args, "script.js");
      assert.equal(refused.code, 2, refused.stderr);
      assert.match(refused.stderr, expected);
    }
  });

  test("follows the size of its terminal, and answers ?", async (t) => {
    const { terminal } = start(t, { size: [120, 30] }, LONG);
    await terminal.shows(/whole run/);
    const small = terminal.after();
    terminal.resize(60, 12);
    await small.shows(/2 of 2 users active/);
    const large = terminal.after();
    terminal.resize(140, 50);
    await large.shows(/users 2 of 2 active/);
    const help = terminal.after();
    terminal.press("?");
    await help.shows(/The log is printed above this view/);
    const back = terminal.after();
    terminal.press("?");
    await back.shows(/users 2 of 2 active/);
    terminal.press("q");
    assert.deepEqual(await terminal.end(), { code: 105, signal: null, ...AS_FOUND });
  });

  test("has colours, unless they are refused", async (t) => {
    const { terminal } = start(t, { env: { NO_COLOR: "" } }, LONG);
    await terminal.shows(/\x1b\[0;1mscript\.js/);
    terminal.press("q");
    await terminal.end();
  });

  test("p pauses and resumes what can be paused, and says why the rest cannot", async (t) => {
    const { terminal } = start(t, {}, CONTROLLED);
    await terminal.shows(/p pause/);
    terminal.press("p");
    await terminal.shows(/script\.js {2}paused/);
    const resumed = terminal.after();
    terminal.press("p");
    await resumed.shows(/script\.js {2}running/);
    terminal.press("q");
    await terminal.end();

    const { terminal: other } = start(t, {}, LONG);
    await other.shows(/running {2}/);
    other.press("p");
    await other.shows(/this run has no `externally-controlled` scenario/);
    other.press("q");
    await other.end();
  });
});

describe("the terminal is left as it was found", () => {
  test("after SIGTERM, with the summary", async (t) => {
    const { terminal } = start(t, {}, LONG);
    await terminal.shows(/users 2 of 2 active/);
    terminal.signal(SIGTERM);
    await terminal.shows(/vus_max\.+: 2 /);
    assert.deepEqual(await terminal.end(), { code: 105, signal: null, ...AS_FOUND });
  });

  test("after Ctrl-C twice, and at once", async (t) => {
    const slow = LONG.replace('console.log("torn down")', 'console.log("cleaning"); sleep(50)');
    const { terminal } = start(t, {}, slow);
    await terminal.shows(/running {2}/);
    terminal.press(CTRL_C);
    await terminal.shows(/cleaning/);
    terminal.press(CTRL_C);
    assert.deepEqual(await terminal.end(), { code: 105, signal: null, ...AS_FOUND });
    assert.match(terminal.output, /second signal/);
  });

  test("after an error of the script", async (t) => {
    const failing = `${LONG}\nexport function setup() { throw new Error("no server"); }`;
    const { terminal } = start(t, {}, failing);
    assert.deepEqual(await terminal.end(), { code: 107, signal: null, ...AS_FOUND });
    assert.match(terminal.output, /no server/);
  });
});

describe("the view of a bench", { concurrency: false }, () => {
  const ENDLESS = ["--step-size", "5", "--sample-size", "1000000", "--total-steps", "1"];

  async function bench(t, ...args) {
    const server = await Server.start("--app", "benchmark");
    t.after(() => server.stop());
    const cwd = folderOf(t, {});
    const flags = ["--server-type", "actioncable", ...ENDLESS];
    return Terminal.start(t, { cwd }, "bench", "echo", server.ws("/cable"), ...flags, ...args);
  }

  test("is there with --tui, and q ends the bench with its result: 105", async (t) => {
    const terminal = await bench(t, "--tui");
    await terminal.shows(/bench echo ws:\S+ {2}running {2}/);
    await terminal.shows(/users 5 of 5 active/);
    await terminal.shows(/rtt p50/);
    await terminal.shows(VIEW);
    assert.doesNotMatch(terminal.output, /users 5 of 5 active {2}planned/);
    terminal.press("p");
    await terminal.shows(/a bench cannot be paused/);
    terminal.press("q");
    await terminal.shows(/clients: +5 [^]* sent, 0 unanswered/);
    assert.deepEqual(await terminal.end(), { code: 105, signal: null, ...AS_FOUND });
  });

  test("is not there by itself, and not where it cannot be", async (t) => {
    const terminal = await bench(t);
    await terminal.shows(/sending: \d+ of 1000000 answered/);
    terminal.signal(SIGTERM);
    assert.equal((await terminal.end()).code, 105);
    assert.doesNotMatch(terminal.output, VIEW);
    const { code, stderr } = await plimsollIn({}, "ab", "--tui", "http://127.0.0.1:1/");
    assert.equal(code, 2);
    assert.match(stderr, /--tui: standard error is not a terminal/);
  });
});

test("a terminal that is closed ends the run in good order, and the results are not lost", async (t) => {
  const { cwd, terminal } = start(t, {}, LONG, "--summary-export", "summary.json");
  await terminal.shows(/users 2 of 2 active/);
  terminal.close();
  const { signal } = await terminal.end();
  assert.equal(signal, null);
  const summary = JSON.parse(readFileSync(join(cwd, "summary.json"), "utf8"));
  assert.equal(summary.metrics.vus_max.value, 2);
});

test("reports of an Artillery file stand above the view", async (t) => {
  const file = {
    config: { target: "ws://127.0.0.1:9", phases: [{ duration: 600, arrivalRate: 1 }] },
    scenarios: [{ engine: "ws", flow: [{ think: 100 }] }],
  };
  const cwd = folderOf(t, { "test.yml": JSON.stringify(file) });
  const terminal = Terminal.start(t, { cwd }, "run", "test.yml");
  await terminal.shows(/Phase started: unnamed \(index: 0, duration: 600s\)[^]*test\.yml {2}running/);
  await terminal.shows(/1\.0 planned/);
  await terminal.shows(/✗ \d+ × /);
  terminal.press("q");
  await terminal.shows(/NOTHING SUCCEEDED/);
  const end = await terminal.end();
  assert.deepEqual({ echo: end.echo, lineMode: end.lineMode }, AS_FOUND);
});
