// The cable protocol byte for byte, as npm `ws` sees it.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { BENCHMARK, CableClient } from "./support/cable.mjs";
import { Server } from "./support/plimsoll.mjs";
import { RawSocket, upgradeRequest } from "./support/raw.mjs";

/** The frame that carries `message`, JSON text, to the subscription `identifier`. */
const carrying = (message, identifier = BENCHMARK) => `{"identifier":${JSON.stringify(identifier)},"message":${message}}`;

const confirmed = (identifier) => `{"type":"confirm_subscription","identifier":${JSON.stringify(identifier)}}`;
const rejected = (identifier) => `{"type":"reject_subscription","identifier":${JSON.stringify(identifier)}}`;

let server;
before(async () => (server = await Server.start("--app", "benchmark", "--broadcast_key", "secret", "--ping_interval", "1")));
after(() => server.stop());

/** A client that is closed when the test ends. */
async function connect(t, options) {
  const client = await CableClient.connect(server.ws("/cable"), options);
  t.after(() => client.close());
  return client;
}

/** A subscribed client that is closed when the test ends. */
async function subscribed(t, identifier) {
  const client = await CableClient.subscribed(server.ws("/cable"), identifier);
  t.after(() => client.close());
  return client;
}

async function publish(body) {
  const response = await server.broadcast(body);
  assert.equal(response.status, 201, await response.text());
}

describe("sub-protocols", () => {
  for (const [offered, expected] of [
    [[], ""],
    [["actioncable-v1-json"], "actioncable-v1-json"],
    [["actioncable-v1-json", "actioncable-unsupported"], "actioncable-v1-json"],
    [["actioncable-unsupported", "actioncable-v1-json"], "actioncable-v1-json"],
    [["actioncable-v1-ext-json", "actioncable-v1-json"], "actioncable-v1-ext-json"],
  ]) {
    test(`offered ${JSON.stringify(offered)}, agreed "${expected}"`, async (t) => {
      const client = await connect(t, { protocols: offered });
      assert.equal(client.socket.protocol, expected);
      assert.match(await client.frames.next(), /^\{"type":"welcome"/);
    });
  }

  for (const offered of ["graphql-ws", "graphql-ws, x", "actioncable-v9-json"]) {
    test(`an offer of nothing but "${offered}" is refused with the names of those that are served`, async (t) => {
      const raw = await RawSocket.connect(server.port);
      t.after(() => raw.destroy());
      raw.write(upgradeRequest("/cable", [`Sec-WebSocket-Protocol: ${offered}`]));
      const answer = await raw.until(/Served are .*\n$/);
      assert.match(answer, /^HTTP\/1\.1 400 /);
      const served = ["json", "ext-json", "msgpack", "ext-msgpack", "protobuf", "ext-protobuf"];
      assert.ok(answer.endsWith(`Served are ${served.map((name) => `actioncable-v1-${name}`).join(", ")}.\n`), answer);
    });
  }
});

describe("what the server says by itself", () => {
  test("welcome comes first and has a session id", async (t) => {
    const [first, second] = [await connect(t), await connect(t)];
    const welcomes = [await first.frames.next(), await second.frames.next()];
    for (const welcome of welcomes) assert.match(welcome, /^\{"type":"welcome","sid":"[\w-]+"\}$/);
    assert.notEqual(...welcomes);
  });

  test("pings carry the time in seconds, and the first one is spread", async (t) => {
    const connected = Array.from({ length: 40 }, async () => {
      const start = performance.now();
      const client = await connect(t);
      const ping = await client.pings.next();
      const seconds = Number(/^\{"type":"ping","message":(\d+)\}$/.exec(ping)?.[1]);
      assert.ok(Math.abs(seconds - Date.now() / 1000) < 30, ping);
      return performance.now() - start;
    });
    const delays = await Promise.all(connected);
    // Half to one and a half intervals of one second, in ticks of a tenth.
    assert.ok(Math.min(...delays) > 350, `the first ping came after ${Math.min(...delays)} ms`);
    const spread = Math.max(...delays) - Math.min(...delays);
    assert.ok(spread > 300, `40 first pings within ${spread} ms`);
  });

  test("a ping command is answered with a pong", async (t) => {
    const client = await connect(t);
    await client.frames.next();
    client.send({ command: "ping" });
    assert.equal(await client.frames.next(), '{"type":"pong"}');
  });
});

describe("identifiers", () => {
  const odd = [
    '{"channel":"BenchmarkChannel"}',
    ' { "channel" : "BenchmarkChannel" } ',
    '{"z":1,"channel":"BenchmarkChannel","a":2}',
    '{"channel":"BenchmarkChannel","id":"é 💬 <&> \\u2028 \\" \\\\ /"}',
    '{"channel":"BenchmarkChannel","id":12345678901234567890}',
    '{"channel":"BenchmarkChannel",\n\t"id":null}',
  ];
  for (const identifier of odd) {
    test(`${JSON.stringify(identifier)} comes back verbatim in a confirmation and in messages`, async (t) => {
      const client = await connect(t);
      await client.frames.next();
      assert.equal(await client.subscribe(identifier), confirmed(identifier));
      client.perform(identifier, { action: "echo", payload: 1 });
      assert.equal(await client.frames.next(), carrying('{"action":"echo","payload":1}', identifier));
    });
  }

  for (const identifier of ['{"channel":"NoSuchChannel"}', "{}", "not JSON", "", '"BenchmarkChannel"', "💬"]) {
    test(`${JSON.stringify(identifier)} comes back verbatim in a rejection`, async (t) => {
      const client = await connect(t);
      await client.frames.next();
      assert.equal(await client.subscribe(identifier), rejected(identifier));
    });
  }
});

describe("the application's JSON", () => {
  for (const [data, expected] of [
    ['{"b":1,"a":12345678901234567890,"h":"<&>"}'],
    ['{"f":1.0,"e":1e3,"n":-0,"long":0.1000000000000000055511151231257827}'],
    ['{"same":1,"same":2}'],
    ['{"escaped":"\\u003c\\/\\u00e9","not":"é💬"}'],
    ["[]"],
    ["12345678901234567890"],
    ["true"],
    [' {"inner": [1,  2]} ', '{"inner": [1,  2]}'],
    ['"abc"', '"abc"'],
    ['"{\\"looks\\":\\"like JSON\\"}"'],
    ["null", '"null"'],
    ["plain <text>", '"plain <text>"'],
    ['{"broken":', '"{\\"broken\\":"'],
    ["", '""'],
  ]) {
    test(`a broadcast of ${JSON.stringify(data)} arrives as ${expected ?? "it is"}`, async (t) => {
      const client = await subscribed(t);
      await publish({ stream: "all", data });
      assert.equal(await client.frames.next(), carrying(expected ?? data));
    });
  }

  test("what a client performs passes through untouched, too", async (t) => {
    const client = await subscribed(t);
    const payload = '{"b":1, "a":12345678901234567890,"h":"<&>"}';
    client.send({ command: "message", identifier: BENCHMARK, data: `{"action":"echo","payload":${payload}}` });
    assert.equal(await client.frames.next(), carrying(`{"action":"echo","payload":${payload}}`));
  });
});

describe("subscriptions", () => {
  test("repeated subscribes are confirmed once", async (t) => {
    const client = await connect(t);
    await client.frames.next();
    for (let n = 0; n < 3; n++) client.send({ command: "subscribe", identifier: BENCHMARK });
    assert.deepEqual(await client.settle(), [confirmed(BENCHMARK)]);
    client.perform(BENCHMARK, { action: "echo", payload: 1 });
    assert.deepEqual(await client.frames.next(), carrying('{"action":"echo","payload":1}'), "and hear things once");
    assert.deepEqual(await client.settle(), []);
  });

  test("an unsubscribed identifier hears nothing, and the others still do", async (t) => {
    const client = await subscribed(t);
    const other = '{"channel":"BenchmarkChannel","other":true}';
    assert.equal(await client.subscribe(other), confirmed(other));
    await publish({ stream: "all", data: "1" });
    assert.deepEqual((await client.frames.take(2)).sort(), [carrying("1"), carrying("1", other)].sort());

    client.send({ command: "unsubscribe", identifier: BENCHMARK });
    assert.deepEqual(await client.settle(), [], "there is no answer to unsubscribe");
    await publish([
      { stream: "all", data: "2" },
      { stream: "all", data: "3" },
    ]);
    assert.deepEqual(await client.frames.take(2), [carrying("2", other), carrying("3", other)]);
  });

  test("a new subscribe after an unsubscribe is confirmed again", async (t) => {
    const client = await subscribed(t);
    client.send({ command: "unsubscribe", identifier: BENCHMARK });
    assert.equal(await client.subscribe(BENCHMARK), confirmed(BENCHMARK));
  });

  test("a message to an identifier without a subscription is ignored", async (t) => {
    const client = await connect(t);
    await client.frames.next();
    client.perform(BENCHMARK, { action: "echo", payload: 1 });
    assert.deepEqual(await client.settle(), []);
  });

  test("commands are carried out in their order", async (t) => {
    const client = await connect(t);
    await client.frames.next();
    client.send({ command: "subscribe", identifier: BENCHMARK });
    for (let n = 0; n < 50; n++) client.perform(BENCHMARK, { action: "echo", payload: n });
    const expected = Array.from({ length: 50 }, (_, n) => carrying(`{"action":"echo","payload":${n}}`));
    assert.deepEqual(await client.frames.take(51), [confirmed(BENCHMARK), ...expected]);
  });

  test("parameters choose the stream", async (t) => {
    const seven = '{"channel":"BenchmarkChannel","id":7}';
    const client = await subscribed(t, seven);
    await publish([
      { stream: "all", data: '"for others"' },
      { stream: "all7", data: '"for seven"' },
    ]);
    assert.equal(await client.frames.next(), carrying('"for seven"', seven));
  });

  test("a batch arrives in its order at all clients", async (t) => {
    const clients = await Promise.all([1, 2, 3].map(() => subscribed(t)));
    await publish(Array.from({ length: 200 }, (_, n) => ({ stream: "all", data: String(n) })));
    const expected = Array.from({ length: 200 }, (_, n) => carrying(String(n)));
    for (const client of clients) assert.deepEqual(await client.frames.take(200), expected);
  });
});
