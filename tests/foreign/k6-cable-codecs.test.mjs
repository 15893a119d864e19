// The binary encodings of Action Cable in scripts, against servers that write them with the codecs of others: what arrives is
// what arrives in JSON, and what is not a message ends the client with a line that says so.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { CODECS, msgpack } from "./support/cable-codecs.mjs";
import { startCodecServer } from "./support/codec-server.mjs";
import { plimsollIn } from "./support/plimsoll.mjs";
import { folderOf } from "./support/scripts.mjs";

/** Runs one iteration of a function body in which `connect(more)`, `channel` and `ok(name, condition, seen)` are there. */
async function run(t, url, codec, body) {
  const script = `
    import { check, sleep } from "k6";
    import cable from "k6/x/cable";
    const connect = (more) => cable.connect(__ENV.CABLE_URL, { codec: __ENV.CODEC, receiveTimeoutMs: 30000, ...more });
    function ok(name, condition, seen) {
      if (!check(null, { [name]: !!condition })) throw new Error(name + ": " + JSON.stringify(seen));
    }
    export default function () { ${body} }`;
  const cwd = folderOf(t, { "script.js": script });
  const args = ["--quiet", "--no-color", "--summary-export", "summary.json", "--fail-on-errors=never", "script.js"];
  const { code, stderr } = await plimsollIn({ cwd, env: { CABLE_URL: url, CODEC: codec } }, "run", ...args);
  assert.equal(code, 0, stderr);
  const { metrics } = JSON.parse(readFileSync(join(cwd, "summary.json"), "utf8"));
  assert.equal(metrics.checks?.fails ?? 0, 0, stderr);
  return { stderr, metrics };
}

/** A body in which the server says something raw, and the client ends for this reason. */
const ends = (expected) => `
  const client = connect();
  client.subscribe("Room").perform("raw");
  while (client.ending === null) sleep(0.01);
  ok("ending", client.ending === ${JSON.stringify(expected)}, client.ending);`;

/** Numbers of both kinds, and one whose digits no double has. */
function numbers(_, { send }) {
  send({ kind: "float", n: 7, list: [1, 2] }, { forceIntegerToFloat: true });
  send({ kind: "int", n: 7, list: [1, 2] });
  send({ kind: "half", n: 0.5 });
  send({ kind: "negative", n: -70000 });
  send({ kind: "big", n: 9007199254740993n });
  send({ kind: "biggest", n: 18446744073709551615n });
}

for (const codec of Object.keys(CODECS)) {
  describe(codec, () => {
    test("subscriptions, actions and messages of all kinds", async (t) => {
      const several = ({ n }, { send }) => [...Array(n).keys()].forEach((n) => send({ several: n }));
      const text = (_, { send }) => send("<turbo-stream>ü 💬</turbo-stream>");
      const url = await startCodecServer(t, codec, { say: { numbers, several, text } });
      const body = `
        const client = connect();
        const channel = client.subscribe("Room", { id: 1, name: "ü 💬" });
        ok("confirmed", channel.ackDuration() > 0);
        ok("rejected", client.subscribe("Forbidden") === null);
        const echo = (data) => (channel.perform("echo", data), channel.receive());
        const data = { deep: { a: [1, -2.5, null, true, {}] }, half: 0.5, n: 1, text: "ü 💬 \\u0000 \\"" };
        const { __timestamp__, ...same } = echo(data);
        ok("the same", JSON.stringify(same) === JSON.stringify(data), same);
        ok("empty", Object.keys(echo({})).join() === "__timestamp__");
        ok("100 KB", echo({ text: "ü".repeat(50000) }).text === "ü".repeat(50000));
        ok("round trip", channel.roundTrip("echo", { id: 5 }, { id: 5 }));
        channel.perform("text");
        ok("text", channel.receive("<turbo-stream>ü 💬</turbo-stream>") !== null);
        channel.perform("numbers");
        ok("a float fits a whole number", channel.receive({ n: 7, list: [1, 2] }).kind === "float");
        ok("and so does a whole number", channel.receive({ n: 7.0 }).kind === "int");
        ok("half", channel.receive({ n: 0.5 }).kind === "half");
        ok("negative", channel.receive({ n: -70000 }).kind === "negative");
        ok("big", channel.receive((m) => m.n === 9007199254740992).kind === "big");
        ok("biggest", channel.receive({ kind: "biggest" }).n === 18446744073709551615);
        const seen = [];
        channel.onMessage((m) => seen.push(m.several));
        const n_before = channel.received;
        channel.perform("several", { n: 5 });
        while (channel.received < n_before + 5 || seen.length < 5) sleep(0.01);
        ok("observed", seen.join() === "0,1,2,3,4", seen);
        ok("all", channel.receiveAll(0, (m) => m.several > 2).length === 2);
        const gone = [];
        client.onDisconnect((m) => gone.push(m));
        channel.perform("leave", { reconnect: false });
        while (gone.length === 0) sleep(0.01);
        ok("disconnect", gone[0].reason === "remote" && gone[0].reconnect === false, gone);`;
      const { metrics } = await run(t, url, codec, body);
      assert.equal(metrics.cable_rejected.count, 1);
      assert.equal(metrics.ws_msgs_sent.count, 2 + 3 + 4 + 1);
    });

    test("a message of the other kind is an error that says so", async (t) => {
      const raw = (_, { raw }) => raw(codec === "json" ? Buffer.from("{}") : '{"type":"ping"}');
      const url = await startCodecServer(t, codec, { say: { raw } });
      const expected =
        codec === "json"
          ? "expected JSON text, got a binary message"
          : `expected a binary message in ${codec}, got a text message`;
      const { stderr } = await run(t, url, codec, ends(`not an Action Cable message: ${expected}`));
      assert.ok(stderr.includes(expected), stderr);
    });
  });
}

describe("what is not a message ends the client with a line that says what was expected", () => {
  const deep = Buffer.concat([Buffer.alloc(10_000, 0x91), Buffer.from([1])]);
  const payload = (bytes) => Buffer.concat([Buffer.from([0x1a, 1, 0x69, 0x2a, 0x91, 0x4e]), bytes]);
  const cut = CODECS.msgpack.write({ identifier: "i", message: { a: 1 } }).slice(0, -1);
  for (const [codec, name, content, expected] of [
    ["msgpack", "cut off", cut, "read msgpack: a value at byte 25 needs 1 B more, but 0 B follow"],
    [
      "msgpack",
      "a huge length",
      Buffer.from("81a474797065dbffffffff", "hex"),
      "read msgpack: a text at byte 6 needs 4294967295 B more, but 0 B follow",
    ],
    [
      "msgpack",
      "a huge map",
      Buffer.from("dfffffffff", "hex"),
      "read msgpack: a map at byte 0 needs 8589934590 B more, but 0 B follow",
    ],
    [
      "msgpack",
      "lists 10,000 deep",
      Buffer.concat([Buffer.from("81a76d657373616765", "hex"), deep]),
      "read msgpack: lists and maps are nested more than 128 deep at byte 136",
    ],
    ["msgpack", "no map", msgpack(7), 'read msgpack: expected a map such as {"type":"ping"}, got a whole number'],
    ["msgpack", "nothing", Buffer.alloc(0), 'read msgpack: expected a map such as {"type":"ping"}, got nothing'],
    [
      "protobuf",
      "cut off",
      Buffer.from("0804" + "1a05", "hex"),
      "read protobuf: failed to decode Protobuf message: ServerMessage.identifier: buffer underflow",
    ],
    [
      "protobuf",
      "a huge length",
      Buffer.from("2affffffff0f", "hex"),
      "read protobuf: failed to decode Protobuf message: ServerMessage.message: buffer underflow",
    ],
    [
      "protobuf",
      "a payload 10,000 deep",
      payload(deep),
      "read protobuf: the payload, which is msgpack: lists and maps are nested more than 128 deep at byte 128",
    ],
    [
      "protobuf",
      "a group",
      Buffer.from([0x0b]),
      "read protobuf: failed to decode Protobuf message: ServerMessage.kind: invalid wire type: StartGroup (expected Varint)",
    ],
  ]) {
    test(`${codec}: ${name}`, async (t) => {
      const url = await startCodecServer(t, codec, { say: { raw: (_, { raw }) => raw(content) } });
      const { stderr } = await run(t, url, codec, ends(`not an Action Cable message: ${expected}`));
      assert.ok(stderr.includes(expected), stderr);
    });
  }
});

test("a server that agrees to none or to another sub-protocol is told by name", async (t) => {
  const none = await startCodecServer(t, "json", { chosen: false });
  const other = await startCodecServer(t, "json");
  for (const codec of ["msgpack", "protobuf"]) {
    const body = 'ok("null", connect() === null);';
    const notAgreed = `the server did not agree to the sub-protocol actioncable-v1-${codec}; it chose none`;
    assert.ok((await run(t, none, codec, body)).stderr.includes(notAgreed));
    const { stderr } = await run(t, other, codec, body);
    assert.match(stderr, /failed to connect: .*actioncable-v1-json/);
  }
});

for (const [codec, protocol, whispered] of [
  ["msgpack", "actioncable-v1-ext-msgpack", { typing: true }],
  // In the schema of protobuf it is a text.
  ["protobuf", "actioncable-v1-protobuf", '{"typing":true}'],
]) {
  test(`a whisper in ${codec}`, async (t) => {
    const whisper = (data, { send }) => send({ data });
    const url = await startCodecServer(t, codec, { chosen: protocol, say: { whisper } });
    const body = `
      const client = connect({ protocol: "${protocol}" });
      const channel = client.subscribe("Room");
      channel.whisper({ typing: true });
      ok("whispered", channel.receive({ data: ${JSON.stringify(whispered)} }));
      channel.perform("echo", { n: 1 });
      ok("echo", channel.receive({ n: 1 }));`;
    await run(t, url, codec, body);
  });
}
