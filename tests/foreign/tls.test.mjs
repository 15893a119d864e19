// TLS on the listeners, seen by OpenSSL (in Node.js) and by Chromium.

import assert from "node:assert/strict";
import { once } from "node:events";
import https from "node:https";
import net from "node:net";
import { describe, test } from "node:test";
import tls from "node:tls";
import WebSocket from "ws";
import { Browser } from "./support/browser.mjs";
import { BENCHMARK, CableClient } from "./support/cable.mjs";
import { CertificateFiles } from "./support/certificates.mjs";
import { within } from "./support/deadline.mjs";
import { GrpcApp } from "./support/grpc-app.mjs";
import { Inbox } from "./support/inbox.mjs";
import { Server, plimsoll } from "./support/plimsoll.mjs";
import { RawSocket, text, upgradeRequest } from "./support/raw.mjs";

const MB = 1024 * 1024;

/** A server with a certificate of its own. */
async function start(t, ...args) {
  const files = new CertificateFiles();
  const server = await Server.start(...files.flags, ...args);
  t.after(() => server.stop());
  return { server, files, trust: files.trust };
}

/** An HTTPS request: `{ status, body }`. */
function request(url, { body, ...options }) {
  const answered = new Promise((resolve, reject) => {
    const request = https.request(url, { agent: false, ...options }, async (response) => {
      let body = "";
      for await (const chunk of response.setEncoding("utf8")) body += chunk;
      resolve({ status: response.statusCode, body });
    });
    request.on("error", reject).end(body);
  });
  return within(answered, `an answer from ${url}`);
}

/** The connected socket of a handshake with these options, or its error. */
async function handshake(server, options) {
  const socket = tls.connect({ port: server.port, host: "127.0.0.1", ...options });
  // With TLS 1.2 the ticket comes before the handshake ends, with 1.3 after it.
  socket.ticket = new Promise((resolve) => socket.once("session", resolve));
  await within(once(socket, "secureConnect"), "a TLS handshake");
  return socket;
}

/** The fingerprint of the certificate that a new connection gets. */
async function fingerprint(server) {
  const socket = await handshake(server, { rejectUnauthorized: false });
  const certificate = socket.getPeerX509Certificate();
  socket.destroy();
  return certificate.fingerprint256;
}

/** A WebSocket on /echo, and what comes back on it. */
async function openEcho(server, trust) {
  const socket = new WebSocket(server.ws("/echo"), trust);
  const echoes = new Inbox("echoes");
  socket.on("message", (data) => echoes.push(data));
  await within(once(socket, "open"), "a WebSocket");
  return { socket, echoes };
}

describe("WebSocket over TLS", () => {
  test("a cable client subscribes, performs and receives", async (t) => {
    const { server, trust } = await start(t);
    const client = await CableClient.subscribed(server.ws("/cable"), BENCHMARK, trust);
    client.perform(BENCHMARK, { action: "echo", payload: "over TLS" });
    assert.match(await client.frames.next(), /over TLS/);
    assert.equal((await client.close()).code, 1005);
  });

  test("messages larger than all buffers come back whole", async (t) => {
    const { server, trust } = await start(t, "--max_message_size", String(32 * MB), "--no_welcome");
    const { socket, echoes } = await openEcho(server, trust);
    t.after(() => socket.terminate());
    for (const size of [0, 1, 16 * 1024, 64 * 1024 + 1, MB, 20 * MB]) {
      const message = Buffer.alloc(size, `${size} `);
      socket.send(message);
      const echo = await echoes.next();
      assert.ok(echo.equals(message), `${size} bytes came back as ${echo.length}`);
    }
  });

  test("a thousand small frames in one write, behind the request, are a thousand messages", async (t) => {
    const { server, trust } = await start(t, "--no_welcome");
    const raw = await RawSocket.connect(server.port, trust);
    t.after(() => raw.destroy());
    const messages = Array.from({ length: 1000 }, (_, n) => `message ${n} ${"x".repeat(100)}`);
    raw.write(Buffer.concat([Buffer.from(upgradeRequest("/echo")), ...messages.map(text)]));
    assert.match(await raw.head(), /^HTTP\/1\.1 101 /);
    for (const message of messages) assert.equal(await raw.textFrame(/^message/, () => {}), message);
  });

  test("a reader that stops reading is too slow; others go on", async (t) => {
    const { server, trust } = await start(t, "--broadcast_key", "secret", "--ws_max_pending_size", "65536");
    const [slow, quick] = [
      await CableClient.subscribed(server.ws("/cable"), BENCHMARK, trust),
      await CableClient.subscribed(server.ws("/cable"), BENCHMARK, trust),
    ];
    slow.socket.pause();
    const options = { ...trust, method: "POST", headers: { authorization: "Bearer secret" } };
    const body = JSON.stringify({ stream: "all", data: JSON.stringify("x".repeat(512 * 1024)) });
    for (let n = 0; n < 40; n++) {
      assert.equal((await request(server.http("/_broadcast"), { ...options, body })).status, 201);
      assert.match(await quick.frames.next(), /x{524288}/);
    }
    slow.socket.resume();
    const last = await slow.frames.until((frame) => frame.startsWith('{"type"'));
    assert.equal(last, '{"type":"disconnect","reason":"too_slow","reconnect":true}');
    assert.deepEqual(await within(slow.closed, "the end of the slow one"), { code: 1008, reason: "Too slow" });
    await quick.close();
  });

  test("a stop says goodbye, and ends TLS before the connection", async (t) => {
    const { server, trust } = await start(t);
    const client = await CableClient.subscribed(server.ws("/cable"), BENCHMARK, trust);
    const stopped = server.stop();
    assert.match(await client.frames.next(), /server_restart/);
    assert.equal((await within(client.closed, "the close")).code, 1001);
    assert.equal((await stopped).code, 0);
  });

  test("the application sees an https URL", async (t) => {
    const app = await GrpcApp.start();
    const { server, trust } = await start(t, "--rpc_host", app.host);
    t.after(() => app.kill());
    const client = await CableClient.connect(server.ws("/cable?a=1"), trust);
    assert.equal((await app.calls.Connect.next()).env.url, `https://${server.address}/cable?a=1`);
    await client.close();
  });

  test("Chromium connects", async (t) => {
    const { server } = await start(t);
    const browser = await Browser.launch("--ignore-certificate-errors");
    t.after(() => browser.close());
    const { events, perform } = await browser.subscribe(t, server, { channel: "BenchmarkChannel" });
    assert.deepEqual(await events.next(), { connected: { reconnected: false } });
    await perform("echo", { payload: "over TLS" });
    assert.deepEqual(await events.next(), { received: { action: "echo", payload: "over TLS" } });
  });
});

describe("HTTP over TLS", () => {
  test("health and broadcasts on the main port", async (t) => {
    const { server, trust } = await start(t, "--broadcast_key", "secret");
    assert.deepEqual(await request(server.http("/health"), trust), { status: 200, body: "OK\n" });
    const client = await CableClient.subscribed(server.ws("/cable"), BENCHMARK, trust);
    const body = JSON.stringify({ stream: "all", data: "7" });
    const options = { ...trust, method: "POST", headers: { authorization: "Bearer secret" }, body };
    assert.equal((await request(server.http("/_broadcast"), options)).status, 201);
    assert.match(await client.frames.next(), /"message":7/);
    await client.close();
  });

  test("the port for broadcasts speaks TLS, too", async (t) => {
    const { server, trust } = await start(t, "--http_broadcast_port", "0");
    const [url] = await server.logged(/https:\/\/[^ ]+\/_broadcast/);
    const body = JSON.stringify({ stream: "all", data: "7" });
    assert.equal((await request(url, { ...trust, method: "POST", body })).status, 201);
  });

  test("event streams", async (t) => {
    const { server, trust } = await start(t, "--sse", "--broadcast_key", "secret");
    const chunks = new Inbox("events");
    const stream = https.get(server.http("/events?channel=BenchmarkChannel"), { ...trust, agent: false }, (response) => {
      assert.equal(response.statusCode, 200);
      response.setEncoding("utf8").on("data", (chunk) => chunks.push(chunk));
    });
    t.after(() => stream.destroy());
    await chunks.until((chunk) => chunk.includes("event: confirm_subscription"));
    const body = JSON.stringify({ stream: "all", data: JSON.stringify("x".repeat(100_000)) });
    const options = { ...trust, method: "POST", headers: { authorization: "Bearer secret" }, body };
    assert.equal((await request(server.http("/_broadcast"), options)).status, 201);
    let n_received = 0;
    await chunks.until((chunk) => (n_received += chunk.replace(/[^x]/g, "").length) >= 100_000);
  });

  test("a connection is used again, and takes a body of a megabyte", async (t) => {
    const { server, trust } = await start(t, "--broadcast_key", "secret");
    const agent = new https.Agent({ keepAlive: true, maxSockets: 1 });
    t.after(() => agent.destroy());
    const options = { ...trust, agent, method: "POST", headers: { authorization: "Bearer secret" } };
    for (const [size, status] of [[1_000_000, 201], [10, 201], [1_100_000, 413]]) {
      const body = JSON.stringify({ stream: "all", data: "x".repeat(size) });
      assert.equal((await request(server.http("/_broadcast"), { ...options, body })).status, status);
    }
  });
});

describe("the handshake", () => {
  for (const version of ["TLSv1.2", "TLSv1.3"]) {
    test(`${version} is spoken, HTTP/1.1 agreed on, and a session resumed`, async (t) => {
      const { server, trust } = await start(t);
      const options = { ...trust, minVersion: version, maxVersion: version, ALPNProtocols: ["h2", "http/1.1"] };
      const first = await handshake(server, options);
      assert.deepEqual([first.getProtocol(), first.alpnProtocol], [version, "http/1.1"]);
      const session = await within(first.ticket, "a session ticket");
      first.destroy();
      const second = await handshake(server, { ...options, session });
      assert.ok(second.isSessionReused());
      second.destroy();
    });
  }

  test("TLS 1.1 is refused", async (t) => {
    const { server, trust } = await start(t);
    const old = { minVersion: "TLSv1.1", maxVersion: "TLSv1.1", ciphers: "DEFAULT@SECLEVEL=0" };
    await assert.rejects(handshake(server, { ...trust, ...old }), /alert (protocol version|handshake failure)/i);
  });

  for (const [name, bytes] of [
    ["a plain HTTP request", "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"],
    ["garbage", Buffer.alloc(1000, 0xa5)],
    ["a record of another kind", Buffer.from("1703030005aaaaaaaaaa", "hex")],
    ["a hello of one byte", Buffer.from("160303000501000001ff", "hex")],
  ]) {
    test(`${name} gets an alert, and the end`, async (t) => {
      const { server, trust } = await start(t);
      const socket = net.connect({ port: server.port, host: "127.0.0.1" });
      t.after(() => socket.destroy());
      const answer = [];
      socket.on("data", (chunk) => answer.push(chunk)).on("error", () => {});
      const closed = new Promise((resolve) => socket.on("close", resolve));
      socket.write(bytes);
      await within(closed, "the server to hang up");
      const [kind, major] = Buffer.concat(answer);
      assert.deepEqual([kind, major], [0x15, 3], "a TLS record with an alert");
      assert.equal((await request(server.http("/health"), trust)).status, 200);
    });
  }

  test("300 clients that never finish it are gone when their time is up", async (t) => {
    const { server, trust } = await start(t, "--handshake_timeout_ms", "500");
    const hello = Buffer.from("16030100c8010000c403035f", "hex");
    const stalled = await Promise.all(Array.from({ length: 300 }, () => RawSocket.connect(server.port)));
    t.after(() => stalled.forEach((raw) => raw.destroy()));
    stalled.forEach((raw, n) => raw.write(n % 2 ? hello : ""));
    assert.equal((await request(server.http("/health"), trust)).status, 200);
    await Promise.all(stalled.map((raw) => within(raw.closed, "the server to hang up")));
  });

  for (const [how, end] of [
    ["says that it has finished", (raw) => raw.socket.end()],
    ["hangs up", (raw, socket) => socket.end()],
    ["sends a record that nobody could have made", (raw, socket) => socket.write("17030300050000000000", "hex")],
  ]) {
    test(`a session whose client ${how} ends`, async (t) => {
      const { server, trust } = await start(t);
      const socket = net.connect({ port: server.port, host: "127.0.0.1" });
      const raw = await RawSocket.upgraded(server.port, "/cable", { ...trust, socket });
      t.after(() => raw.destroy());
      end(raw, socket);
      await within(raw.closed, "the server to hang up");
    });
  }
});

describe("a new certificate", () => {
  for (const [how, tell] of [
    ["on SIGHUP", (server) => server.signal("SIGHUP")],
    ["when the files change", () => {}],
  ]) {
    test(`is taken ${how}, and no connection ends`, async (t) => {
      const { server, files, trust } = await start(t);
      const old = files.fingerprint;
      assert.equal(await fingerprint(server), old);
      const client = await CableClient.subscribed(server.ws("/cable"), BENCHMARK, trust);
      files.renew();
      assert.notEqual(files.fingerprint, old);
      tell(server);
      await server.logged(/certificate was read again/);
      assert.equal(await fingerprint(server), files.fingerprint);
      client.perform(BENCHMARK, { action: "echo", payload: "still here" });
      assert.match(await client.frames.next(), /still here/);
      await client.close();
    });
  }

  for (const [name, spoil, expected] of [
    ["without a certificate in it", (files) => files.spoilCertificate("nothing"), /cert\.pem has no certificate/],
    ["with a key that does not fit", (files) => files.spoilKey(), /cannot be used with the key/],
  ]) {
    test(`${name} leaves the old one in place, and the log says why`, async (t) => {
      const { server, files } = await start(t);
      const old = await fingerprint(server);
      spoil(files);
      server.signal("SIGHUP");
      await server.logged(expected);
      await server.logged(/The old certificate stays in use/);
      assert.equal(await fingerprint(server), old);
      files.renew();
      await server.logged(/certificate was read again/);
      assert.equal(await fingerprint(server), files.fingerprint);
    });
  }
});

describe("a certificate that cannot be used at start", () => {
  for (const [name, spoil, expected] of [
    ["is not there", (files) => ["--ssl_cert", `${files.cert}.old`, "--ssl_key", files.key], /cannot read .*cert\.pem\.old/],
    ["is a key", (files) => ["--ssl_cert", files.key, "--ssl_key", files.key], /BEGIN CERTIFICATE/],
    ["comes without a key", (files) => ["--ssl_cert", files.cert, "--ssl_key", files.cert], /BEGIN PRIVATE KEY/],
    ["belongs to another key", (files) => (files.spoilKey(), files.flags), /cannot be used with the key/],
  ]) {
    test(`${name}: exit code 1, and what to do`, async () => {
      const files = new CertificateFiles();
      const { code, stderr } = await plimsoll("serve", "--port", "0", "--http_broadcast_port", "0", ...spoil(files));
      assert.equal(code, 1, stderr);
      assert.match(stderr, expected);
    });
  }

  test("has no key named: exit code 2", async () => {
    const { code, stderr } = await plimsoll("serve", "--ssl_cert", new CertificateFiles().cert);
    assert.equal(code, 2, stderr);
    assert.match(stderr, /--ssl.key/);
  });
});

describe("benches over wss", () => {
  const STEPS = ["--step-size", "4", "--total-steps", "1"];
  const SAMPLES = ["--sample-size", "8", "--limit-rtt", "60s"];
  for (const [workload, flags] of [
    ["connect", ["--server-type", "actioncable-connect"]],
    ["echo", ["--server-type", "actioncable", ...SAMPLES]],
    ["broadcast", ["--server-type", "actioncable", ...SAMPLES]],
  ]) {
    test(`${workload} verifies the certificate, unless it has --insecure`, async (t) => {
      const { server } = await start(t);
      const bench = (...more) => plimsoll("bench", workload, server.ws("/cable"), ...STEPS, ...flags, ...more);
      const strict = await bench();
      assert.notEqual(strict.code, 0);
      assert.match(`${strict.stdout}${strict.stderr}`, /unknown authority[^]*--insecure/);
      const careless = await bench("--insecure");
      assert.equal(careless.code, 0, careless.stderr);
    });
  }
});
