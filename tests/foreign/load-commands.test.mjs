// What every load test has in common: its flags, and how it ends when it is told to.

import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { within } from "./support/deadline.mjs";
import { Server, plimsoll, plimsollIn, startPlimsollIn } from "./support/plimsoll.mjs";
import { eventually } from "./support/processes.mjs";
import { folderOf } from "./support/scripts.mjs";

const FILES = {
  "chat.js": "import { sleep } from 'k6'; export default function () { sleep(0.01); }",
  "chat.yml": "config: {phases: [{duration: 60, arrivalRate: 5}]}\nscenarios: [{engine: ws, flow: [{think: 5}]}]",
  "clients.yml": "- client: {multiplier: 2, actions: [{sleep: {time: 60}}]}",
};

/** One step of a bench that does not end. */
const ENDLESS = ["--server-type", "actioncable", "--step-size", "5", "--sample-size", "100000", "--total-steps", "1", "--command-delay", "0.01"];

/** Load tests that take a minute when nothing ends them. Each gets the address of a server. */
const COMMANDS = {
  "run, a script": () => ["run", "-u", "2", "-d", "60s", "chat.js"],
  "run, an Artillery file": (url) => ["run", "chat.yml", "-t", url("/echo")],
  "run, a wsdirector scenario": (url) => ["run", "clients.yml", "--url", url("/echo")],
  quick: (url) => ["quick", url("/echo"), "-c", "5", "-n", "100000000"],
  demo: () => ["demo", "--users", "5", "--time", "60"],
  "bench broadcast": (url) => ["bench", "broadcast", url("/cable"), ...ENDLESS],
  "bench connect": (url) => ["bench", "connect", url("/cable"), "--server-type", "actioncable", "--step-size", "5", "--steps-delay", "60"],
  "bench echo": (url) => ["bench", "echo", url("/cable"), ...ENDLESS],
  "bench recover": (url) => ["bench", "recover", url("/cable"), "--broadcast-key", "secret", "--clients", "5", "--duration", "60s"],
  "bench http": (url) => ["bench", "http", "-k", "-c", "2", "--duration", "60s", url("/health").replace("ws:", "http:")],
};

/** The flags that all of them have. */
const FLAGS = [
  ...["--out", "--report", "--format", "--watch", "--save", "--no-save", "--quiet", "--no-color"],
  ...["--ui", "--tui", "--no-tui", "--address", "--linger", "--no-memory-check"],
  ...["--fail-on-errors", "--abort-on-error-rate"],
];

/** How the help of a command is asked for. */
const HELP = {
  "run, a script": ["run", "--help"],
  "run, an Artillery file": ["run", "--as", "artillery", "--help"],
  "run, a wsdirector scenario": ["run", "--as", "wsdirector", "--help"],
  quick: ["quick", "--help"],
  demo: ["demo", "--help"],
  "bench broadcast": ["bench", "broadcast", "--help"],
  "bench connect": ["bench", "connect", "--help"],
  "bench echo": ["bench", "echo", "--help"],
  "bench recover": ["bench", "recover", "--help"],
  "bench http": ["bench", "http", "--help"],
  ab: ["ab", "--help"],
};

test("all load tests have the flags that one has", async () => {
  for (const [name, words] of Object.entries(HELP)) {
    const { code, stdout } = await plimsoll(...words);
    assert.equal(code, 0, name);
    const missing = FLAGS.filter((flag) => !new RegExp(`(^|\\s)${flag}\\b`, "m").test(stdout));
    assert.deepEqual(missing, [], name);
  }
});

for (const [name, command] of Object.entries(COMMANDS)) {
  describe(name, () => {
    let server;
    before(async () => (server = await Server.start("--app", "benchmark", "--public", "--broker", "memory", "--broadcast_key", "secret")));
    after(() => server.stop());

    /** Starts the load test, and waits until its users are at work. */
    async function start(t, ...flags) {
      const cwd = folderOf(t, FILES);
      const env = { PLIMSOLL_DATA_DIR: join(cwd, "data") };
      const words = [...command((path) => server.ws(path)), ...flags, "--address", "localhost:0"];
      const child = startPlimsollIn({ cwd, env }, ...words);
      const heard = { stdout: "", stderr: "" };
      for (const stream of ["stdout", "stderr"]) {
        child[stream].setEncoding("utf8").on("data", (chunk) => (heard[stream] += chunk));
      }
      const closed = once(child, "close").then(([code]) => code);
      const [, url] = await eventually(() => /answers on (http:\S+)\./.exec(heard.stderr), "the REST interface");
      const isRunning = async () => (await (await fetch(`${url}/status`)).json()).data.attributes.vus > 0;
      await eventually(isRunning, "users at work");
      const kept = async () => JSON.parse((await plimsollIn({ cwd, env }, "runs", "list", "--format", "json")).stdout);
      return { child, heard, closed, url, cwd, kept };
    }

    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
      test(`${signal} ends it with its result, its report, and an entry in the history`, async (t) => {
        const { child, heard, closed, cwd, kept } = await start(t, "--report", "report.json", "--format", "json");
        child.kill(signal);
        assert.equal(await within(closed, "the end"), 105, heard.stderr);
        assert.equal(typeof JSON.parse(heard.stdout), "object");
        assert.match(heard.stderr, /^error: the run was interrupted by a signal/m);
        const summary = JSON.parse(readFileSync(join(cwd, "report.json"), "utf8"));
        assert.equal(summary.end.cause, "shutdown");
        const [run, ...others] = await kept();
        assert.deepEqual([run.id, others], [summary.metadata.id, []]);
      });
    }

    test("an order of the REST interface ends it, and its samples are written", async (t) => {
      const { heard, closed, url, cwd } = await start(t, "--out", "json=samples.json");
      const order = { data: { type: "status", id: "default", attributes: { stopped: true } } };
      const headers = { "content-type": "application/json" };
      const { status } = await fetch(`${url}/status`, { method: "PATCH", headers, body: JSON.stringify(order) });
      assert.equal(status, 200);
      assert.equal(await within(closed, "the end"), 103, heard.stderr);
      const [first] = readFileSync(join(cwd, "samples.json"), "utf8").split("\n");
      assert.equal(JSON.parse(first).type, "Metric");
    });
  });
}
