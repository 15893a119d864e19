// `plimsoll quick`, and the detection of servers by `bench`, next to real servers of several kinds.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { startPhoenix, startPusher, startSocketIo, startWs } from "./support/kinds.mjs";
import { Server, plimsoll } from "./support/plimsoll.mjs";
import { freePort } from "./support/ports.mjs";

/** A server of ours until the test is over. */
async function serve(t, ...args) {
  const server = await Server.start(...args);
  t.after(() => server.stop());
  return server;
}

/** A server of npm `ws` that counts its clients, and notes their messages. */
async function count(t, options = {}) {
  const seen = { n_clients: 0, messages: [] };
  const url = await startWs(t, {
    answer: (client, text) => {
      seen.messages.push(text);
      options.answer?.(client, text);
    },
    greet: (client) => {
      seen.n_clients += 1;
      options.greet?.(client);
    },
  });
  return { seen, url };
}

/** The shootout's protocol: messages of type `echo` return. */
const shootout = (client, text) => client.send(text);

describe("bench without --server-type", { concurrency: true }, () => {
  const SIZES = ["--step-size", "3", "--total-steps", "1", "--no-save"];
  const sizes = (workload) => (workload === "connect" ? SIZES : [...SIZES, "--sample-size", "5"]);

  /** A bench; the server type in its JSON, and all that it said. */
  async function bench(workload, url, ...flags) {
    const { code, stdout, stderr } = await plimsoll("bench", workload, url, ...sizes(workload), "--format", "json", ...flags);
    return { code, stderr, type: stdout === "" ? undefined : JSON.parse(stdout).plimsoll.server_type };
  }

  test("a cable server", async (t) => {
    const server = await serve(t, "--app", "benchmark");
    const check = async (workload, expected, ...flags) => {
      const { code, stderr, type } = await bench(workload, server.ws("/cable"), ...flags);
      assert.deepEqual([code, type], [0, expected], stderr);
      return stderr;
    };
    const told = await check("broadcast", "actioncable");
    assert.match(told, /^ws:\S+\/cable speaks Action Cable; server type actioncable \(--server-type names another\)$/m);
    await check("echo", "actioncable");
    await check("echo", "actioncable", "--sub-protocol", "actioncable-v1-msgpack", "--action-cable-encoding", "msgpack");
    await check("connect", "actioncable-connect");
    assert.doesNotMatch(await check("connect", "actioncable-connect", "--quiet"), /server type/);
    assert.doesNotMatch(await check("connect", "actioncable", "--server-type", "actioncable"), /server type/);
  });

  test("a server that is silent gets nothing but one more connection", async (t) => {
    const { seen, url } = await count(t, { answer: shootout });
    const began = performance.now();
    const { code, stderr, type } = await bench("echo", url);
    assert.deepEqual([code, type, seen.n_clients], [0, "json", 4], stderr);
    assert.ok(performance.now() - began >= 1000, "the greeting is waited for");
    assert.match(stderr, /opens a WebSocket and sends no greeting within a second; server type json/);
    assert.equal(seen.messages.length, 5);
    assert.ok(seen.messages.every((text) => JSON.parse(text).type === "echo"), seen.messages[0]);
  });

  test("a greeting of another protocol", async (t) => {
    const { url } = await count(t, { answer: shootout, greet: (client) => client.send("hi") });
    const { type, stderr } = await bench("echo", url);
    assert.equal(type, "json", stderr);
    assert.match(stderr, /its first message is of no known protocol; server type json/);
  });

  test("with --server-type, only clients connect", async (t) => {
    const { seen, url } = await count(t, { answer: shootout });
    const { code, stderr } = await bench("echo", url, "--server-type", "json");
    assert.deepEqual([code, seen.n_clients], [0, 3], stderr);
  });

  test("servers of other protocols are named", async (t) => {
    const check = async (url, name) => {
      const { code, stderr } = await bench("connect", url);
      assert.equal(code, 1, stderr);
      assert.match(stderr, new RegExp(`speaks ${name}, and no --server-type is for it.*plimsoll probe .* --write chat.js`));
    };
    await check(`${await startSocketIo(t)}/socket.io/?EIO=4&transport=websocket`, "Socket.IO");
    await check(await startPusher(t), "Pusher Channels");
    // Phoenix is silent, and no heartbeat is sent.
    const { type } = await bench("connect", `${await startPhoenix(t)}/socket/websocket?vsn=2.0.0`);
    assert.equal(type, "json");
  });

  test("without a server, the bench tells of it", async () => {
    const { code, stderr } = await bench("connect", `ws://127.0.0.1:${await freePort()}/`);
    assert.equal(code, 1);
    assert.match(stderr, /^no server answers at .*; server type json/m);
    assert.match(stderr, /none of the 3 clients became ready: connection refused/);
  });

  test("a search examines its server once", async (t) => {
    const server = await serve(t, "--app", "benchmark");
    const { code, stdout, stderr } = await plimsoll(
      ..."line bench connect".split(" "), server.ws("/cable"), ..."--start 2 --max 2 --slo errors==0 --no-save".split(" "),
    );
    assert.equal(code, 0, `${stdout}\n${stderr}`);
    assert.equal(stderr.match(/server type actioncable-connect/g)?.length, 1, stderr);
  });

  test("each server of --against is examined", async (t) => {
    const [one, other] = [await serve(t, "--app", "benchmark"), await serve(t, "--app", "benchmark")];
    const { stdout, stderr } = await plimsoll(
      "bench", "connect", one.ws("/cable"), ...SIZES, "--repeat", "1", "--against", other.ws("/cable"),
    );
    for (const server of [one, other]) {
      const told = `${server.ws("/cable")} speaks Action Cable; server type actioncable-connect`;
      assert.ok(stderr.includes(told), `${stdout}\n${stderr}`);
    }
  });
});
