// `plimsoll conform websocket` against WebSocket libraries in other languages, in both roles. The files in `expectations` say
// what each comes to, and why; a change in either direction fails. Whatever fails has to be against a MUST.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { within } from "./support/deadline.mjs";
import { built } from "./support/go.mjs";
import { startPlimsoll } from "./support/plimsoll.mjs";
import { pythonWith } from "./support/python.mjs";

/** All cases of a target take half a minute; builds without optimisation, and busy machines, some more. */
const PATIENCE_MS = 400_000;

const pathOf = (name) => fileURLToPath(new URL(name, import.meta.url));

/** The peers in their roles: how each is started, with the role and its arguments behind it. */
const PEERS = {
  "python-websockets": {
    roles: ["server", "client"],
    commandOf: () => [pythonWith("websockets"), pathOf("conform/python-websockets.py")],
  },
  "python-aiohttp": {
    roles: ["server", "client"],
    commandOf: () => [pythonWith("aiohttp"), pathOf("conform/python-aiohttp.py")],
  },
  gorilla: { roles: ["server"], commandOf: async () => [await built("gorilla")] },
};

/** Starts a peer that ends with the test. */
function start(t, [program, ...args], ...role) {
  const child = spawn(program, [...args, ...role], { stdio: ["ignore", "pipe", "inherit"] });
  t.after(() => child.kill("SIGKILL"));
  return child;
}

/** The end of a run of the suite: its code, its JSON, and what it said on standard error. */
async function ended(child, what) {
  const output = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"]) child[name].setEncoding("utf8").on("data", (text) => (output[name] += text));
  const [code] = await within(once(child, "close"), what, PATIENCE_MS);
  return { code, ...output };
}

/** Starts the suite with few messages in each case of compression: enough for one to refer to another. */
function startSuite(file, ...target) {
  const expectations = pathOf(`expectations/websocket-${file}.txt`);
  const flags = ["--messages", "3", "--timeout", "60", "--format", "json", "--expect", expectations];
  return startPlimsoll("conform", "websocket", ...target, ...flags);
}

/** The verdicts are as expected, and every failure names a clause that says MUST. */
function check({ code, stdout, stderr }) {
  assert.equal(code, 0, stderr);
  for (const { id, verdict, level, against } of JSON.parse(stdout).outcomes) {
    if (verdict === "fail") assert.equal(against?.level ?? level, "must", id);
  }
}

/**
 * Cases in which a message and a fault follow each other closely. Whether a client of asyncio echoes the message before it
 * reads the fault depends on when its tasks run, and both are allowed.
 */
const RACES = ["3.2", "3.3", "3.4", "4.1.3", "4.1.4", "4.1.5", "4.2.3", "4.2.4", "4.2.5"];

/** Runs the suite against a peer in a role. */
const CHECKS = {
  async server(t, name, command) {
    const peer = start(t, command, "serve");
    const [port] = await within(once(createInterface({ input: peer.stdout }), "line"), "the server's port");
    const suite = startSuite(`${name}-server`, `ws://127.0.0.1:${port}/`);
    check(await ended(suite, `all cases of ${name} as a server`));
  },

  async client(t, name, command) {
    const suite = startSuite(`${name}-client`, "--listen", "127.0.0.1:0", "--except", RACES.join());
    const outcome = ended(suite, `all cases of ${name} as a client`);
    const [line] = await within(once(createInterface({ input: suite.stderr }), "line"), "the suite's address");
    start(t, command, "visit", /ws:\/\/[^/]+/.exec(line)[0]);
    check(await outcome);
  },
};

for (const [name, { roles, commandOf }] of Object.entries(PEERS)) {
  describe(name, { concurrency: false }, () => {
    let command;
    before(async () => (command = await commandOf()));

    for (const role of roles) test(`as a ${role}`, (t) => CHECKS[role](t, name, command));
  });
}
