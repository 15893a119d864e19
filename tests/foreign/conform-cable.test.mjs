// `plimsoll conform cable` against servers: our own, whichever way it asks its application and hears of broadcasts, and
// Action Cable itself. The files in `expectations` say what each comes to, and why; a change in either direction fails.

import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { WebSocketServer } from "ws";
import { PROGRAM, plimsoll, plimsollIn, startPlimsollIn } from "./support/plimsoll.mjs";
import { eventually } from "./support/processes.mjs";
import { RedisServer } from "./support/redis.mjs";
import { folderOf } from "./support/scripts.mjs";

const TWIN = fileURLToPath(new URL("../../conformance/rails/config.ru", import.meta.url));

const expectations = (name) => fileURLToPath(new URL(`expectations/${name}.txt`, import.meta.url));

/** A server of ours, as --command has it. */
const serve = (...flags) =>
  [
    `"${PROGRAM}" serve --host 127.0.0.1 --port {port} --rpc_host {rpc} --headers cookie,x-api-token`,
    "--ping_interval 1 --ping_timestamp_precision ms",
    ...flags,
  ].join(" ");

/** Runs the suite against what the command starts; verdicts have to be as the file says. */
async function conforms(file, command, ...flags) {
  const url = "ws://127.0.0.1:0/cable";
  const patience = ["--patience", "20", "--timeout", "60"];
  const { code, stdout, stderr } = await plimsoll(
    "conform", "cable", url, "--rpc-listen", "127.0.0.1:0", "--command", command, "--expect", expectations(file), ...patience, ...flags,
  );
  assert.equal(code, 0, `${stdout}\n${stderr}`);
}

// Most of a suite is waiting, so two run at the same time.
describe("plimsoll serve", { concurrency: 2 }, () => {
  for (const rpc of ["grpc", "http"]) {
    test(`asks its application over ${rpc}`, async () => {
      const command = serve("--broadcast_key", "secret");
      await conforms("cable-plimsoll", command, "--rpc", rpc, "--broadcast-key", "secret");
    });
  }

  for (const rpc of ["grpc", "http"]) {
    test(`keeps messages and sessions, with its application over ${rpc}`, async () => {
      // Members leave three seconds after a lost connection: some cases wait for that.
      const command = serve("--broadcast_key", "secret", "--broker", "memory", "--presence_ttl", "3");
      // The interval of pings has nothing to do with a broker; it is checked above, and needs a calm machine.
      const ping = ["--except", "cable/connection/ping-interval"];
      await conforms("cable-plimsoll-broker", command, "--rpc", rpc, "--broadcast-key", "secret", ...ping);
    });
  }

  const subprotocols = ["ext-json", "msgpack", "ext-msgpack", "protobuf", "ext-protobuf"];
  for (const subprotocol of subprotocols.map((name) => `actioncable-v1-${name}`)) {
    test(`speaks ${subprotocol}`, async () => {
      const command = serve("--broadcast_key", "secret", "--broker", "memory", "--presence_ttl", "3");
      // A thousand clients and the rhythm of pings have nothing to do with an encoding.
      const except = ["--except", "cable/connection/ping-interval,cable/closing/restart-crowd"];
      const flags = ["--broadcast-key", "secret", "--subprotocol", subprotocol, ...except];
      await conforms("cable-plimsoll-broker", command, ...flags);
    });
  }

  for (const adapter of ["redis", "redisx"]) {
    test(`hears of broadcasts by ${adapter}`, async (t) => {
      const redis = await RedisServer.start(t);
      const command = serve("--broadcast_adapter", adapter, "--redis_url", redis.url);
      const broadcasting = "cable/streams,cable/state,cable/closing/remote*,cable/order,cable/confirmation,cable/fidelity,cable/size";
      await conforms(
        "cable-plimsoll", command, "--broadcast", adapter, "--broadcast-url", redis.url, "--only", broadcasting,
      );
    });
  }
});

test("Action Cable on Puma", async () => {
  const command = `puma --quiet --bind tcp://127.0.0.1:{port} --threads 5:5 "${TWIN}"`;
  // Which of its threads is faster decides about these two; the file says how they end nearly every time.
  const luck = "cable/races/subscribe-again,cable/races/unsubscribe-in-flight";
  await conforms("cable-action-cable", command, "--rpc", "none", "--except", luck);
});

describe("the server that was started", () => {
  /** Notes what happens to it. With "refuses" it refuses all clients; otherwise it never answers. */
  const SERVER = `
    import { appendFileSync } from "node:fs";
    import http from "node:http";
    const [port, how] = process.argv.slice(2);
    const note = (what) => appendFileSync("notes.txt", what + " ");
    process.on("SIGTERM", () => {
      note("ended");
      process.exit(0);
    });
    const server = http.createServer();
    server.on("upgrade", (_, socket) => {
      note("asked");
      socket.on("error", () => {});
      if (how === "refuses") socket.end("HTTP/1.1 403 Forbidden\\r\\nContent-Length: 0\\r\\n\\r\\n");
    });
    note("began");
    if (how === "listens-nowhere") setInterval(() => {}, 60_000);
    else server.listen(Number(port), "127.0.0.1");
  `;

  const conform = (how, ...flags) => [
    ...["conform", "cable", "ws://127.0.0.1:0/cable", "--rpc", "none", "--only", "cable/connection/welcome"],
    ...["--command", `"${process.execPath}" server.mjs {port} ${how}`, "--patience", "60", "--timeout", "60", ...flags],
  ];

  test("ends in good order, and results say where it was", async (t) => {
    const cwd = folderOf(t, { "server.mjs": SERVER });
    const run = await plimsollIn({ cwd }, ...conform("refuses", "--format", "json"));
    assert.equal(run.code, 3, run.stderr);
    // The first failure leads to a second look at the server.
    assert.equal(readFileSync(join(cwd, "notes.txt"), "utf8"), "began asked asked ended ");
    const { target } = JSON.parse(run.stdout);
    assert.match(target.url, /^ws:\/\/127\.0\.0\.1:[1-9]\d*\/cable$/);
    assert.equal(target.name, target.url);
  });

  for (const [how, meanwhile] of [["answers-nothing", "began asked "], ["listens-nowhere", "began "]]) {
    test(`ends in good order after Ctrl-C when it ${how}`, async (t) => {
      const cwd = folderOf(t, { "server.mjs": SERVER, "notes.txt": "" });
      const notes = () => readFileSync(join(cwd, "notes.txt"), "utf8");
      const child = startPlimsollIn({ cwd }, ...conform(how));
      child.stderr.resume();
      await eventually(() => notes() === meanwhile, "the server");
      child.kill("SIGINT");
      const { code } = await child.exited;
      assert.equal(code, 1);
      assert.equal(notes(), `${meanwhile}ended `);
    });
  }
});

test("a run ends after the first case if the server does not have the suite's channels", async (t) => {
  // It welcomes all clients, and knows no channel.
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1", handleProtocols: () => "actioncable-v1-json" });
  t.after(() => {
    for (const client of server.clients) client.terminate();
    server.close();
  });
  server.on("connection", (client) => {
    client.send('{"type":"welcome"}');
    client.on("message", (text) => {
      const { identifier } = JSON.parse(text);
      client.send(JSON.stringify({ type: "reject_subscription", identifier }));
    });
  });
  await once(server, "listening");
  const url = `ws://127.0.0.1:${server.address().port}/cable`;
  const suite = ["conform", "cable", url, "--only", "cable/subscriptions", "--parallel", "1", "--format", "json"];
  const check = async (expected, ...flags) => {
    const { code, stdout, stderr } = await plimsoll(...suite, ...flags);
    assert.equal(code, 1, stderr);
    assert.match(stderr, expected);
    const verdicts = JSON.parse(stdout).outcomes.map(({ verdict }) => verdict);
    assert.deepEqual(verdicts, ["fail", ...Array(7).fill("skipped")]);
  };
  await check(
    /^error: the server does not have the suite's channels \(--rpc none needs those of conformance\/rails\): it answers .*reject_subscription.*; ended after 1 of 8 cases$/m,
    "--rpc", "none",
  );
  await check(
    /^error: the server does not ask the suite's application at 127\.0\.0\.1:\d+, so it does not have the suite's channels: it answers/m,
    "--rpc-listen", "127.0.0.1:0",
  );
});

test("a server that does not speak the sub-protocol is an error", async (t) => {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1", handleProtocols: () => false });
  t.after(() => server.close());
  await once(server, "listening");
  const url = `ws://127.0.0.1:${server.address().port}/cable`;
  const suite = ["conform", "cable", url, "--rpc", "none", "--subprotocol", "actioncable-v1-ext-msgpack"];
  const { code, stdout, stderr } = await plimsoll(...suite);
  assert.deepEqual([code, stdout], [1, ""]);
  assert.match(stderr, /does not speak actioncable-v1-ext-msgpack: it chose no sub-protocol; .*--subprotocol/);
});

describe("wrong use", () => {
  for (const [flags, expected, status] of [
    [["http://localhost/cable"], /ws:\/\/localhost:8080\/cable/, 2],
    [["ws://127.0.0.1:0/cable", "--rpc", "none"], /--command/, 1],
    [["ws://127.0.0.1:1/cable", "--rpc", "none"], /nothing listens at ws:\/\/127\.0\.0\.1:1\/cable/, 1],
    [["ws://127.0.0.1:0/cable", "--rpc", "none", "--command", "/no/such/program"], /cannot start "\/no\/such\/program"/, 1],
    [["ws://127.0.0.1:0/cable", "--rpc", "none", "--command", "sh -c 'echo no such room >&2'"], /no such room/, 1],
    [["ws://127.0.0.1:1/cable", "--rpc-listen", "192.0.2.1:1"], /--rpc-listen/, 1],
    [["ws://127.0.0.1:1/cable", "--broadcast-url", "ftp://x"], /http:\/\/127\.0\.0\.1:8090\/_broadcast/, 1],
    [["ws://127.0.0.1:1/cable", "--broadcast", "redis", "--broadcast-url", "http://x"], /redis:\/\/127\.0\.0\.1:6379/, 1],
  ]) {
    test(`plimsoll conform cable ${flags.join(" ")}`, async () => {
      const { code, stdout, stderr } = await plimsoll("conform", "cable", ...flags);
      assert.equal(code, status, stderr);
      assert.match(stderr, expected);
      assert.equal(stdout, "");
    });
  }
});
