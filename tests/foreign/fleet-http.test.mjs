// `plimsoll bench http` from several agents: the requests, connections, statuses and failures of one process, whichever agent
// made them; what concerns all agents at once; and what happens when an agent is gone.

import assert from "node:assert/strict";
import { createServer as createHttp2Server } from "node:http2";
import { after, before, describe, test } from "node:test";
import { counting, listen } from "./support/ab.mjs";
import { expectTwoAgents } from "./support/agents.mjs";
import { Browser } from "./support/browser.mjs";
import { Fleet } from "./support/fleet.mjs";
import { plimsoll, plimsollIn } from "./support/plimsoll.mjs";
import { eventually } from "./support/processes.mjs";
import { folderOf } from "./support/scripts.mjs";

const KINDS = ["complete", "failed_connect", "failed_receive", "failed_length", "failed_exceptions", "non_2xx", "keepalive_requests", "unsent", "abandoned", "body_bytes", "document_bytes", "causes", "faulty", "ended_by"];

/** What a run must have, however many processes made it. */
const counts = (result) => Object.fromEntries(KINDS.map((kind) => [kind, result[kind]]));

/** A server with mistakes that depend on nothing but the number of the request. */
function mistaken(t) {
  return counting(t, (request, response, n) => {
    if (n > 50 && n % 13 === 0) return request.socket.destroy();
    if (n % 10 === 0) response.statusCode = 503;
    response.end(n > 50 && n % 7 === 0 ? "hello!" : "hello");
  });
}

describe("bench http on a fleet that goes on", () => {
  let browser;
  before(async () => (browser = await Browser.launch()));
  after(() => browser?.close());

  test("shows the agents side by side, in the terminal and on its page", async (t) => {
    const { url } = await counting(t);
    const fleet = await Fleet.start(t, 2);
    await expectTwoAgents(t, browser, await fleet.show({}, "bench", "http", "-k", "-c", "4", "--rate", "50", "--duration", "10m", url));
  });
});

describe("bench http on a fleet", () => {
  // A POST is not sent again when its kept connection is gone.
  const RUNS = {
    "a number of requests over new connections": ["-n", "997", "-c", "20", "-r"],
    "a number of requests over kept connections": ["-n", "500", "-c", "11", "-k", "-r", "-m", "POST"],
    "fewer connections than agents": ["-n", "101", "-c", "2", "-k", "-r", "-m", "POST"],
    "a rate for a time": ["--rate", "400", "--duration", "1s", "-r"],
    "a rate after a warm-up": ["--rate", "300", "--warm-up", "200ms", "-n", "250", "-c", "31", "-r"],
    "a rate with few places": ["--rate", "7", "-n", "9", "-c", "1"],
    "bodies of any length": ["-n", "333", "-c", "7", "-r", "-l"],
    "thresholds": ["-n", "200", "-c", "10", "-r", "--threshold", "failed:count==0", "--threshold", "non_2xx:rate<0.5"],
  };
  for (const [name, args] of Object.entries(RUNS)) {
    test(`${name}: two, three and seven agents do what one process does`, async (t) => {
      const alone = await mistaken(t);
      const expected = await bench({}, ...args, alone.url);
      const fleet = await Fleet.start(t, 2);
      for (const n of [2, 3, 7]) {
        while (fleet.agents.length < n) await fleet.add(`a${fleet.agents.length + 1}`);
        const { url, seen } = await mistaken(t);
        const { code, stderr, result, summary } = await on(fleet, ...args, url);
        assert.equal(code, expected.code, stderr);
        assert.deepEqual(counts(result), counts(expected.result), `${n} agents: ${stderr}`);
        assert.equal(seen.requests, alone.seen.requests, `${n} agents`);
        // A place whose kept connection breaks opens another one only if a request is left for it.
        if (!args.includes("-k")) assert.equal(seen.connections, alone.seen.connections, `${n} agents`);
        assert.deepEqual(verdicts(result), verdicts(expected.result));
        agree(result, summary, n);
        await fleet.free();
      }
    });
  }

  test("the request comes with its body, its headers and its password", async (t) => {
    const { url, seen } = await counting(t);
    const fleet = await Fleet.start(t, 3);
    const cwd = folderOf(t, { "order.json": '{"n":1}' });
    const args = ["-n", "9", "-c", "3", "-p", "order.json", "-T", "application/json", "-H", "X-A: b", "-C", "c=d", "-A", "alice:secret"];
    const flags = ["--fleet", fleet.nats.url, "--agents", "3"];
    const { code, stderr } = await plimsollIn({ cwd }, "ab", ...args, ...flags, `${url}orders?x=1`);
    assert.equal(code, 0, stderr);
    assert.equal(seen.requests, 9);
    const { method, url: path, headers, body } = seen.last;
    assert.deepEqual([method, path, body], ["POST", "/orders?x=1", '{"n":1}']);
    assert.deepEqual(
      ["content-type", "x-a", "cookie", "authorization"].map((field) => headers[field]),
      ["application/json", "b", "c=d", `Basic ${btoa("alice:secret")}`],
    );
  });

  test("streams share the connections of one process", async (t) => {
    const fleet = await Fleet.start(t, 3);
    const seen = { sessions: 0, streams: 0 };
    const server = createHttp2Server((_request, response) => {
      seen.streams += 1;
      response.end("hello");
    });
    server.on("session", () => (seen.sessions += 1));
    const url = await listen(t, server);
    const { code, stderr, result } = await on(fleet, "--http2", "-n", "120", "-c", "6", "--streams", "4", url);
    assert.equal(code, 0, stderr);
    assert.deepEqual(seen, { sessions: 2, streams: 120 });
    assert.deepEqual(result.agents.map(({ concurrency, requests }) => [concurrency, requests]), [[4, 80], [2, 40], [0, 0]]);
  });

  test("bodies have the length of the first response of all agents", async (t) => {
    // The first connection has most of its requests before the others have any: its agent's first response is the first.
    const held = [];
    const numbers = new Map();
    let n_first = 0;
    const { url, seen } = await counting(t, (request, response) => {
      if (!numbers.has(request.socket)) numbers.set(request.socket, numbers.size);
      const answer = () => response.end(numbers.get(request.socket) === 0 ? "hello" : "hello, hello");
      if (numbers.get(request.socket) === 0) {
        answer();
        n_first += 1;
        if (n_first === 400) held.splice(0).forEach((release) => release());
      } else if (n_first < 400) held.push(answer);
      else answer();
    });
    const fleet = await Fleet.start(t, 3);
    const { code, stderr, result } = await on(fleet, "-n", "1500", "-c", "3", "-k", url);
    assert.equal(code, 3, stderr);
    assert.deepEqual(seen, { ...seen, requests: 1500, connections: 3 });
    assert.deepEqual([result.document_bytes, result.complete, result.failed_length], [5, 1500, 1000]);
  });

  test("a failure on one agent ends the requests of all", async (t) => {
    const { url, seen } = await counting(t, (request, response, n) => (n === 100 ? request.socket.destroy() : response.end("hello")));
    const fleet = await Fleet.start(t, 3);
    const { code, stderr, result } = await on(fleet, "--rate", "200", "--duration", "5m", url);
    assert.equal(code, 1, stderr);
    assert.match(stderr, /the run ended after \d+ complete requests: agent a\d: .*with -r the run continues/);
    assert.equal(result.complete + result.failed, seen.requests);
    assert.equal(result.failed, 1);
  });

  test("a server that is not there is named", async (t) => {
    const fleet = await Fleet.start(t, 2);
    const { code, stderr } = await on(fleet, "-n", "10", "http://127.0.0.1:1/");
    assert.equal(code, 1, stderr);
    assert.match(stderr, /127\.0\.0\.1:1 answered no request: agent a1: .*is the server running/);
  });

  test("a signal ends all agents in good order", async (t) => {
    const { url, seen } = await counting(t);
    const fleet = await Fleet.start(t, 2);
    const run = fleet.startBench("http", "-k", "-c", "4", "--duration", "5m", "--format", "json", url);
    await eventually(() => seen.requests > 100, "requests");
    run.signal("SIGINT");
    const { code, stdout, stderr } = await run.ended();
    assert.equal(code, 105, stderr);
    const result = JSON.parse(stdout);
    assert.deepEqual([result.complete, result.failed, result.interrupted], [seen.requests, 0, true]);
    await fleet.free();
  });

  test("a second signal does not wait for answers", async (t) => {
    const { url, seen } = await counting(t, () => {});
    const fleet = await Fleet.start(t, 2);
    const run = fleet.startBench("http", "-n", "9", "-c", "4", "--format", "json", url);
    await eventually(() => seen.requests === 4, "requests");
    // Two signals of one kind may arrive as one.
    run.signal("SIGINT");
    run.signal("SIGTERM");
    const { code, stdout, stderr } = await run.ended();
    assert.equal(code, 105, stderr);
    assert.deepEqual([JSON.parse(stdout).complete, JSON.parse(stdout).abandoned], [0, 4]);
    await fleet.free();
  });

  test("too many failures end the run while it goes on", async (t) => {
    const { url } = await counting(t, (request) => request.socket.destroy());
    const fleet = await Fleet.start(t, 2);
    const { code, stderr } = await on(fleet, "--rate", "50", "--duration", "5m", "-r", "--abort-on-error-rate", "20%", url);
    assert.notEqual(code, 0, stderr);
    assert.match(stderr, /ended after [\d.]+ s by --abort-on-error-rate 20 %: [\d,]+ of [\d,]+ (iterations|requests) \(100 %\) had failed/);
  });
});

describe("faults of a fleet", () => {
  test("a killed agent ends the run, which is incomplete and names it", async (t) => {
    const { url, seen } = await counting(t);
    const fleet = await Fleet.start(t, 3);
    const run = fleet.startBench("http", "--rate", "60", "--duration", "5m", "--format", "json", url);
    await eventually(() => seen.requests > 30, "requests");
    fleet.agents[1].signal("SIGKILL");
    const { code, stdout, stderr } = await run.ended();
    assert.equal(code, 111, stderr);
    assert.match(stderr, /agent a2 was lost after \d+ s \(nothing was heard of it for 10 s\), and with it 33 % of the requests/);
    const { agents, interrupted, complete } = JSON.parse(stdout);
    assert.ok(interrupted && complete > 0);
    assert.deepEqual(agents.map(({ lost_at_seconds }) => lost_at_seconds === null), [true, false, true]);
    await fleet.free();
  });

  test("--on-agent-loss continue: the others make all of their requests", async (t) => {
    const { url, seen } = await counting(t);
    const fleet = await Fleet.start(t, 3);
    const run = fleet.startBench("http", "--rate", "90", "-c", "99", "--duration", "3s", "--on-agent-loss", "continue", "--format", "json", "--report", "a.json", url);
    await eventually(() => seen.requests > 10, "requests");
    fleet.agents[0].signal("SIGTERM");
    const { code, stdout, stderr } = await run.ended();
    assert.equal(code, 111, stderr);
    assert.match(stderr, /agent a1 was lost after \d+ s \(it was stopped by a signal\)/);
    const { agents, interrupted, complete } = JSON.parse(stdout);
    assert.equal(interrupted, false);
    assert.deepEqual(agents.slice(1).map(({ requests }) => requests), [90, 90]);
    assert.equal(complete, agents.reduce((sum, { requests }) => sum + requests, 0));
    await fleet.free();
  });

  test("a NATS server that is killed and started again loses nothing", async (t) => {
    const { url, seen } = await counting(t);
    const fleet = await Fleet.start(t, 2);
    const run = fleet.startBench("http", "--rate", "100", "--duration", "5s", "--format", "json", url);
    await eventually(() => seen.requests > 50, "requests");
    await fleet.nats.kill();
    await fleet.nats.resume();
    const { code, stdout, stderr } = await run.ended();
    assert.equal(code, 0, stderr);
    assert.deepEqual([JSON.parse(stdout).complete, seen.requests], [500, 500]);
  });

  test("what a fleet cannot do is refused", async () => {
    const run = (...args) => plimsoll("ab", "--fleet", "nats://localhost:1", ...args, "http://127.0.0.1:1/");
    for (const [args, words] of [
      [[], /for example --agents 3/],
      [["--agents", "2", "-B", "127.0.0.2"], /-B and --fleet exclude each other: agents connect from their own addresses/],
      [["--agents", "2", "-g", "a.tsv"], /-g and --fleet exclude each other/],
      [["--agents", "2", "-v", "2"], /-v and --fleet exclude each other/],
      [["--agents", "2", "--out", "json=a.json"], /--out and --fleet exclude each other/],
      [["--agents", "2", "-H", "a b: c"], /a b/],
    ]) {
      const { code, stderr } = await run(...args);
      assert.equal(code, 2, stderr);
      assert.match(stderr, words);
    }
  });
});

/** What each threshold says, without its value where that is a time. */
function verdicts({ thresholds }) {
  return thresholds.map(({ threshold, passed }) => [threshold, passed]);
}

/** The result, the summary, its timeline and its agents have the same numbers. */
function agree(result, summary, n) {
  const { agents, timeline } = summary;
  const n_ended = result.complete + result.failed - result.failed_length;
  const sum = (numbers) => numbers.reduce((all, number) => all + number, 0);
  assert.equal(agents.length, n);
  assert.equal(sum(agents.map(({ iterations }) => iterations)), n_ended);
  assert.equal(sum(timeline.iterations), n_ended);
  assert.ok(Math.abs(sum(agents.map(({ share }) => share)) - 1) < 1e-9);
  assert.equal(sum(agents.map(({ vus_max }) => vus_max)), result.concurrency);
  for (const { clock, vus_max, cpu_seconds } of agents) {
    assert.ok(clock.uncertainty_ms > 0 && (vus_max === 0 || cpu_seconds > 0));
  }
  assert.equal(result.latency_us.count, result.complete);
  assert.deepEqual(result.agents.map(({ requests }) => requests), agents.map(({ iterations }) => iterations));
}

/** Runs a bench to its end: `{ code, stderr, result }`. */
async function bench(surroundings, ...args) {
  const { code, stdout, stderr } = await plimsollIn(surroundings, "bench", "http", "--quiet", "--format", "json", ...args);
  return { code, stderr, result: stdout.trim().startsWith("{") ? JSON.parse(stdout) : null };
}

/** The same on all agents of a fleet, with the summary. */
async function on(fleet, ...args) {
  const { code, stdout, stderr, read } = await fleet.bench("http", "--quiet", "--format", "json", "--report", "summary.json", ...args);
  return { code, stderr, result: stdout.trim().startsWith("{") ? JSON.parse(stdout) : null, summary: read("summary.json") };
}
