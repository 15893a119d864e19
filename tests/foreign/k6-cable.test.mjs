// `k6/x/cable`: scripts that were written for k6's cable extension, and real servers of Action Cable.

import assert from "node:assert/strict";
import { copyFileSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { ExampleApp, buildNode } from "./support/example-app.mjs";
import { Server, plimsollIn } from "./support/plimsoll.mjs";
import { startRails } from "./support/rails.mjs";
import { startScriptServer } from "./support/script-server.mjs";
import { folderOf } from "./support/scripts.mjs";

const SCRIPTS = fileURLToPath(new URL("./scripts/", import.meta.url));

/** Runs a file of `scripts/` or `{ text }` to its end, where anything may fail as in k6: `{ code, stderr, metrics }`. */
async function run(t, script, env) {
  const cwd = folderOf(t, script.text ? { "script.js": script.text } : {});
  const name = script.text ? "script.js" : basename(script);
  if (!script.text) copyFileSync(join(SCRIPTS, script), join(cwd, name));
  const args = ["--quiet", "--no-color", "--fail-on-errors=never", "--summary-export", "summary.json", name];
  const outcome = await plimsollIn({ cwd, env }, "run", ...args);
  assert.equal(outcome.code, 0, outcome.stderr + outcome.stdout);
  return { ...outcome, metrics: JSON.parse(readFileSync(join(cwd, "summary.json"), "utf8")).metrics };
}

async function serve(t, ...args) {
  const server = await Server.start(...args);
  t.after(() => server.stop());
  return server.ws("/cable");
}

/** The chat of an application in Node.js that a server asks over gRPC. */
async function serveNodeChat(t) {
  await buildNode();
  const app = await ExampleApp.create(t, "node");
  const server = await Server.start("--rpc_host", app.rpcHost, "--broadcast_key", "key");
  t.after(() => server.stop());
  await app.listen({ ANYCABLE_HTTP_BROADCAST_URL: server.http("/_broadcast"), ANYCABLE_BROADCAST_KEY: "key" });
  return server.ws("/cable");
}

const CHATS = [
  ["the embedded chat", (t) => serve(t, "--app", "chat")],
  ["a chat in Node.js over gRPC", serveNodeChat],
];

for (const [name, start] of CHATS) {
  describe(`a visitor and a crowd against ${name}`, () => {
    test("cable.js", async (t) => {
      const { metrics } = await run(t, "chat/cable.js", { WS_URL: await start(t), WS_COOKIE: "uid=kay/1" });
      assert.deepEqual([metrics.checks.passes, metrics.checks.fails], [1, 0]);
      assert.deepEqual([metrics.ws_msgs_sent.count, metrics.ws_msgs_received.count], [2, 2]);
      assert.deepEqual([metrics.ws_sessions.count, metrics.iterations.count], [1, 1]);
    });

    test("ws.js", async (t) => {
      const { metrics } = await run(t, "chat/ws.js", { WS_URL: await start(t), WS_COOKIE: "uid=kay/1" });
      assert.deepEqual([metrics.checks.passes, metrics.checks.fails], [3, 0]);
      assert.deepEqual([metrics.ws_msgs_sent.count, metrics.ws_sessions.count], [2, 1]);
    });

    test("chat.js", async (t) => {
      const [n_messages, max] = [2, 4];
      const env = { CABLE_URL: await start(t), TIME: "6", MAX: String(max), NUM: String(n_messages) };
      const { metrics, stdout } = await run(t, "chat/chat.js", env);
      const n_iterations = metrics.iterations.count;
      assert.ok(n_iterations >= max, `${n_iterations} iterations`);
      assert.deepEqual([metrics.checks.passes, metrics.checks.fails], [n_iterations * (2 + n_messages), 0]);
      assert.equal(metrics.ws_sessions.count, n_iterations);
      assert.equal(metrics.ws_msgs_sent.count, n_iterations * (1 + n_messages));
      for (const line of ["successful connection", "successful subscription", "received its own message"]) {
        assert.match(stdout, new RegExp(`✓ ${line}\n`));
      }
      assert.match(stdout, /\brtt\.+: avg=/);
    });
  });
}

test("readers of a page: the older summary has the lines that k6 printed", async (t) => {
  const server = await startScriptServer(t);
  const cwd = folderOf(t, {});
  // A shorter climb to fewer readers; the script is as it is.
  const args = ["--quiet", "--summary-mode", "legacy", "-u", "5", "-s", "1s:10", "-s", "1s:0"];
  const env = { POST_URL: `${server.http}/post` };
  const { code, stdout, stderr } = await plimsollIn({ cwd, env }, "run", ...args, join(SCRIPTS, "chat/post.js"));
  assert.equal(code, 0, stderr);
  assert.match(stdout, /✓ the page is there\n/);
  const names = [...stdout.matchAll(/^ *(✓ )?([a-z_]+|{ expected_response:true })\.+: /gm)].map((match) => match[2]);
  // Below k6's lines are those about the generator.
  assert.deepEqual(names.slice(0, names.indexOf("vus_max") + 1), [
    ...["checks", "data_received", "data_sent", "http_req_blocked", "http_req_connecting", "http_req_duration"],
    ...["{ expected_response:true }", "http_req_failed", "http_req_receiving", "http_req_sending"],
    ...["http_req_tls_handshaking", "http_req_waiting", "http_reqs", "iteration_duration", "iterations", "vus", "vus_max"],
  ]);
});

describe("a storm of broadcasts reaches every user, each exactly once", () => {
  for (const [name, start] of [
    ["plimsoll serve", (t) => serve(t)],
    ["real Action Cable", startRails],
  ]) {
    test(name, async (t) => {
      const { metrics } = await run(t, "storm.js", { CABLE_URL: await start(t) });
      const counts = ["broadcasts_sent", "acks_rcvd", "broadcasts_rcvd"].map((it) => metrics[it].count);
      assert.deepEqual(counts, [100, 100, 500]);
      assert.deepEqual([metrics.checks.passes, metrics.checks.fails], [10, 0]);
      for (const trend of ["rtt", "broadcast_duration", "ws_connecting"]) assert.ok(metrics[trend].max >= 0, trend);
    });
  }
});

test("against real Action Cable, a script gets what it waits for, and says why it does not", async (t) => {
  const script = `
    import { check, sleep } from "k6";
    import { Trend } from "k6/metrics";
    import cable from "k6/x/cable";
    const delay = new Trend("delay", true);
    export default function () {
      const client = cable.connect(__ENV.CABLE_URL, { receiveTimeoutMs: 3000 });
      const channel = client.subscribe("BenchmarkChannel", { b: 2, a: "<1>" });
      const echo = (n) => channel.perform("echo", { payload: { n } });
      echo(1);
      check(channel.receive({ action: "echo" }), { echo: (m) => m.payload.n === 1 && m.__timestamp__ > 0 });
      // Action Cable's workers may answer in another order.
      [2, 3, 4].forEach(echo);
      check(channel.receiveN(2, (m) => m.payload.n > 2), { function: (m) => m.map((it) => it.payload.n).sort().join() === "3,4" });
      check(channel.roundTrip("echo", { payload: { n: 5 } }, { payload: { n: 5 } }), { "round trip": (m) => m });
      check(client.subscribe("NoSuchChannel"), { "no such channel": (it) => it === null });
      const other = client.subscribe("BenchmarkChannel", { id: 7 });
      other.unsubscribe();
      channel.perform("broadcast", { payload: 1 });
      check(channel.receiveN(2), { "both answers": (m) => m.length === 2 });
      check(other.received, { "nothing after the end": (n) => n === 0 });
      channel.countOnly();
      echo(6);
      while (channel.received < 8) sleep(0.01);
      client.disconnect();
    }`;
  const { metrics, stderr } = await run(t, { text: script }, { CABLE_URL: await startRails(t) });
  assert.deepEqual([metrics.checks.passes, metrics.checks.fails], [6, 0], stderr);
  assert.equal(metrics.cable_subscribe_duration.max > 0, true);
  assert.equal(metrics.cable_rtt.max > 0, true);
});

test("who is refused gets null, a line in the log, and a count", async (t) => {
  const script = `
    import { check } from "k6";
    import cable from "k6/x/cable";
    export default function () {
      check(cable.connect(__ENV.CABLE_URL, { cookies: "none" }), { refused: (it) => it === null });
      check(cable.connect("ws://127.0.0.1:1/"), { unreachable: (it) => it === null });
      const client = cable.connect(__ENV.CABLE_URL, { cookies: "uid=kay/1", protocol: "actioncable-v1-ext-json" });
      check(client.subscribe("OtherChannel"), { rejected: (it) => it === null });
      const chat = client.subscribe("ChatChannel", { id: 1 });
      check(chat.history({ since: 1 }), { "no history": (it) => it === false });
    }`;
  const { metrics, stderr } = await run(t, { text: script }, { CABLE_URL: await serve(t, "--app", "chat") });
  assert.deepEqual([metrics.checks.passes, metrics.checks.fails], [4, 0], stderr);
  assert.deepEqual([metrics.ws_sessions.count, metrics.cable_rejected.count], [3, 1]);
  for (const text of ["unauthorized", "connect to 127.0.0.1:1", 'subscription to `{"channel":"OtherChannel"}`: rejected']) {
    assert.ok(stderr.includes(text), `${text}\n${stderr}`);
  }
});

for (const encoding of ["json", "msgpack", "protobuf"]) {
  test(`in ${encoding}, a client goes on with the session of an earlier one, and gets what it missed`, async (t) => {
    const server = await Server.start("--public", "--broker", "memory", "--broadcast_key", "secret");
    t.after(() => server.stop());
    const script = `
      import { check } from "k6";
      import http from "k6/http";
      import cable from "k6/x/cable";
      const options = { protocol: "actioncable-v1-ext-${encoding}" };
      const headers = { authorization: "Bearer secret" };
      const publish = (n) => http.post(__ENV.BROADCAST_URL, JSON.stringify({ stream: "news", data: JSON.stringify({ n }) }), { headers });
      const news = (client, options) => client.subscribe("$pubsub", { stream_name: "news" }, options);
      const offset = (channel) => channel.positions.news.offset;
      export default function () {
        const first = cable.connect(__ENV.CABLE_URL, options);
        const before = news(first);
        publish(1);
        check(before.receive(), { "the first message": (m) => m.n === 1 });
        first.disconnect();
        publish(2);
        publish(3);
        const second = cable.connect(__ENV.CABLE_URL, { ...options, resume: first });
        const after = news(second, { history: true });
        check(second, {
          "the session is restored": (it) => it.restored && !first.restored,
          "it has a new id": (it) => it.sid.length > 0 && it.sid !== first.sid,
        });
        check(after.replayed(), { "the history is confirmed": (it) => it === true });
        publish(4);
        check(after.receiveN(3), { "what was missed, and then what comes": (m) => m.map(({ n }) => n).join() === "2,3,4" });
        check(after, {
          "the position is that of the last message": (it) => offset(it) === 4 && offset(before) === 1,
          "the epoch is the same": (it) => it.positions.news.epoch === before.positions.news.epoch,
          "the duration of the history": (it) => it.historyDuration() > 0,
        });
        check(after.history(), { "nothing more is missing": (it) => it === true && after.received === 3 });
        second.disconnect();
        const stranger = cable.connect(__ENV.CABLE_URL, options);
        check(stranger, { "without resume, the session is a new one": (it) => !it.restored });
        const whole = news(stranger, { history: { since: 1 } });
        check(whole.replayed() && whole.receiveN(4), { "all since a time": (m) => m.map(({ n }) => n).join() === "1,2,3,4" });
      }`;
    const env = { CABLE_URL: server.ws("/cable"), BROADCAST_URL: server.http("/_broadcast") };
    const { metrics, stderr } = await run(t, { text: script }, env);
    assert.deepEqual([metrics.checks.passes, metrics.checks.fails], [11, 0], stderr);
  });
}
