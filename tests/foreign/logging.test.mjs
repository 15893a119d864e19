// What becomes of the log does not become of the server: it starts, serves, recovers and ends as with a healthy log.

import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { BENCHMARK, CableClient } from "./support/cable.mjs";
import { within } from "./support/deadline.mjs";
import { ExampleApp, buildNode } from "./support/example-app.mjs";
import { closedPipe, file, fillingDisk, fullDevice, fullPipe } from "./support/log-outputs.mjs";
import { Server, plimsollIn, startPlimsollIn } from "./support/plimsoll.mjs";
import { eventually } from "./support/processes.mjs";
import { freePort } from "./support/ports.mjs";
import { RedisServer } from "./support/redis.mjs";
import { scrape } from "./support/scrape.mjs";
import { folderOf } from "./support/scripts.mjs";

const KEY = ["--broadcast_key", "secret"];
const METRICS = ["--metrics_http", "/metrics"];
const CHAT = '{"channel":"ChatChannel","id":"demo"}';

/** What may be wrong with the log. */
const BROKEN = { fullDevice, closedPipe, fullPipe, fillingDisk };

/** Those of them that a test can put in order again. */
const RECOVERING = { fullPipe, fillingDisk };

const dataOf = (frame) => JSON.parse(frame).message;

async function start(t, output, ...args) {
  const server = await Server.startIn(output.surroundings, ...args);
  t.after(() => server.isRunning && server.stop());
  return server;
}

const isReady = async (server) => (await fetch(server.http("/ready"))).status === 200;

/** How the server ended, in good time. */
async function end(server) {
  const { code, signal } = await server.stop();
  return { code, signal };
}

/** A session hears a broadcast, and the server ends. */
async function service(t, output) {
  const server = await start(t, output, ...KEY);
  output.breakDown();
  const client = await CableClient.subscribed(server.ws("/cable"));
  const { status } = await server.broadcast({ stream: "all", data: "1" });
  return { status, heard: dataOf(await client.frames.next()), ...(await end(server)) };
}

/** Redis goes and comes back under a session that hears both adapters. */
async function redisRestart(t, output) {
  const redis = await RedisServer.start(t);
  const server = await start(t, output, "--debug", "--broadcast_adapter", "redis,redisx", "--redis_url", redis.url);
  const client = await CableClient.subscribed(server.ws("/cable"));
  const heard = [];
  const hear = async (name) => {
    await eventually(() => isReady(server), "a server that is ready");
    const backend = redis.client(t);
    await backend.publish("__anycable__", JSON.stringify({ stream: "all", data: JSON.stringify(`${name} redis`) }));
    heard.push(dataOf(await client.frames.next()));
    await backend.xadd("__anycable__", "*", "payload", JSON.stringify({ stream: "all", data: JSON.stringify(`${name} redisx`) }));
    heard.push(dataOf(await client.frames.next()));
  };
  await hear("before");
  output.breakDown();
  await redis.kill();
  await eventually(async () => !(await isReady(server)), "a server that misses Redis");
  await redis.resume();
  await hear("after");
  output.recover?.();
  return { heard, ...(await end(server)) };
}

/** The application is killed under a session, and started again. */
async function applicationRestart(t, output) {
  const app = await ExampleApp.create(t, "node");
  const server = await start(t, output, "--debug", "--rpc_host", app.rpcHost, ...KEY);
  const startApp = () =>
    app.listen({ ANYCABLE_HTTP_BROADCAST_URL: server.http("/_broadcast"), ANYCABLE_BROADCAST_KEY: "secret" });
  await startApp();
  const enter = (uid) => CableClient.subscribed(server.ws("/cable"), CHAT, { headers: { cookie: `uid=${uid}` } });
  const kay = await enter("kay/1");
  output.breakDown();
  await app.kill();
  const heard = [];
  kay.perform(CHAT, { action: "speak", message: "lost" });
  await server.broadcast({ stream: "chat_demo", data: '"during"' });
  heard.push(dataOf(await kay.frames.next()));
  await startApp();
  await eventually(() => isReady(server), "a server that has its application again");
  kay.perform(CHAT, { action: "speak", message: "after" });
  // The action of the outage may still have been carried out. Later clients must receive neither of the two.
  let said;
  do said = dataOf(await kay.frames.next()).message;
  while (said === "lost");
  heard.push(said);
  const bo = await enter("bo/2");
  await server.broadcast({ stream: "chat_demo", data: '"both"' });
  for (const { frames } of [kay, bo]) heard.push(dataOf(await frames.next()));
  output.recover?.();
  return { heard, ...(await end(server)) };
}

for (const scenario of [service, redisRestart, applicationRestart]) {
  describe(scenario.name, () => {
    before(() => (scenario === applicationRestart ? buildNode() : undefined));

    for (const [name, broken] of Object.entries(BROKEN)) {
      test(`goes with ${name} as with a file`, async (t) => {
        const expected = await scenario(t, file(t));
        assert.equal(expected.code, 0);
        assert.deepEqual(await scenario(t, broken(t)), expected);
      });
    }
  });
}

describe("more lines than the output takes", () => {
  /** Logs until lines are dropped; returns how many. */
  async function overflow(server, client) {
    const ignored = JSON.stringify({ command: "message", identifier: '{"channel":"Absent"}', data: "{}" });
    for (;;) {
      for (let n = 0; n < 2000; n++) client.socket.send(ignored);
      await client.settle();
      const { log_lines_dropped_total: n_dropped } = await scrape(server.http("/metrics"));
      if (n_dropped > 0) return n_dropped;
    }
  }

  for (const [name, broken] of Object.entries(BROKEN)) {
    test(`are counted with ${name}, and cost neither sessions nor memory`, async (t) => {
      const output = broken(t);
      const server = await start(t, output, "--debug", ...KEY, ...METRICS);
      const client = await CableClient.subscribed(server.ws("/cable"));
      output.breakDown();
      await overflow(server, client);
      const before = server.rssBytes;
      for (let n = 0; n < 5; n++) await overflow(server, client);
      const growth = server.rssBytes - before;
      assert.ok(growth < 2 << 20, `memory grew by ${growth} bytes`);
      await server.broadcast({ stream: "all", data: "1" });
      assert.equal(dataOf(await client.frames.next()), 1);
      assert.deepEqual(await end(server), { code: 0, signal: null });
    });
  }

  for (const [name, recovering] of Object.entries(RECOVERING)) {
    test(`are told of when ${name} has room again, and the log goes on`, async (t) => {
      const output = recovering(t);
      const server = await start(t, output, "--debug", ...KEY, ...METRICS);
      const client = await CableClient.subscribed(server.ws("/cable"));
      output.breakDown();
      await overflow(server, client);
      output.recover();
      const told = () => [...output.text().matchAll(/ERROR (\d+) log lines were dropped/g)];
      await eventually(() => told().length > 0, "the line about dropped ones");
      const { log_lines_dropped_total: n_dropped } = await scrape(server.http("/metrics"));
      assert.equal(told().reduce((sum, [, n]) => sum + Number(n), 0), n_dropped);
      client.send({ command: "message", identifier: '{"channel":"AtLast"}', data: "{}" });
      await eventually(() => /dropped.*AtLast/s.test(output.text()), "a line behind it");
      assert.deepEqual(await end(server), { code: 0, signal: null });
    });
  }
});

describe("a server that cannot start", () => {
  /** The arguments of a server whose port is taken by another one. */
  async function hopeless(t) {
    const other = await start(t, {});
    return ["serve", "--host", "127.0.0.1", "--port", String(other.port), ...KEY];
  }

  test("says why behind what it has logged", async (t) => {
    const { code, stderr } = await plimsollIn({ env: { PLIMSOLL_NO_SUCH_SETTING: "1" } }, ...(await hopeless(t)));
    assert.equal(code, 1);
    assert.match(stderr, /^.*WARN.*PLIMSOLL_NO_SUCH_SETTING.*\nerror: .*in use.*\n$/);
  });

  for (const [name, broken] of Object.entries(BROKEN)) {
    test(`ends with ${name} as with a file`, async (t) => {
      const output = broken(t);
      output.breakDown();
      const { exited } = startPlimsollIn(output.surroundings, ...(await hopeless(t)));
      assert.deepEqual(await within(exited, "the end"), { code: 1, signal: null });
    });
  }
});

describe("--announce", () => {
  for (const [name, broken] of Object.entries({ fullDevice, closedPipe, fullPipe })) {
    test(`costs nothing when stdout is ${name}`, async (t) => {
      const log = file(t);
      const { stderr: stdout } = broken(t).surroundings;
      const port = await freePort();
      const args = ["serve", "--host", "127.0.0.1", "--port", String(port), "--announce", "--exit_with_stdin", ...KEY];
      const server = startPlimsollIn({ ...log.surroundings, stdout }, ...args);
      const serves = () => fetch(`http://127.0.0.1:${port}/health`).then(({ ok }) => ok, () => false);
      await eventually(serves, "a server that serves");
      if (broken !== fullPipe) await eventually(() => /WARN.*announcement/.test(log.text()), "the warning");
      server.kill("SIGTERM");
      assert.deepEqual(await within(server.exited, "the end"), { code: 0, signal: null });
    });
  }
});

describe("plimsoll run", () => {
  /** Ends with 99 unless the script goes on behind what it says, three times. */
  const HELLO = `
    import { Counter } from "k6/metrics";
    const said = new Counter("said");
    export const options = { thresholds: { said: ["count==3"] } };
    export default function () {
      console.log("hello");
      said.add(1);
    }`;
  const run = (t, output, ...args) => {
    const cwd = folderOf(t, { "hello.js": HELLO });
    return startPlimsollIn({ ...output.surroundings, cwd }, "run", "--quiet", "--iterations", "3", ...args, "hello.js");
  };

  test("says once that its log cannot be written, and goes on", async (t) => {
    const log = file(t);
    const { exited } = run(t, log, "--log-output", "file=/dev/full");
    assert.deepEqual(await within(exited, "the run's end"), { code: 0, signal: null });
    assert.equal(log.text().match(/cannot write the log: .*No space/g).length, 1, log.text());
  });

  for (const [name, broken] of Object.entries({ fullDevice, closedPipe })) {
    test(`goes on when that cannot be said, with ${name}`, async (t) => {
      const { exited } = run(t, broken(t), "--log-output", "file=/dev/full");
      assert.deepEqual(await within(exited, "the run's end"), { code: 0, signal: null });
    });
  }
});
