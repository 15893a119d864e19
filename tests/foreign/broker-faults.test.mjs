// What clients of `--broker memory` are guaranteed when the server dies, stops or is attacked. docs/reference/faults.md has
// the guarantees, each with the test that shows it.

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { CableClient } from "./support/cable.mjs";
import { within } from "./support/deadline.mjs";
import { Server } from "./support/plimsoll.mjs";
import { scrape } from "./support/scrape.mjs";

const BASE = "actioncable-v1-json";
const EXTENDED = "actioncable-v1-ext-json";
const STREAMS = ["a", "b"];
const ROOT = join(import.meta.dirname, "../..");

const pubsub = (stream) => JSON.stringify({ channel: "$pubsub", stream_name: stream });

const start = (...flags) =>
  Server.start("--public", "--broker", "memory", "--shards", "3", "--broadcast_key", "secret", ...flags);

const next = async (client) => JSON.parse(await client.frames.next());

async function connect(t, server, { protocol = EXTENDED, sid } = {}) {
  const headers = sid === undefined ? {} : { "X-ANYCABLE-RESTORE-SID": sid };
  const client = await CableClient.connect(server.ws("/cable"), { protocols: [protocol], headers });
  t.after(() => client.socket.terminate());
  return { client, welcome: await next(client) };
}

/** Everything up to a message of one of these types, and that message. */
async function until(client, ...types) {
  const messages = [];
  for (;;) {
    const message = await next(client);
    if (types.includes(message.type)) return { messages, answer: message.type };
    messages.push(message);
  }
}

const publish = async (server, stream, message) =>
  (await server.broadcast({ stream, data: JSON.stringify(message) })).status;

/** Publishes the numbers from `first` on to a stream of the server, until it fails. Resolves to the last number. */
async function publishUntilItFails(server, stream, first) {
  for (let n = first; ; n++) {
    try {
      if ((await publish(server, stream, { stream, n })) !== 201) return n;
    } catch {
      return n;
    }
  }
}

/** A client of both streams that takes note of everything. */
class User {
  heard = Object.fromEntries(STREAMS.map((stream) => [stream, []]));

  async connect(t, server) {
    const { client, welcome } = await connect(t, server, { sid: this.sid });
    Object.assign(this, { client, sid: welcome.sid });
    return welcome;
  }

  /** Subscribes, and asks for what follows the last message of each stream. Returns the answers by stream. */
  async subscribe() {
    const answers = {};
    for (const stream of STREAMS) {
      const last = this.heard[stream].at(-1);
      const history = last && { streams: { [stream]: { epoch: last.epoch, offset: last.offset } } };
      this.client.send({ command: "subscribe", identifier: pubsub(stream), history });
    }
    while (Object.keys(answers).length < STREAMS.length) {
      const message = await next(this.client);
      const stream = JSON.parse(message.identifier).stream_name;
      if (message.type === undefined) this.hear(message);
      const isAsked = this.heard[stream].length > 0;
      if (message.type === (isAsked ? "reject_history" : "confirm_subscription")) answers[stream] = message.type;
      assert.notEqual(message.type, "confirm_history", stream);
    }
    return answers;
  }

  hear(message) {
    const { stream } = message.message;
    assert.equal(message.stream_id, stream, "a message of the stream that it names");
    assert.equal(message.identifier, pubsub(stream));
    this.heard[stream].push(message);
  }

  /** Hears messages until the connection ends or the last of each stream is this number. */
  async listen(last) {
    const isWhole = () => last && STREAMS.every((stream) => this.heard[stream].at(-1)?.message.n >= last[stream]);
    while (!isWhole()) {
      const frame = await Promise.race([this.client.frames.next(), this.client.closed.then(() => undefined)]);
      if (frame === undefined) return;
      const message = JSON.parse(frame);
      if (message.type === "disconnect") this.farewell = message;
      else if (message.type === undefined) this.hear(message);
    }
  }
}

test("after kill -9 under load clients get new epochs and reject_history, and never a wrong message", async (t) => {
  let server = await start();
  t.after(() => server.signal("SIGKILL"));
  const users = Array.from({ length: 20 }, () => new User());
  for (const user of users) {
    assert.equal((await user.connect(t, server)).restored, undefined);
    await user.subscribe();
  }
  const load = Promise.all(STREAMS.map((stream) => publishUntilItFails(server, stream, 1)));
  const listening = users.map((user) => user.listen());
  await within(
    (async () => {
      while (!users.every(({ heard }) => STREAMS.every((stream) => heard[stream].length > 30)))
        await new Promise((resolve) => setImmediate(resolve));
    })(),
    "thirty messages for each client",
  );
  server.signal("SIGKILL");
  await Promise.all(listening);
  const firsts = await load;
  const before = users.map(({ heard }) => structuredClone(heard));

  server = await start();
  // The new server has messages before the clients are back: as many as their positions say, and more.
  const counts = {};
  for (const [number, stream] of STREAMS.entries()) {
    counts[stream] = firsts[number] + 20;
    for (let n = firsts[number] + 1; n <= counts[stream]; n++) assert.equal(await publish(server, stream, { stream, n }), 201);
  }
  for (const user of users) {
    const welcome = await user.connect(t, server);
    assert.deepEqual([welcome.type, welcome.restored], ["welcome", undefined]);
    assert.deepEqual(await user.subscribe(), { a: "reject_history", b: "reject_history" });
  }
  for (const stream of STREAMS)
    for (let n = 0; n < 10; n++) assert.equal(await publish(server, stream, { stream, n: ++counts[stream] }), 201);
  for (const [number, user] of users.entries()) {
    await within(user.listen(counts), "the messages of the new server");
    for (const stream of STREAMS) {
      const old = before[number][stream];
      const epochs = new Set(old.map(({ epoch }) => epoch));
      assert.equal(epochs.size, 1);
      assert.deepEqual(old.map(({ message }) => message.n), old.map((_, n) => n + 1), "no gap before the end");
      const late = user.heard[stream].slice(old.length);
      assert.ok(late.every(({ epoch }) => !epochs.has(epoch)), "another epoch");
      assert.deepEqual(late.map(({ message }) => message.n), late.map((_, n) => counts[stream] - 9 + n));
      assert.deepEqual(late.map(({ offset }) => offset), late.map((_, n) => 21 + n));
    }
  }
});

test("after SIGTERM clients have every message that was answered 201, and the next server knows neither sessions nor history", async (t) => {
  let server = await start();
  t.after(() => server.signal("SIGKILL"));
  const users = Array.from({ length: 5 }, () => new User());
  for (const user of users) {
    await user.connect(t, server);
    await user.subscribe();
  }
  const load = Promise.all(STREAMS.map((stream) => publishUntilItFails(server, stream, 1)));
  const listening = users.map((user) => user.listen());
  await within(
    (async () => {
      while (users[0].heard.a.length < 30) await new Promise((resolve) => setImmediate(resolve));
    })(),
    "thirty messages",
  );
  assert.equal((await server.stop()).code, 0);
  const refused = await load;
  await Promise.all(listening);
  for (const user of users) {
    assert.deepEqual(user.farewell, { type: "disconnect", reason: "server_restart", reconnect: true });
    for (const [number, stream] of STREAMS.entries()) {
      const numbers = user.heard[stream].map(({ message }) => message.n);
      const n_accepted = refused[number] - 1;
      assert.deepEqual(numbers.slice(0, n_accepted), Array.from({ length: n_accepted }, (_, n) => n + 1));
      // The answer to the last request may have been lost with the server.
      assert.ok(numbers.length <= refused[number]);
    }
  }
  server = await start();
  for (const user of users) {
    assert.equal((await user.connect(t, server)).restored, undefined);
    assert.deepEqual(await user.subscribe(), { a: "reject_history", b: "reject_history" });
  }
});

test("a client of the base protocol hears what comes after its return, and nothing twice", async (t) => {
  const server = await start();
  t.after(() => server.stop());
  const heard = [];
  for (let round = 0; round < 5; round++) {
    const { client } = await connect(t, server, { protocol: BASE });
    await client.subscribe(pubsub("a"));
    for (const n of [1, 2]) await publish(server, "a", { n: 10 * round + n });
    for (let count = 0; count < 2; count++) heard.push((await next(client)).message.n);
    client.socket.terminate();
    await publish(server, "a", { n: 10 * round + 3 });
  }
  assert.deepEqual(heard, [1, 2, 11, 12, 21, 22, 31, 32, 41, 42]);
});

test("10,000 streams in one request for history are looked up for the streams of the subscription alone", async (t) => {
  const server = await start("--max_message_size", "2097152", "--metrics_http", "/metrics");
  t.after(() => server.stop());
  await publish(server, "a", 1);
  const { client } = await connect(t, server);
  await client.subscribe(pubsub("a"));
  const positions = Array.from({ length: 10_000 }, (_, n) => [`stream-${n}`, { epoch: "epoch", offset: n }]);
  for (const [more, answer] of [
    [[], "confirm_history"],
    [[["a", { epoch: "foreign", offset: 1 }]], "reject_history"],
    [[["a", { epoch: "", offset: Number.MAX_SAFE_INTEGER }]], "reject_history"],
  ]) {
    const streams = Object.fromEntries([...positions, ...more]);
    client.send({ command: "history", identifier: pubsub("a"), history: { streams } });
    assert.equal((await next(client)).type, answer);
  }
  assert.equal((await scrape(server.http("/metrics"))).history_streams_num, 1);
});

test("a request for history that is larger than a message ends the connection", async (t) => {
  const server = await start();
  t.after(() => server.stop());
  const { client } = await connect(t, server);
  await client.subscribe(pubsub("a"));
  const positions = Array.from({ length: 10_000 }, (_, n) => [`stream-${n}`, { epoch: "epoch", offset: n }]);
  client.send({ command: "history", identifier: pubsub("a"), history: { streams: Object.fromEntries(positions) } });
  assert.equal((await within(client.closed, "the end")).code, 1009);
});

test("a since of 1970 gets everything that is kept, or a rejection if the server has forgotten any", async (t) => {
  const server = await start("--history_limit", "3");
  t.after(() => server.stop());
  const { client } = await connect(t, server);
  await client.subscribe(pubsub("a"));
  for (let n = 1; n <= 4; n++) {
    await publish(server, "a", n);
    assert.equal((await next(client)).message, n);
    client.send({ command: "history", identifier: pubsub("a"), history: { since: 1 } });
    const { messages, answer } = await until(client, "confirm_history", "reject_history");
    const expected = n <= 3 ? [Array.from({ length: n }, (_, m) => m + 1), "confirm_history"] : [[], "reject_history"];
    assert.deepEqual([messages.map(({ message }) => message), answer], expected);
  }
});

test("a forged sid is an unknown one, whatever it is", async (t) => {
  const server = await start();
  t.after(() => server.stop());
  const { welcome } = await connect(t, server);
  const { sid } = welcome;
  const forged = [
    randomBytes(16).toString("base64url").slice(0, 21),
    sid.slice(0, -1),
    `${sid}x`,
    sid.toLowerCase() === sid ? sid.toUpperCase() : sid.toLowerCase(),
    "../../etc/passwd",
    "%00",
    "x".repeat(4096),
  ];
  for (const name of forged) {
    const { welcome: again } = await connect(t, server, { sid: name });
    assert.deepEqual([again.type, again.restored], ["welcome", undefined], name);
    assert.ok(![...forged, sid].includes(again.sid));
  }
});

test("a flood of publications to ever new streams stays within its memory, and clients that lost messages are told", async (t) => {
  const max = 1 << 20;
  const server = await start("--history_max_bytes", `${max}`, "--metrics_http", "/metrics");
  t.after(() => server.stop());
  const { client } = await connect(t, server);
  client.send({ command: "subscribe", identifier: pubsub("a"), history: { since: 1 } });
  await until(client, "confirm_history");
  await publish(server, "a", 1);
  const first = await next(client);
  const text = "x".repeat(10_000);
  for (let batch = 0; batch < 20; batch++) {
    const publications = Array.from({ length: 50 }, (_, n) => ({ stream: `flood-${batch}-${n}`, data: JSON.stringify(text) }));
    assert.equal((await server.broadcast(publications)).status, 201);
    const { history_bytes } = await scrape(server.http("/metrics"));
    assert.ok(history_bytes <= max, `${history_bytes} bytes`);
  }
  const { history_evicted_total, history_entries_num, history_streams_num } = await scrape(server.http("/metrics"));
  assert.equal(history_evicted_total + history_entries_num, 1001);
  assert.ok(history_streams_num <= 110, `${history_streams_num} streams`);
  client.send({
    command: "history",
    identifier: pubsub("a"),
    history: { streams: { a: { epoch: first.epoch, offset: 0 } } },
  });
  assert.equal((await next(client)).type, "reject_history");
});

test("the tests that docs/reference/faults.md names exist", () => {
  const page = readFileSync(join(ROOT, "docs/reference/faults.md"), "utf8");
  const cited = [...page.matchAll(/`([^`]+\.(?:mjs|rs))`: (?:`([^`]+)`|“([^”]+)”)/g)];
  assert.ok(cited.length >= 15, `${cited.length} tests`);
  for (const [, file, symbol, title] of cited) {
    const folder = file.endsWith(".mjs") ? join("tests/foreign", file) : file;
    const path = join(ROOT, folder);
    assert.ok(existsSync(path), `${folder} does not exist`);
    const text = readFileSync(path, "utf8");
    assert.ok(text.includes(symbol ? `fn ${symbol}(` : `"${title}"`), `${folder} has no test ${symbol ?? title}`);
  }
  // No row without a test.
  const rows = page.split("\n").filter((line) => line.startsWith("| ") && !line.startsWith("| fault") && !line.startsWith("| input"));
  for (const row of rows) assert.match(row, /`[^`]+\.(mjs|rs)`: /, row);
});
