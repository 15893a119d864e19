// Scripts with `k6/ws` and `k6/websockets` against npm `ws` as the server: events, endings, compression, TLS, cookies.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { WebSocketServer } from "ws";
import { CertificateFiles } from "./support/certificates.mjs";
import { Inbox } from "./support/inbox.mjs";
import { plimsollIn, withoutBottleneck } from "./support/plimsoll.mjs";
import { folderOf } from "./support/scripts.mjs";

/** A server that says what it has seen; what it does depends on the path. */
async function start(t, options) {
  const seen = new Inbox("what the server saw");
  const http = options ? createSecureServer(options) : createServer((request, response) => response.end("hello"));
  http.on("upgrade", (request, socket) => {
    if (request.url === "/refuse") socket.end("HTTP/1.1 401 Unauthorized\r\nX-Why: because\r\n\r\nwho are you?");
  });
  const sockets = new WebSocketServer({
    noServer: true,
    perMessageDeflate: { threshold: 0 },
    handleProtocols: (offered) => [...offered].at(-1),
  });
  http.on("upgrade", (request, socket, head) => {
    if (request.url === "/refuse") return;
    sockets.handleUpgrade(request, socket, head, (client) => serve(client, request, seen));
  });
  await new Promise((resolve) => http.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    sockets.clients.forEach((client) => client.terminate());
    http.close();
    http.closeAllConnections();
  });
  return { seen, host: `localhost:${http.address().port}` };
}

function serve(client, request, seen) {
  const { url, headers } = request;
  seen.push({ url, headers, extensions: client.extensions });
  client.on("close", (code, reason) => seen.push(`${url} closed ${code} ${reason}`.trim()));
  client.on("ping", (data) => seen.push(`${url} ping ${data}`));
  client.on("pong", (data) => seen.push(`${url} pong ${data}`));
  const [, action, code] = url.split("/");
  if (action === "close") client.close(Number(code), "why");
  if (action === "terminate") request.socket.end();
  if (action === "ping") client.ping("are you there?");
  client.on("message", (data, isBinary) => client.send(data, { binary: isBinary }));
}

/** Runs the script for one iteration, which may fail as in k6; gives its lines of console and the exported summary. */
async function run(t, host, script, ...args) {
  const cwd = folderOf(t, { "script.js": script });
  const outcome = await plimsollIn(
    { cwd, env: {} },
    "run", "--quiet", "--fail-on-errors=never", "--log-format", "raw", "-e", `HOST=${host}`, "--summary-export", "summary.json", ...args, "script.js",
  );
  assert.equal(outcome.code, 0, outcome.stderr);
  const { metrics } = JSON.parse(readFileSync(join(cwd, "summary.json"), "utf8"));
  // On a machine that has much to do, the program says so, too.
  const lines = withoutBottleneck(outcome.stderr).trim().split("\n");
  return { lines, metrics };
}

describe("k6/ws", () => {
  const script = (path, handlers) => `
    import ws from "k6/ws";
    export default function () {
      const answer = ws.connect("ws://" + __ENV.HOST + "${path}", { headers: { "Sec-WebSocket-Protocol": "a, b" } }, (socket) => {
        for (const event of ["open", "message", "ping", "pong", "close", "error"]) {
          socket.on(event, (value) => console.log(event, value?.error ? value.error() : value ?? ""));
        }
        ${handlers}
      });
      console.log(answer.status, answer.headers["Sec-Websocket-Protocol"] ?? answer.headers["X-Why"], answer.body);
    }`;

  test("a conversation, its closing, and its figures", async (t) => {
    const { host, seen } = await start(t);
    const handlers = `
      socket.on("open", () => { socket.ping(); socket.send("größer") });
      socket.on("message", () => socket.close(3001));`;
    const { lines, metrics } = await run(t, host, script("/echo", handlers));
    assert.deepEqual(lines, ["open ", "pong ", "message größer", "close 3001", "101 b"]);
    await seen.next();
    assert.deepEqual([await seen.next(), await seen.next()], ["/echo ping 0", "/echo closed 3001"]);
    assert.equal(metrics.ws_sessions.count, 1);
    assert.equal(metrics.ws_msgs_sent.count, 1);
    assert.equal(metrics.ws_msgs_received.count, 1);
    assert.ok(metrics.ws_ping.max < metrics.ws_session_duration.max);
    assert.ok(metrics.data_sent.count > 200 && metrics.data_received.count > 100);
  });

  for (const [path, ...endings] of [
    ["/close/1000", "close 1000"],
    ["/close/1011", "error websocket: close 1011 (internal server error): why", "close 1011"],
    ["/terminate", "error websocket: close 1006 (abnormal closure): unexpected EOF", "close 1006"],
  ]) {
    test(`the end of ${path}`, async (t) => {
      const { host } = await start(t);
      const { lines } = await run(t, host, script(path, ""));
      assert.deepEqual(lines, ["open ", ...endings, "101 b"]);
    });
  }

  test("a refusal is told with its body", async (t) => {
    const { host } = await start(t);
    const { lines, metrics } = await run(t, host, script("/refuse", ""));
    assert.deepEqual(lines, ["401 because who are you?"]);
    assert.equal(metrics.ws_sessions.count, 1);
  });

  test("both sides compress when the script asks for it", async (t) => {
    const { host, seen } = await start(t);
    const { metrics } = await run(
      t,
      host,
      `import ws from "k6/ws";
       const text = "again and ".repeat(5000);
       export default function () {
         ws.connect("ws://" + __ENV.HOST + "/echo", { compression: "deflate" }, (socket) => {
           let n = 0;
           socket.on("open", () => socket.send(text));
           socket.on("message", (it) => {
             if (it !== text) throw new Error("altered");
             ++n < 3 ? socket.send(text) : socket.close();
           });
         });
       }`,
    );
    assert.match((await seen.next()).extensions, /permessage-deflate/);
    assert.equal(metrics.ws_msgs_received.count, 3);
    assert.ok(metrics.data_sent.count < 5000 && metrics.data_received.count < 5000, JSON.stringify(metrics.data_sent));
  });

  test("wss, with a certificate that nobody vouches for", async (t) => {
    const { key, cert } = new CertificateFiles();
    const { host } = await start(t, { key: readFileSync(key), cert: readFileSync(cert) });
    const secure = `
      import ws from "k6/ws";
      export default function () {
        const answer = ws.connect("wss://" + __ENV.HOST + "/echo", (socket) => {
          socket.on("open", () => socket.send("enciphered"));
          socket.on("message", (text) => { console.log(text); socket.close() });
        });
        console.log(answer.error);
      }`;
    const refused = await run(t, host, secure);
    // A busy machine may add that the figures are doubtful.
    assert.equal(refused.lines[0], "x509: certificate signed by unknown authority");
    const { lines } = await run(t, host, secure, "--insecure-skip-tls-verify");
    assert.deepEqual(lines, ["enciphered"]);
  });
});

describe("k6/websockets", () => {
  test("several sockets talk at once", async (t) => {
    const { host, seen } = await start(t);
    const { lines, metrics } = await run(
      t,
      host,
      `import { WebSocket } from "k6/websockets";
       export default function () {
         for (const path of ["/echo", "/ping"]) {
           const socket = new WebSocket("ws://" + __ENV.HOST + path, ["a", "b"]);
           socket.binaryType = "arraybuffer";
           socket.onopen = () => socket.send(new Uint8Array([1, 2, 3]));
           socket.onmessage = ({ data }) => { console.log(path, socket.protocol, data.byteLength); socket.close(3002, "enough") };
           socket.onclose = ({ code, reason }) => console.log(path, code, reason);
         }
       }`,
    );
    const expected = ["/echo", "/ping"].flatMap((path) => [`${path} b 3`, `${path} 3002 enough`]);
    assert.deepEqual(lines.sort(), expected.sort());
    const all = [];
    while (all.length < 5) all.push(await seen.next());
    const told = all.filter((it) => typeof it === "string").sort();
    assert.deepEqual(told, ["/echo closed 3002 enough", "/ping closed 3002 enough", "/ping pong are you there?"]);
    assert.equal(metrics.ws_sessions.count, 2);
  });
});

test("--websocket-debug shows handshakes, and =full every frame", async (t) => {
  const { host } = await start(t);
  const script = `
    import ws from "k6/ws";
    export default function () {
      ws.connect("ws://" + __ENV.HOST + "/echo", (socket) => {
        socket.on("open", () => socket.send("hello"));
        socket.on("message", () => socket.close(1000));
      });
    }`;
  const shown = (lines) => lines.map((line) => line.replaceAll(host, "host"));
  const { lines } = await run(t, host, script, "--websocket-debug=full");
  assert.match(shown(lines)[0], /^connected to ws:\/\/host\/echo; the server answered 101; Upgrade: websocket; /);
  assert.deepEqual(shown(lines).slice(1), [
    'sent text, 5 bytes: "hello" (ws://host/echo)',
    'received text, 5 bytes: "hello" (ws://host/echo)',
    "sent close 1000 (ws://host/echo)",
  ]);
  const headers = await run(t, host, script, "--websocket-debug");
  assert.equal(headers.lines.length, 2);
});
