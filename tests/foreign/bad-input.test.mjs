// What no well-behaved peer would send. The server stays up, its memory stays bounded, and each gets a documented answer.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { within } from "./support/deadline.mjs";
import { BENCHMARK, CableClient } from "./support/cable.mjs";
import { Server } from "./support/plimsoll.mjs";
import { RawSocket, frame, text, upgradeRequest } from "./support/raw.mjs";

const MB = 1024 * 1024;

/** The server is there and answers. */
async function assertHealthy(server) {
  assert.ok(server.isRunning, `the server is gone: ${server.stderr}`);
  const response = await fetch(server.http("/health"));
  assert.equal(response.status, 200);
  await response.text();
}

describe("before the upgrade", () => {
  let server;
  before(async () => (server = await Server.start("--app", "benchmark")));
  after(async () => {
    await assertHealthy(server);
    await server.stop();
  });

  for (const [name, bytes, status] of [
    ["bytes that are not HTTP", Buffer.from([0, 1, 2, 0xff, 13, 10, 13, 10]), 400],
    ["a TLS client hello", Buffer.from("16030100c8010000c403035f", "hex"), 400],
    ["a header without a colon", "GET /cable HTTP/1.1\r\nnonsense\r\n\r\n", 400],
    ["no key", upgradeRequest("/cable").replace(/Sec-WebSocket-Key.*\r\n/, ""), 400],
    ["a key of the wrong length", upgradeRequest("/cable").replace("dGhlIHNhbXBsZSBub25jZQ==", "c2hvcnQ="), 400],
    ["version 8", upgradeRequest("/cable").replace("Version: 13", "Version: 8"), 426],
    ["a POST that asks for an upgrade", upgradeRequest("/cable").replace("GET", "POST"), 405],
    ["no upgrade at all", "GET /cable HTTP/1.1\r\nHost: localhost\r\n\r\n", 426],
    ["an endless head", `GET /cable HTTP/1.1\r\nX: ${"x".repeat(100_000)}`, 431],
    ["too many headers", upgradeRequest("/cable", Array.from({ length: 200 }, (_, n) => `X-${n}: 1`)), 431],
    ["an unknown path", upgradeRequest("/nowhere"), 404],
  ]) {
    test(`${name}: ${status}`, async (t) => {
      const raw = await RawSocket.connect(server.port);
      t.after(() => raw.destroy());
      raw.write(bytes);
      assert.match(await raw.head(), new RegExp(`^HTTP/1\\.1 ${status} `));
    });
  }

  test("a refusal of a version names the one that is spoken", async (t) => {
    const raw = await RawSocket.connect(server.port);
    t.after(() => raw.destroy());
    raw.write(upgradeRequest("/cable").replace("Version: 13", "Version: 8"));
    assert.match(await raw.head(), /^sec-websocket-version: 13\r$/im);
  });
});

describe("frames", () => {
  let server;
  before(async () => (server = await Server.start("--app", "benchmark")));
  after(async () => {
    await assertHealthy(server);
    await server.stop();
  });

  const OPCODE = { continuation: 0x0, text: 0x1, binary: 0x2, close: 0x8, ping: 0x9 };
  const FIN = 0x80;
  const bytes = (...values) => Buffer.from(values);
  for (const [name, input, code] of [
    ["garbage", Buffer.from("GET / HTTP/1.1\r\n\r\n"), 1002],
    ["an unmasked frame", frame(FIN | OPCODE.text, "hello", { masked: false }), 1002],
    ["a reserved bit", frame(FIN | 0x40 | OPCODE.text, "hello"), 1002],
    ["a reserved opcode", frame(FIN | 0x3, "hello"), 1002],
    ["a reserved control opcode", frame(FIN | 0xb, ""), 1002],
    ["a continuation of nothing", frame(FIN | OPCODE.continuation, "hello"), 1002],
    ["a new message inside another", Buffer.concat([frame(OPCODE.text, "a"), frame(FIN | OPCODE.text, "b")]), 1002],
    ["a fragmented ping", frame(OPCODE.ping, "hello"), 1002],
    ["a ping of 126 bytes", frame(FIN | OPCODE.ping, Buffer.alloc(126)), 1002],
    ["a length with the highest bit", bytes(0x81, 0xff, 0x80, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0), 1002],
    ["a close of one byte", frame(FIN | OPCODE.close, bytes(3)), 1002],
    ["a close with the reserved code 1005", frame(FIN | OPCODE.close, bytes(0x03, 0xed)), 1002],
    ["a close with code 999", frame(FIN | OPCODE.close, bytes(0x03, 0xe7)), 1002],
    ["a close whose reason is not UTF-8", frame(FIN | OPCODE.close, bytes(0x03, 0xe8, 0xff)), 1007],
    ["text that is not UTF-8", frame(FIN | OPCODE.text, bytes(0xce, 0xba, 0xff)), 1007],
    ["a surrogate in text", frame(FIN | OPCODE.text, bytes(0xed, 0xa0, 0x80)), 1007],
    ["an overlong character", frame(FIN | OPCODE.text, bytes(0xc0, 0xaf)), 1007],
    ["text that ends inside a character", frame(FIN | OPCODE.text, bytes(0xf0, 0x9f)), 1007],
    [
      "text that goes wrong in its second fragment",
      Buffer.concat([frame(OPCODE.text, bytes(0xf0, 0x9f)), frame(FIN | OPCODE.continuation, bytes(0x41, 0x41))]),
      1007,
    ],
    ["a message beyond the limit", frame(FIN | OPCODE.binary, Buffer.alloc(65_537)), 1009],
    ["the announcement of a terabyte", bytes(0x82, 0xff, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0), 1009],
  ]) {
    for (const path of ["/echo", "/cable"]) {
      test(`${name} on ${path}: ${code}`, async (t) => {
        const raw = await RawSocket.upgraded(server.port, path);
        t.after(() => raw.destroy());
        raw.write(input);
        assert.equal(await raw.closeCode(), code);
      });
    }
  }

  test("a frame that comes byte by byte is a frame", async (t) => {
    const raw = await RawSocket.upgraded(server.port, "/echo");
    t.after(() => raw.destroy());
    raw.socket.setNoDelay(true);
    const input = Buffer.concat([text("slowly"), frame(FIN | OPCODE.close, bytes(0x0f, 0xa0))]);
    for (const byte of input) await new Promise((sent) => raw.socket.write(bytes(byte), sent));
    assert.equal(await raw.closeCode(), 4000);
  });

  test("frames that come together with the upgrade request are read", async (t) => {
    const raw = await RawSocket.connect(server.port);
    t.after(() => raw.destroy());
    raw.write(Buffer.concat([Buffer.from(upgradeRequest("/echo")), frame(FIN | OPCODE.close, bytes(0x0f, 0xa0))]));
    assert.match(await raw.head(), /^HTTP\/1\.1 101 /);
    assert.equal(await raw.closeCode(), 4000);
  });
});

describe("commands", () => {
  let server;
  before(async () => (server = await Server.start("--app", "benchmark")));
  after(async () => {
    await assertHealthy(server);
    await server.stop();
  });

  for (const command of ["not JSON", "", "[]", '"subscribe"', '{"command":"subscribe"', "null", "{}}"]) {
    test(`${JSON.stringify(command)} is not a command at all: the connection ends with 1003`, async () => {
      const client = await CableClient.subscribed(server.ws("/cable"));
      client.send(command);
      assert.equal((await within(client.closed, "the close")).code, 1003);
    });
  }

  for (const command of [
    "{}",
    '{"command":"dance"}',
    '{"command":"subscribe"}',
    '{"command":"subscribe","identifier":{"channel":"BenchmarkChannel"}}',
    '{"command":"unsubscribe","identifier":"never heard of"}',
    '{"command":"message","identifier":"{\\"channel\\":\\"BenchmarkChannel\\"}"}',
    '{"command":"message","identifier":"{\\"channel\\":\\"BenchmarkChannel\\"}","data":{"action":"echo"}}',
    '{"command":"message","identifier":"{\\"channel\\":\\"BenchmarkChannel\\"}","data":"not JSON"}',
    '{"command":"message","identifier":"{\\"channel\\":\\"BenchmarkChannel\\"}","data":"{\\"action\\":\\"dance\\",\\"payload\\":1}"}',
    '{"command":"whisper","identifier":"x","data":{}}',
    '{"command":"pong"}',
  ]) {
    test(`${command} is ignored and the connection goes on`, async (t) => {
      const client = await CableClient.subscribed(server.ws("/cable"));
      t.after(() => client.close());
      client.send(command);
      assert.deepEqual(await client.settle(), []);
    });
  }

  test("a client cannot subscribe without end", async (t) => {
    const client = await CableClient.connect(server.ws("/cable"));
    t.after(() => client.close());
    await client.frames.next();
    const before = server.rssBytes;
    const [n, n_at_once] = [20_000, 1000];
    const answers = [];
    // A client that sends all of them before it reads is too slow, which is another test.
    for (let id = 0; id < n; ) {
      for (const end = id + n_at_once; id < end; id++) client.send({ command: "subscribe", identifier: `{"channel":"BenchmarkChannel","id":${id}}` });
      answers.push(...(await client.frames.take(n_at_once)));
    }
    const n_rejected = answers.filter((answer) => answer.startsWith('{"type":"reject_subscription"')).length;
    assert.equal(n - n_rejected, 1000, "so many subscriptions of one client are granted");
    assert.doesNotMatch(server.stderr, /too many subscriptions/, "a client must not fill the log");
    assert.ok(server.rssBytes - before < 16 * MB, `memory grew from ${before} to ${server.rssBytes}`);
  });
});

test("a client cannot fill the memory with long identifiers, which the application never looks into", async (t) => {
  const server = await Server.start("--public");
  t.after(() => server.stop());
  const client = await CableClient.connect(server.ws("/cable"));
  t.after(() => client.close());
  await client.frames.next();
  const before = server.rssBytes;
  const pad = "x".repeat(60_000);
  const answers = [];
  for (let n = 0; n < 300; n++) {
    const identifier = JSON.stringify({ channel: "$pubsub", stream_name: String(n), pad });
    answers.push(JSON.parse(await client.subscribe(identifier)).type);
  }
  assert.deepEqual(answers.slice(0, 5), [...Array(4).fill("confirm_subscription"), "reject_subscription"]);
  assert.ok(server.rssBytes - before < 16 * MB, `memory grew from ${before} to ${server.rssBytes}`);
});

describe("peers that do not go on", () => {
  test("10,000 sockets that never finish the handshake are closed at its deadline, and bother nobody", async (t) => {
    const server = await Server.start("--app", "benchmark", "--handshake_timeout_ms", "6000");
    t.after(() => server.stop());
    const before = server.rssBytes;
    const starts = ["", "G", "GET /cable HTTP/1.1\r\nHost: localhost\r\n", upgradeRequest("/cable").slice(0, -2)];
    const sockets = [];
    while (sockets.length < 10_000) {
      const batch = await Promise.all(Array.from({ length: 500 }, () => RawSocket.connect(server.port)));
      // At once: to what comes after the deadline the kernel answers with a reset, which can overtake the 408.
      for (const [n, socket] of batch.entries()) socket.write(starts[n % starts.length]);
      sockets.push(...batch);
    }
    t.after(() => sockets.forEach((socket) => socket.destroy()));

    await assertHealthy(server);
    const client = await CableClient.subscribed(server.ws("/cable"));
    client.perform(BENCHMARK, { action: "echo", payload: 1 });
    await client.frames.next();
    const grown = server.rssBytes - before;
    assert.ok(grown < 48 * MB, `memory grew by ${grown} bytes`);

    const answers = await Promise.all(sockets.map((socket) => socket.head()));
    await Promise.all(sockets.map((socket) => within(socket.closed, "the server to hang up")));
    for (const answer of answers) assert.match(answer, /^HTTP\/1\.1 408 /);
    client.perform(BENCHMARK, { action: "echo", payload: 2 });
    await client.frames.next();
    await client.close();
  });

  test("a client that never reads is cut off, costs little memory, and the others miss nothing", async (t) => {
    const server = await Server.start("--app", "benchmark", "--broadcast_key", "secret", "--ws_max_pending_size", "262144");
    t.after(() => server.stop());
    const reader = await CableClient.subscribed(server.ws("/cable"));
    const deaf = await RawSocket.upgraded(server.port, "/cable");
    t.after(() => deaf.destroy());
    deaf.write(text(JSON.stringify({ command: "subscribe", identifier: BENCHMARK })));
    // Its subscription is there as soon as the one that follows on the same connection is rejected.
    await deaf.textFrame(/reject_subscription/, () =>
      deaf.write(text(JSON.stringify({ command: "subscribe", identifier: "{}" }))),
    );
    deaf.socket.pause();
    const before = server.rssBytes;

    // More than the kernel holds for one connection: up to 6 MB on the receiving side and 4 MB on the sending one.
    const n_batches = 60;
    const n_each = 50;
    const padding = "x".repeat(10_000);
    const numbers = [];
    for (let batch = 0; batch < n_batches; batch++) {
      const body = Array.from({ length: n_each }, (_, n) => {
        return { stream: "all", data: JSON.stringify({ n: batch * n_each + n, padding }) };
      });
      assert.equal((await server.broadcast(body)).status, 201);
      // The reader keeps up: it takes each batch before the next one is published.
      for (const frame of await reader.frames.take(n_each)) numbers.push(JSON.parse(frame).message.n);
    }
    assert.deepEqual(numbers, [...numbers.keys()], "the reader has every message, in order");
    const grown = server.rssBytes - before;
    assert.ok(grown < 24 * MB, `memory grew by ${grown} bytes while 30 MB were broadcast`);

    deaf.socket.resume();
    const code = await deaf.closeCode();
    assert.ok(code === 1008 || code === null, `it was told ${code}`);
    assert.ok(deaf.n_received < n_batches * n_each * padding.length, "and did not get everything");
    await assertHealthy(server);
    await reader.close();
  });

  test("a client that asks for more than it reads is cut off", async (t) => {
    const server = await Server.start("--ws_max_pending_size", "262144", "--no-welcome");
    t.after(() => server.stop());
    const deaf = await RawSocket.upgraded(server.port, "/echo");
    t.after(() => deaf.destroy());
    deaf.socket.pause();
    const before = server.rssBytes;
    const message = frame(0x82, Buffer.alloc(60_000));
    // The server stops reading when nothing can be written, so the flood ends in a full socket or in a cut.
    let blocked = false;
    for (let n = 0; n < 1000 && !blocked; n++) blocked = !(await deaf.accepted(message));
    const grown = server.rssBytes - before;
    assert.ok(grown < 24 * MB, `memory grew by ${grown} bytes`);
    await assertHealthy(server);
  });
});

describe("POST /_broadcast", () => {
  let server;
  before(async () => (server = await Server.start("--app", "benchmark", "--broadcast_key", "secret")));
  after(async () => {
    await assertHealthy(server);
    await server.stop();
  });

  for (const [name, body, status, reason] of [
    ["one message", '{"stream":"all","data":"1"}', 201],
    ["a batch", '[{"stream":"all","data":"1"},{"stream":"all","data":"2"}]', 201],
    ["an empty batch", "[]", 201],
    ["no JSON", "stream=all", 400, /expected/],
    ["an empty body", "", 400, /expected/],
    ["a cut body", '{"stream":"all","da', 400, /EOF|expected/],
    ["no stream", '{"data":"1"}', 400, /stream/],
    ["no data", '{"stream":"all"}', 400, /data/],
    ["data that is not a string", '{"stream":"all","data":{"a":1}}', 400, /string/],
    ["a batch with one bad message", '[{"stream":"all","data":"1"},{"stream":"all"}]', 400, /message 1/],
    ["bytes that are not UTF-8", Buffer.from([0x22, 0xff, 0x22]), 400, /./],
    ["a body beyond the limit", `{"stream":"all","data":"${"x".repeat(MB)}"}`, 413, /larger than/],
  ]) {
    test(`${name}: ${status}`, async () => {
      const response = await fetch(server.http("/_broadcast"), {
        method: "POST",
        headers: { authorization: "Bearer secret" },
        body,
      });
      assert.equal(response.status, status);
      const answer = await response.text();
      if (reason) assert.match(answer, reason);
    });
  }

  test("a huge body is not held in memory", async () => {
    const before = server.rssBytes;
    // The server may hang up while such a body is on its way; then its answer has no reader.
    const status = await server.broadcast("x".repeat(100 * MB)).then(
      (response) => response.status,
      (error) => error.cause.code,
    );
    assert.match(String(status), /^(413|EPIPE|ECONNRESET|UND_ERR_SOCKET)$/);
    const grown = server.rssBytes - before;
    assert.ok(grown < 8 * MB, `memory grew by ${grown} bytes`);
  });

  test("a length beyond the limit is refused before the body is sent", async () => {
    const raw = await RawSocket.connect(server.port);
    raw.write("POST /_broadcast HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer secret\r\nContent-Length: 104857600\r\n\r\n");
    assert.match(await raw.head(), /^HTTP\/1\.1 413 /);
    raw.socket.destroy();
  });

  test("a body without a length is refused where it passes the limit", async () => {
    const chunk = Buffer.alloc(64 << 10, "x");
    const response = await fetch(server.http("/_broadcast"), {
      method: "POST",
      headers: { authorization: "Bearer secret" },
      body: new ReadableStream({
        n_chunks: 0,
        pull(controller) {
          if (++this.n_chunks <= 64) controller.enqueue(chunk);
          else controller.close();
        },
      }),
      duplex: "half",
    });
    assert.equal(response.status, 413);
    assert.match(await response.text(), /larger than 1048576 bytes/);
  });

  test("nothing of a bad batch is published", async (t) => {
    const client = await CableClient.subscribed(server.ws("/cable"));
    t.after(() => client.close());
    await server.broadcast('[{"stream":"all","data":"1"},{"stream":"all"}]');
    await server.broadcast({ stream: "all", data: "2" });
    assert.equal(JSON.parse(await client.frames.next()).message, 2);
  });

  for (const [name, headers] of [
    ["no key", {}],
    ["a wrong key", { authorization: "Bearer wrong" }],
    ["the start of the key", { authorization: "Bearer secre" }],
    ["another scheme", { authorization: "Basic secret" }],
  ]) {
    test(`${name}: 401`, async () => {
      const body = '{"stream":"all","data":"1"}';
      const response = await fetch(server.http("/_broadcast"), { method: "POST", headers, body });
      assert.equal(response.status, 401);
      await response.text();
    });
  }

  for (const method of ["GET", "PUT", "DELETE"]) {
    test(`${method}: 422`, async () => {
      const response = await fetch(server.http("/_broadcast"), { method, headers: { authorization: "Bearer secret" } });
      assert.equal(response.status, 422);
      await response.text();
    });
  }

  test("without a key the main port does not broadcast", async (t) => {
    const keyless = await Server.start("--norpc");
    t.after(() => keyless.stop());
    const response = await keyless.broadcast({ stream: "all", data: "1" });
    assert.equal(response.status, 404);
    await response.text();
  });
});
