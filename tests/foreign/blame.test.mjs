// What made the figures of a run: the generator itself, other programs on its machine, or the target. Each test plants
// one of them, and knows by how much.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { within } from "./support/deadline.mjs";
import { plimsollIn, startPlimsollIn } from "./support/plimsoll.mjs";
import { folderOf } from "./support/scripts.mjs";

/** The name of the planted program. */
const NEIGHBOUR = "busy-neighbour";

/** The longest life of the planted program, which ends itself if the test does not. */
const LONGEST_MS = 120_000;

/** The share of a core that the planted program takes at least, beside this test's programs and a few of others. */
const LEAST_CORES = 0.1;

/** Keeps one core busy until the test is over. */
function startNeighbour(t) {
  const spin = `const end = Date.now() + ${LONGEST_MS}; while (Date.now() < end);`;
  const child = spawn(process.execPath, ["-e", spin], { argv0: NEIGHBOUR, stdio: "ignore" });
  t.after(() => child.kill("SIGKILL"));
}

/** A fast server of HTTP and WebSockets; replies to messages are slow while more than `argv[1]` clients are connected. */
const TARGET = `
const { createServer } = require("node:http");
const { WebSocketServer } = require("ws");
const [capacity, slowMs] = process.argv.slice(1).map(Number);
const server = createServer((request, response) => response.end("answer"));
const sockets = new WebSocketServer({ server });
sockets.on("connection", (peer) => {
  peer.on("error", () => {});
  peer.on("message", (data, isBinary) => {
    const send = () => peer.send(data, { binary: isBinary });
    if (sockets.clients.size > capacity) setTimeout(send, slowMs);
    else send();
  });
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
setTimeout(() => process.exit(), ${LONGEST_MS});
`;

/**
 * Starts the target in a process of its own: what this process starts is not the target's then. Returns its host with
 * the port.
 */
async function startTarget(t, capacity = Infinity, slowMs = 0) {
  const args = ["-e", TARGET, String(capacity), String(slowMs)];
  const child = spawn(process.execPath, args, { argv0: "the-target", stdio: ["ignore", "pipe", "inherit"], cwd: import.meta.dirname });
  t.after(() => child.kill("SIGKILL"));
  const [line] = await within(once(child.stdout, "data"), "the target's port");
  return `127.0.0.1:${String(line).trim()}`;
}

const GET = (options) =>
  `import http from "k6/http";\nexport const options = ${JSON.stringify(options)};\n` +
  "export default function () { http.get(__ENV.URL); }\n";

/** Users that stay connected and wait for each answer. */
const CHAT = `
import ws from "k6/ws";
import { Trend } from "k6/metrics";
const rtt = new Trend("rtt", true);
export const options = { scenarios: { chat: { executor: "constant-vus", vus: 1, duration: "1m", gracefulStop: "0s" } } };
export default function () {
  ws.connect(__ENV.URL, null, (socket) => {
    let sent;
    const say = () => { sent = Date.now(); socket.send("hi"); };
    socket.on("open", say);
    socket.on("message", () => { rtt.add(Date.now() - sent); socket.setTimeout(say, 100); });
  });
}
`;

/** The neighbour is named with its cores, and the target is no neighbour. */
function assertNamed({ other_cores, programs, other_programs }) {
  const found = programs.find(({ name }) => name === NEIGHBOUR);
  assert.ok(found?.cores >= LEAST_CORES && found.cores <= 1.1, JSON.stringify(programs));
  assert.ok(other_cores >= found.cores);
  assert.match(other_programs, new RegExp(`^other programs on this machine took [\\d.]+ cores \\(.*${NEIGHBOUR} [\\d.]+`));
  assert.ok(programs.every(({ name }) => name !== "the-target"), JSON.stringify(programs));
}

test("a busy neighbour is named, and the generator is not called the bottleneck", async (t) => {
  const host = await startTarget(t);
  startNeighbour(t);
  const cwd = folderOf(t, { "get.js": GET({ vus: 1, duration: "4s" }) });
  const result = await plimsollIn({ cwd }, "run", "--quiet", "-e", `URL=http://${host}/`, "--report", "run.json", "get.js");
  assert.equal(result.code, 0, result.stderr);
  const summary = JSON.parse(readFileSync(join(cwd, "run.json"), "utf8"));
  const { generator, metrics } = summary;
  assertNamed(generator.machine);
  assert.match(result.stdout, new RegExp(`machine\\.+: other programs on this machine took .*${NEIGHBOUR}`));
  assert.doesNotMatch(result.stdout + result.stderr, /generator was the bottleneck/);
  // In doubt only if the bound is large beside the p95.
  const p95 = metrics.http_req_duration.values.p95 / 1e3;
  const { lateness_bound_ms: bound, doubt, waiting_share } = generator;
  t.diagnostic(`bound ${bound} ms, p95 ${p95} ms, waited ${waiting_share}, doubt ${JSON.stringify(doubt)}, ${generator.machine.other_programs}`);
  assert.ok(bound > 0);
  assert.ok(bound <= p95 + 0.01, "a figure is not too high by more than itself");
  assert.equal(doubt?.kind ?? "none", bound >= 2 && bound >= p95 / 10 ? "late" : "none");
});

test("each bench and an Artillery file name the neighbour, too", async (t) => {
  const host = await startTarget(t);
  const url = `http://${host}/`;
  startNeighbour(t);
  const artillery = `config: {target: "${url}", phases: [{duration: 2, arrivalRate: 20}]}\nscenarios: [{flow: [{get: {url: "/"}}, {think: 1}]}]\n`;
  const cwd = folderOf(t, { "load.yml": artillery });
  const socket = `ws://${host}/`;
  for (const args of [
    ["bench", "http", "-t", "3", "-c", "1", url],
    ["bench", "echo", socket, "--server-type", "echo", "--concurrent", "1", "--sample-size", "4000", "--total-steps", "1", "--step-size", "1"],
    ["run", "load.yml"],
  ]) {
    const { code, stdout, stderr } = await plimsollIn({ cwd }, ...args, "--report", "bench.json");
    assert.equal(code, 0, stderr);
    assert.match(stdout, new RegExp(`other programs on this machine took [\\d.]+ cores \\(.*${NEIGHBOUR}`), args.join(" "));
    const { generator } = JSON.parse(readFileSync(join(cwd, "bench.json"), "utf8"));
    assertNamed(generator.machine);
  }
});

test("stalls of the generator are told: the bound covers what they did to the figures, and not much more", async (t) => {
  const [RATE, STALL_MS, EVERY_MS] = [200, 150, 1_000];
  const host = await startTarget(t);
  const open = { executor: "constant-arrival-rate", rate: RATE, duration: "6s", preAllocatedVUs: 100 };
  const cwd = folderOf(t, { "get.js": GET({ scenarios: { open } }) });
  const child = startPlimsollIn({ cwd }, "run", "--quiet", "-e", `URL=http://${host}/`, "--report", "run.json", "get.js");
  t.after(() => child.kill("SIGKILL"));
  const stalls = [];
  const stall = () => {
    const begin = performance.now();
    if (!child.kill("SIGSTOP")) return;
    setTimeout(() => {
      child.kill("SIGCONT");
      stalls.push(performance.now() - begin);
    }, STALL_MS);
  };
  const stalling = setInterval(stall, EVERY_MS);
  t.after(() => clearInterval(stalling));
  const { code } = await within(child.exited, "the run");
  clearInterval(stalling);
  assert.equal(code, 0);
  const { generator, metrics } = JSON.parse(readFileSync(join(cwd, "run.json"), "utf8"));
  const { lateness_bound_ms: bound, doubt, reasons } = generator;
  const found = (metric, stat) => metrics[metric].values[stat] / 1e3;
  const longest = Math.max(...stalls);
  // The target answers in a fraction of a millisecond, so what is reported is what the stalls did.
  const effect = found("iteration_duration_scheduled", "p95");
  t.diagnostic(`bound ${bound} ms; p95 ${effect} ms; stalls up to ${longest} ms; ratio ${bound / effect}`);
  assert.ok(effect >= STALL_MS / 4, `the stalls had an effect: ${effect} ms`);
  assert.ok(bound >= effect, `${bound} ms for an effect of ${effect} ms`);
  assert.ok(bound <= 3 * effect && bound <= longest + 20, `${bound} ms for an effect of ${effect} ms`);
  assert.equal(doubt.kind, "late");
  assert.match(doubt.text, /^p95 latencies may be up to \d+ ms too high$/);
  // A stopped program does not wait for a CPU; on a busy machine, this one does between its stalls.
  const hasWaited = generator.waiting_share >= 0.05;
  assert.ok(hasWaited || reasons.every((reason) => !/because it waited for a CPU/.test(reason)), reasons.join("\n"));
});

test("a line that the target ends is the target's, beside a busy neighbour", async (t) => {
  const [CAPACITY, SLOW_MS] = [3, 1_500];
  const host = await startTarget(t, CAPACITY, SLOW_MS);
  startNeighbour(t);
  const cwd = folderOf(t, { "chat.js": CHAT });
  const search = ["--start", "3", "--max", "6", "--step-duration", "3s", "--warm-up", "2s", "--slo", "rtt p(95)<1000"];
  const args = ["line", "chat.js", "-e", `URL=ws://${host}/`, ...search, "--report", "line.json"];
  const child = startPlimsollIn({ cwd }, ...args);
  t.after(() => child.kill("SIGKILL"));
  const [stdout, { code }] = await within(Promise.all([text(child.stdout), child.exited]), "the search", LONGEST_MS);
  assert.equal(code, 0, stdout);
  const { result, steps } = JSON.parse(readFileSync(join(cwd, "line.json"), "utf8"));
  assert.deepEqual([result.holds.load, result.breaks.load], [CAPACITY, CAPACITY + 1], result.sentence);
  assert.equal(result.likely_cause?.what ?? "target", "target", result.sentence);
  assert.doesNotMatch(stdout, /idle CPU|generator (itself )?(is|was) the bottleneck/);
  const named = steps.filter(({ other_programs }) => other_programs?.includes(NEIGHBOUR));
  assert.ok(named.length >= steps.length / 2, JSON.stringify(steps.map(({ other_programs }) => other_programs)));
  assert.match(result.sentence, new RegExp(NEIGHBOUR));
  t.diagnostic(result.sentence);
});
