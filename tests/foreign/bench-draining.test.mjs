// Steps of `bench broadcast` end with their deliveries. A server with planted behaviour notes on its own clock when it got
// each broadcast and when it sent it to each client; the bench must come to the same figures.

import assert from "node:assert/strict";
import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { plimsoll, plimsollIn, plimsollJson } from "./support/plimsoll.mjs";
import { PeerServer } from "./support/peer-server.mjs";
import { folderOf } from "./support/scripts.mjs";

const N_CLIENTS = 5;
const N_BROADCASTS = 8;
const SIZES = ["--step-size", String(N_CLIENTS), "--total-steps", "2", "--workers", "2", "--server-type", "json"];

/** The models, by the flags that send `n` broadcasts in each step. */
const MODELS = {
  closed: (n) => ["--sample-size", String(n), "--concurrent", "2"],
  open: (n) => ["--rate", "20/s", "--duration", `${n * 50}ms`],
};

/**
 * A server of the type `json` that delivers as `plan` says: `plan({ n_broadcast, n_client }, send)` calls `send` as often and
 * as late as it likes. Notes the milliseconds from each broadcast to each first delivery.
 */
async function planted(t, plan, options = {}) {
  const noted = { latencies: new Map(), last: 0 };
  let received;
  const deliver = (client, message, { n_broadcast, n_client }) => {
    if (received?.n_broadcast !== n_broadcast) received = { n_broadcast, at: performance.now() };
    const { at } = received;
    const key = `${n_broadcast}/${n_client}`;
    plan({ n_broadcast, n_client, client }, () => {
      const now = performance.now();
      if (!noted.latencies.has(key)) noted.latencies.set(key, { n_broadcast, ms: now - at });
      noted.last = Math.max(noted.last, now);
      client.send(message);
    });
  };
  const peer = await PeerServer.start(t, "json", { deliver, ...options });
  Object.assign(peer, { planted: t.name, noted });
  return { peer, noted };
}

/** The milliseconds that the server noted in step `at` (from 0) with `n` broadcasts in each, in ascending order. */
const timesOf = (noted, at, n) =>
  [...noted.latencies.values()]
    .filter(({ n_broadcast }) => Math.ceil(n_broadcast / n) === at + 1)
    .map(({ ms }) => ms)
    .sort((a, b) => a - b);

/** Interpolated between the two samples beside it, as everywhere in the product. */
function rank(sorted, share) {
  const place = share * (sorted.length - 1);
  const [below, above] = [sorted[Math.floor(place)], sorted[Math.ceil(place)]];
  return below === above ? below : below + (above - below) * (place % 1);
}

/**
 * Writes a line of JSON for each step into the file that PLANTED_TABLE names, if it does: what was planted, and what the
 * bench said. benchmarks/2026-11-24-verdicts has such a file.
 */
function tell({ planted, noted }, n, { code, report }) {
  const { PLANTED_TABLE } = process.env;
  if (!PLANTED_TABLE) return;
  const rounded = (ms) => (ms === undefined ? null : Math.round(ms * 10) / 10);
  report.steps.forEach(({ clients, plimsoll: it }, at) => {
    const times = timesOf(noted, at, n);
    const row = {
      planted,
      step: at + 1,
      clients,
      exit_code: code,
      sent: it.n_sent,
      unacknowledged: it.n_unanswered,
      expected: it.n_deliveries_expected,
      delivered: it.n_deliveries,
      lost: it.n_lost,
      duplicated: it.n_duplicated,
      out_of_order: it.n_out_of_order,
      planted_ms: { p50: rounded(rank(times, 0.5)), p95: rounded(rank(times, 0.95)), max: rounded(times.at(-1)) },
      found_ms: Object.fromEntries(["p50", "p95", "max"].map((name) => [name, rounded(it.listener_us[name] / 1000)])),
      lower_bounds_from_ms: it.lower_bounds_from_us === null ? null : rounded(it.lower_bounds_from_us / 1000),
      seconds: Math.round(it.sampling.seconds * 100) / 100,
    };
    appendFileSync(PLANTED_TABLE, `${JSON.stringify(row)}\n`);
  });
}

const later = (ms, act) => setTimeout(act, ms);

/** Runs the bench in a model, in two steps. */
async function broadcast(peer, model, n, ...more) {
  const outcome = await plimsollJson("bench", "broadcast", peer.url, ...SIZES, ...MODELS[model](n), ...more);
  tell(peer, n, outcome);
  return outcome;
}

/** The counts of both steps together. */
function counts(report) {
  const { n_deliveries_expected, n_lost, n_late, n_duplicated, n_out_of_order } = report.plimsoll.deliveries;
  return { n_deliveries_expected, n_lost, n_late, n_duplicated, n_out_of_order };
}

const EXPECTED = (N_CLIENTS + 2 * N_CLIENTS) * N_BROADCASTS;
const exactly = (more) => ({ n_deliveries_expected: EXPECTED, n_lost: 0, n_late: 0, n_duplicated: 0, n_out_of_order: 0, ...more });

/** How much later than the server's own clock says a client may be, beside 2 %: two processes and the network. */
const SLACK_MS = 5;

/**
 * How late the generator was by its own account, in ms: it sent messages of a schedule so much after their time, and read
 * replies so late. On a calm machine, less than a millisecond.
 */
const latenessOf = ({ send_lateness_us, generator }) => (send_lateness_us?.max ?? 0) / 1000 + (generator.lateness_bound_ms ?? 0);

/** The bench's times of listeners are the server's; what is lost is longer than all of them. */
function assertLatencies(report, noted, n = N_BROADCASTS) {
  report.steps.forEach(({ plimsoll }, at) => {
    const { n_lost, listener_us, last_delivery_us } = plimsoll;
    const slack = SLACK_MS + latenessOf(plimsoll);
    assert.ok(slack < 500, `no figures: the generator was ${slack} ms late`);
    const delivered = timesOf(noted, at, n);
    const planted = [...delivered, ...Array(n_lost).fill(Infinity)];
    assert.equal(listener_us.count, planted.length);
    const figures = [["min", planted[0]], ["p50", rank(planted, 0.5)], ["p95", rank(planted, 0.95)], ["max", planted.at(-1)]];
    for (const [name, expected] of figures.filter(([, expected]) => expected !== Infinity)) {
      const found = listener_us[name] / 1000;
      assert.ok(Math.abs(found - expected) <= expected * 0.02 + slack, `step ${at + 1}, ${name}: ${found} ms, planted ${expected} ms`);
    }
    if (n_lost > 0) return;
    const found = last_delivery_us.max / 1000;
    assert.ok(Math.abs(found - planted.at(-1)) <= planted.at(-1) * 0.02 + slack, `last delivery: ${found} ms`);
  });
}

/** No step takes longer than until its last delivery (or `sending` seconds) and the silence behind it. */
function assertLength(report, quiet, sending) {
  for (const { plimsoll: { sampling, listener_us, lower_bounds_from_us } } of report.steps) {
    const last = lower_bounds_from_us === null ? sending + listener_us.max / 1e6 : sending + quiet;
    assert.ok(sampling.seconds <= last + 1, `${sampling.seconds} s, expected ${last} s`);
  }
}

/** The models, with the seconds in which each step sends. */
const SENDING = [["closed", 0], ["open", (N_BROADCASTS * 50) / 1000]];

/** The server acknowledges at once and delivers after so many seconds. */
function acknowledgesEarly(model, sending, seconds) {
  test(`${model}: acknowledges ${seconds} s before it delivers`, async (t) => {
    const { peer, noted } = await planted(t, (_, send) => later(seconds * 1000, send));
    const { code, report, stderr } = await broadcast(peer, model, N_BROADCASTS);
    assert.equal(code, 0, stderr);
    assert.deepEqual(counts(report), exactly());
    assertLatencies(report, noted);
    assertLength(report, 15, sending);
    for (const step of report.steps) {
      // A timer of Node.js may fire a millisecond early.
      assert.ok(step["median-delivery"] >= seconds * 1000 - 1, step["median-delivery"]);
      assert.ok(step["max-rtt"] < Math.max(90, seconds * 500), "the sender knows nothing of that");
      const { max, mean } = step.plimsoll.in_flight;
      if (model === "closed") assert.equal(max, N_BROADCASTS, "twice as many as the window says and more");
      assert.ok(mean > 0 && mean <= max, `${mean} of ${max}`);
    }
  });
}

// One at a time: other processes would be seen in latencies of a tenth of a second.
describe("small latencies", { concurrency: 1 }, () => {
  for (const [model, sending] of SENDING) {
    acknowledgesEarly(model, sending, 0.1);

    test(`${model}: drips`, async (t) => {
      const { peer, noted } = await planted(t, ({ n_client }, send) => later(n_client * 300, send));
      const { code, report, stderr } = await broadcast(peer, model, N_BROADCASTS, "--wait-broadcasts", "1");
      assert.equal(code, 0, stderr);
      assert.deepEqual(counts(report), exactly());
      assertLatencies(report, noted);
      assertLength(report, 1, sending);
    });
  }
});

describe("the open model", () => {
  test("a stall shows in every broadcast that it delays", async (t) => {
    // The server answers nothing for a second; the closed loop would have had two broadcasts in it.
    let until;
    const { peer, noted } = await planted(t, (_, send) => {
      until ??= performance.now() + 1000;
      later(Math.max(0, until - performance.now()), send);
    });
    const { code, report, stderr } = await broadcast(peer, "open", 40);
    assert.equal(code, 0, stderr);
    const longest = Math.max(...[...noted.latencies.values()].map(({ ms }) => ms));
    const { listener_us, in_flight, send_lateness_us } = report.steps[0].plimsoll;
    // Half of the broadcasts of two seconds waited for half a second on average.
    assert.ok(Math.abs(listener_us.max / 1000 - longest) <= longest * 0.02 + SLACK_MS, `${listener_us.max} µs, planted ${longest} ms`);
    assert.ok(listener_us.p90 >= 700_000 && in_flight.max >= 19, JSON.stringify({ listener_us, in_flight }));
    assert.equal(send_lateness_us.count, 40);
    assert.deepEqual(report.plimsoll.load, { model: "open", rate_per_second: 20, seconds: 2 });
  });
});

describe("behaviour that takes seconds", { concurrency: 2 }, () => {
  describe("servers with planted behaviour", { concurrency: 3 }, () => {
    for (const [model, sending] of SENDING) {
      for (const seconds of [3, 10]) acknowledgesEarly(model, sending, seconds);

      test(`${model}: never delivers`, async (t) => {
        const { peer } = await planted(t, () => {});
        const { code, report, stderr } = await broadcast(peer, model, N_BROADCASTS, "--wait-broadcasts", "2");
        assert.equal(code, 3, stderr);
        assert.deepEqual(counts(report), exactly({ n_lost: EXPECTED }));
        assertLength(report, 2, sending);
        for (const { plimsoll: { listener_us, lower_bounds_from_us } } of report.steps) {
          assert.ok(lower_bounds_from_us >= 2e6 && listener_us.p50 >= 2e6 * 0.999, `${lower_bounds_from_us} ${listener_us.p50}`);
        }
        assert.match(stderr, /waiting: 40 of 40 deliveries are missing/);
        assert.match(stderr, /step 2: 80 of 80 deliveries did not arrive/);
      });

      test(`${model}: drops 1 in 1,000`, async (t) => {
        let n = 0;
        const { peer, noted } = await planted(t, (_, send) => ++n % 1000 && later(1000, send));
        const { code, report, stderr } = await broadcast(peer, model, 200, "--wait-broadcasts", "2");
        assert.equal(code, 3, stderr);
        assert.deepEqual(counts(report), exactly({ n_deliveries_expected: 3000, n_lost: 3 }));
        assert.equal(noted.latencies.size, 2997);
        assertLatencies(report, noted, 200);
        // Ten seconds or none of sending, and the last delivery a second later.
        assertLength(report, 2, model === "open" ? 11 : 2);
        const { listener_us, lower_bounds_from_us } = report.steps[0].plimsoll;
        // One of 1,000: only the longest time is a lower bound.
        assert.ok(listener_us.p99 < lower_bounds_from_us * 0.99 && listener_us.max >= lower_bounds_from_us, JSON.stringify(listener_us));
      });

      test(`${model}: duplicates`, async (t) => {
        const { peer, noted } = await planted(t, ({ n_broadcast, n_client }, send) => {
          later(1000, send);
          if (n_broadcast === 7 && n_client === 3) later(1000, send);
        });
        const { code, report, stderr } = await broadcast(peer, model, N_BROADCASTS);
        assert.equal(code, 0, stderr);
        assert.deepEqual(counts(report), exactly({ n_duplicated: 1 }));
        assertLatencies(report, noted);
        assertLength(report, 15, sending);
      });

      test(`${model}: reorders`, async (t) => {
        // The third broadcast of a client comes behind the last one of the step, which was sent long after it was acknowledged.
        const { peer, noted } = await planted(t, ({ n_broadcast, n_client }, send) => {
          if (n_broadcast === 3 && n_client === 2) later(model === "open" ? 1380 : 1200, send);
          else if (n_broadcast > 3 && n_broadcast <= N_BROADCASTS && model === "closed") later(1050, send);
          else later(1000, send);
        });
        const { code, report, stderr } = await broadcast(peer, model, N_BROADCASTS);
        assert.equal(code, 0, stderr);
        assert.deepEqual(counts(report), exactly({ n_out_of_order: 1 }));
        assertLatencies(report, noted);
        assertLength(report, 15, sending);
      });

      test(`${model}: dies`, async (t) => {
        const { peer } = await planted(t, ({ n_broadcast, client }, send) => (n_broadcast === 5 ? client.terminate() : send()));
        const { code, report, stderr } = await broadcast(peer, model, N_BROADCASTS, "--wait-broadcasts", "2");
        assert.equal(code, 3, stderr);
        const [first, second] = report.steps.map(({ plimsoll }) => plimsoll);
        assert.equal(first.n_dropped, N_CLIENTS);
        // A connection that is torn down may take what it has not delivered with it.
        assert.ok(first.n_deliveries <= 4 * N_CLIENTS && first.n_lost >= N_CLIENTS, JSON.stringify(first));
        assert.equal(first.n_deliveries + first.n_lost, first.n_deliveries_expected);
        assert.deepEqual([second.n_deliveries, second.n_lost], [N_CLIENTS * N_BROADCASTS, 0]);
        assertLength(report, 2, sending);
      });

      test(`${model}: never acknowledges`, async (t) => {
        const { peer } = await planted(t, (_, send) => send(), { acknowledge: () => {} });
        const { code, report, stderr } = await broadcast(peer, model, N_BROADCASTS, "--wait-broadcasts", "2");
        assert.equal(code, 3, stderr);
        // The closed loop does not go beyond its first window.
        const n_sent = model === "closed" ? 2 : N_BROADCASTS;
        for (const { plimsoll: it } of report.steps) {
          assert.deepEqual([it.n_sent, it.n_unanswered, it.n_lost], [n_sent, n_sent, 0]);
          assert.ok(it.sampling.seconds <= sending + 2 + 1, `${it.sampling.seconds} s`);
        }
        if (model === "closed") assert.match(stderr, /acknowledged none of 2 broadcasts in a row; the other 6 of this step are not sent/);
      });
    }
  });

  describe("before and around a bench", { concurrency: 2 }, () => {
    test("text and objective are about listeners", async (t) => {
      const { peer } = await planted(t, (_, send) => later(100, send));
      const { code, stdout, stderr } = await plimsoll("bench", "broadcast", peer.url, ...SIZES, ...MODELS.closed(4));
      assert.equal(code, 0, stderr);
      assert.match(stdout, /^clients: +5 +95per-delivery: 1\d\dms +min-delivery: 1\d\dms /m);
      assert.match(stdout, /^ +acknowledgement \(sender's rtt\) p50 /m);
      assert.match(stdout, /^ +in flight: 4 broadcasts at most, [\d.]+ on average \(--concurrent 2, because the target acknowledged before it had delivered\)$/m);
    });

    test("without --total-steps the first step whose deliveries are slow is the last", async (t) => {
      const { peer } = await planted(t, (_, send) => later(300, send));
      const { code, report, stderr } = await plimsollJson(
        "bench", "broadcast", peer.url, "--step-size", "2", "--sample-size", "4", "--limit-rtt", "200ms",
      );
      assert.equal(code, 0, stderr);
      assert.equal(report.steps.length, 1);
    });

    test("the default objective of a search is about deliveries, not acknowledgements", async (t) => {
      const { peer } = await planted(t, (_, send) => later(600, send));
      const flags = ["--sample-size", "4", "--start", "1", "--max", "1", "--repeat", "1", "--no-save"];
      const { code, report, stderr } = await plimsollJson("line", "bench", "broadcast", peer.url, ...flags);
      assert.equal(code, 3, stderr);
      assert.deepEqual(report.objectives, ["listener_delivery p(95)<500", "lost==0", "errors==0"]);
      assert.match(report.result.sentence, /^Not even 1 client holds .*listener_delivery p\(95\) 6\d\d(\.\d+)?ms of 500ms allowed/);
    });

    test("the sentence of the run says that a percentile is a lower bound", async (t) => {
      const folder = folderOf(t, {});
      const { peer } = await planted(t, ({ n_client }, send) => n_client % 2 && send());
      const flags = [...SIZES, ...MODELS.closed(4), "--wait-broadcasts", "1", "--report", "run.md", "--report", "run.json"];
      const { code, stderr } = await plimsollIn({ cwd: folder }, "bench", "broadcast", peer.url, ...flags);
      assert.equal(code, 3, stderr);
      const read = (name) => readFileSync(join(folder, name), "utf8");
      const { listener_delivery } = JSON.parse(read("run.json")).metrics;
      assert.ok(listener_delivery.values.lower_bounds_from >= 1e6, JSON.stringify(listener_delivery.values));
      assert.match(stderr.replaceAll(/\s+/g, " "), /fail: Lost messages; .*p95 of listener_delivery > 1(\.\d+)? s \(40 samples\), 20 lost of 40/);
      assert.match(read("run.md"), /\| `listener_delivery` median \/ p95 \/ p99 \/ max \| .*(>|&gt;) 1(\.\d+)? s/);
    });

    test("a threshold counts what is lost", async (t) => {
      const { peer } = await planted(t, ({ n_client }, send) => n_client % 5 && send());
      const flags = ["--wait-broadcasts", "1", "--threshold", "listener_delivery:p(95)<500", "--threshold", "listener_delivery:p(50)<500"];
      const { code, report } = await broadcast(peer, "closed", N_BROADCASTS, ...flags);
      assert.equal(code, 3);
      assert.deepEqual(report.plimsoll.thresholds.map(({ passed }) => passed), [false, true]);
    });

    test("a target that speaks Action Cable is recognised by its welcome, whatever --server-type says", async (t) => {
      const peer = await PeerServer.start(t, "json", { greeting: '{"type":"welcome","sid":"1"}' });
      for (const workload of ["broadcast", "echo"]) {
        const { code, stdout, stderr } = await plimsoll("bench", workload, peer.url, "--server-type", "json", "--step-size", "2", "--total-steps", "1");
        assert.deepEqual([code, stdout], [1, ""]);
        assert.match(stderr, /the target speaks Action Cable: it sent a welcome; add --server-type actioncable/);
      }
      const connect = await plimsoll("bench", "connect", peer.url, "--server-type", "json", "--step-size", "2", "--total-steps", "2");
      assert.equal(connect.code, 0, connect.stderr);
      assert.match(connect.stderr, /the target speaks Action Cable.*--server-type actioncable-connect/);
    });

    test("runs with different numbers of broadcasts in flight are not ranked, except in the open model", async (t) => {
      const folder = folderOf(t, {});
      // One delivers before it acknowledges, the other long after that.
      const { peer: honest } = await planted(t, (_, send) => send());
      const { peer: early } = await planted(t, (_, send) => later(200, send));
      const compare = async (model) => {
        for (const [name, peer] of [["honest", honest], ["early", early]]) {
          const flags = [...SIZES, ...MODELS[model](N_BROADCASTS), "--no-save", "--report", `${name}.json`];
          const run = await plimsollIn({ cwd: folder }, "bench", "broadcast", peer.url, ...flags);
          assert.equal(run.code, 0, run.stderr);
        }
        const { stdout } = await plimsollIn({ cwd: folder }, "report", "honest.json", "early.json", "--format", "json");
        const [{ obstacles }] = JSON.parse(stdout);
        return obstacles.filter((obstacle) => obstacle.includes("in flight"));
      };
      const [obstacle, ...more] = await compare("closed");
      assert.match(obstacle, /had \d+\.\d broadcasts in flight on average with 5 clients, .* compare them with --rate$/);
      assert.deepEqual(more, []);
      assert.deepEqual(await compare("open"), []);
    });

    test("more messages than fit into memory are refused before the first one", async (t) => {
      const { peer } = await planted(t, (_, send) => send());
      for (const model of [["--sample-size", "1000000000000"], ["--rate", "1000000/s", "--duration", "100h"]]) {
        const { code, stderr } = await plimsoll("bench", "broadcast", peer.url, "--server-type", "json", "--step-size", "2", "--total-steps", "1", ...model);
        assert.equal(code, 104, stderr);
        assert.match(stderr, /the exact account of \d+ messages needs up to [\d.]+ GB of memory, and .* are available; send fewer messages/);
      }
      assert.equal(peer.n_peak, 0);
      const line = await plimsoll("line", "bench", "broadcast", peer.url, "--server-type", "json", "--sample-size", "1000000000000");
      assert.equal(line.code, 2, line.stderr);
      assert.match(line.stderr, /the exact account of 2000000000000 messages needs/);
    });
  });
});
