// Who may end, pause and scale a run that goes on: signals, the REST interface and our commands for it.

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, request } from "node:http";
import { createInterface } from "node:readline";
import { describe, test } from "node:test";
import { within } from "./support/deadline.mjs";
import { plimsoll, plimsollIn, startPlimsollIn } from "./support/plimsoll.mjs";
import { eventually } from "./support/processes.mjs";
import { folderOf } from "./support/scripts.mjs";

const SLEEPERS = `
import { sleep } from "k6";
export const options = { scenarios: { all: { executor: "constant-vus", vus: 2, duration: "10m" } } };
export function setup() { console.log("set up"); }
export default function () { console.log("begun"); sleep(1000); }
export function teardown() { console.log("torn down"); }
`;

const CONTROLLED = `
import { sleep } from "k6";
export const options = { scenarios: { all: { executor: "externally-controlled", vus: 1, maxVUs: 4, duration: "10m" } } };
export default function () { console.log(\`user \${__VU}\`); sleep(1000); }
`;

/** A run that goes on, with what it says. */
class Run {
  #child;
  /** When it has ended and everything that it said has arrived. */
  #closed;
  #lines = [];
  #stdout = "";

  static start(t, script, ...args) {
    const run = new Run();
    const cwd = folderOf(t, { "script.js": script });
    run.#child = startPlimsollIn({ cwd }, "run", "--quiet", ...args, "script.js");
    t.after(() => run.#child.kill("SIGKILL"));
    run.#closed = once(run.#child, "close");
    run.#child.stdout.setEncoding("utf8").on("data", (text) => (run.#stdout += text));
    createInterface({ input: run.#child.stderr }).on("line", (line) => run.#lines.push(line));
    return run;
  }

  get stderr() {
    return this.#lines.join("\n");
  }

  get stdout() {
    return this.#stdout;
  }

  /** Waits until it has said this so often. */
  said(words, n = 1) {
    const count = () => this.#lines.filter((line) => line.includes(words)).length;
    return eventually(() => count() >= n, `\`${words}\` ${n} times`).catch((error) => {
      throw new Error(`${error.message}; it said: ${this.stderr}`);
    });
  }

  /** Where its REST interface is: `127.0.0.1:43567`. */
  async address() {
    await this.said("The REST interface answers on");
    return /http:\/\/(\S+)\/v1/.exec(this.stderr)[1];
  }

  kill(signal) {
    this.#child.kill(signal);
  }

  async code() {
    const [code, signal] = await within(this.#closed, `the run to end, which said: ${this.stderr}`);
    assert.equal(signal, null);
    return code;
  }
}

describe("signals", () => {
  for (const signal of ["SIGINT", "SIGTERM"]) {
    test(`${signal} interrupts iterations; teardown and summary follow: 105`, async (t) => {
      const run = Run.start(t, SLEEPERS);
      await run.said("begun", 2);
      run.kill(signal);
      assert.equal(await run.code(), 105);
      assert.match(run.stderr, /torn down/);
      assert.match(run.stderr, /interrupted by a signal/);
      assert.match(run.stdout, /vus_max\.+: 2 /);
    });
  }

  test("the second signal ends it at once: 105", async (t) => {
    const run = Run.start(t, SLEEPERS.replace('console.log("torn down")', 'console.log("cleaning"); sleep(50)'));
    await run.said("begun", 2);
    run.kill("SIGINT");
    await run.said("cleaning");
    run.kill("SIGINT");
    assert.equal(await run.code(), 105);
    assert.match(run.stderr, /second signal/);
    assert.equal(run.stdout, "");
  });
});

describe("the REST interface", () => {
  const LOCAL = ["--address", "127.0.0.1:0"];

  test("pauses, resumes, scales and stops: 103", async (t) => {
    const run = Run.start(t, CONTROLLED, "--paused", ...LOCAL);
    const at = ["--address", await run.address()];
    const before = await plimsoll("status", ...at);
    assert.match(before.stdout, /^paused: true$/m);
    const resumed = await plimsoll("resume", ...at);
    assert.match(resumed.stdout, /^paused: false$/m, resumed.stderr);
    await run.said("user ", 1);
    const scaled = await plimsoll("scale", "--vus", "3", "--max", "5", ...at);
    assert.match(scaled.stdout, /^vus: 3\nvus-max: 5$/m, scaled.stderr);
    await run.said("user ", 3);
    const refused = await plimsoll("scale", "--vus", "9", ...at);
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /9 of 5 virtual users are not possible/);
    assert.match((await plimsoll("pause", ...at)).stdout, /^paused: true$/m);
    const vus = await eventually(async () => {
      const { data } = await (await fetch(`http://${at[1]}/v1/metrics`)).json();
      return data.find(({ id }) => id === "vus");
    }, "the metric `vus`");
    assert.equal(vus.attributes.type, "gauge");
    assert.match((await plimsoll("stats", ...at)).stdout, /^vus_max: value=\d$/m);
    const stop = { data: { type: "status", id: "default", attributes: { stopped: true } } };
    const response = await fetch(`http://${at[1]}/v1/status`, {
      method: "PATCH",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(stop),
    });
    assert.equal((await response.json()).data.attributes.stopped, true);
    assert.equal(await run.code(), 103);
    assert.match(run.stderr, /stopped through the REST interface/);
  });

  test("other runs cannot be paused", async (t) => {
    const run = Run.start(t, SLEEPERS, ...LOCAL);
    const paused = await plimsoll("pause", "--address", await run.address());
    assert.equal(paused.code, 1);
    assert.match(paused.stderr, /this run has no `externally-controlled` scenario/);
  });

  test("web pages are not listened to", async (t) => {
    const run = Run.start(t, SLEEPERS, ...LOCAL);
    const [hostname, port] = (await run.address()).split(":");
    const ask = async (method, headers, body) => {
      const asked = request({ hostname, port, path: "/v1/status", method, headers });
      asked.end(body);
      const [response] = await within(once(asked, "response"), "an answer");
      response.resume();
      return response.statusCode;
    };
    const stop = '{"data":{"attributes":{"stopped":true}}}';
    const json = { "content-type": "application/json" };
    assert.equal(await ask("GET", {}), 200);
    assert.equal(await ask("GET", { host: "attacker.example" }), 403);
    assert.equal(await ask("PATCH", { ...json, host: "attacker.example" }, stop), 403);
    assert.equal(await ask("PATCH", { "content-type": "text/plain" }, stop), 415);
    assert.equal(await ask("OPTIONS", { origin: "http://attacker.example" }), 405);
    assert.equal(await ask("PATCH", json, "x".repeat(100_000)), 413);
    assert.equal(await ask("GET", {}), 200);
  });

  test("listens on this machine only, and on a port that is free: 106", async (t) => {
    const cwd = folderOf(t, { "script.js": "export default function () {}" });
    const taken = createServer().listen(0, "127.0.0.1");
    t.after(() => taken.close());
    await once(taken, "listening");
    for (const [address, said] of [
      ["0.0.0.0:0", "reachable from other machines"],
      [`127.0.0.1:${taken.address().port}`, "cannot listen"],
      ["6565", "expected a host and a port"],
    ]) {
      const { code, stderr } = await plimsollIn({ cwd }, "run", "--quiet", "--address", address, "script.js");
      assert.equal(code, 106, stderr);
      assert.ok(stderr.includes(said), `${said} in ${stderr}`);
    }
  });

  test("goes on answering with --linger, until a signal", async (t) => {
    const run = Run.start(t, "export default function () {}", "--linger", ...LOCAL);
    const address = await run.address();
    await run.said("waiting for a signal");
    assert.equal((await plimsoll("status", "--address", address)).code, 0);
    run.kill("SIGTERM");
    assert.equal(await run.code(), 0);
  });

  test("is not there unless it is asked for", async (t) => {
    const { code, stderr } = await plimsoll("status", "--address", "127.0.0.1:1");
    assert.equal(code, 1);
    assert.match(stderr, /no run answers on 127\.0\.0\.1:1/);
    const run = Run.start(t, SLEEPERS, "--paused");
    assert.equal(await run.code(), 2);
    assert.match(run.stderr, /needs --address/);
  });
});
