// `plimsoll conform websocket` against WebSocket libraries, in both roles. The files in `expectations` say what each comes
// to, and why; a change in either direction fails. Whatever fails has to be against a MUST: `must-clauses.json` lists the
// places that say it, and to which side, apart from the program.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { within } from "./support/deadline.mjs";
import { built } from "./support/go.mjs";
import { plimsoll, startPlimsoll } from "./support/plimsoll.mjs";
import { pythonWith } from "./support/python.mjs";

/** All cases of a target take half a minute; builds without optimisation, and busy machines, some more. */
const PATIENCE_MS = 400_000;

const pathOf = (name) => fileURLToPath(new URL(name, import.meta.url));

/**
 * Cases in which a message and a fault follow each other closely, or a fault and the end of the connection. Whether a peer of
 * asyncio echoes the message before it reads the fault depends on when its tasks run, and both are allowed. The other
 * peers go through these cases.
 */
const RACES_IN_BOTH_ROLES = ["3", "4", "6.4", "7.1.6"];
const RACES_OF_ASYNCIO = { server: RACES_IN_BOTH_ROLES, client: [...RACES_IN_BOTH_ROLES, "r.3"] };

const python = (name) => (...words) => [pythonWith(name), pathOf(`conform/python-${name}.py`), ...words];

/**
 * The peers: the command that starts each in a role, which is `serve` or `visit` with the address of the suite, and the
 * cases that have more than one result with it.
 */
const PEERS = {
  ws: {
    commandOf: (role, ...base) => {
      const script = { serve: "conform/ws-server.mjs", visit: "conform/ws-client.mjs" }[role];
      return [process.execPath, pathOf(script), ...base, "deflate"];
    },
    races: {},
  },
  "python-websockets": { commandOf: python("websockets"), races: RACES_OF_ASYNCIO },
  "python-aiohttp": { commandOf: python("aiohttp"), races: RACES_OF_ASYNCIO },
  gorilla: { commandOf: async (...words) => [await built("gorilla"), ...words], races: {} },
};

/** Starts a peer that ends with the test. */
function start(t, [program, ...args]) {
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "inherit"] });
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

/** Places that say MUST or MUST NOT, and to which side: `server`, `client` or `both`. */
const MUST = JSON.parse(readFileSync(pathOf("expectations/must-clauses.json"), "utf8")).clauses;

/** The places of a clause: `RFC 6455 §4.2.2 (5), §9` is `RFC 6455 §4.2.2` and `RFC 6455 §9`. */
function placesOf(clause) {
  let rfc;
  return clause.split(", ").map((part) => {
    const [, named, place] = /^(?:(RFC \d+) )?(.*?)(?: \(\d+\))?$/.exec(part);
    rfc = named ?? rfc;
    return `${rfc} ${place}`;
  });
}

/** Every place of a clause says MUST, and at least one to a target in this role. */
function assertBinding(role, id, clause) {
  const places = placesOf(clause);
  for (const place of places) assert.ok(MUST[place], `${id}: ${place} is not in must-clauses.json`);
  assert.ok(places.some((place) => ["both", role].includes(MUST[place][0])), `${id}: ${clause} does not bind a ${role}`);
}

/** The verdicts are as expected, and every failure names a clause that says MUST. */
function check(role, { code, stdout, stderr }) {
  assert.equal(code, 0, stderr);
  for (const { id, verdict, level, clause, against } of JSON.parse(stdout).outcomes) {
    if (verdict !== "fail") continue;
    assert.equal(against?.level ?? level, "must", id);
    assertBinding(role, id, against?.clause ?? clause);
  }
}

const except = ({ races }, role) => (races[role] ? ["--except", races[role].join()] : []);

/** Runs the suite against a peer in a role. */
const CHECKS = {
  async server(t, name, peer) {
    const server = start(t, await peer.commandOf("serve"));
    const [port] = await within(once(createInterface({ input: server.stdout }), "line"), "the server's port");
    const suite = startSuite(`${name}-server`, `ws://127.0.0.1:${port}/`, ...except(peer, "server"));
    check("server", await ended(suite, `all cases of ${name} as a server`));
  },

  async client(t, name, peer) {
    const suite = startSuite(`${name}-client`, "--listen", "127.0.0.1:0", ...except(peer, "client"));
    const outcome = ended(suite, `all cases of ${name} as a client`);
    const [line] = await within(once(createInterface({ input: suite.stderr }), "line"), "the suite's address");
    start(t, await peer.commandOf("visit", /ws:\/\/[^/]+/.exec(line)[0]));
    check("client", await outcome);
  },
};

test("every case that can fail cites a place that says MUST to its target", async () => {
  for (const [role, flags] of [["server", []], ["client", ["--listen", "127.0.0.1:0"]]]) {
    const { code, stdout, stderr } = await plimsoll("conform", "websocket", "--list", ...flags);
    assert.equal(code, 0, stderr);
    const cases = stdout.trimEnd().split("\n").map((line) => line.trim().split(/ {2,}/));
    const binding = cases.filter(([, level]) => level === "MUST");
    assert.ok(binding.length > 500, `${binding.length} of ${cases.length}`);
    for (const columns of binding) assertBinding(role, columns[0], columns.at(-1));
  }
});

for (const [name, peer] of Object.entries(PEERS)) {
  describe(name, { concurrency: 2 }, () => {
    for (const role of Object.keys(CHECKS)) test(`as a ${role}`, (t) => CHECKS[role](t, name, peer));
  });
}
