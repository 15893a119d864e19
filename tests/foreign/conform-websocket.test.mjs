// `plimsoll conform websocket` on the server and the clients of this program, and on a server with one fault at a time: each
// has to be caught by the case that is about it. Foreign libraries are in `conform-peers.test.mjs`.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { describe, test } from "node:test";
import WebSocket from "ws";
import { CATCHING } from "./conform/catching.mjs";
import { FAULTS, FREEDOMS, startFaulty } from "./conform/faulty-server.mjs";
import { within } from "./support/deadline.mjs";
import { ENVIRONMENT, PROGRAM, Server, plimsoll, startPlimsoll } from "./support/plimsoll.mjs";

/** All cases of a target take a quarter of a minute; builds without optimisation, and busy machines, some more. */
const PATIENCE_MS = 280_000;

/** Autobahn's largest messages. */
const ROOM = ["--max_message_size", String(16 << 20)];

/** Messages in each case of compression: enough for one to refer to another. */
const FEW = ["--messages", "3"];

const pathOf = (name) => new URL(name, import.meta.url).pathname;
const expectations = (name) => pathOf(`expectations/websocket-${name}.txt`);

/** Waits for the end of a process; gives its code and what it said on standard error. */
async function ended(child, what) {
  let stderr = "";
  child.stderr?.setEncoding("utf8").on("data", (chunk) => (stderr += chunk));
  child.stdout?.resume();
  const [code] = await within(once(child, "exit"), what, PATIENCE_MS);
  return { code, stderr };
}

async function checkServer(url, name) {
  const child = startPlimsoll("conform", "websocket", url, ...FEW, "--expect", expectations(name));
  const { code, stderr } = await ended(child, `all cases of ${name}`);
  assert.equal(code, 0, stderr);
}

/** Starts the suite for clients; `address` is where it listens. */
async function startSuite(...args) {
  const child = startPlimsoll("conform", "websocket", "--listen", "127.0.0.1:0", ...FEW, ...args);
  const outcome = ended(child, "the suite for clients");
  const lines = createInterface({ input: child.stderr });
  const [line] = await within(once(lines, "line"), "the suite's address");
  return { base: /ws:\/\/[^/]+/.exec(line)[0], outcome };
}

async function checkClient(name, start, ...args) {
  const { base, outcome } = await startSuite("--expect", expectations(name), ...args);
  const client = start(base);
  const { code, stderr } = await outcome;
  client.kill();
  assert.equal(code, 0, stderr);
}

describe("servers", { concurrency: 2 }, () => {
  test("plimsoll serve", async (t) => {
    const server = await Server.start("--app", "echo", ...ROOM);
    t.after(() => server.stop());
    await checkServer(server.ws("/"), "plimsoll-server");
  });

  test("plimsoll serve, with compression", async (t) => {
    const server = await Server.start("--app", "echo", "--enable_ws_compression", ...ROOM);
    t.after(() => server.stop());
    await checkServer(server.ws("/"), "plimsoll-server-deflate");
  });
});

/** Starts a script that goes through the cases of the suite at `base`. */
function startScript(module, base, ...variables) {
  const environment = [`BASE=${base}`, ...variables].flatMap((variable) => ["-e", variable]);
  const args = ["run", "--quiet", "--no-save", ...environment, pathOf(`conform/${module}.js`)];
  return spawn(PROGRAM, args, { stdio: "ignore", env: ENVIRONMENT });
}

/** The families that are not about compression. */
const PLAIN = ["1.*", "2.*", "3.*", "4.*", "5.*", "6.*", "7.*", "9.*", "10.*", "f.*", "r.*"];

describe("clients", { concurrency: 2 }, () => {
  for (const module of ["k6-ws", "k6-websockets"]) {
    test(`${module} of plimsoll run, with compression`, () =>
      checkClient(module, (base) => startScript(module, base, "COMPRESSION=deflate")));
  }

  test("k6-ws of plimsoll run, without compression", () =>
    checkClient("k6-ws-plain", (base) => startScript("k6-ws", base), "--only", PLAIN.join(",")));

  test("a client that asks for nothing has all cases skipped", async () => {
    const { base, outcome } = await startSuite("--only", "1.1", "--format", "json");
    new WebSocket(`${base}/stopServer`).on("error", () => {});
    assert.equal((await outcome).code, 0);
  });
});

describe("a server with one fault at a time", { concurrency: 4 }, () => {
  test("every fault has a case that catches it", () => {
    assert.deepEqual(Object.keys(CATCHING).sort(), Object.keys(FAULTS).sort());
  });

  for (const [fault, what] of Object.entries(FAULTS)) {
    test(`${fault}: a server that ${what}`, async (t) => {
      const id = CATCHING[fault];
      const { verdict, closing } = await verdictOf(t, fault, id);
      assert.notDeepEqual([verdict, closing ?? "pass"], ["pass", "pass"], `${id} passes`);
    });
  }

  test("without a fault it passes all these cases", async (t) => {
    const ids = [...new Set(Object.values(CATCHING))];
    for (const { id, verdict, closing, explanation } of await outcomesOf(t, undefined, ...ids)) {
      assert.deepEqual([verdict, closing ?? "pass"], ["pass", "pass"], `${id}: ${explanation}`);
    }
  });

  test("and all others but those of size", async (t) => {
    const server = await startFaulty(undefined);
    t.after(() => server.close());
    const url = `ws://127.0.0.1:${server.address().port}/`;
    const { code, stdout } = await plimsoll("conform", "websocket", url, "--except", "9,12,13", "--format", "json");
    assert.equal(code, 0, stdout);
    const words = JSON.parse(stdout).outcomes.flatMap(({ verdict, closing = "pass" }) => [verdict, closing]);
    assert.deepEqual([...new Set(words)].sort(), ["informational", "pass"]);
  });
});

test("a parameter that a server leaves out of every answer is one failure", async (t) => {
  const server = await startFaulty("no-window");
  t.after(() => server.close());
  const url = `ws://127.0.0.1:${server.address().port}/`;
  const { code, stdout } = await plimsoll("conform", "websocket", url, ...FEW, "--only", "13", "--format", "json");
  assert.equal(code, 3);
  const { outcomes } = JSON.parse(stdout);
  const of = (word) => outcomes.filter(({ verdict }) => verdict === word);
  assert.deepEqual(of("fail").map(({ id }) => id), ["13.3.1"]);
  assert.deepEqual(of("fail")[0].against, { clause: "RFC 7692 §7", level: "must" });
  assert.equal(of("skipped").length, 71);
  const reasons = new Set(of("skipped").map(({ explanation }) => explanation));
  assert.deepEqual([...reasons], ["could not be run, because of the fault that 13.3.1 reports"]);
});

/** Cases that this server's freedoms are about: with a freedom it may get a note, and no failure. */
describe("a server that does otherwise where it may", { concurrency: 4 }, () => {
  for (const [freedom, what] of Object.entries(FREEDOMS)) {
    test(`${freedom}: a server that ${what}`, async (t) => {
      const server = await startFaulty(freedom);
      t.after(() => server.close());
      const url = `ws://127.0.0.1:${server.address().port}/`;
      // Only a limit is about messages of megabytes, which take this server half a minute.
      const large = freedom === "keeps-limit" ? "9.3,9.4,9.5,9.6,9.7,9.8" : "9";
      const { code, stdout, stderr } = await plimsoll(
        ...["conform", "websocket", url, "--except", `${large},12,13`, "--format", "json", "--timeout", "60"],
      );
      assert.equal(code, 0, stderr || stdout);
      const bad = JSON.parse(stdout).outcomes.filter(({ verdict, closing }) => [verdict, closing].includes("fail"));
      assert.deepEqual(bad, []);
    });
  }
});

async function verdictOf(t, fault, id) {
  const [outcome, ...more] = await outcomesOf(t, fault, id);
  assert.deepEqual(more, []);
  return outcome;
}

async function outcomesOf(t, fault, ...ids) {
  const server = await startFaulty(fault);
  t.after(() => server.close());
  const url = `ws://127.0.0.1:${server.address().port}/`;
  const args = ["--messages", "20", "--format", "json", "--only", ids.join(",")];
  const { stdout } = await plimsoll("conform", "websocket", url, ...args);
  // An id with a letter is a word, too, and selects others that begin with it.
  return JSON.parse(stdout).outcomes.filter(({ id }) => ids.includes(id));
}
