// Starting, stopping, and being used wrongly.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { within } from "./support/deadline.mjs";
import { BENCHMARK, CableClient } from "./support/cable.mjs";
import { Server, plimsoll, startPlimsoll } from "./support/plimsoll.mjs";
import { keptPort } from "./support/ports.mjs";
import { childrenOf, eventually, isAlive } from "./support/processes.mjs";
import { RawSocket, frame, upgradeRequest } from "./support/raw.mjs";

const GOODBYE = '{"type":"disconnect","reason":"server_restart","reconnect":true}';

/** What the issue promises; the clients' own work is in it, too. */
const STOP_WITHIN_MS = 3000;

const CLOSE_1001 = frame(0x88, Buffer.from([0x03, 0xe9]));

/**
 * Opens `n` upgraded connections that only look for the goodbye; `answers` says whether they close then, as a client
 * should. Less than a WebSocket library costs, because there are thousands in one process.
 */
async function openCrowd(t, server, n, { answers }) {
  const crowd = [];
  t.after(() => crowd.forEach(({ raw }) => raw.destroy()));
  while (crowd.length < n) {
    const batch = Array.from({ length: Math.min(500, n - crowd.length) }, async () => {
      const raw = await RawSocket.upgraded(server.port, "/cable");
      await raw.textFrame(/"type":"welcome"/, () => {});
      const goodbye = raw.textFrame(/"type":"disconnect"/, () => {}).then((frame) => {
        if (answers) raw.write(CLOSE_1001);
        return frame;
      });
      goodbye.catch(() => {});
      return { raw, goodbye };
    });
    crowd.push(...(await Promise.all(batch)));
  }
  return crowd;
}

describe("SIGTERM", () => {
  for (const [n, answers] of [
    [10_000, true],
    [1000, false],
  ]) {
    test(`${n} clients that ${answers ? "answer" : "do not answer"} a Close frame hear why, and the server exits in time`, async (t) => {
      const server = await Server.start("--app", "benchmark");
      const crowd = await openCrowd(t, server, n, { answers });
      const { code, signal, tookMs } = await server.stop();
      assert.deepEqual({ code, signal }, { code: 0, signal: null }, server.stderr);
      for (const { goodbye } of crowd) assert.equal(await goodbye, GOODBYE);
      await Promise.all(crowd.map(({ raw }) => within(raw.closed, "the server to hang up")));
      assert.ok(tookMs < STOP_WITHIN_MS, `stopping took ${Math.round(tookMs)} ms`);
    });
  }

  test("a subscribed client gets what was published, then the goodbye, then close code 1001", async () => {
    const server = await Server.start("--app", "benchmark", "--broadcast_key", "secret");
    const client = await CableClient.subscribed(server.ws("/cable"));
    assert.equal((await server.broadcast({ stream: "all", data: '"last words"' })).status, 201);
    const stopped = server.stop();
    assert.match(await client.frames.next(), /"message":"last words"/);
    assert.equal(await client.frames.next(), GOODBYE);
    assert.equal((await within(client.closed, "the close")).code, 1001);
    assert.equal((await stopped).code, 0);
  });

  test("nobody can connect any more, and the port is free for the next server", async () => {
    const server = await Server.start("--app", "benchmark", ...(await keptPort()));
    await server.restart();
    const client = await CableClient.connect(server.ws("/cable"));
    await client.close();
    assert.equal((await server.stop()).code, 0);
    await assert.rejects(fetch(server.http("/health")));
  });

  test("half-open and idle HTTP connections do not hold it up", async (t) => {
    const server = await Server.start("--app", "benchmark");
    const [silent, idle] = [await RawSocket.connect(server.port), await RawSocket.connect(server.port)];
    t.after(() => [silent, idle].forEach((raw) => raw.destroy()));
    idle.write("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert.match(await idle.head(), /^HTTP\/1\.1 200 /);
    const { code, tookMs } = await server.stop();
    assert.equal(code, 0);
    assert.ok(tookMs < STOP_WITHIN_MS, `stopping took ${Math.round(tookMs)} ms`);
  });
});

describe("wrong use", () => {
  test("a port that is taken: exit code 1, and the address in the message", async (t) => {
    const server = await Server.start();
    t.after(() => server.stop());
    const second = ["serve", "--host", "127.0.0.1", "--port", String(server.port), "--http_broadcast_port", "0"];
    const { code, stdout, stderr } = await plimsoll(...second);
    assert.equal(code, 1, stderr);
    assert.equal(stdout, "");
    assert.match(stderr, new RegExp(`127\\.0\\.0\\.1:${server.port}`));
    assert.match(stderr, /in use/i);
  });

  for (const [args, expected] of [
    [["serve", "--prot", "8080"], /--port/],
    [["serve", "--broadcast_kye", "x"], /--broadcast.key/],
    [["serve", "--app", "bencmark"], /benchmark/],
    [["serve", "--port", "99999"], /99999/],
    [["serve", "--ping_interval", "0"], /ping.interval/],
    [["srve"], /serve/],
    [["bench", "broadcst", "ws://127.0.0.1:1/cable"], /broadcast/],
    [["bench", "broadcast"], /URL/],
    [["bench", "broadcast", "ws://127.0.0.1:1/cable", "--server-type", "actioncabel"], /actioncable/],
    [["bench", "broadcast", "nonsense"], /ws:\/\//],
    [[], /Usage/],
  ]) {
    test(`plimsoll ${args.join(" ")}: exit code 2, and what was probably meant`, async () => {
      const { code, stdout, stderr } = await plimsoll(...args);
      assert.equal(code, 2, stderr);
      assert.match(stderr, expected);
      assert.equal(stdout, "");
    });
  }

  for (const args of [[], ["serve"], ["bench"], ["bench", "broadcast"], ["bench", "connect"], ["bench", "echo"], ["demo"]]) {
    test(`plimsoll ${[...args, "--help"].join(" ")} explains itself on stdout`, async () => {
      const { code, stdout } = await plimsoll(...args, "--help");
      assert.equal(code, 0);
      assert.match(stdout, /Usage: plimsoll/);
    });
  }

  test("nothing listens at the URL: exit code 1, and the address in the message", async () => {
    const server = await Server.start();
    const url = server.ws("/cable");
    await server.stop();
    const { code, stderr } = await plimsoll("bench", "broadcast", url, "--server-type", "actioncable", "--total-steps", "1");
    assert.equal(code, 1, stderr);
    assert.match(stderr, /refused/i);
  });
});

describe("limits", () => {
  test("connections beyond --max-conn are answered 503, and there is room again when one leaves", async (t) => {
    const server = await Server.start("--app", "benchmark", "--max-conn", "3");
    t.after(() => server.stop());
    const clients = [];
    for (let n = 0; n < 3; n++) clients.push(await CableClient.subscribed(server.ws("/cable")));
    const raw = await RawSocket.connect(server.port);
    raw.write(upgradeRequest("/cable"));
    assert.match(await raw.head(), /^HTTP\/1\.1 503 /);
    await clients.pop().close();
    clients.push(await eventuallySubscribed(server));
    await Promise.all(clients.map((client) => client.close()));
  });

  /** The place of a client that has left is free a moment after the client knows that it has. */
  async function eventuallySubscribed(server) {
    for (;;) {
      const client = await CableClient.subscribed(server.ws("/cable")).catch(() => null);
      if (client) return client;
    }
  }

  test("more clients than open files are refused, and those that came first are served on", async (t) => {
    const server = await Server.startWithFiles(128, "--app", "benchmark");
    t.after(() => server.stop());
    const first = await CableClient.subscribed(server.ws("/cable"));
    const crowd = await Promise.all(Array.from({ length: 300 }, () => RawSocket.connect(server.port)));
    t.after(() => crowd.forEach((raw) => raw.destroy()));
    for (const raw of crowd) raw.write(upgradeRequest("/cable"));
    const heads = await Promise.all(crowd.map((raw) => raw.head()));
    const n_served = heads.filter((head) => head.startsWith("HTTP/1.1 101 ")).length;
    assert.ok(n_served >= 32 && n_served < 128, `${n_served} of 300 were served`);
    for (const head of heads) assert.match(head, /^(HTTP\/1\.1 (101|503) |$)/);

    first.perform(BENCHMARK, { action: "echo", payload: 1 });
    await first.frames.next();
    crowd.forEach((raw) => raw.destroy());
    const late = await eventuallySubscribed(server);
    await Promise.all([first, late].map((client) => client.close()));
    await server.logged(/open-file limit of 128 allows about \d+ connections/);
  });
});

describe("plimsoll demo", () => {
  test("runs the chat scenario and says that all of it went well", async () => {
    const { code, stdout, stderr } = await plimsoll("demo", "--users", "20", "--time", "6");
    assert.equal(code, 0, `${stdout}\n${stderr}`);
    assert.match(stdout, /checks.*100(\.0+)?\s*%/);
    for (const metric of ["rtt", "ws_connecting"]) assert.match(stdout, new RegExp(`\\b${metric}\\b`));
  });

  test("a demo that is killed leaves no server behind", async () => {
    const demo = startPlimsoll("demo", "--users", "5", "--time", "60");
    const [server] = await eventually(() => {
      const children = childrenOf(demo.pid);
      return children.length > 0 && children;
    }, "the demo's server");
    demo.kill("SIGKILL");
    await demo.exited;
    await eventually(() => !isAlive(server), "the demo's server to notice");
  });
});
