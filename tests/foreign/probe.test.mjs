// `plimsoll probe` next to real servers, and the scripts that it writes.

import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import http from "node:http";
import http2 from "node:http2";
import { once } from "node:events";
import net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import jwt from "jsonwebtoken";
import { makeAuthority, makeSelfSigned } from "./support/certificates.mjs";
import { GrpcApp } from "./support/grpc-app.mjs";
import { startPhoenix, startPusher, startSocketIo, startWs } from "./support/kinds.mjs";
import { UPGRADE, startNginx } from "./support/nginx.mjs";
import { Server, plimsoll, plimsollJson } from "./support/plimsoll.mjs";
import { freePort } from "./support/ports.mjs";
import { startRails } from "./support/rails.mjs";

const MAX_CONNECTIONS = 20;

/** A screen of a terminal. */
const MAX_LINES = 24;

/** A server of ours until the test is over. */
async function serve(t, ...args) {
  const server = await Server.start(...args);
  t.after(() => server.stop());
  return server;
}

/** The findings, which must have `expected`, and end with `code`. */
async function probe(url, code, expected, ...flags) {
  const { code: found, report, stderr } = await plimsollJson("probe", url, ...flags);
  assert.equal(found, code, `${JSON.stringify(report)}\n${stderr}`);
  const shown = Object.fromEntries(Object.keys(expected).map((key) => [key, report[key]]));
  assert.deepEqual(shown, expected, JSON.stringify(report));
  assert.ok(report.n_connections <= MAX_CONNECTIONS, `${report.n_connections} connections`);
  return report;
}

/** The names of the problems. */
const problems = (report) => report.problems.map(({ problem }) => problem);

/** Writes a script, which must pass `check` and run without a failed check. `variables` go to the run. */
async function writeAndRun(t, url, flags = [], variables = []) {
  const folder = mkdtempSync(join(tmpdir(), "plimsoll-probe-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const script = join(folder, "chat.js");
  const written = await plimsoll("probe", url, "--write", script, ...flags);
  assert.match(written.stderr, /Run it with: plimsoll run /, written.stdout);
  assert.ok(written.stdout.split("\n").length <= MAX_LINES, written.stdout);
  const checked = await plimsoll("check", script);
  assert.equal(checked.code, 0, checked.stderr);
  const run = await plimsoll("run", "-u", "2", "-d", "1s", ...variables, "--fail-on-errors", script);
  assert.equal(run.code, 0, `${run.stdout}\n${run.stderr}`);
}

// These tests wait most of the time: a probe measures the pings of a cable server, which come every three seconds.
describe("plimsoll probe", { concurrency: true }, () => {
  test("our server: a chat", async (t) => {
    const server = await serve(t, "--app", "chat", "--ping_interval", "2");
    const url = server.ws("/cable");
    const refused = await probe(url, 3, { kind: "anycable", authentication: "refused" });
    assert.deepEqual(problems(refused), ["unauthorized"]);
    const cookie = ["-H", "Cookie: uid=kay/1"];
    const expected = { kind: "anycable", url, problems: [], status: 101, authentication: "accepted", tls: null };
    const report = await probe(url, 0, { ...expected, address: server.address }, ...cookie);
    assert.match(report.greeting, /^{"type":"welcome"/);
    assert.ok(report.sub_protocols.agreed.includes("actioncable-v1-json"));
    assert.equal(report.sub_protocols.agrees_to_any, false);
    assert.deepEqual([report.ping.source, report.ping.is_announced], ["message", false]);
    assert.ok(report.ping.seconds > 0);
    const channel = ["--channel", "ChatChannel", "--channel-params", '{"id":"demo"}'];
    await writeAndRun(t, url, [...cookie, ...channel], ["-e", "HEADER_COOKIE=uid=kay/1"]);
    const { code, stderr } = await plimsoll("probe", url, "--write", join(tmpdir(), "unwritten.js"));
    assert.equal(code, 1);
    assert.match(stderr, /the server refuses this client.*no file was written/);
  });

  test("our server: an echo, and the wrong path", async (t) => {
    const echo = await serve(t, "--app", "echo");
    await probe(echo.ws("/"), 0, { kind: "echo", greeting: null });
    await writeAndRun(t, echo.ws("/"));
    const cable = await serve(t);
    const elsewhere = await probe(cable.ws("/elsewhere"), 3, { kind: "anycable", url: cable.ws("/cable") });
    assert.deepEqual(problems(elsewhere), ["other-path"]);
  });

  test("our server: tokens", async (t) => {
    const server = await serve(t, "--norpc", "--secret", "s3cret", "--enforce_jwt");
    const refused = await probe(server.ws("/cable"), 3, { authentication: "refused" });
    assert.ok(problems(refused).includes("unauthorized"), JSON.stringify(refused));
    const token = jwt.sign({ ext: JSON.stringify({ user: 1 }) }, "s3cret", { expiresIn: "1h" });
    const header = ["-H", `X-JID: ${token}`];
    await probe(server.ws("/cable"), 0, { kind: "anycable", authentication: "accepted" }, ...header);
    await writeAndRun(t, server.ws("/cable"), header, ["-e", `HEADER_X_JID=${token}`]);
  });

  test("a token in the URL: it is hidden, and the probe tries without it", async (t) => {
    const server = await serve(t, "--norpc", "--secret", "s3cret", "--enforce_jwt");
    const token = jwt.sign({ ext: JSON.stringify({ user: 1 }) }, "s3cret", { expiresIn: "1h" });
    const url = server.ws(`/cable?jid=${token}`);
    const expected = { kind: "anycable", authentication: "accepted", credentials: ["?jid"], url: server.ws("/cable?jid=***") };
    assert.ok(!JSON.stringify(await probe(url, 0, expected)).includes(token));
    const bad = jwt.sign({ ext: "{}" }, "of another server", { expiresIn: "1h" });
    const { next } = await probe(server.ws(`/cable?jid=${bad}`), 3, { authentication: "refused", credentials: ["?jid"] });
    assert.match(next[0], /^check \?jid/);
    const open = await serve(t, "--norpc", "--public");
    await probe(open.ws("/cable?token=s3cret"), 0, { authentication: "ignored", credentials: ["?token"] });
    const folder = mkdtempSync(join(tmpdir(), "plimsoll-probe-"));
    t.after(() => rmSync(folder, { recursive: true }));
    const { stdout, stderr } = await plimsoll("probe", url, "--write", join(folder, "chat.js"));
    assert.ok(!`${stdout}${stderr}`.includes(token), `${stdout}\n${stderr}`);
    assert.match(stdout, /authentication.*needed: a client with \?jid is accepted/);
    assert.match(stderr, /Keep the file private: its URL has the value of \?jid/);
  });

  test("our server: origins", async (t) => {
    const server = await serve(t, "--app", "benchmark", "--allowed_origins", "*.example.com");
    const refused = await probe(server.ws("/cable"), 3, { kind: "http", status: 403 });
    assert.deepEqual(problems(refused), ["no-web-socket"]);
    const origin = ["--origin", "https://www.example.com"];
    const { origins } = await probe(server.ws("/cable"), 0, { kind: "anycable" }, ...origin);
    assert.deepEqual([origins.own, origins.foreign], ["accepted", "refused"]);
    await writeAndRun(t, server.ws("/cable"), origin);
  });

  test("our server: TLS, and the wrong scheme", async (t) => {
    const { ca, server: known } = makeAuthority();
    const trusted = ["--cacert", ca.cert];
    const right = await serve(t, "--app", "benchmark", "--ssl_cert", known.cert, "--ssl_key", known.key);
    await probe(right.ws("/cable"), 0, { kind: "anycable", tls: { is_verified: true, reason: null } }, ...trusted);
    const plain = await probe(right.ws("/cable").replace("wss:", "ws:"), 3, { kind: "anycable" }, ...trusted);
    assert.deepEqual(problems(plain), ["needs-tls"]);
  });

  test("our server: its own certificate as --cacert, as with curl", async (t) => {
    const [own, other] = [makeSelfSigned(), makeSelfSigned()];
    const server = await serve(t, "--app", "echo", "--ssl_cert", own.cert, "--ssl_key", own.key);
    await probe(server.ws("/"), 0, { tls: { is_verified: true, reason: null } }, "--cacert", own.cert);
    const { tls } = await probe(server.ws("/"), 3, { kind: "echo" }, "--cacert", other.cert);
    assert.equal(tls.is_verified, false);
  });

  test("our server: a certificate for another name", async (t) => {
    const { ca, stranger } = makeAuthority();
    const trusted = ["--cacert", ca.cert];
    const wrong = await serve(t, "--app", "benchmark", "--ssl_cert", stranger.cert, "--ssl_key", stranger.key);
    const report = await probe(wrong.ws("/cable"), 3, { kind: "anycable" }, ...trusted);
    assert.deepEqual(problems(report), ["certificate"]);
    assert.match(report.tls.reason, /not valid for this host/);
    await writeAndRun(t, wrong.ws("/cable"), trusted);
  });

  test("our server: TLS asked of a port without", async (t) => {
    const bare = await serve(t);
    const secure = await probe(bare.ws("/cable").replace("ws:", "wss:"), 3, { kind: "anycable" });
    assert.deepEqual(problems(secure), ["no-tls"]);
  });

  test("our server: an event stream", async (t) => {
    const server = await serve(t, "--norpc", "--public", "--sse");
    const { next } = await probe(server.http("/events?stream=a"), 0, { kind: "sse" });
    assert.match(next.join("\n"), /curl -N/);
  });

  test("real Action Cable on Puma", async (t) => {
    const url = await startRails(t);
    const report = await probe(url, 0, { kind: "action-cable", url, authentication: "not-needed" });
    assert.deepEqual(report.sub_protocols.agreed, ["actioncable-v1-json"]);
    assert.equal(report.ping.source, "message");
    await writeAndRun(t, url);
  });

  test("npm ws: a silent server", async (t) => {
    const silent = await startWs(t);
    const report = await probe(silent, 0, { kind: "websocket", greeting: null });
    assert.equal(report.sub_protocols.agrees_to_any, true);
    await writeAndRun(t, silent);
  });

  test("npm ws: an echo", async (t) => {
    const echo = await startWs(t, { answer: (client, text) => client.send(text), perMessageDeflate: true });
    await probe(echo, 0, { kind: "echo", compression: true });
    await writeAndRun(t, echo);
  });

  test("npm ws: a greeting, sub-protocols and origins", async (t) => {
    const strict = await startWs(t, {
      greet: (client) => client.send("hello\u001b[2J"),
      handleProtocols: (offered) => (offered.has("chat") ? "chat" : false),
      verifyClient: ({ origin }) => origin !== "https://probe.invalid",
    });
    const { sub_protocols, origins } = await probe(
      strict, 0, { kind: "websocket", greeting: "hello\u001b[2J" }, "--sub-protocol", "chat", "--sub-protocol", "other",
    );
    assert.deepEqual(sub_protocols, { agreed: ["chat"], refused: ["other"], agrees_to_any: false });
    assert.deepEqual(origins, { own: "accepted", foreign: "refused", none: "accepted" });
    const screen = await plimsoll("probe", strict);
    assert.ok(screen.stdout.includes("hello\ufffd[2J"), screen.stdout);
    await writeAndRun(t, strict, ["--sub-protocol", "chat"]);
  });

  test("npm socket.io, and its path when another one was asked for", async (t) => {
    const server = await startSocketIo(t);
    const url = `${server}/socket.io/?EIO=4&transport=websocket`;
    const { ping } = await probe(url, 0, { kind: "socket-io", url });
    assert.deepEqual(ping, { source: "message", seconds: 25, is_announced: true });
    await writeAndRun(t, url);
    const elsewhere = await probe(`${server}/socket.io/`, 3, { kind: "socket-io", url });
    assert.deepEqual(problems(elsewhere), ["other-path"]);
  });

  test("Phoenix and Pusher, in their published protocols", async (t) => {
    const phoenix = await startPhoenix(t);
    for (const query of ["?vsn=2.0.0", ""]) {
      const url = `${phoenix}/socket/websocket${query}`;
      await probe(url, 0, { kind: "phoenix", url });
      await writeAndRun(t, url, ["--channel", "room:lobby"]);
    }
    const pusher = await startPusher(t);
    const { ping } = await probe(`${pusher}/app/key`, 0, { kind: "pusher" });
    assert.equal(ping.seconds, 120);
    await writeAndRun(t, `${pusher}/app/key`, ["--channel", "news"]);
  });

  test("nginx, with and without the headers of the upgrade", async (t) => {
    const server = await serve(t);
    const open = await startNginx(t, server.address, UPGRADE);
    const report = await probe(`ws://${open}/cable`, 0, { kind: "anycable", problems: [] });
    assert.match(report.on_the_way.join(), /Server: nginx/);
    await writeAndRun(t, `ws://${open}/cable`);
    const closed = await startNginx(t, server.address, "");
    const { next, ...refused } = await probe(`ws://${closed}/cable`, 3, { kind: "http" });
    assert.deepEqual(problems(refused), ["upgrade-dropped"]);
    assert.match(next.join("\n"), /proxy_set_header Upgrade \$http_upgrade/);
  });

  test("a gRPC server is no WebSocket", async (t) => {
    const app = await GrpcApp.start();
    t.after(() => app.kill());
    await probe(`http://${app.host}`, 0, { kind: "grpc" });
    await writeAndRun(t, `http://${app.host}`);
  });

  test("a web page", async (t) => {
    const server = http.createServer((request, response) => response.writeHead(request.url === "/" ? 200 : 404).end("hello"));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    t.after(() => server.close());
    const url = `http://127.0.0.1:${server.address().port}/`;
    await probe(url, 0, { kind: "http", problems: [] });
    await writeAndRun(t, url);
    const report = await probe(url.replace("http:", "ws:"), 3, { kind: "http" });
    assert.deepEqual(problems(report), ["no-web-socket"]);
  });

  test("a page that answers an error is no target of a script", async (t) => {
    const server = http.createServer((request, response) => response.writeHead(Number(request.url.slice(1)) || 404).end("oh no"));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    t.after(() => server.close());
    const folder = mkdtempSync(join(tmpdir(), "plimsoll-probe-"));
    t.after(() => rmSync(folder, { recursive: true }));
    const script = join(folder, "unwritten.js");
    for (const status of [404, 500, 503]) {
      const url = `http://127.0.0.1:${server.address().port}/${status}`;
      const { code, stderr } = await plimsoll("probe", url, "--write", script);
      assert.equal(code, 1, stderr);
      assert.match(stderr, new RegExp(`answers status ${status}, so a load test would measure errors.*no file was written`));
      assert.ok(!existsSync(script));
    }
  });

  test("a dead port, and a port that speaks something else", async (t) => {
    const dead = `ws://127.0.0.1:${await freePort()}/cable`;
    const { n_connections } = await probe(dead, 1, { kind: "nothing", address: null });
    assert.equal(n_connections, 1);
    const screen = await plimsoll("probe", dead);
    assert.match(screen.stdout, /connection refused.*is the server running/is);
    const other = net.createServer((socket) => socket.on("error", () => {}).end("220 mail.example ESMTP\r\n"));
    other.listen(0, "127.0.0.1");
    await once(other, "listening");
    t.after(() => other.close());
    await probe(`ws://127.0.0.1:${other.address().port}/`, 3, { kind: "unknown" });
  });

  test("HTTP/2 without TLS is not gRPC, whatever its status", async (t) => {
    for (const status of [200, 401, 404]) {
      const server = http2.createServer((request, response) => response.writeHead(status).end("hello"));
      server.listen(0, "127.0.0.1");
      await once(server, "listening");
      t.after(() => server.close());
      await probe(`ws://127.0.0.1:${server.address().port}/`, 3, { kind: "unknown" });
    }
  });

  test("mistakes are refused before a connection is opened", async () => {
    const check = async (args, words) => {
      const { code, stderr } = await plimsoll("probe", ...args);
      assert.deepEqual([code, words.test(stderr)], [2, true], `${args}: ${stderr}`);
    };
    await check(["redis://localhost"], /expected ws or wss/);
    await check(["ws://localhost", "-H", "Cookie"], /is not a header/);
    await check(["ws://localhost", "--write", "chat.yml"], /expected the name of a script/);
    await check(["ws://localhost", "--write", "a.js", "--channel-params", "[]"], /expected a JSON object/);
    await check(["ws://localhost", "--channel", "a"], /--write/);
  });
});
