// The unmodified npm package @rails/actioncable in Node.js, with npm `ws` for the WebSocket that a browser has.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import ActionCable from "@rails/actioncable";
import WebSocket from "ws";
import { Inbox } from "./support/inbox.mjs";
import { Server } from "./support/plimsoll.mjs";
import { keptPort } from "./support/ports.mjs";

// What the package takes from a browser's window, to notice that a tab becomes visible. Node.js has no tabs.
globalThis.addEventListener = () => {};
globalThis.removeEventListener = () => {};

// The package gives up on a connection after two missed pings and waits as long before it reconnects. The servers
// here ping every second instead of every three, so two seconds are the same two pings.
ActionCable.ConnectionMonitor.staleThreshold = 2;
const FAST_PINGS = ["--ping_interval", "1"];

/** Connects and subscribes; every callback of the subscription becomes an event. */
function subscribe(t, server, params, headers = {}) {
  // The package reads its adapter at the moment when a connection opens, which `create` below does.
  ActionCable.adapters.WebSocket = class extends WebSocket {
    constructor(url, protocols) {
      super(url, protocols, { headers });
    }
  };
  const consumer = ActionCable.createConsumer(server.ws("/cable"));
  t.after(() => consumer.disconnect());
  return { consumer, ...subscribeMore(consumer, params) };
}

/** One more subscription of a consumer. */
function subscribeMore(consumer, params) {
  const events = new Inbox(`events of ${JSON.stringify(params)}`);
  const subscription = consumer.subscriptions.create(params, {
    connected: ({ reconnected }) => events.push({ connected: { reconnected } }),
    disconnected: ({ willAttemptReconnect }) => events.push({ disconnected: { willAttemptReconnect } }),
    rejected: () => events.push("rejected"),
    received: (message) => events.push({ received: message }),
  });
  return { subscription, events };
}

describe("@rails/actioncable with the benchmark application", () => {
  let server;
  before(async () => (server = await Server.start("--app", "benchmark", ...FAST_PINGS, ...(await keptPort()))));
  after(() => server.stop());

  test("subscribes, performs and receives", async (t) => {
    const [talk, hear] = [1, 2].map(() => subscribe(t, server, { channel: "BenchmarkChannel" }));
    for (const { events } of [talk, hear]) assert.deepEqual(await events.next(), { connected: { reconnected: false } });

    talk.subscription.perform("echo", { payload: { n: 1 } });
    assert.deepEqual(await talk.events.next(), { received: { action: "echo", payload: { n: 1 } } });

    talk.subscription.perform("broadcast", { payload: { n: 2 } });
    const broadcast = { received: { action: "broadcast", payload: { n: 2 } } };
    assert.deepEqual(await hear.events.next(), broadcast, "the listener hears the broadcast and never heard the echo");
    assert.deepEqual(await talk.events.next(), broadcast);
    assert.deepEqual(await talk.events.next(), { received: { action: "broadcastResult", payload: { n: 2 } } });
  });

  test("is told that an unknown channel is rejected", async (t) => {
    const { events } = subscribe(t, server, { channel: "NoSuchChannel" });
    assert.equal(await events.next(), "rejected");
  });

  test("hears nothing more after it has unsubscribed", async (t) => {
    const first = subscribe(t, server, { channel: "BenchmarkChannel", id: 1 });
    const second = subscribeMore(first.consumer, { channel: "BenchmarkChannel", id: 2 });
    await first.events.next();
    await second.events.next();
    first.subscription.unsubscribe();
    first.subscription.perform("broadcast", { payload: 1 });
    second.subscription.perform("echo", { payload: 2 });
    assert.deepEqual(await second.events.next(), { received: { action: "echo", payload: 2 } });
    assert.equal(first.events.size, 0);
  });

  test("survives a restart of the server and resubscribes by itself", async (t) => {
    const { subscription, events } = subscribe(t, server, { channel: "BenchmarkChannel" });
    assert.deepEqual(await events.next(), { connected: { reconnected: false } });

    await server.restart();
    assert.deepEqual(await events.next(), { disconnected: { willAttemptReconnect: true } });
    assert.deepEqual(await events.next(), { connected: { reconnected: true } });

    subscription.perform("echo", { payload: "still here" });
    assert.deepEqual(await events.next(), { received: { action: "echo", payload: "still here" } });
  });
});

describe("@rails/actioncable with the chat application", () => {
  let server;
  before(async () => (server = await Server.start("--app", "chat")));
  after(() => server.stop());

  test("users who are known by their cookies talk to each other", async (t) => {
    const [kay, bo] = ["kay/1", "bo/2"].map((uid) =>
      subscribe(t, server, { channel: "ChatChannel", id: "demo" }, { cookie: `uid=${uid}` }),
    );
    for (const { events } of [kay, bo]) await events.next();
    kay.subscription.perform("speak", { message: "Hello <b>&</b> 💬" });
    for (const { events } of [kay, bo]) {
      const { received } = await events.next();
      assert.deepEqual(received, {
        action: "newMessage",
        author_id: "1",
        author: "kay",
        message: "Hello <b>&</b> 💬",
      });
    }
  });

  test("a visitor without a cookie is turned away for good", async (t) => {
    const { events } = subscribe(t, server, { channel: "ChatChannel", id: "demo" });
    assert.deepEqual(await events.next(), { disconnected: { willAttemptReconnect: false } });
  });
});
