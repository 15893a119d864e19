// `plimsoll line` with the load of several agents, on servers whose capacity is known: what one process finds, agents find.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { Fleet } from "./support/fleet.mjs";
import { CHAT, Limiter } from "./support/limiter.mjs";
import { plimsollIn } from "./support/plimsoll.mjs";
import { folderOf } from "./support/scripts.mjs";

const SHORT = ["--step-duration", "1s", "--warm-up", "1s", "--repeat", "1", "--no-save"];

/** A search from the line up: `{ code, stdout, stderr, report }`. */
async function search(fleet, files, ...args) {
  const outcome = await fleet.perform(files, "line", ...args, "--report", "line.json");
  return { ...outcome, report: written(outcome.cwd) };
}

/** A search of a bench from the line up, with the flags of a fleet, or none: `{ code, stdout, stderr, report }`. */
async function searchBench(t, flags, ...args) {
  const cwd = folderOf(t, {});
  const outcome = await plimsollIn({ cwd }, "line", "bench", ...args, ...flags, "--report", "line.json");
  return { ...outcome, report: written(cwd) };
}

function written(cwd) {
  const path = join(cwd, "line.json");
  return existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : null;
}

const around = (capacity) => ["--start", String(capacity), "--max", String(capacity * 2)];

describe("a search with the load of a fleet", () => {
  test("finds the line of a script, and judges what the objectives name", async (t) => {
    const fleet = await Fleet.start(t, 3);
    const limiter = await Limiter.start(t, 10, "refuse");
    const args = ["chat.js", "-e", `URL=ws://127.0.0.1:${limiter.port}/`, ...SHORT, ...around(10)];
    const objectives = ["--slo", "errors==0", "--slo", "rtt{scenario:chat} p(95)<10000"];
    const { code, stdout, stderr, report } = await search(fleet, { "chat.js": CHAT }, ...args, ...objectives);
    assert.equal(code, 0, stderr);
    const { interval, end, sentence } = report.result;
    assert.equal(end, "found", sentence);
    assert.ok(interval.low <= 10 && 10 <= interval.high, sentence);
    assert.match(stdout, /Holds /);
    const held = report.steps.find((step) => step.verdict === "held");
    assert.ok(
      held.objectives.every(({ value }) => value !== null),
      JSON.stringify(held.objectives),
    );
    // The agents' own work, in the part that counts.
    assert.ok(held.generator_cpu_cores > 0, JSON.stringify(held));
  });

  test("shares the arrivals of an Artillery file", async (t) => {
    const fleet = await Fleet.start(t, 2);
    const limiter = await Limiter.start(t, 1_000, "refuse");
    const file = `
config:
  target: ws://127.0.0.1:${limiter.port}/
  phases: [{ duration: 60, arrivalRate: 1 }]
  payload: { path: names.csv, fields: [name], order: sequence }
scenarios:
- { engine: ws, flow: [{ send: "{{ name }}" }, { think: 0.1 }] }
`;
    const files = { "load.yml": file, "names.csv": "a\nb\nc\n" };
    const args = ["load.yml", ...SHORT, "--start", "20", "--max", "20", "--slo", "errors==0"];
    const { code, stderr, report } = await search(fleet, files, ...args);
    assert.equal(code, 0, stderr);
    assert.equal(report.unit, "rate");
    assert.equal(report.result.end, "max", report.result.sentence);
    assert.ok(
      report.steps.every(({ verdict, failures }) => verdict === "held" && failures.length === 0),
      JSON.stringify(report.steps),
    );
  });

  test("scales a wsdirector scenario with clients on all agents", async (t) => {
    const fleet = await Fleet.start(t, 2);
    const limiter = await Limiter.start(t, 6, "refuse");
    const file = `
- client:
    multiplier: ":scale"
    actions:
    - send: { data: hi }
    - receive: { data: hi }
    - wait_all
`;
    const args = ["echo.yml", "--url", `ws://127.0.0.1:${limiter.port}/`, "--slo", "errors==0", "--repeat", "1", "--no-save"];
    const { code, stderr, report } = await search(fleet, { "echo.yml": file }, ...args, ...around(6));
    assert.equal(code, 0, stderr);
    const { interval, end, sentence } = report.result;
    assert.equal(end, "found", sentence);
    assert.ok(interval.low <= 6 && 6 <= interval.high, sentence);
  });

  test("an agent without room ends the search as the generator's limit", async (t) => {
    const fleet = await Fleet.start(t, 1);
    const small = await fleet.add("small", { n_files: 84 });
    const limiter = await Limiter.start(t, 100_000, "refuse");
    const args = ["chat.js", "-e", `URL=ws://127.0.0.1:${limiter.port}/`, ...SHORT, "--slo", "errors==0"];
    const search_of = (...more) => search(fleet, { "chat.js": CHAT }, ...args, ...more);
    const { code, stdout, stderr, report } = await search_of("--start", "4", "--max", "400", "--max-steps", "12", "--precision", "50%");
    assert.equal(code, 4, `${stdout}\n${stderr}`);
    assert.equal(report.result.end, "generator", report.result.sentence);
    const reasons = report.steps.flatMap((step) => step.reasons);
    assert.ok(
      reasons.some((reason) => /^agent small: \d+ users with one connection each need more open files/.test(reason)),
      reasons.join("\n"),
    );
    const refused = await search_of("--start", "200", "--max", "200");
    assert.equal(refused.code, 111, refused.stderr);
    assert.match(refused.stderr, /agent small: 100 users with one connection each need more open files/);
    assert.ok(small.pid > 0);
  });

  test("a lost agent ends the search, with the steps before it", async (t) => {
    const fleet = await Fleet.start(t, 2);
    const limiter = await Limiter.start(t, 1_000, "refuse");
    const args = ["chat.js", "-e", `URL=ws://127.0.0.1:${limiter.port}/`, ...SHORT, "--slo", "errors==0"];
    const seen = limiter.reached(8);
    const running = search(fleet, { "chat.js": CHAT }, ...args, "--start", "4", "--max", "400");
    await seen;
    fleet.agents[1].signal("SIGTERM");
    const { code, stderr, report } = await running;
    assert.equal(code, 111, stderr);
    assert.match(stderr, /agent a2 was lost after \d+ s/);
    assert.equal(report.result.end, "interrupted");
    assert.ok(report.steps.length >= 1 && report.steps.every(({ verdict }) => verdict === "held"), JSON.stringify(report.steps));
    assert.ok(
      report.notices.some((notice) => notice.includes("agent a2 was lost")),
      JSON.stringify(report.notices),
    );
  });

  test("says what a fleet cannot do, before it looks for one", async (t) => {
    const fleet = await Fleet.start(t, 1);
    const check = async (files, args, words) => {
      const { code, stderr } = await search(fleet, files, ...args);
      assert.equal(code, 2, stderr);
      assert.match(stderr, words);
    };
    const chat = { "chat.js": CHAT };
    await check(chat, ["chat.js", "--secret-source", "mock=a=b"], /--secret-source and --fleet exclude each other without --fleet-secrets/);
    await check(chat, ["chat.js", "--on-agent-loss", "continue"], /a step without the load of one agent says nothing/);
    const users = `
config:
  target: ws://127.0.0.1:9/
  phases: [{ duration: 60, arrivalRate: 1 }]
  payload: { path: names.csv, fields: [name], order: sequence }
scenarios:
- { engine: ws, flow: [{ send: "{{ name }}" }] }
`;
    await check({ "load.yml": users, "names.csv": "a\n" }, ["load.yml", "--unit", "users"], /config\.payload: the `order` sequence is that of arrivals/);
  });
});

describe("a search of a bench with the clients of a fleet", () => {
  const BRIEF = ["--repeat", "1", "--no-save", "--slo", "errors==0"];
  const bench = (workload, limiter, ...more) => [workload, `ws://127.0.0.1:${limiter.port}/`, "--server-type", "echo", ...more, ...BRIEF];
  const echo = (limiter, ...more) => bench("echo", limiter, "--sample-size", "20", ...more);

  for (const n_agents of [2, 3]) {
    test(`${n_agents} agents find what one process finds`, async (t) => {
      const fleet = await Fleet.start(t, n_agents);
      for (const of_workload of [echo, (limiter, ...more) => bench("connect", limiter, ...more)]) {
        const found = [];
        for (const flags of [[], fleet.flags]) {
          const limiter = await Limiter.start(t, 10, "refuse");
          const { code, stdout, stderr, report } = await searchBench(t, flags, ...of_workload(limiter, ...around(10)));
          assert.equal(code, 0, stderr);
          const { interval, end, sentence } = report.result;
          assert.equal(end, "found", sentence);
          assert.ok(interval.low <= 10 && 10 <= interval.high, sentence);
          assert.match(stdout, /Holds /);
          // The number of clients decides, unless something else kept the generator from its work.
          const judged = report.steps.filter(({ verdict }) => verdict !== "generator");
          assert.ok(
            judged.every(({ load, verdict }) => verdict === (load <= 10 ? "held" : "broke")),
            JSON.stringify(report.steps),
          );
          // Each client that the server had no room for is counted, on whichever agent it was.
          const refused = judged.filter(({ load }) => load > 10).map(({ load, failures }) => [load - 10, failures[0].count]);
          assert.ok(refused.length > 0 && refused.every(([expected, counted]) => counted >= expected), JSON.stringify(refused));
          assert.equal(limiter.peak, 10);
          const held = report.steps.find(({ verdict }) => verdict === "held");
          assert.ok(held.generator_cpu_cores > 0, JSON.stringify(held));
          found.push([report.unit, end, report.name.replace(/:\d+/, "")]);
        }
        assert.deepEqual(found[1], found[0]);
      }
    });
  }

  test("an agent without room ends the search as the generator's limit", async (t) => {
    const fleet = await Fleet.start(t, 1);
    await fleet.add("small", { n_files: 84 });
    const limiter = await Limiter.start(t, 100_000, "refuse");
    const args = (...more) => echo(limiter, "--workers", "1", ...more);
    const few = ["--start", "4", "--max", "400", "--max-steps", "12", "--precision", "50%"];
    const { code, stdout, stderr, report } = await searchBench(t, fleet.flags, ...args(...few));
    assert.equal(code, 4, `${stdout}\n${stderr}`);
    assert.equal(report.result.end, "generator", report.result.sentence);
    const reasons = report.steps.flatMap((step) => step.reasons);
    assert.ok(
      reasons.some((reason) => /^agent small: .*open files/.test(reason)),
      reasons.join("\n"),
    );
    const refused = await searchBench(t, fleet.flags, ...args("--start", "200", "--max", "200"));
    assert.equal(refused.code, 111, refused.stderr);
    assert.match(refused.stderr, /agent small: .*open files/);
  });

  test("a lost agent ends the search, with the steps before it", async (t) => {
    const fleet = await Fleet.start(t, 2);
    const limiter = await Limiter.start(t, 1_000, "refuse");
    const seen = limiter.reached(8);
    const running = searchBench(t, fleet.flags, ...echo(limiter, "--start", "4", "--max", "400"));
    await seen;
    fleet.agents[1].signal("SIGTERM");
    const { code, stderr, report } = await running;
    assert.equal(code, 111, stderr);
    assert.match(stderr, /agent a2/);
    assert.equal(report.result.end, "interrupted");
    assert.ok(report.steps.length >= 1 && report.steps.every(({ verdict }) => verdict === "held"), JSON.stringify(report.steps));
    assert.ok(report.notices.length > 0, JSON.stringify(report.notices));
  });

  test("says what a fleet cannot do, before it looks for one", async (t) => {
    const fleet = await Fleet.start(t, 1);
    const check = async (flags, words) => {
      const { code, stderr } = await searchBench(t, fleet.flags, ...echo({ port: 9 }, ...flags));
      assert.equal(code, 2, stderr);
      assert.match(stderr, words);
    };
    await check(["--local-addr", "127.0.0.2"], /agents connect from their own addresses/);
    await check(["--on-agent-loss", "continue"], /a step without the load of one agent says nothing/);
  });
});
