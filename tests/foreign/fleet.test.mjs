// One run from several agents, which meet at a real NATS server: the counts of one process, one setup, one verdict; and
// what happens when agents, NATS or the coordinator are gone.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { expectTwoAgents } from "./support/agents.mjs";
import { Browser } from "./support/browser.mjs";
import { Fleet, Member } from "./support/fleet.mjs";
import { serveAsked } from "./support/http-server.mjs";
import { NatsServer } from "./support/nats.mjs";
import { plimsoll, plimsollIn } from "./support/plimsoll.mjs";
import { eventually } from "./support/processes.mjs";
import { folderOf } from "./support/scripts.mjs";

/** A script whose iterations tell the target who they are. */
const script = (url, options, more = "") => `
import http from "k6/http";
import exec from "k6/execution";
import { check, sleep } from "k6";
import { Counter, Trend } from "k6/metrics";
const seen = new Counter("seen");
const numbers = new Trend("numbers");
export const options = ${JSON.stringify(options)};
export default function (data) {
  const { iterationInTest } = exec.scenario;
  seen.add(iterationInTest);
  numbers.add(iterationInTest % 400);
  check(iterationInTest, { "is even": (n) => n % 2 === 0 });
  http.get(\`${url}/\${exec.vu.idInTest}/\${iterationInTest}\`);
}
${more}`;

const ENDLESS = (url, more = "") => `
import http from "k6/http";
import exec from "k6/execution";
import { sleep } from "k6";
export const options = { vus: 4, duration: "10m", gracefulStop: "0s" };
export default function () { http.get("${url}/" + exec.vu.idInTest); sleep(0.05); ${more} }
`;

/** Figures of a run that must not depend on how many made it. */
function figures(summary) {
  const { iterations, checks, metrics } = summary;
  const counted = (name) => metrics[name]?.values?.count ?? metrics[name]?.count;
  return {
    complete: iterations.complete,
    checks: checks.map(({ name, passes, fails }) => [name, passes, fails]),
    seen: counted("seen"),
    requests: counted("http_reqs"),
    // The text of a histogram says how much room it has, too, which depends on the order of its samples.
    numbers: [metrics.numbers?.values, metrics.numbers?.figures],
    dropped: counted("dropped_iterations"),
  };
}

describe("a run of a fleet that goes on", () => {
  let browser;
  before(async () => (browser = await Browser.launch()));
  after(() => browser?.close());

  test("shows the agents side by side, in the terminal and on its page", async (t) => {
    const { url } = await serveAsked(t);
    const fleet = await Fleet.start(t, 2);
    await expectTwoAgents(t, browser, await fleet.show({ "script.js": ENDLESS(url) }, "run", "script.js"));
  });

  test("a quick look does, too", async (t) => {
    const { url } = await serveAsked(t);
    const fleet = await Fleet.start(t, 2);
    await expectTwoAgents(t, browser, await fleet.show({}, "quick", "-c", "4", "-n", "1000000", url));
  });
});

describe("a run of a fleet", () => {
  for (const scenario of [
    { executor: "shared-iterations", vus: 5, iterations: 23 },
    { executor: "per-vu-iterations", vus: 7, iterations: 3 },
    // With iterations of a second, the last ones begin 250 ms before the end at the latest.
    { executor: "constant-vus", vus: 7, duration: "2500ms" },
    { executor: "ramping-vus", startVUs: 0, stages: [{ duration: "700ms", target: 7 }, { duration: "2250ms", target: 7 }] },
    { executor: "externally-controlled", vus: 7, maxVUs: 7, duration: "2500ms" },
    // The last start is 150 ms before the end.
    { executor: "constant-arrival-rate", rate: 100, duration: "2850ms", timeUnit: "1s", preAllocatedVUs: 126, maxVUs: 126 },
    { executor: "ramping-arrival-rate", startRate: 10, stages: [{ duration: "2s", target: 200 }], preAllocatedVUs: 126, maxVUs: 126 },
  ]) {
    test(`${scenario.executor}: two, three and seven agents do what one process does`, async (t) => {
      const outcomes = [];
      const { executor } = scenario;
      const isOpenModel = executor.includes("arrival");
      const isTimed = !isOpenModel && !executor.includes("iterations");
      for (const n of [0, 2, 3, 7]) {
        const { asked, url } = await serveAsked(t);
        const text = script(url, { scenarios: { a: scenario } }).replace("http.get", `sleep(${isTimed ? 1 : 0}); http.get`);
        const outcome = n === 0 ? await alone(t, text) : await (await Fleet.start(t, n)).run(text);
        assert.equal(outcome.code, 0, outcome.stderr);
        const iterations = asked.map((path) => Number(path.split("/")[2])).sort((a, b) => a - b);
        const vus = [...new Set(asked.map((path) => path.split("/")[1]))].sort();
        const isForAny = isOpenModel || executor.startsWith("shared");
        // k6 numbers the iterations that each user has for itself by instance.
        const numbered = isForAny ? { iterations } : { seen: null, numbers: null, checks: null, vus };
        outcomes.push({ n, ...figures(outcome.summary), ...numbered });
        assert.equal(outcome.summary.agents?.length ?? 0, n);
      }
      const [whole, ...parts] = outcomes;
      const { n: _n, ...expected } = whole;
      for (const { n, ...part } of parts) {
        // A machine that stands still for a second makes a run drop arrivals, and the run says so.
        if (isOpenModel && (part.dropped || expected.dropped)) {
          const planned = ({ complete, dropped }) => complete + (dropped ?? 0);
          assert.equal(planned(part), planned(expected), `${n} agents`);
          assert.equal(new Set(part.iterations).size, part.complete, `${n} agents`);
          continue;
        }
        assert.deepEqual(part, expected, `${n} agents`);
      }
    });
  }

  /** The same script in one process. */
  async function alone(t, text) {
    const cwd = folderOf(t, { "script.js": text });
    const outcome = await plimsollIn({ cwd }, "run", "--quiet", "--format", "json", "script.js");
    return { ...outcome, summary: JSON.parse(outcome.stdout) };
  }

  test("setup, teardown and handleSummary run once, and all users have what setup returned", async (t) => {
    const { asked, url } = await serveAsked(t);
    const fleet = await Fleet.start(t, 3);
    const text = `
import http from "k6/http";
export const options = { scenarios: { a: { executor: "per-vu-iterations", vus: 6, iterations: 1 } } };
export function setup() { http.get("${url}/setup"); return { word: "x".repeat(300000) + "z" }; }
export default ({ word }) => { http.get("${url}/user/" + word.length); };
export function teardown({ word }) { http.get("${url}/teardown/" + word.length); }
export function handleSummary(data) { return { stdout: JSON.stringify([data.setup_data.word.length, data.metrics.http_reqs.values.count]) }; }
`;
    const { code, stdout, stderr } = await fleet.start(text).ended();
    assert.equal(code, 0, stderr);
    const count = (path) => asked.filter((one) => one === path).length;
    assert.deepEqual([count("/setup"), count("/user/300001"), count("/teardown/300001"), asked.length], [1, 6, 1, 8]);
    assert.equal(asked[0], "/setup");
    assert.equal(asked.at(-1), "/teardown/300001");
    assert.deepEqual(JSON.parse(stdout), [300001, 8]);
    await fleet.free();
    // The agents are there for the next run.
    assert.equal((await fleet.start(text).ended()).code, 0);
  });

  test("the summary has the agents side by side", async (t) => {
    const { url } = await serveAsked(t);
    const fleet = await Fleet.start(t, 2);
    const { summary } = await fleet.run(script(url, { vus: 4, iterations: 40 }));
    assert.deepEqual(summary.agents.map(({ name, share, vus_max }) => [name, share, vus_max]), [["a1", 0.5, 2], ["a2", 0.5, 2]]);
    assert.equal(summary.agents.reduce((sum, { iterations }) => sum + iterations, 0), 40);
    for (const { clock } of summary.agents) {
      assert.ok(Math.abs(clock.offset_ms) < 1_000 && clock.uncertainty_ms > 0, JSON.stringify(clock));
      assert.equal(typeof clock.start_skew_ms, "number");
    }
  });

  test("thresholds are judged on the whole, and end all agents", async (t) => {
    const { url } = await serveAsked(t);
    const fleet = await Fleet.start(t, 2);
    // Each agent alone is below the limit.
    const threshold = { thresholds: { http_reqs: [{ threshold: "count<300", abortOnFail: true }] } };
    const text = ENDLESS(url).replace("{ vus", `{ ...${JSON.stringify(threshold)}, vus`);
    const outcome = await fleet.run(text);
    assert.equal(outcome.code, 99, outcome.stderr);
    assert.equal(outcome.summary.end.cause, "thresholds_crossed");
    await fleet.free();
  });

  test("test.abort() and test.fail() of one user are those of the run", async (t) => {
    const { url } = await serveAsked(t);
    const fleet = await Fleet.start(t, 2);
    const aborted = await fleet.run(ENDLESS(url, "if (exec.vu.idInTest === 3) exec.test.abort('enough');"));
    assert.equal(aborted.code, 108, aborted.stderr);
    assert.match(aborted.stderr, /enough/);
    await fleet.free();
    const text = script(url, { scenarios: { a: { executor: "per-vu-iterations", vus: 4, iterations: 1 } } });
    const failed = await fleet.run(text.replace("seen.add", "if (exec.vu.idInTest === 4) exec.test.fail('no'); seen.add"));
    assert.equal(failed.code, 110, failed.stderr);
  });

  test("a signal ends all agents, and what they did counts", async (t) => {
    const { asked, url } = await serveAsked(t);
    const fleet = await Fleet.start(t, 2);
    const run = fleet.start(ENDLESS(url), "--format", "json");
    await eventually(() => asked.length > 50, "requests");
    run.signal("SIGINT");
    const { code, stdout, stderr } = await run.ended();
    assert.equal(code, 105, stderr);
    const { iterations, agents } = JSON.parse(stdout);
    assert.equal(agents.reduce((sum, agent) => sum + agent.iterations, 0), iterations.complete);
    await fleet.free();
  });

  test("a controller pauses and scales the users of all agents", async (t) => {
    const { asked, url } = await serveAsked(t);
    const fleet = await Fleet.start(t, 2);
    const text = `
import http from "k6/http";
import exec from "k6/execution";
import { sleep } from "k6";
export const options = { scenarios: { all: { executor: "externally-controlled", vus: 2, maxVUs: 6, duration: "10m" } } };
export default function () { http.get("${url}/" + exec.vu.idInTest); sleep(0.02); }
`;
    const run = fleet.start(text, "--address", "localhost:0");
    await eventually(() => /http:\/\/(\S+)\/v1/.exec(run.stderr), "the address");
    const [, address] = /http:\/\/(\S+)\/v1/.exec(run.stderr);
    const users = (from) => new Set(asked.slice(from)).size;
    await eventually(() => users(0) === 2, "two users");
    assert.equal((await plimsoll("scale", "--address", address, "--vus", "5")).code, 0);
    await eventually(() => users(0) === 5, "five users");
    run.signal("SIGTERM");
    await run.ended();
  });
});

describe("faults of a fleet", () => {
  test("a killed agent ends the run, which is incomplete and names it", async (t) => {
    const { asked, url } = await serveAsked(t);
    const fleet = await Fleet.start(t, 3);
    const run = fleet.start(ENDLESS(url), "--format", "json");
    await eventually(() => asked.length > 50, "requests");
    fleet.agents[1].signal("SIGKILL");
    const { code, stdout, stderr } = await run.ended();
    assert.equal(code, 111, stderr);
    assert.match(stderr, /agent a2 was lost after \d+ s \(nothing was heard of it for 10 s\), and with it 33 % of the load/);
    const summary = JSON.parse(stdout);
    assert.equal(summary.conclusion.verdict, "incomplete");
    assert.deepEqual(summary.agents.map(({ lost_at_seconds }) => lost_at_seconds === null), [true, false, true]);
  });

  test("with --on-agent-loss continue the others go on, and its arrivals are dropped", async (t) => {
    const { url } = await serveAsked(t);
    const fleet = await Fleet.start(t, 2);
    const scenario = { executor: "constant-arrival-rate", rate: 50, duration: "15950ms", preAllocatedVUs: 10 };
    const run = fleet.start(script(url, { scenarios: { a: scenario } }), "--on-agent-loss", "continue", "--format", "json");
    await fleet.agents[1].said("Reserved");
    await eventually(() => /has the agents/.test(run.stderr), "the beginning");
    const begun = fleet.start("export default () => {}", "--agents", "1", "--agents-timeout", "1s");
    const refused = await begun.ended();
    assert.equal(refused.code, 111, refused.stderr);
    assert.match(refused.stderr, /0 of 1 agents came within 1 s.*agent a1: it works for run/);
    fleet.agents[1].signal("SIGKILL");
    const { code, stdout, stderr } = await run.ended();
    assert.equal(code, 111, stderr);
    assert.match(stderr, /the run is incomplete: agent a2 was lost/);
    const { iterations, metrics, conclusion } = JSON.parse(stdout);
    const dropped = metrics.dropped_iterations.values?.count ?? metrics.dropped_iterations.count;
    assert.equal(iterations.complete + dropped, 798);
    assert.ok(iterations.complete >= 399, String(iterations.complete));
    assert.equal(conclusion.verdict, "incomplete");
  });

  test("an agent that is stopped by a signal leaves at once", async (t) => {
    const { asked, url } = await serveAsked(t);
    const fleet = await Fleet.start(t, 2);
    const run = fleet.start(ENDLESS(url));
    await eventually(() => asked.length > 50, "requests");
    fleet.agents[0].signal("SIGTERM");
    const { code, stderr } = await run.ended();
    assert.equal(code, 111, stderr);
    assert.match(stderr, /agent a1 was lost after \d+ s \(it was stopped by a signal\)/);
    assert.equal((await fleet.agents[0].ended()).code, 0);
  });

  test("a NATS server that is killed and started again loses nothing", async (t) => {
    const { asked, url } = await serveAsked(t);
    const fleet = await Fleet.start(t, 2);
    const scenario = { executor: "constant-arrival-rate", rate: 50, duration: "7950ms", preAllocatedVUs: 10 };
    const run = fleet.start(script(url, { scenarios: { a: scenario } }), "--format", "json");
    await eventually(() => asked.length > 50, "requests");
    await fleet.nats.kill();
    await eventually(() => asked.length > 150, "requests without NATS");
    await fleet.nats.resume();
    const { code, stdout, stderr } = await run.ended();
    assert.equal(code, 0, stderr);
    assert.equal(JSON.parse(stdout).iterations.complete, 398);
    assert.equal(asked.length, 398);
  });

  test("an agent that stands still for five seconds is not lost, and nothing of it is", async (t) => {
    const { asked, url } = await serveAsked(t);
    const fleet = await Fleet.start(t, 2);
    const scenario = { executor: "per-vu-iterations", vus: 4, iterations: 100 };
    const text = script(url, { scenarios: { a: scenario } }).replace("http.get", "sleep(0.05); http.get");
    const run = fleet.start(text, "--format", "json");
    await eventually(() => asked.length > 50, "requests");
    fleet.agents[1].signal("SIGSTOP");
    await eventually(() => asked.length >= 200, "the requests of the other one");
    fleet.agents[1].signal("SIGCONT");
    const { code, stdout, stderr } = await run.ended();
    assert.equal(code, 0, stderr);
    assert.equal(JSON.parse(stdout).iterations.complete, 400);
  });

  test("without its coordinator an agent ends within half a minute", async (t) => {
    const { asked, url } = await serveAsked(t);
    const fleet = await Fleet.start(t, 1);
    const run = fleet.start(ENDLESS(url));
    await eventually(() => asked.length > 50, "requests");
    run.signal("SIGKILL");
    const begun = performance.now();
    await fleet.agents[0].said("its coordinator has been silent", 40_000);
    assert.ok(performance.now() - begun < 30_000);
    await fleet.free();
    const n = asked.length;
    const { code } = await fleet.run(script(url, { vus: 1, iterations: 1 }));
    assert.equal(code, 0);
    assert.equal(asked.length, n + 1);
  });
});

describe("mistakes", () => {
  const ONE = "export default () => {}";

  test("an agent and a coordinator without the same key", async (t) => {
    const [one, other] = ["0123456789abcdef", "fedcba9876543210"].map((key) => ({ PLIMSOLL_FLEET_KEY: key }));
    const fleet = await Fleet.start(t, 1, { env: one });
    const cwd = folderOf(t, { "script.js": ONE });
    const run = (env) => plimsollIn({ cwd, env }, "run", "--fleet", fleet.nats.url, "--agents", "1", "script.js");
    for (const env of [other, {}]) {
      const { code, stderr } = await run(env);
      assert.equal(code, 111, stderr);
      assert.match(stderr, /agent a1: the package is not signed with the key of this agent; give both the same --fleet-key/);
    }
    assert.equal((await run(one)).code, 0);
  });

  test("too few agents, another fleet, no NATS, and messages that are too short", async (t) => {
    const fleet = await Fleet.start(t, 1);
    const few = await fleet.run(ONE, "--agents", "2", "--agents-timeout", "1s");
    assert.equal(few.code, 111);
    assert.match(few.stderr, /1 of 2 agents came within 1 s in the fleet `default` at nats:/);
    const cwd = folderOf(t, { "script.js": ONE });
    const run = (url) => plimsollIn({ cwd }, "run", "--fleet", url, "--agents", "1", "--agents-timeout", "1s", "script.js");
    const elsewhere = await run(`${fleet.nats.url}/night`);
    assert.match(elsewhere.stderr, /0 of 1 agents came within 1 s in the fleet `night` at nats:/);
    const nowhere = await run("nats://127.0.0.1:1");
    assert.equal(nowhere.code, 111);
    assert.match(nowhere.stderr, /cannot connect to NATS at nats:\/\/127\.0\.0\.1:1/);
    const short = await NatsServer.start(t, { settings: "max_payload: 4096" });
    const { code, stderr } = await run(short.url);
    assert.equal(code, 111);
    assert.match(stderr, /accepts messages of 4096 bytes at most \(max_payload\), and a fleet needs 16384/);
  });

  test("an error of the script on one agent only names the agent", async (t) => {
    const fleet = await Fleet.start(t, 2);
    const text = `if (__VU === 2) throw new Error("not here"); export const options = { scenarios: { a: { executor: "per-vu-iterations", vus: 3 } } }; export default () => {}`;
    const { code, stderr } = await fleet.run(text);
    assert.equal(code, 107, stderr);
    assert.match(stderr, /agent a1: .*not here/s);
    await fleet.free();
    const { code: after } = await fleet.run(ONE);
    assert.equal(after, 0);
  });

  test("what a fleet cannot do is refused", async (t) => {
    const cwd = folderOf(t, { "script.js": ONE });
    const run = (...args) => plimsollIn({ cwd }, "run", "--fleet", "nats://localhost:1", ...args, "script.js");
    for (const [args, words] of [
      [[], /for example --agents 3/],
      [["--agents", "2", "--execution-segment", "0:1/2"], /`executionSegment` and --fleet exclude each other/],
      [["--agents", "2", "--secret-source", "mock=a=b"], /--secret-source and --fleet exclude each other without --fleet-secrets/],
      [["--agents", "2", "--secret-source", "url=urlTemplate=http://localhost:1/{key}", "--fleet-secrets"], /the source `url` is a server, and --fleet-secrets sends those of `file` and `mock` only/],
      [["--agents", "2", "--fleet-secrets"], /--secret-source/],
    ]) {
      const { code, stderr } = await run(...args);
      assert.ok(code === 2 || code === 104, stderr);
      assert.match(stderr, words);
    }
    const env = { PLIMSOLL_FLEET_KEY: "0123456789abcdef" };
    const args = ["--fleet", "nats://u:p@192.0.2.1", "--agents", "2", "--secret-source", "mock=a=b", "--fleet-secrets"];
    const clear = await plimsollIn({ cwd, env }, "run", ...args, "script.js");
    assert.equal(clear.code, 2, clear.stderr);
    assert.match(clear.stderr, /the connection to nats:\/\/\S+192\.0\.2\.1\S* is not encrypted, so others could read the secrets; expected tls:/);
    const open = await plimsoll("agent", "--fleet", "nats://192.0.2.1");
    assert.equal(open.code, 2);
    assert.match(open.stderr, /expected a user, a token or TLS/);
  });

  test("plimsoll agents lists who is there", async (t) => {
    const fleet = await Fleet.start(t, 2);
    const { stdout } = await plimsoll("agents", "--fleet", fleet.nats.url, "--timeout", "500ms");
    assert.match(stdout, /^NAME +VERSION .*\na1 .* free\na2 .* free\n$/);
    const empty = await plimsoll("agents", "--fleet", `${fleet.nats.url}/night`, "--timeout", "200ms");
    assert.match(empty.stdout, /No agents in the fleet `night`/);
  });
});
