// The unmodified npm packages @anycable/core and @anycable/web in Node.js, with npm `ws` for the browser's WebSocket.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import * as core from "@anycable/core";
import * as web from "@anycable/web";
import WebSocket from "ws";
import { within } from "./support/deadline.mjs";
import { Inbox } from "./support/inbox.mjs";
import { Server } from "./support/plimsoll.mjs";
import { keptPort } from "./support/ports.mjs";

/** A cable that is closed when the test ends. */
function open(t, { createCable }, server, headers = {}) {
  const cable = createCable(server.ws("/cable"), {
    websocketImplementation: WebSocket,
    websocketOptions: { headers },
    logLevel: "error",
  });
  t.after(() => cable.disconnect());
  return cable;
}

/** Subscribes; what the channel emits becomes an event. */
async function subscribe(cable, name, params) {
  const channel = cable.subscribeTo(name, params);
  const events = new Inbox(`events of ${name}`);
  channel.on("connect", ({ reconnect }) => events.push({ connect: { reconnect } }));
  channel.on("disconnect", () => events.push("disconnect"));
  channel.on("message", (message) => events.push({ message }));
  await within(channel.ensureSubscribed(), `a subscription to ${name}`);
  return { channel, events };
}

for (const [name, client] of Object.entries({ "@anycable/core": core, "@anycable/web": web })) {
  describe(`${name} with the benchmark application`, () => {
    let server;
    before(async () => (server = await Server.start("--app", "benchmark", ...(await keptPort()))));
    after(() => server.stop());

    test("subscribes, performs and receives", async (t) => {
      const talk = await subscribe(open(t, client, server), "BenchmarkChannel");
      const hear = await subscribe(open(t, client, server), "BenchmarkChannel");
      for (const { events } of [talk, hear]) assert.deepEqual(await events.next(), { connect: { reconnect: false } });

      talk.channel.perform("echo", { payload: { n: 1 } });
      assert.deepEqual(await talk.events.next(), { message: { action: "echo", payload: { n: 1 } } });

      talk.channel.perform("broadcast", { payload: { n: 2 } });
      const broadcast = { message: { action: "broadcast", payload: { n: 2 } } };
      assert.deepEqual(await hear.events.next(), broadcast, "the listener hears the broadcast and never heard the echo");
      assert.deepEqual(await talk.events.next(), broadcast);
      assert.deepEqual(await talk.events.next(), { message: { action: "broadcastResult", payload: { n: 2 } } });
    });

    test("is told that an unknown channel is rejected", async (t) => {
      const channel = open(t, client, server).subscribeTo("NoSuchChannel");
      await assert.rejects(within(channel.ensureSubscribed(), "the rejection"), { name: "SubscriptionRejectedError" });
    });

    test("survives a restart of the server and resubscribes by itself", async (t) => {
      const { channel, events } = await subscribe(open(t, client, server), "BenchmarkChannel");
      assert.deepEqual(await events.next(), { connect: { reconnect: false } });

      await server.restart();
      assert.deepEqual(await events.next(), "disconnect");
      assert.deepEqual(await events.next(), { connect: { reconnect: true } });

      channel.perform("echo", { payload: "still here" });
      assert.deepEqual(await events.next(), { message: { action: "echo", payload: "still here" } });
    });
  });

  describe(`${name} with the chat application`, () => {
    let server;
    before(async () => (server = await Server.start("--app", "chat")));
    after(() => server.stop());

    test("users who are known by their cookies talk to each other", async (t) => {
      const params = { id: "demo" };
      const kay = await subscribe(open(t, client, server, { cookie: "uid=kay/1" }), "ChatChannel", params);
      const bo = await subscribe(open(t, client, server, { cookie: "uid=bo/2" }), "ChatChannel", params);
      kay.channel.perform("speak", { message: "Hello" });
      for (const { events } of [kay, bo]) {
        const { message } = await events.until((event) => event.message);
        assert.deepEqual(message, { action: "newMessage", author_id: "1", author: "kay", message: "Hello" });
      }
    });

    test("a visitor without a cookie is turned away for good", async (t) => {
      const cable = open(t, client, server);
      const closed = new Promise((resolve) => cable.on("close", (event) => resolve(event)));
      await assert.rejects(cable.connect());
      assert.equal((await within(closed, "the cable to close")).reason, "unauthorized");
    });
  });
}
