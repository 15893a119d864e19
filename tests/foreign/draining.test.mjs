// What a server takes while it stops, it delivers; everything else it refuses, so that others can do it (issue 14, item 5).

import assert from "node:assert/strict";
import { Agent, request } from "node:http";
import { describe, test } from "node:test";
import { BENCHMARK, CableClient } from "./support/cable.mjs";
import { within } from "./support/deadline.mjs";
import { Server } from "./support/plimsoll.mjs";
import { eventually } from "./support/processes.mjs";
import { RawSocket, upgradeRequest } from "./support/raw.mjs";
import { RedisServer } from "./support/redis.mjs";

const KEY = "__anycable__";
const message = (data) => JSON.stringify({ stream: "all", data: JSON.stringify(data) });

/** A client that keeps what it hears, until its connection ends. */
async function listen(server) {
  const client = await CableClient.subscribed(server.ws("/cable"));
  client.heard = [];
  client.socket.on("message", (data) => {
    const { message } = JSON.parse(data);
    if (message !== undefined) client.heard.push(message);
  });
  return client;
}

/** A client that answers nothing: the server waits for it as long as for any client. */
async function openDeaf(t, server) {
  const raw = await RawSocket.upgraded(server.port, "/cable");
  t.after(() => raw.destroy());
  return raw;
}

/** Posts on a connection that is kept: `{ status, headers }`, or an error when the connection ends without an answer. */
function post(agent, server, body) {
  return new Promise((resolve, reject) => {
    const headers = { authorization: "Bearer secret", "content-length": Buffer.byteLength(body) };
    const asked = request(server.http("/_broadcast"), { method: "POST", agent, headers }, (answer) => {
      answer.resume().on("end", () => resolve({ status: answer.statusCode, headers: answer.headers }));
    });
    asked.on("error", reject).end(body);
  });
}

/** Broadcasts until the server takes no more: `{ taken, last }`, the numbers that were answered 201 and the answer after them. */
async function publish(server, name, onTaken) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const taken = [];
  try {
    for (let n = 0; ; n++) {
      const data = `${name}-${n}`;
      const answer = await post(agent, server, message(data)).catch((error) => ({ error }));
      if (answer.status !== 201) return { taken, last: answer };
      taken.push(data);
      onTaken();
    }
  } finally {
    agent.destroy();
  }
}

function assertRefused({ status, headers, error }, what) {
  assert.ok(!error, `${what}: ${error}`);
  assert.equal(status, 503, what);
  assert.equal(headers.connection, "close", what);
  assert.equal(headers["retry-after"], "1", what);
}

describe("SIGTERM under four publishers with kept connections", () => {
  test("every broadcast that was answered 201 arrives at every listener, in 20 rounds", async (t) => {
    for (let round = 0; round < 20; round++) {
      const server = await Server.start("--app", "benchmark", "--broadcast_key", "secret", "--shards", "2", "--shutdown_timeout", "1");
      t.after(() => server.isRunning && server.stop());
      const listeners = [];
      for (let n = 0; n < 6; n++) listeners.push(await listen(server));
      await openDeaf(t, server);
      let n_taken = 0;
      const publishers = ["a", "b", "c", "d"].map((name) => publish(server, name, () => n_taken++));
      await eventually(() => n_taken > 200, "broadcasts under way");
      const { code } = await server.stop();
      assert.equal(code, 0, server.stderr);
      const published = await within(Promise.all(publishers), "the publishers to be refused");
      await Promise.all(listeners.map(({ closed }) => within(closed, "the goodbye")));
      const taken = published.flatMap(({ taken }) => taken).sort();
      for (const { heard } of listeners) {
        const lost = taken.filter((data) => !new Set(heard).has(data));
        assert.deepEqual(lost.slice(0, 3), [], `round ${round}: ${lost.length} of ${taken.length} are lost`);
        assert.deepEqual(heard.toSorted(), taken, `round ${round}`);
      }
      for (const { last } of published) assertRefused(last, `round ${round}`);
    }
  });
});

describe("while sessions end", () => {
  test("/ready and work say 503, /health says 200, on kept and on new connections", async (t) => {
    const server = await Server.start("--app", "benchmark", "--broadcast_key", "secret", "--sse");
    t.after(() => server.isRunning && server.stop());
    const body = message(1);
    const questions = [
      [`POST /_broadcast HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer secret\r\nContent-Length: ${body.length}\r\n\r\n${body}`, 503],
      [upgradeRequest("/cable"), 503],
      ["GET /events?channel=BenchmarkChannel HTTP/1.1\r\nHost: localhost\r\n\r\n", 503],
      ["GET /ready HTTP/1.1\r\nHost: localhost\r\n\r\n", 503],
      ["GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n", 200],
    ];
    const kept = [];
    for (const _ of questions) {
      const raw = await RawSocket.connect(server.port);
      t.after(() => raw.destroy());
      raw.write("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n");
      await raw.until(/^HTTP\/1\.1 200 [^]*OK\n$/);
      kept.push(raw);
    }
    const deaf = await openDeaf(t, server);
    const stopped = server.stop();
    await deaf.textFrame(/server_restart/, () => {});
    for (const [n, [question, status]] of questions.entries()) {
      for (const raw of [kept[n], await RawSocket.connect(server.port)]) {
        raw.write(question);
        const head = await raw.head();
        assert.match(head, new RegExp(`^HTTP/1\\.1 ${status} `), question);
        assert.match(head, /^connection: close\r$/im, question);
        if (status === 503 && !question.includes("/ready")) assert.match(head, /^retry-after: 1\r$/im, question);
        await within(raw.closed, "the server to hang up");
      }
    }
    assert.equal((await stopped).code, 0);
  });

  test("during --shutdown_delay /ready says 503 and everything else goes on", async (t) => {
    const server = await Server.start("--app", "benchmark", "--broadcast_key", "secret", "--shutdown_delay", "2");
    const client = await listen(server);
    const stopped = server.stop();
    await eventually(async () => (await fetch(server.http("/ready"))).status === 503, "/ready to change");
    const newcomer = await listen(server);
    assert.equal((await server.broadcast(message("late"))).status, 201);
    for (const hearer of [client, newcomer]) assert.match(await hearer.frames.next(), /"message":"late"/);
    assert.equal((await stopped).code, 0);
  });
});

describe("SIGTERM while backends publish to Redis", () => {
  const start = async (t, adapter) => {
    const redis = await RedisServer.start(t);
    const server = await Server.start("--app", "benchmark", "--broadcast_adapter", adapter, "--redis_url", redis.url);
    t.after(() => server.isRunning && server.stop());
    await server.logged(/Receiving broadcasts from/);
    return { server, backend: redis.client(t), listener: await listen(server) };
  };

  test("redis: what Redis has handed to the server arrives", async (t) => {
    for (let round = 0; round < 10; round++) {
      const { server, backend, listener } = await start(t, "redis");
      const taken = [];
      const publishing = (async () => {
        // 0 when the server has ended its subscription.
        for (let n = 0; (await backend.publish(KEY, message(n))) > 0; n++) taken.push(n);
      })();
      await eventually(() => taken.length > 200, "messages under way");
      assert.equal((await server.stop()).code, 0, server.stderr);
      await within(publishing, "the end of the subscription");
      assert.deepEqual(listener.heard, taken, `round ${round}`);
    }
  });

  test("redisx: what the server has deleted arrives, and the rest waits for another one", async (t) => {
    for (let round = 0; round < 10; round++) {
      const { server, backend, listener } = await start(t, "redisx");
      let isOver = false;
      let n_published = 0;
      const publishing = (async () => {
        for (; !isOver; n_published++) await backend.xadd(KEY, "*", "payload", message(n_published));
      })();
      await eventually(() => n_published > 200, "messages under way");
      assert.equal((await server.stop()).code, 0, server.stderr);
      isOver = true;
      await publishing;
      const waiting = (await backend.xrange(KEY, "-", "+")).map(([, [, payload]]) => JSON.parse(JSON.parse(payload).data));
      const all = Array.from({ length: n_published }, (_, n) => n);
      assert.deepEqual([...listener.heard, ...waiting], all, `round ${round}`);
    }
  });
});

describe("SIGHUP", () => {
  test("without a certificate: clients stay, and the log says what is read again and what is not", async (t) => {
    const server = await Server.start("--app", "benchmark", "--broadcast_key", "secret");
    t.after(() => server.stop());
    const client = await listen(server);
    server.signal("SIGHUP");
    await server.logged(/SIGHUP: there is no certificate .*Other settings need a restart/);
    assert.equal((await server.broadcast(message("still here"))).status, 201);
    assert.match(await client.frames.next(), /"message":"still here"/);
    client.perform(BENCHMARK, { action: "echo", payload: "too" });
    assert.match(await client.frames.next(), /"payload":"too"/);
  });
});
