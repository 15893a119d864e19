// `plimsoll bench recover`: clients that are cut and come back, against our own server, and against a server with planted
// faults that knows exactly what it did.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { CertificateFiles } from "./support/certificates.mjs";
import { secretToken } from "./support/identity-provider.mjs";
import { Server, plimsollIn } from "./support/plimsoll.mjs";
import { RecoverPeer } from "./support/recover-peer.mjs";
import { folderOf } from "./support/scripts.mjs";

/** 12 clients on 3 streams, 60 broadcasts, each client cut twice. */
const SMALL = {
  ...{ clients: 12, streams: 3, rate: "20/s", duration: "3s", cuts: 2, away: "500ms" },
  ...{ "wait-broadcasts": 3, format: "json" },
};

const EXPECTED = 12 * 20;

/** Runs the bench in a folder of its own: `{ code, stdout, stderr, result, read }`. */
const recover = (t, url, ...flags) => recoverIn(t, {}, url, ...flags);

/** The same with variables. */
async function recoverIn(t, variables, url, ...flags) {
  const folder = folderOf(t, {});
  const env = { PLIMSOLL_DATA_DIR: join(folder, "data"), ...variables };
  const usual = Object.entries(SMALL).filter(([name]) => !flags.includes(`--${name}`));
  const words = usual.flatMap(([name, value]) => [`--${name}`, String(value)]);
  const run = await plimsollIn({ cwd: folder, env }, "bench", "recover", url, ...words, ...flags);
  const result = run.stdout.startsWith("{") ? JSON.parse(run.stdout) : undefined;
  return { ...run, result, read: (name) => readFileSync(join(folder, name), "utf8"), folder, env };
}

/** Runs it against a server with these faults. */
async function against(t, faults, ...flags) {
  const peer = await RecoverPeer.start(faults);
  t.after(() => peer.stop());
  return { peer, ...(await recover(t, peer.url, ...flags)) };
}

/** The counts that the server knows, too. */
function counts({ messages: { lost, duplicated, out_of_order }, repeated, returns: { refused } }) {
  return { lost, duplicated, repeated, reordered: out_of_order, refused };
}

describe("planted truths", { concurrency: 2 }, () => {
  test("a server without faults", async (t) => {
    const { peer, code, result, stderr } = await against(t, {});
    assert.equal(code, 0, stderr);
    assert.deepEqual(counts(result), peer.truth);
    assert.deepEqual([result.messages.expected, result.messages.received], [EXPECTED, EXPECTED]);
    assert.deepEqual([result.cuts, result.returns.total, result.returns.resumed, result.returns.whole], [24, 24, 24, 24]);
    assert.deepEqual([peer.n_returns, peer.n_resumed], [24, 24]);
    assert.equal(result.recovery_us.count, 24);
    assert.deepEqual(result.rounds.map(({ cuts }) => cuts), [0, 12, 12]);
  });

  test("a replay that leaves out a message", async (t) => {
    const replay = (entries, { truth }) => {
      truth.lost += Math.min(entries.length, 1);
      return entries.slice(1);
    };
    const { peer, code, result } = await against(t, { replay });
    assert.equal(code, 3);
    assert.ok(peer.truth.lost >= 20, `${peer.truth.lost} left out`);
    assert.deepEqual(counts(result), peer.truth);
    assert.equal(result.messages.received, EXPECTED - peer.truth.lost);
    assert.equal(result.returns.whole + result.returns.incomplete, 24);
    assert.ok(result.returns.incomplete >= 20);
  });

  test("a replay with the same position twice is repeated, and without a position duplicated", async (t) => {
    const replay = (entries, { n_return, truth }) => {
      const [first] = entries;
      if (!first) return entries;
      if (n_return % 2) {
        truth.repeated += 1;
        return [...entries, first];
      }
      truth.duplicated += 1;
      return [...entries, { message: first.message }];
    };
    const { peer, code, result } = await against(t, { replay });
    assert.equal(code, 3);
    assert.ok(peer.truth.repeated >= 8 && peer.truth.duplicated >= 8);
    assert.deepEqual(counts(result), peer.truth);
    assert.equal(result.messages.received, EXPECTED);
  });

  test("live messages in the wrong order", async (t) => {
    const deliver = (send, entry, context) => {
      // The third message of each connection waits for the fourth.
      if (context.n_live === 3) context.waiting = entry;
      else send();
      if (context.n_live !== 4) return;
      send(context.waiting);
      context.truth.reordered += 1;
    };
    const { peer, code, result } = await against(t, { deliver });
    assert.equal(code, 3);
    assert.ok(peer.truth.reordered > 0);
    assert.equal(result.messages.out_of_order, peer.truth.reordered);
    assert.equal(result.messages.duplicated, 0);
  });

  test("a replay out of order, behind a live message, is put in order", async (t) => {
    const replay = (entries) => entries.toReversed();
    const { code, result, stderr } = await against(t, { replay, live_first: true });
    assert.equal(code, 0, stderr);
    assert.deepEqual(counts(result), { lost: 0, duplicated: 0, repeated: result.repeated, reordered: 0, refused: 0 });
    assert.ok(result.repeated >= 12 && result.rearranged >= 12, JSON.stringify(result));
    assert.match(result.notes[0], /counted behind the protocol's rule/);
  });

  test("a server that forgets sessions serves history", async (t) => {
    const { code, result, stderr } = await against(t, { forgets: true });
    assert.equal(code, 0, stderr);
    assert.deepEqual([result.returns.resumed, result.returns.history], [0, 24]);
  });

  test("a server that refuses history", async (t) => {
    const replay = (entries, { truth }) => {
      truth.refused += 1;
      truth.lost += entries.length;
      return null;
    };
    const { peer, code, result } = await against(t, { replay, forgets: true });
    assert.equal(code, 3);
    assert.deepEqual(counts(result), peer.truth);
    assert.match(result.notes.join("\n"), /the server refused history 24 times/);
  });

  test("clients of the base protocol lose what was published while they were away", async (t) => {
    const { peer, code, result } = await against(t, { protocol: "actioncable-v1-json" }, "--protocol", "base");
    assert.equal(code, 3);
    assert.equal(peer.n_returns, 0);
    assert.deepEqual([result.returns.without_history, result.returns.resumed], [24, 0]);
    assert.ok(result.messages.lost > 24, `${result.messages.lost} lost`);
    assert.equal(result.messages.lost + result.messages.received, EXPECTED);
  });
});

describe("clients of the base protocol beside the others", { concurrency: 2 }, () => {
  const protocol = (offered) => [...offered][0];

  test("what they miss while they are away is no fault", async (t) => {
    const server = await Server.start("--public", "--broker", "memory", "--broadcast_key", "secret");
    t.after(() => server.stop());
    const { code, result, stderr } = await recover(t, server.ws("/cable"), "--broadcast-key", "secret", "--base", "6");
    assert.equal(code, 0, stderr);
    assert.deepEqual([result.messages.received, result.messages.lost, result.returns.total], [EXPECTED, 0, 24]);
    const { received, missed, ...base } = result.base;
    assert.deepEqual(base, { clients: 6, ready: 6, cuts: 12, returns: 12, lost: 0, duplicated: 0, reordered: 0 });
    assert.ok(missed >= 6, `${missed} missed`);
    assert.equal(received + missed, 6 * 20);
  });

  test("what a server drops while they are connected is lost", async (t) => {
    const deliver = (send, _, context) => {
      // Every base client misses the third message of each connection. The fourth shows that.
      if (context.protocol !== "actioncable-v1-json" || context.n_live !== 3) send();
      if (context.protocol === "actioncable-v1-json" && context.n_live === 4) context.truth.lost += 1;
    };
    const { peer, code, result } = await against(t, { deliver, protocol }, "--base", "6");
    assert.equal(code, 3);
    assert.ok(peer.truth.lost >= 6, `${peer.truth.lost} dropped`);
    assert.deepEqual([result.base.lost, result.messages.lost], [peer.truth.lost, 0]);
    assert.equal(result.base.received + result.base.missed + result.base.lost, 6 * 20);
  });
});

describe("our own server", () => {
  for (const flags of [[], ["--herd"]]) {
    test(`loses, repeats and reorders nothing ${flags}`, async (t) => {
      const server = await Server.start("--public", "--broker", "memory", "--broadcast_key", "secret");
      t.after(() => server.stop());
      const more = ["--broadcast-key", "secret", "--watch", String(server.pid), "--out", "json=a.json", "--report", "r.json"];
      const run = await recover(t, server.ws("/cable"), ...more, ...flags, "--threshold", "recovery:max<60000");
      assert.equal(run.code, 0, run.stderr);
      const { result } = run;
      assert.deepEqual(counts(result), { lost: 0, duplicated: 0, repeated: result.repeated, reordered: 0, refused: 0 });
      assert.deepEqual([result.messages.received, result.returns.resumed, result.returns.whole], [EXPECTED, 24, 24]);
      assert.ok(result.watch.rss_bytes > 0 && result.watch.cpu_seconds > 0, JSON.stringify(result.watch));
      assert.deepEqual(result.thresholds.map(({ passed }) => passed), [true]);
      assert.deepEqual([result.cost.connect.n, result.cost.herd?.n], [12, flags.length ? 24 : undefined]);
      assert.ok(result.cost.connect.cpu_us_each > 0);
      const summary = JSON.parse(run.read("r.json"));
      assert.deepEqual([summary.losses.expected, summary.losses.lost], [EXPECTED, 0]);
      assert.match(summary.conclusion.verdict, /^(pass|doubtful)$/);
      assert.equal(summary.metrics.recovery.count ?? 24, 24);
      const points = run.read("a.json").trim().split("\n").map((line) => JSON.parse(line)).filter(({ type }) => type === "Point");
      const of = (name) => points.filter(({ metric }) => metric === name).map(({ data }) => data.value);
      assert.deepEqual([of("recovery").length, of("reconnect").length, of("broadcast_rtt").length], [24, 24, 60]);
      assert.equal(of("deliveries").reduce((sum, n) => sum + n, 0), EXPECTED);
      const { stdout } = await plimsollIn({ cwd: run.folder, env: run.env }, "runs", "list", "--format", "json");
      assert.equal(JSON.parse(stdout)[0].id, summary.metadata.id);
    });
  }

  for (const encoding of ["msgpack", "protobuf"]) {
    test(`over TLS, with a token, in ${encoding}`, async (t) => {
      const files = new CertificateFiles();
      const secret = "an application secret that is long enough";
      const flags = ["--public", "--broker", "memory", "--broadcast_key", "secret", "--jwt_secret", secret, "--enforce_jwt"];
      const server = await Server.start(...flags, ...files.flags);
      t.after(() => server.stop());
      const url = server.ws("/cable").replace(/^ws:/, "wss:");
      const run = (env, ...more) => recoverIn(t, env, url, "--broadcast-key", "secret", "--action-cable-encoding", encoding, ...more);
      const token = ["-H", `X-JID: ${await secretToken(secret)}`];
      const trust = { SSL_CERT_FILE: files.cert };
      const [whole, careless, untrusted, unknown] = await Promise.all([
        run(trust, ...token), run({}, ...token, "--insecure"), run({}, ...token), run(trust),
      ]);
      assert.equal(whole.code, 0, whole.stderr);
      assert.deepEqual([whole.result.messages.received, whole.result.returns.resumed], [EXPECTED, 24]);
      assert.equal(careless.code, 0, careless.stderr);
      assert.equal(careless.result.messages.received, EXPECTED);
      assert.equal(untrusted.code, 1);
      assert.match(untrusted.stderr, /none of the 12 clients became ready: .*certificate/);
      assert.equal(unknown.code, 1);
      assert.match(unknown.stderr, /none of the 12 clients became ready: .*unauthorized/);
    });
  }

  test("without a broker every return is an ordinary one, and what was missed is lost", async (t) => {
    const server = await Server.start("--public", "--broadcast_key", "secret");
    t.after(() => server.stop());
    const { code, result } = await recover(t, server.ws("/cable"), "--broadcast-key", "secret");
    assert.equal(code, 3);
    assert.deepEqual([result.returns.resumed, result.returns.total], [0, 24]);
    assert.ok(result.messages.lost > 24);
  });
});

describe("mistakes", () => {
  test("a server that refuses broadcasts, and one that does not know the stream", async (t) => {
    const server = await Server.start("--public", "--broker", "memory", "--broadcast_key", "secret");
    t.after(() => server.stop());
    const refused = await recover(t, server.ws("/cable"), "--duration", "1s", "--cuts", "1");
    assert.equal(refused.code, 3);
    assert.match(Object.keys(refused.result.causes).join(), /the server answered 401; give its key with --broadcast-key/);
    assert.deepEqual([refused.result.broadcasts, refused.result.broadcasts_failed, refused.result.messages.lost], [20, 20, 0]);
    const unsubscribed = await recover(t, server.ws("/cable"), "--channel", '{"channel":"X","n":"{stream}"}', "--broadcast-key", "secret");
    assert.equal(unsubscribed.code, 1);
    assert.match(unsubscribed.stderr, /none of the 12 clients became ready: /);
  });

  test("a server of the base protocol", async (t) => {
    const { code, stderr } = await against(t, { protocol: false });
    assert.equal(code, 1);
    assert.match(stderr, /does not speak the extended protocol \(it chose the sub-protocol none\); try --protocol base/);
  });
});
