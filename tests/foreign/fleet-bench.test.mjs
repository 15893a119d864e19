// One bench from several agents: the clients, the counts and the mistakes of one process, whichever agent has the sender
// and whichever the listener; and what happens when an agent is gone or has no room.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { expectTwoAgents } from "./support/agents.mjs";
import { startBroadcasting } from "./support/broadcasting-server.mjs";
import { Browser } from "./support/browser.mjs";
import { Fleet } from "./support/fleet.mjs";
import { Server, plimsoll, plimsollIn } from "./support/plimsoll.mjs";
import { eventually } from "./support/processes.mjs";

const CABLE = ["--server-type", "actioncable"];

let server;
before(async () => (server = await Server.start("--app", "benchmark")));
after(() => server.stop());

/** Counts of a run that must not depend on how many processes made it. */
function counts({ steps, plimsoll: { deliveries, n_foreign, n_stray_answers, faulty } }) {
  const each = steps.map(({ clients, plimsoll: { connect, n_sent, n_unanswered, acknowledgement_us } }) => ({
    clients,
    connected: connect.n_connected,
    failed: connect.n_failed,
    n_sent,
    n_unanswered,
    answers: acknowledgement_us?.count,
  }));
  return { each, deliveries, n_foreign, n_stray_answers, faulty };
}

/** The delivery counts of a result: `[expected, lost, duplicated, out of order]`. */
function deliveries({ plimsoll: { deliveries: it } }) {
  return [it.n_deliveries_expected, it.n_lost, it.n_duplicated, it.n_out_of_order];
}

describe("a bench of a fleet that goes on", () => {
  let browser;
  before(async () => (browser = await Browser.launch()));
  after(() => browser?.close());

  const sizes = ["--step-size", "4", "--total-steps", "1", "--sample-size", "1000000"];
  for (const [workload, ...args] of [
    ["echo", ...CABLE, ...sizes],
    ["broadcast", ...CABLE, ...sizes],
  ]) {
    test(`${workload}: shows the agents side by side, in the terminal and on its page`, async (t) => {
      const fleet = await Fleet.start(t, 2);
      await expectTwoAgents(t, browser, await fleet.show({}, "bench", workload, server.ws("/cable"), ...args));
    });
  }
});

describe("a bench of a fleet", () => {
  test("its agents get the server type that was found", async (t) => {
    const fleet = await Fleet.start(t, 2);
    const sizes = ["--step-size", "6", "--total-steps", "1", "--format", "json"];
    const { code, stdout, stderr } = await fleet.bench("connect", server.ws("/cable"), ...sizes);
    assert.equal(code, 0, stderr);
    assert.match(stderr, /speaks Action Cable; server type actioncable-connect/);
    const { steps, plimsoll: { server_type } } = JSON.parse(stdout);
    assert.deepEqual([server_type, steps[0].plimsoll.connect.n_connected], ["actioncable-connect", 6]);
    assert.equal(steps[0].plimsoll.connect.subscribe_us.count, 6);
  });

  const BENCHES = {
    "broadcast in a closed loop": () => ["broadcast", server.ws("/cable"), ...CABLE, "--step-size", "31", "--total-steps", "3", "--sample-size", "40", "--connect-concurrent", "7"],
    "broadcast by a schedule": () => ["broadcast", server.ws("/cable"), ...CABLE, "--step-size", "20", "--total-steps", "2", "--rate", "50/s", "--duration", "1s"],
    "broadcast of binary messages": () => ["broadcast", server.ws("/binary"), "--server-type", "binary", "--step-size", "10", "--total-steps", "1", "--initial-clients", "4"],
    echo: () => ["echo", server.ws("/cable"), ...CABLE, "--step-size", "17", "--total-steps", "2", "--sample-size", "500"],
    connect: () => ["connect", server.ws("/cable"), "--server-type", "actioncable-connect", "--step-size", "50", "--total-steps", "2"],
  };
  for (const [name, args] of Object.entries(BENCHES)) {
    test(`${name}: two, three and seven agents do what one process does`, async (t) => {
      const alone = await bench({}, ...args());
      assert.equal(alone.code, 0, alone.stderr);
      for (const n of [2, 3, 7]) {
        const fleet = await Fleet.start(t, n);
        const outcome = await on(fleet, ...args());
        assert.equal(outcome.code, 0, outcome.stderr);
        assert.deepEqual(counts(outcome.result), counts(alone.result), `${n} agents`);
        const { agents } = outcome.result.plimsoll;
        const clients = agents.map(({ clients: own }) => own);
        assert.deepEqual(agents.map(({ name: own }) => own), Array.from({ length: n }, (_, at) => `a${at + 1}`));
        assert.equal(clients.reduce((sum, own) => sum + own), outcome.result.steps.at(-1).clients);
        assert.ok(Math.max(...clients) - Math.min(...clients) <= 1, String(clients));
        await fleet.free();
      }
    });
  }

  test("clients take turns at several servers, and each has an account", async (t) => {
    const other = await Server.start("--app", "benchmark");
    t.after(() => other.stop());
    const args = ["broadcast", server.ws("/cable"), other.ws("/cable"), ...CABLE, "--step-size", "12", "--total-steps", "1", "--sample-size", "10", "--wait-broadcasts", "1"];
    const fleet = await Fleet.start(t, 3);
    for (const { code, result, stderr } of [await bench({}, ...args), await on(fleet, ...args)]) {
      // The servers do not know each other.
      assert.equal(code, 3, stderr);
      const nodes = result.steps[0].plimsoll.nodes.map((node) => [node.n_deliveries_expected, node.n_lost]);
      assert.deepEqual(nodes, [[60, 0], [60, 60]]);
    }
  });

  test("the summary has the agents side by side", async (t) => {
    const fleet = await Fleet.start(t, 2);
    const args = ["echo", server.ws("/cable"), ...CABLE, "--step-size", "10", "--total-steps", "1", "--sample-size", "100"];
    const { summary } = await on(fleet, ...args);
    assert.deepEqual(summary.agents.map(({ name, share, vus_max }) => [name, share, vus_max]), [["a1", 0.5, 5], ["a2", 0.5, 5]]);
    assert.equal(summary.agents.reduce((sum, { iterations }) => sum + iterations, 0), 100);
    for (const { clock, cpu_seconds, rss_bytes } of summary.agents) {
      assert.ok(clock.uncertainty_ms > 0 && clock.start_skew_ms === null, JSON.stringify(clock));
      assert.ok(cpu_seconds > 0 && (rss_bytes === null || rss_bytes > 1e6));
    }
    assert.equal(summary.vus_max, 10);
  });

  test("a signal ends all agents in good order", async (t) => {
    const fleet = await Fleet.start(t, 2);
    const run = start(fleet, "broadcast", server.ws("/cable"), ...CABLE, "--step-size", "6", "--total-steps", "1", "--sample-size", "1000000");
    await run.said("sending 1000000 messages, 6 clients");
    run.signal("SIGINT");
    const { code, stdout, stderr } = await run.ended();
    assert.equal(code, 105, stderr);
    const [expected, ...rest] = deliveries(JSON.parse(stdout));
    assert.ok(expected > 0);
    assert.deepEqual(rest, [0, 0, 0]);
    await fleet.free();
  });
});

describe("mistakes of a server", () => {
  for (const [fault, expected] of [
    ["none", [60, 0, 0, 0]],
    ["lose", [60, 1, 0, 0]],
    ["repeat", [60, 0, 1, 0]],
    ["swap", [60, 0, 0, 1]],
  ]) {
    test(`${fault}: told exactly when sender and listener are on different agents`, async (t) => {
      const fleet = await Fleet.start(t, 2);
      for (const model of [["--concurrent", "1", "--sample-size", "10"], ["--rate", "20/s", "--duration", "500ms"]]) {
        const peer = await FaultyServer.start(t, fault);
        const args = ["broadcast", peer.url, "--server-type", "json", "--step-size", "6", "--total-steps", "1", "--connect-concurrent", "1", "--wait-broadcasts", "1", ...model];
        const { result, stderr } = await on(fleet, ...args);
        assert.deepEqual(deliveries(result), expected, stderr);
        assert.equal(peer.senders.has(1), false, "the second client is on the other agent than the senders");
        await fleet.free();
      }
    });
  }
});

describe("faults of a fleet", () => {
  test("a killed agent ends the run, which is incomplete and names it", async (t) => {
    const fleet = await Fleet.start(t, 3);
    const run = start(fleet, "broadcast", server.ws("/cable"), ...CABLE, "--step-size", "9", "--total-steps", "1", "--sample-size", "1000000", "--report", "a.json");
    await run.said("sending 1000000 messages, 9 clients");
    fleet.agents[1].signal("SIGKILL");
    const { code, stdout, stderr } = await run.ended();
    assert.equal(code, 111, stderr);
    assert.match(stderr, /agent a2 was lost after \d+ s \(nothing was heard of it for 10 s\), and with it 33 % of the clients/);
    const { plimsoll: { agents, interrupted } } = JSON.parse(stdout);
    assert.equal(interrupted, true);
    assert.deepEqual(agents.map(({ lost_at_seconds }) => lost_at_seconds === null), [true, false, true]);
    await fleet.free();
  });

  test("an agent that is stopped by a signal leaves at once", async (t) => {
    const fleet = await Fleet.start(t, 2);
    const run = start(fleet, "echo", server.ws("/cable"), ...CABLE, "--step-size", "4", "--total-steps", "1", "--sample-size", "1000000");
    await run.said("sending 1000000 messages, 4 clients");
    fleet.agents[0].signal("SIGTERM");
    const { code, stderr } = await run.ended();
    assert.equal(code, 111, stderr);
    assert.match(stderr, /agent a1 was lost after \d+ s \(it was stopped by a signal\)/);
    assert.equal((await fleet.agents[0].ended()).code, 0);
  });

  test("a NATS server that is killed and started again loses nothing", async (t) => {
    const fleet = await Fleet.start(t, 2);
    const run = start(fleet, "broadcast", server.ws("/cable"), ...CABLE, "--step-size", "6", "--total-steps", "1", "--rate", "20/s", "--duration", "6s");
    await run.said("sending 120 messages by schedule");
    await fleet.nats.kill();
    await fleet.nats.resume();
    const { code, stdout, stderr } = await run.ended();
    assert.equal(code, 0, stderr);
    assert.deepEqual(deliveries(JSON.parse(stdout)), [720, 0, 0, 0]);
  });

  test("an agent without room is named", async (t) => {
    const fleet = await Fleet.start(t, 1);
    await fleet.add("narrow", { n_files: 200 });
    const args = ["connect", server.ws("/cable"), ...CABLE, "--step-size", "400", "--total-steps", "1"];
    const { code, stderr } = await on(fleet, ...args);
    assert.equal(code, 111, stderr);
    assert.match(stderr, /agent narrow: .*open files/);
    await fleet.free();
    const few = await on(fleet, "connect", server.ws("/cable"), ...CABLE, "--step-size", "4", "--total-steps", "1");
    assert.equal(few.code, 0, few.stderr);
  });

  test("what a fleet cannot do is refused", async () => {
    const run = (workload, ...args) => plimsoll("bench", workload, "ws://127.0.0.1:1/", "--fleet", "nats://localhost:1", ...args);
    for (const [args, words] of [
      [["echo"], /for example --agents 3/],
      [["echo", "--agents", "2", "--on-agent-loss", "continue"], /--on-agent-loss continue is for scripts/],
      [["echo", "--agents", "2", "--local-addr", "127.0.0.2"], /--local-addr and --fleet exclude each other/],
      [["echo", "--agents", "2", "--out", "json=a.json"], /--out and --fleet exclude each other/],
      [["recover", "--agents", "2"], /unexpected argument '--fleet'/],
    ]) {
      const { code, stderr } = await run(...args);
      assert.equal(code, 2, stderr);
      assert.match(stderr, words);
    }
  });
});

/** Runs a bench to its end: `{ code, stderr, result }`. */
async function bench(surroundings, ...args) {
  const { code, stdout, stderr } = await plimsollIn(surroundings, "bench", ...args, "--quiet", "--format", "json");
  return { code, stderr, result: stdout.trim().startsWith("{") ? JSON.parse(stdout) : null };
}

/** The same on all agents of a fleet, with the summary. */
async function on(fleet, ...args) {
  const { code, stdout, stderr, read } = await fleet.bench(...args, "--quiet", "--format", "json", "--report", "summary.json");
  return { code, stderr, result: stdout.trim().startsWith("{") ? JSON.parse(stdout) : null, summary: read("summary.json") };
}

/** Starts a bench on all agents of a fleet, and leaves it running. */
function start(fleet, ...args) {
  return fleet.startBench(...args, "--format", "json");
}

/** A server of websocket-bench's JSON that makes one mistake: about the fourth broadcast to the second client. */
class FaultyServer {
  #n = 0;
  #held = null;
  #fault;
  /** The numbers of the clients that have sent. */
  senders = new Set();

  static async start(t, fault) {
    const peer = new FaultyServer();
    peer.#fault = fault;
    peer.url = await startBroadcasting(t, ({ sender, clients, text, confirm }) => {
      peer.senders.add(sender);
      peer.#n += 1;
      clients.forEach((client, at) => peer.#deliver(client, at, text));
      confirm();
    });
    return peer;
  }

  #deliver(client, at, text) {
    const isIt = at === 1 && this.#n === 4;
    if (isIt && this.#fault === "lose") return;
    if (isIt && this.#fault === "swap") {
      this.#held = text;
      return;
    }
    client.send(text);
    if (isIt && this.#fault === "repeat") client.send(text);
    if (at === 1 && this.#held) {
      client.send(this.#held);
      this.#held = null;
    }
  }
}
