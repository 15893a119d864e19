// npm `ws` as the client of our WebSocket server: RFC 6455 and permessage-deflate as another implementation reads them.

import assert from "node:assert/strict";
import { once } from "node:events";
import { after, before, describe, test } from "node:test";
import WebSocket from "ws";
import { within } from "./support/deadline.mjs";
import { Inbox } from "./support/inbox.mjs";
import { Server } from "./support/plimsoll.mjs";

const MAX_MESSAGE_BYTES = 65_536;
const WELCOME = "Welcome to simple echo server";

/** Connects; messages arrive in `inbox` as `{ data, isBinary }`. */
async function connect(t, url, options = {}) {
  const socket = new WebSocket(url, options);
  t.after(() => socket.terminate());
  const inbox = new Inbox(`messages from ${url}`);
  socket.on("message", (data, isBinary) => inbox.push({ data, isBinary }));
  const closed = new Promise((resolve) => {
    socket.on("close", (code, reason) => resolve({ code, reason: reason.toString() }));
  });
  await within(once(socket, "open"), `a connection to ${url}`);
  return { socket, inbox, closed, nextText: async () => (await inbox.next()).data.toString() };
}

/** Connects to /echo and takes the welcome. */
async function connectEcho(t, server, options) {
  const client = await connect(t, server.ws("/echo"), options);
  assert.equal(await client.nextText(), WELCOME);
  return client;
}

describe("/echo", () => {
  let server;
  before(async () => (server = await Server.start()));
  after(() => server.stop());

  for (const n_bytes of [0, 1, 125, 126, 127, 65_535, MAX_MESSAGE_BYTES]) {
    test(`text and binary of ${n_bytes} bytes come back`, async (t) => {
      const { socket, inbox } = await connectEcho(t, server);
      const bytes = Buffer.alloc(n_bytes, "aé💬".repeat(3).slice(0, 1));
      for (const isBinary of [false, true]) {
        socket.send(bytes, { binary: isBinary });
        const echo = await inbox.next();
        assert.equal(echo.isBinary, isBinary);
        assert.ok(echo.data.equals(bytes));
      }
    });
  }

  test("text is text, whatever is in it", async (t) => {
    const { socket, nextText } = await connectEcho(t, server);
    for (const text of ["", "\0", "é", "💬", "\u2028", "a".repeat(1000), "</script>"]) {
      socket.send(text);
      assert.equal(await nextText(), text);
    }
  });

  test("fragments are put together, also with a ping between them and inside a character", async (t) => {
    const { socket, inbox, nextText } = await connectEcho(t, server);
    const pong = once(socket, "pong");
    const bytes = Buffer.from("grüße 💬");
    for (let at = 0; at < bytes.length; at++) {
      socket.send(bytes.subarray(at, at + 1), { binary: false, fin: at === bytes.length - 1 });
      if (at === 3) socket.ping("between");
    }
    assert.equal((await within(pong, "a pong")).toString(), "between");
    assert.equal(await nextText(), "grüße 💬");
    assert.equal(inbox.size, 0);
  });

  test("pings are answered with their own data", async (t) => {
    const { socket } = await connectEcho(t, server);
    for (const data of ["", "x", "y".repeat(125)]) {
      const pong = once(socket, "pong");
      socket.ping(data);
      assert.equal((await within(pong, "a pong"))[0].toString(), data);
    }
  });

  test("an unasked pong is ignored", async (t) => {
    const { socket, nextText } = await connectEcho(t, server);
    socket.pong("unasked");
    socket.send("still here");
    assert.equal(await nextText(), "still here");
  });

  for (const code of [1000, 1001, 1008, 1011, 3000, 4999]) {
    test(`close code ${code} is echoed`, async (t) => {
      const { socket, closed } = await connectEcho(t, server);
      socket.close(code, "because");
      assert.equal((await within(closed, "the close")).code, code);
    });
  }

  test("a close without a code is answered without one", async (t) => {
    const { socket, closed } = await connectEcho(t, server);
    socket.close();
    assert.equal((await within(closed, "the close")).code, 1005);
  });

  test("what was sent before a close still comes back", async (t) => {
    const { socket, inbox, closed } = await connectEcho(t, server);
    for (let n = 0; n < 20; n++) socket.send(String(n));
    socket.close(1000);
    assert.equal((await within(closed, "the close")).code, 1000);
    const echoes = (await inbox.take(20)).map(({ data }) => Number(data));
    assert.deepEqual(echoes, Array.from({ length: 20 }, (_, n) => n));
  });

  for (const fragmented of [false, true]) {
    test(`a ${fragmented ? "fragmented " : ""}message beyond the limit ends with 1009`, async (t) => {
      const { socket, closed } = await connectEcho(t, server);
      if (fragmented) {
        socket.send(Buffer.alloc(MAX_MESSAGE_BYTES), { fin: false });
        socket.send(Buffer.alloc(1), { fin: true });
      } else {
        socket.send(Buffer.alloc(MAX_MESSAGE_BYTES + 1));
      }
      assert.equal((await within(closed, "the close")).code, 1009);
    });
  }

  test("the limit can be set, and the welcome silenced", async (t) => {
    const small = await Server.start("--max_message_size", "100", "--no-welcome");
    t.after(() => small.stop());
    const { socket, closed, nextText } = await connect(t, small.ws("/echo"));
    socket.send("a".repeat(100));
    assert.equal(await nextText(), "a".repeat(100), "the first message is the echo");
    socket.send("a".repeat(101));
    assert.equal((await within(closed, "the close")).code, 1009);
  });
});

describe("permessage-deflate", () => {
  const offers = [
    true,
    { clientNoContextTakeover: true },
    { serverNoContextTakeover: true },
    { clientMaxWindowBits: 9, serverMaxWindowBits: 10 },
  ];
  for (const [n, perMessageDeflate] of offers.entries()) {
    test(`is negotiated when the server allows it: ${JSON.stringify(perMessageDeflate)}`, async (t) => {
      const server = await Server.start("--enable_ws_compression");
      t.after(() => server.stop());
      // A threshold of 0 compresses everything that this client sends.
      const options = { perMessageDeflate: { ...(n === 0 ? {} : perMessageDeflate), threshold: 0 } };
      const { socket, nextText, inbox } = await connectEcho(t, server, options);
      assert.match(socket.extensions, /^permessage-deflate/);
      for (const text of ["", "a", "abc ".repeat(10_000), "💬".repeat(1000), "abc ".repeat(10_000)]) {
        socket.send(text);
        assert.equal(await nextText(), text);
      }
      const noise = Buffer.from(Array.from({ length: 5000 }, (_, n) => (n * 7919) % 251));
      socket.send(noise.subarray(0, 2500), { fin: false });
      socket.send(noise.subarray(2500), { fin: true });
      assert.ok((await inbox.next()).data.equals(noise), "compressed fragments");
    });
  }

  test("compressed and plain clients hear the same broadcasts", async (t) => {
    const server = await Server.start("--enable_ws_compression");
    t.after(() => server.stop());
    const clients = [
      await connect(t, server.ws("/json"), { perMessageDeflate: true }),
      await connect(t, server.ws("/json"), { perMessageDeflate: false }),
    ];
    for (let n = 0; n < 5; n++) {
      const payload = { n, text: "again and again ".repeat(100) };
      clients[n % 2].socket.send(JSON.stringify({ type: "broadcast", payload }));
      for (const { nextText } of clients) assert.deepEqual(JSON.parse(await nextText()), { type: "broadcast", payload });
      assert.deepEqual(JSON.parse(await clients[n % 2].nextText()), { type: "broadcastResult", payload });
    }
  });

  test("a small message that inflates beyond the limit ends with 1009", async (t) => {
    const server = await Server.start("--enable_ws_compression");
    t.after(() => server.stop());
    const { socket, closed } = await connectEcho(t, server, { perMessageDeflate: { threshold: 0 } });
    socket.send("a".repeat(10_000_000));
    assert.equal((await within(closed, "the close")).code, 1009);
  });

  test("is not negotiated otherwise", async (t) => {
    const server = await Server.start();
    t.after(() => server.stop());
    const { socket, nextText } = await connectEcho(t, server, { perMessageDeflate: true });
    assert.equal(socket.extensions, "");
    socket.send("plain");
    assert.equal(await nextText(), "plain");
  });
});

describe("the websocket-shootout contract", () => {
  let server;
  before(async () => (server = await Server.start()));
  after(() => server.stop());

  test("/json echoes to the sender and broadcasts to all clients", async (t) => {
    const [one, two] = [await connect(t, server.ws("/json")), await connect(t, server.ws("/json"))];
    const payload = '{"sendTime":"1","big":12345678901234567890,"h":"<&>"}';
    one.socket.send(`{"type":"echo","payload":${payload}}`);
    assert.equal(await one.nextText(), `{"type":"echo","payload":${payload}}`);
    one.socket.send(`{"type":"broadcast","payload":${payload}}`);
    assert.equal(await two.nextText(), `{"type":"broadcast","payload":${payload}}`);
    assert.equal(await one.nextText(), `{"type":"broadcast","payload":${payload}}`);
    assert.equal(await one.nextText(), `{"type":"broadcastResult","payload":${payload}}`);
  });

  test("/binary echoes to the sender and broadcasts to all clients", async (t) => {
    const [one, two] = [await connect(t, server.ws("/binary")), await connect(t, server.ws("/binary"))];
    const rest = Buffer.from([0, 0, 0, 10, 1, 2, 3, 4, 5, 6, 7, 8, 0xff, 0x00]);
    const message = (kind) => Buffer.concat([Buffer.from(kind), rest]);
    one.socket.send(message("e"));
    assert.deepEqual(await one.inbox.next(), { data: message("e"), isBinary: true });
    one.socket.send(message("b"));
    assert.deepEqual(await two.inbox.next(), { data: message("b"), isBinary: true });
    assert.deepEqual(await one.inbox.next(), { data: message("b"), isBinary: true });
    assert.deepEqual(await one.inbox.next(), { data: message("r"), isBinary: true });
  });

  for (const [path, message] of [
    ["/json", "not JSON"],
    ["/json", '{"type":"dance","payload":1}'],
    ["/binary", Buffer.from("x")],
  ]) {
    test(`${path} ends with 1003 on ${message}`, async (t) => {
      const { socket, closed } = await connect(t, server.ws(path));
      socket.send(message);
      assert.equal((await within(closed, "the close")).code, 1003);
    });
  }
});
