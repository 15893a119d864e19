// `plimsoll serve --broker memory`: who is present, from npm `ws` and from the unmodified @anycable/core.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { createCable } from "@anycable/core";
import WebSocket from "ws";
import { CableClient } from "./support/cable.mjs";
import { within } from "./support/deadline.mjs";
import { GrpcApp } from "./support/grpc-app.mjs";
import { Inbox } from "./support/inbox.mjs";
import { Server } from "./support/plimsoll.mjs";
import { ask, join, joined, left, list, presence } from "./support/presence.mjs";
import { CHAT } from "./support/rpc-app.mjs";

const BASE = "actioncable-v1-json";
const EXTENDED = "actioncable-v1-ext-json";

const pubsub = (stream) => JSON.stringify({ channel: "$pubsub", stream_name: stream });

/** A member leaves a second after its connection is lost. */
const start = (...flags) => {
  const ttl = flags.includes("--presence_ttl") ? [] : ["--presence_ttl", "1"];
  return Server.start("--public", "--broker", "memory", "--shards", "3", ...ttl, ...flags);
};

/** A client and its welcome. */
async function connect(t, server, { protocol = BASE, path = "/cable" } = {}) {
  const client = await CableClient.connect(server.ws(path), { protocols: [protocol] });
  t.after(() => client.socket.terminate());
  return { client, welcome: await next(client) };
}

async function subscribed(t, server, identifier, options) {
  const { client, welcome } = await connect(t, server, options);
  assert.match(await client.subscribe(identifier), /confirm_subscription/);
  return { client, welcome };
}

const next = async (client) => JSON.parse(await client.frames.next());

describe("presence", () => {
  let server;
  before(async () => (server = await start()));
  after(() => server.stop());

  test("joins and leaves are told once, to clients of all protocols, and a connected member stays", async (t) => {
    const identifier = pubsub("once");
    const { client: observer } = await subscribed(t, server, identifier, { protocol: EXTENDED });
    const members = [];
    for (let n = 0; n < 5; n++) {
      const { client } = await subscribed(t, server, identifier);
      join(client, identifier, "kay", { n });
      if (n === 0) assert.deepEqual(await presence(client, identifier), joined("kay", { n }));
      assert.deepEqual(await client.settle(), []);
      members.push(client);
    }
    assert.deepEqual(await presence(observer, identifier), joined("kay", { n: 0 }));
    assert.deepEqual(await ask(observer, identifier), list({ id: "kay", info: { n: 4 } }));
    assert.deepEqual(await ask(observer, identifier, { return_records: false }), { type: "info", total: 1 });
    members[0].send({ command: "leave", identifier });
    members[1].send({ command: "unsubscribe", identifier });
    for (const client of members.slice(2, 4)) client.socket.terminate();
    // Ann's absence is longer than the time for which kay's connection has been idle.
    const { client: ann } = await subscribed(t, server, identifier);
    join(ann, identifier, "ann");
    assert.deepEqual(await presence(observer, identifier), joined("ann"));
    ann.socket.terminate();
    assert.deepEqual(await presence(observer, identifier), left("ann"));
    assert.deepEqual(await ask(observer, identifier), list({ id: "kay", info: { n: 4 } }));
    members[4].send({ command: "leave", identifier });
    assert.deepEqual(await presence(observer, identifier), left("kay"));
    assert.deepEqual(await ask(observer, identifier), list());
  });

  test("requests that cannot be served are answered, and a client is present under one id", async (t) => {
    const identifier = pubsub("mistakes");
    const { client: observer } = await subscribed(t, server, identifier);
    const { client } = await connect(t, server);
    const error = (reason) => ({ type: "error", total: 0, reason });
    assert.deepEqual(await ask(client, identifier), error("there is no such subscription"));
    join(client, identifier, "kay");
    assert.deepEqual(await presence(client, identifier), error("there is no such subscription"));
    await client.subscribe(identifier);
    for (const [id, info, reason] of [
      ["", 1, "the id is empty"],
      ["x".repeat(1025), 1, "the id has more than 1024 bytes"],
      ["kay", "x".repeat(8192), "the info has more than 8192 bytes"],
    ]) {
      join(client, identifier, id, info);
      assert.deepEqual(await presence(client, identifier), error(reason));
    }
    for (const nonsense of [undefined, "kay", { id: 7 }]) {
      client.send({ command: "join", identifier, presence: nonsense });
    }
    client.send({ command: "leave", identifier });
    join(client, identifier, "kay");
    assert.deepEqual(await presence(client, identifier), joined("kay"));
    join(client, identifier, "ann");
    assert.deepEqual(await presence(client, identifier), error("this session is present under another id"));
    assert.deepEqual(await presence(observer, identifier), joined("kay"));
    assert.deepEqual(await observer.settle(), []);
  });

  test("an id of a megabyte is a message that is too long", async (t) => {
    const identifier = pubsub("long");
    const { client } = await subscribed(t, server, identifier);
    join(client, identifier, "x".repeat(1 << 20));
    assert.equal((await within(client.closed, "the end of the session")).code, 1009);
  });

  test("a client that is back in time has never left, resumed or not", async (t) => {
    const identifier = pubsub("back");
    const { client: observer } = await subscribed(t, server, identifier);
    const member = await subscribed(t, server, identifier, { protocol: EXTENDED });
    join(member.client, identifier, "kay", 1);
    assert.deepEqual(await presence(observer, identifier), joined("kay", 1));
    member.client.socket.terminate();
    const resumed = await connect(t, server, { protocol: EXTENDED, path: `/cable?sid=${member.welcome.sid}` });
    assert.equal(resumed.welcome.restored, true);
    // Another member comes and is gone for good: by then the first absence would have ended, too.
    const { client: ann } = await subscribed(t, server, identifier);
    join(ann, identifier, "ann");
    assert.deepEqual(await presence(observer, identifier), joined("ann"));
    ann.socket.terminate();
    assert.deepEqual(await presence(observer, identifier), left("ann"));
    assert.deepEqual(await ask(observer, identifier), list({ id: "kay", info: 1 }));
    resumed.client.send({ command: "unsubscribe", identifier });
    assert.deepEqual(await presence(observer, identifier), left("kay"));
  });

  test("a client that resumes its session later is present again", async (t) => {
    const identifier = pubsub("late");
    const { client: observer } = await subscribed(t, server, identifier);
    const member = await subscribed(t, server, identifier, { protocol: EXTENDED });
    join(member.client, identifier, "kay", 1);
    assert.deepEqual(await presence(observer, identifier), joined("kay", 1));
    member.client.socket.terminate();
    assert.deepEqual(await presence(observer, identifier), left("kay"));
    const { welcome } = await connect(t, server, { protocol: EXTENDED, path: `/cable?sid=${member.welcome.sid}` });
    assert.equal(welcome.restored, true);
    assert.deepEqual(await presence(observer, identifier), joined("kay", 1));
  });

  test("a subscribe joins, also one that is repeated", async (t) => {
    const identifier = pubsub("subscribe");
    const { client } = await connect(t, server);
    client.send({ command: "subscribe", identifier, history: { since: 1 }, presence: { id: "kay" } });
    for (const type of ["confirm_subscription", "confirm_history"]) assert.equal((await next(client)).type, type);
    assert.deepEqual(await presence(client, identifier), joined("kay"));
    client.send({ command: "leave", identifier });
    assert.deepEqual(await presence(client, identifier), left("kay"));
    client.send({ command: "subscribe", identifier, presence: { id: "kay" } });
    assert.deepEqual(await presence(client, identifier), joined("kay"));
  });

  test("all clients hear the events of many members in one order, and it ends with those who are there", async (t) => {
    const identifier = pubsub("crowd");
    const observers = [];
    for (let n = 0; n < 4; n++) observers.push((await subscribed(t, server, identifier)).client);
    const heard = Promise.all(
      observers.map(async (client) => {
        const events = [];
        for (;;) {
          const event = await presence(client, identifier);
          if (event.id === "end") return events;
          events.push(`${event.type} ${event.id}`);
        }
      }),
    );
    await Promise.all(
      Array.from({ length: 8 }, async (_, number) => {
        const { client } = await subscribed(t, server, identifier);
        const id = `${number % 2}`;
        for (let round = 0; round < 20; round++) {
          join(client, identifier, id);
          client.send({ command: "leave", identifier });
        }
        if (number === 0) join(client, identifier, id);
        // The commands are done when the answer to a later one is there; the events of others come in between.
        client.send({ command: "ping" });
        while ((await next(client)).type !== "pong");
      }),
    );
    join(observers[0], identifier, "end");
    const [first, ...others] = await heard;
    for (const events of others) assert.deepEqual(events, first);
    const present = new Set();
    for (const event of first) {
      const [type, id] = event.split(" ");
      assert.equal(present.has(id), type === "leave", `${event} in ${first}`);
      if (type === "join") present.add(id);
      else present.delete(id);
    }
    assert.deepEqual([...present], ["0"]);
  });
});

test("a changed info is told if the operator wants that", async (t) => {
  const server = await start("--presence_updates");
  t.after(() => server.stop());
  const identifier = pubsub("updates");
  const { client } = await subscribed(t, server, identifier);
  join(client, identifier, "kay", 1);
  join(client, identifier, "kay", 1);
  join(client, identifier, "kay", { b: 1, a: 2 });
  for (const event of [joined("kay", 1), { type: "update", id: "kay", info: { b: 1, a: 2 } }]) {
    assert.deepEqual(await presence(client, identifier), event);
  }
});

test("without a broker, or without the right to it, there is no presence, and clients are told", async (t) => {
  const without = await Server.start("--public");
  t.after(() => without.stop());
  const identifier = pubsub("s");
  const { client } = await subscribed(t, without, identifier);
  assert.match((await ask(client, identifier)).reason, /^this server keeps no presence/);
  const signed = { channel: "$pubsub", signed_stream_name: "ImNoYXQvMjAyMyI=--92681d73b6a2c7f43ebabe8cb78625c005935b17473630265c8d96d6237fbc4b" };
  for (const [flag, expected] of [["--streams_presence=false", "error"], ["--streams_presence", "info"]]) {
    const server = await Server.start("--noauth", "--streams_secret", "s3cr3t", "--broker", "memory", flag);
    t.after(() => server.stop());
    const { client } = await subscribed(t, server, JSON.stringify(signed));
    assert.equal((await ask(client, JSON.stringify(signed))).type, expected, flag);
  }
});

test("the application decides who is present", async (t) => {
  const decide = ({ command, identifier, data }) => {
    const env = { istate: { $p: "room" } };
    if (command === "subscribe") {
      const confirmation = JSON.stringify({ type: "confirm_subscription", identifier });
      const presence = { type: "join", id: "kay", info: '{"name":"Kay"}' };
      return { status: 1, streams: ["room"], transmissions: [confirmation], env, presence };
    }
    return { status: 1, presence: JSON.parse(data).presence };
  };
  const app = await GrpcApp.start({ Command: decide });
  t.after(() => app.kill());
  const server = await Server.start("--rpc_host", app.host, "--broker", "memory");
  t.after(() => server.stop());
  const { client } = await subscribed(t, server, CHAT);
  assert.deepEqual(await presence(client, CHAT), joined("kay", { name: "Kay" }));
  for (const ignored of [
    { type: "stay", id: "kay", info: "" },
    { type: "join", id: "", info: "" },
    { type: "join", id: "kay", info: "no JSON" },
  ]) {
    client.perform(CHAT, { action: "act", presence: ignored });
  }
  assert.deepEqual(await ask(client, CHAT), list({ id: "kay", info: { name: "Kay" } }));
  client.perform(CHAT, { action: "act", presence: { type: "leave" } });
  assert.deepEqual(await presence(client, CHAT), left("kay"));
});

test("@anycable/core sees who is present, joins, and is still there after a lost connection", async (t) => {
  // The client waits for some seconds before it reconnects.
  const server = await start("--presence_ttl", "60");
  t.after(() => server.stop());
  const cables = ["kay", "ann"].map(() =>
    createCable(server.ws("/cable"), { protocol: EXTENDED, websocketImplementation: WebSocket, logLevel: "error" }),
  );
  t.after(() => cables.forEach((cable) => cable.disconnect()));
  const [kay, ann] = cables.map((cable) => cable.streamFrom("room"));
  const events = new Inbox("events");
  await within(Promise.all([kay.ensureSubscribed(), ann.ensureSubscribed()]), "the subscriptions");
  assert.deepEqual(await within(ann.presence.info(), "who is present"), {});
  // Behind the client's own listener, which the first request adds.
  ann.on("presence", ({ type, id }) => type !== "info" && events.push([type, id]));
  await kay.presence.join("kay", { name: "Kay" });
  assert.deepEqual(await events.next(), ["join", "kay"]);
  await ann.presence.join(7, { name: "Ann" });
  assert.deepEqual(await events.next(), ["join", "7"]);
  const both = { kay: { name: "Kay" }, 7: { name: "Ann" } };
  assert.deepEqual(await ann.presence.info(), both);
  const reconnected = new Promise((resolve) => kay.on("connect", ({ restored }) => restored && resolve()));
  cables[0].transport.ws.terminate();
  await within(reconnected, "the resumed session");
  assert.deepEqual(await within(kay.presence.info(), "who is present"), both);
  await kay.presence.leave();
  assert.deepEqual(await events.next(), ["leave", "kay"]);
  assert.deepEqual(await ann.presence.info(), { 7: { name: "Ann" } });
});
