// `plimsoll quick`, and the detection of servers by `bench`, next to real servers of several kinds.

import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import http from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { CertificateFiles } from "./support/certificates.mjs";
import { startPhoenix, startPusher, startSocketIo, startWs } from "./support/kinds.mjs";
import { Server, plimsoll } from "./support/plimsoll.mjs";
import { freePort } from "./support/ports.mjs";
import { Terminal } from "./support/terminal.mjs";

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

describe("quick", { concurrency: true }, () => {
  const SMALL = ["-c", "3", "-n", "4", "--no-save"];
  const COOKIE = ["-H", "Cookie: uid=kay/1"];
  const CHANNEL = ["--channel", "ChatChannel", "--channel-params", '{"id":"demo"}'];

  /** The rows of a text in a terminal of 80 columns. */
  const nRows = (text) => text.trim().split("\n").reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / 80)), 0);

  /** A run that ends with `code`; its result leaves room for the verdict on a screen of 24 lines. */
  async function quick(code, url, ...flags) {
    const run = await plimsoll("quick", url, ...SMALL, ...flags);
    const all = `${run.stdout}\n${run.stderr}`;
    assert.equal(run.code, code, all);
    assert.ok(nRows(run.stdout) <= 20, all);
    return { ...run, all };
  }

  /** The screen of a run that went well. */
  async function shows(url, lines, ...flags) {
    const { stdout, all } = await quick(0, url, ...flags);
    for (const line of [...lines, /^ {2}no errors$/m, /^ {2}p50 .* p95 .* p99 .* max /m, /█/, /^Next: plimsoll /m]) {
      assert.match(stdout, line, all);
    }
    assert.doesNotMatch(stdout, /vusers|http\.codes|Metrics for period|Summary report/, "Artillery's reports");
    assert.match(all, /^(pass|doubtful): /m);
    assert.ok(nRows(all) <= 24, all);
    return stdout;
  }

  test("a chat over Action Cable", async (t) => {
    const server = await serve(t, "--app", "chat");
    const url = server.ws("/cable");
    const connected = await shows(
      url, [/speaks Action Cable$/m, /3 of 3 users arrived, 12 of 12 connections welcomed in/, /^Welcomes: .*, 12 samples:/m], ...COOKIE,
    );
    assert.match(connected, /with --channel, users subscribe/);
    const lines = [/channel ChatChannel$/m, /12 of 12 subscriptions confirmed in/, /^Subscriptions: .*, 12 samples:/m];
    await shows(url, lines, ...COOKIE, ...CHANNEL);
    const refused = await quick(1, url);
    assert.match(refused.stderr, /speaks Action Cable\. The server refuses this client with its first message: send its cookie/);
    const elsewhere = await quick(1, server.ws("/elsewhere"), ...COOKIE);
    assert.match(elsewhere.stderr, /The path answers status 404 to a WebSocket handshake: check the path: Action Cable is usually at \/cable/);
    assert.equal(refused.stdout + elsewhere.stdout, "", "no load");
  });

  test("a subscription that is rejected is no confirmation", async (t) => {
    const server = await serve(t, "--app", "chat");
    const { stdout, stderr } = await quick(3, server.ws("/cable"), ...COOKIE, "--channel", "NoSuchChannel");
    assert.match(stdout, /0 of 12 subscriptions confirmed/);
    assert.match(stdout, /3 errors:\n {4}3 × the subscription was rejected: check --channel and --channel-params/);
    assert.doesNotMatch(stdout, /samples|█/);
    assert.match(stderr, /^fail: /m);
  });

  test("users of a cable server connect, subscribe and leave", async (t) => {
    const seen = { protocols: new Set(), messages: [], n_clients: 0 };
    const url = await startWs(t, {
      handleProtocols: (protocols) => [...protocols][0],
      greet: (client) => {
        seen.n_clients += 1;
        seen.protocols.add(client.protocol);
        client.send('{"type":"welcome"}');
        client.send('{"type":"ping","message":1}');
      },
      answer: (client, text) => {
        seen.messages.push(text);
        // Neither a ping nor a message before the confirmation is one.
        client.send('{"type":"ping","message":2}');
        const { identifier } = JSON.parse(text);
        client.send(JSON.stringify({ identifier, message: { type: "news" } }));
        client.send(JSON.stringify({ identifier, type: "confirm_subscription" }));
      },
    });
    await shows(url, [/12 of 12 subscriptions confirmed/], ...CHANNEL);
    assert.deepEqual([...new Set(seen.messages)].map((text) => JSON.parse(text)), [
      { command: "subscribe", identifier: '{"channel":"ChatChannel","id":"demo"}' },
    ]);
    assert.equal(seen.messages.length, 12);
    assert.deepEqual([...seen.protocols].sort(), ["", "actioncable-v1-json"]);
    assert.equal(seen.n_clients, 12 + 1, "and one examination");
  });

  test("an echo", async (t) => {
    const server = await serve(t, "--app", "echo");
    const lines = [/is a WebSocket that sends each message back$/m, /12 of 12 messages returned in/, /^Replies: .*, 12 samples:/m];
    assert.match(await shows(server.ws("/"), lines), /^Next: plimsoll line bench echo /m);
    const wrong = await quick(2, server.ws("/"), ...CHANNEL);
    assert.match(wrong.stderr, /--channel subscribes to a channel of Action Cable, and ws:\S+ is a WebSocket that sends each message back/);
  });

  test("a WebSocket that does not answer", async (t) => {
    const { seen, url } = await count(t);
    await shows(url, [/is a WebSocket with a protocol of its own$/m, /12 of 12 messages sent in/, /^Connections: .*, 3 samples:/m]);
    assert.equal(seen.messages.filter((text) => text === "hello").length, 12);
    assert.deepEqual([seen.n_clients, seen.messages.length], [3 + 1, 12 + 1], "one heartbeat besides");
  });

  test("HTTP", async (t) => {
    const server = await serve(t, "--app", "chat");
    const lines = [/over HTTP$/m, /12 of 12 requests answered in/, /^Answers: .*, 12 samples:/m];
    assert.match(await shows(server.http("/health"), lines), /^Next: plimsoll bench http /m);
    const refused = await quick(3, server.http("/elsewhere"));
    assert.match(refused.stdout, /12 errors:\n {4}12 × status 404/);
    assert.match(refused.stderr, /every answer is an error, most often status 404/);
    await quick(0, server.http("/elsewhere"), "--fail-on-errors=never");
    const wrong = await quick(2, server.http("/health"), ...CHANNEL);
    assert.match(wrong.stderr, /--channel .*expected ws:\/\/ or wss:\/\//);
  });

  test("headers are sent", async (t) => {
    const heard = [];
    const server = http.createServer((request, response) => {
      heard.push([request.headers["x-one"], request.headers.origin]);
      response.end("ok");
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    t.after(() => server.close());
    await quick(0, `http://127.0.0.1:${server.address().port}/`, "-H", "X-One: 1", "-H", "Origin: https://a.example");
    assert.deepEqual(heard, Array(12).fill(["1", "https://a.example"]));
  });

  test("TLS: a certificate that is not known, -k, and a scheme that does not fit the port", async (t) => {
    const files = new CertificateFiles();
    const secure = await serve(t, "--app", "echo", ...files.flags);
    const url = secure.ws("/");
    const unknown = await plimsoll("quick", url, "--no-save");
    assert.equal(unknown.code, 1, unknown.stderr);
    assert.match(unknown.stderr, /certificate/);
    const known = await plimsoll("quick", url, "-k", "--no-save");
    assert.equal(known.code, 0, known.stderr);
    assert.match(known.stdout, /100 of 100 messages/);
    const plain = await plimsoll("quick", url.replace("wss:", "ws:"), "--no-save");
    assert.equal(plain.code, 1, plain.stderr);
    assert.match(plain.stderr, /wss/);
    const without = await serve(t, "--app", "echo");
    const other = await plimsoll("quick", without.ws("/").replace("ws:", "wss:"), "--no-save");
    assert.equal(other.code, 1, other.stderr);
    assert.match(other.stderr, /ws:/);
  });

  test("a server that is not there", async () => {
    const at = `127.0.0.1:${await freePort()}/`;
    const overWebSocket = await quick(1, `ws://${at}`);
    assert.match(overWebSocket.stderr, /no server answers at ws:\S+\. .*[Cc]onnection refused.*: is the server running/);
    const overHttp = await quick(3, `http://${at}`);
    assert.match(overHttp.stdout, /0 of 12 requests answered.*\n {2}3 errors:\n {4}3 × ECONNREFUSED/);
  });

  test("servers of other protocols are named", async (t) => {
    const check = async (url, name) => {
      const { stderr } = await quick(1, url);
      assert.match(stderr, new RegExp(`speaks ${name}, and .plimsoll quick. does not; .*plimsoll probe .* --write chat.js`));
    };
    await check(`${await startSocketIo(t)}/socket.io/?EIO=4&transport=websocket`, "Socket.IO");
    await check(await startPusher(t), "Pusher Channels");
    await check(`${await startPhoenix(t)}/socket/websocket?vsn=2.0.0`, "Phoenix Channels");
  });

  test("the results of all load commands", async (t) => {
    const server = await serve(t, "--app", "chat");
    const folder = mkdtempSync(join(tmpdir(), "plimsoll-quick-"));
    t.after(() => rmSync(folder, { recursive: true }));
    const files = ["artillery.json", "samples.json", "report.html"].map((name) => join(folder, name));
    const flags = ["-o", files[0], "--out", `json=${files[1]}`, "--report", files[2]];
    await shows(server.ws("/cable"), [/12 of 12 subscriptions confirmed/], ...COOKIE, ...CHANNEL, ...flags);
    const { aggregate } = JSON.parse(readFileSync(files[0], "utf8"));
    assert.equal(aggregate.summaries["websocket.response_time"].count, 12);
    assert.equal(readFileSync(files[1], "utf8").match(/"metric":"ws_response_time".*"Point"|"Point".*"metric":"ws_response_time"/g).length, 12);
    assert.match(readFileSync(files[2], "utf8"), /<html/);
    const { stdout } = await plimsoll("quick", server.ws("/cable"), ...SMALL, ...COOKIE, "--format", "json");
    assert.equal(JSON.parse(stdout).metrics.ws_response_time.values.count, 12);
    const { stdout: nothing } = await quick(0, server.ws("/cable"), ...COOKIE, "--quiet");
    assert.equal(nothing, "");
  });
});

describe("the view of quick", () => {
  test("is redrawn on a terminal, and makes room for the screen", async (t) => {
    const server = await serve(t, "--app", "echo");
    const terminal = Terminal.start(t, { size: [80, 24] }, "quick", server.ws("/"), "-c", "2", "-n", "100000000", "--no-save");
    await terminal.shows(/sends each message back\r?\n {2}0 of 2 users arrived/);
    await terminal.shows(/2 of 2 users arrived, [1-9][\d,]* of 200,000,000 messages returned in [1-9]/);
    await terminal.shows(/█/);
    terminal.press("\x03");
    await terminal.shows(/^Next: plimsoll line bench echo/m);
    const { code } = await terminal.end();
    assert.equal(code, 105);
    assert.match(terminal.output, /\x1b\[J/, "the block is erased");
    assert.doesNotMatch(terminal.output, /\x1b\[[0-9;]*m/, "NO_COLOR");
    const frames = terminal.output.split("\x1b[J").slice(0, -1);
    for (const line of frames.flatMap((frame) => frame.split("\n"))) assert.ok(line.length <= 80 + 8, JSON.stringify(line));
  });

  test("is not drawn with --quiet or without a terminal", async (t) => {
    const server = await serve(t, "--app", "echo");
    const small = ["-c", "1", "-n", "1", "--no-save"];
    const terminal = Terminal.start(t, {}, "quick", server.ws("/"), ...small, "--quiet");
    assert.equal((await terminal.end()).code, 0);
    assert.doesNotMatch(terminal.output, /users arrived/);
    const { stderr, stdout } = await plimsoll("quick", server.ws("/"), ...small);
    assert.doesNotMatch(stderr + stdout, /\x1b/);
    assert.equal(stdout.match(/users arrived/g).length, 1);
    assert.doesNotMatch(stderr, /users arrived/);
  });
});
