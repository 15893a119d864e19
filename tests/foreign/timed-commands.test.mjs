// `--at`: commands that run beside the load, and what reports say of them.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { after, before, describe, test } from "node:test";
import { Browser } from "./support/browser.mjs";
import { Server, plimsollIn } from "./support/plimsoll.mjs";
import { assertWhole, LOOKS, open } from "./support/report-page.mjs";
import { folderOf } from "./support/scripts.mjs";

/** Runs with a report in both forms: `{ code, stdout, stderr, summary, page }`. */
async function run(t, files, ...args) {
  const cwd = folderOf(t, files);
  const ran = await plimsollIn({ cwd }, ...args, "--report", "a.json", "--report", "a.html");
  const summary = () => JSON.parse(readFileSync(join(cwd, "a.json"), "utf8"));
  return { ...ran, summary, page: join(cwd, "a.html") };
}

const USERS = `
import { sleep } from "k6";
export const options = { vus: 1, duration: "2s" };
export function setup() { sleep(1); }
export default function () { sleep(0.1); }
`;

describe("a bench", () => {
  let server;
  before(async () => (server = await Server.start("--app", "benchmark")));
  after(() => server.stop());
  const broadcast = (t, ...args) =>
    run(
      t,
      {},
      ...["bench", "broadcast", server.ws("/cable"), "--server-type", "actioncable", "--step-size", "10", "--total-steps", "1"],
      ...["--rate", "20/s", "--duration", "4s", ...args],
    );

  test("what a command does to the server is beside it in the report", async (t) => {
    const freeze = `kill -STOP ${server.pid}; sleep 1; kill -CONT ${server.pid}; echo thawed`;
    const { code, stderr, summary, page } = await broadcast(t, "--at", "1500ms", freeze);
    assert.equal(code, 0, stderr);
    const { commands, notices, metrics, timeline } = summary();
    assert.equal(commands.length, 1);
    const [{ command, at_seconds, seconds, exit_code, output }] = commands;
    assert.deepEqual([command, exit_code, output], [freeze, 0, "thawed\n"]);
    assert.ok(at_seconds >= 1.5 && seconds >= 1, JSON.stringify(commands));
    const notice = notices.filter((notice) => notice.includes("kill -STOP"));
    assert.deepEqual(notice, [`at ${at_seconds.toFixed(1)} s \`${freeze}\` ran for ${seconds.toFixed(1)} s`]);
    // The broadcast that was due right after the freeze took most of it, and it was due in the second of the mark or the next.
    const { max } = metrics.delivery.values;
    assert.ok(max > 900_000, `the slowest broadcast took ${max} µs`);
    const worst = timeline.metrics.delivery.max.indexOf(Math.max(...timeline.metrics.delivery.max));
    const due = (worst + 1) * timeline.interval_seconds;
    assert.ok(due >= at_seconds && due <= at_seconds + seconds + 2 * timeline.interval_seconds, `${due} and ${at_seconds}`);

    const browser = await Browser.launch();
    t.after(() => browser.close());
    for (const look of LOOKS) {
      const { page: shown, said, asked } = await open(t, browser, page, look);
      assert.deepEqual([said, asked], [[], [pathToFileURL(page).href]]);
      await assertWhole(shown, look);
      const charts = await shown.evaluate(() =>
        [...document.querySelectorAll("figure.chart")].map(({ chart }) => chart.data()).filter(({ horizontal }) => horizontal.kind === "time"),
      );
      assert.ok(charts.length >= 3);
      for (const { title, marks } of charts) {
        assert.deepEqual(marks, [{ x: at_seconds, label: `${freeze.slice(0, 23)}…` }], title);
      }
      assert.match(await shown.locator(".notices").innerText(), /kill -STOP/);
    }
  });

  test("a command that fails, and one that comes too late", async (t) => {
    const { code, stderr, summary } = await broadcast(t, "--at", "1h", "reboot", "--at", "1s", "echo one; echo two >&2; exit 3");
    assert.equal(code, 0, stderr);
    const { commands, notices } = summary();
    assert.deepEqual(
      commands.map(({ exit_code, output }) => [exit_code, output]),
      [[3, "one\ntwo\n"]],
    );
    const [failed, late] = notices.slice(-2);
    assert.match(failed, /^at 1\.\d s `echo one; echo two >&2; exit 3` ran for 0\.\d s and ended with exit code 3: two$/);
    assert.equal(late, "the command `reboot` of --at did not run, because the run ended before 1h0m0s");
    assert.match(stderr, /The command `echo one; echo two >&2; exit 3` of --at begins\./);
    assert.match(stderr, /The command `echo one; echo two >&2; exit 3` of --at has failed after 0\.\d s: exit code 3\./);
  });
});

test("the time counts from the first user of a script, and the end of a command is waited for", async (t) => {
  const { code, stderr, summary } = await run(t, { "a.js": USERS }, "run", "a.js", "--at", "500ms", "sleep 3; echo undone");
  assert.equal(code, 0, stderr);
  const { commands, metadata } = summary();
  const [{ at_seconds, seconds, output }] = commands;
  assert.ok(at_seconds >= 0.5 && at_seconds < 1.5, `setup takes 1 s and is not counted: ${at_seconds}`);
  assert.ok(seconds >= 3);
  assert.equal(output, "undone\n");
  assert.ok(metadata.duration_seconds < 3, "the wait is not a part of the run");
  assert.match(stderr, /Waiting for the end of the command `sleep 3; echo undone` of --at\./);
});

describe("what cannot be planned is told before the load", () => {
  for (const [name, flags, expected] of [
    ["a time in the place of the command", ["reboot", "5s"], /--at: `reboot` is not a duration; .*the time comes first/],
    ["no command", ["5s", " "], /--at 5s: the command is empty/],
    ["one value", ["5s"], /2 values required for '--at <TIME> <COMMAND>'/],
  ]) {
    test(name, async (t) => {
      const { code, stderr } = await run(t, { "a.js": USERS }, "run", "a.js", "--at", ...flags);
      assert.notEqual(code, 0);
      assert.match(stderr, expected);
    });
  }
});
