// The unmodified @rails/actioncable in a page in headless Chromium.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Browser } from "./support/browser.mjs";
import { Server } from "./support/plimsoll.mjs";
import { keptPort } from "./support/ports.mjs";

/** The package looks after its connection every 6 to 12 seconds, and passes over one that was lost recently. */
const RECONNECT_PATIENCE_MS = 45_000;

describe("@rails/actioncable in Chromium", () => {
  let browser;
  before(async () => (browser = await Browser.launch()));
  after(() => browser?.close());

  test("subscribes, performs, receives, and survives a restart of the server", async (t) => {
    const server = await Server.start("--app", "benchmark", ...(await keptPort()));
    t.after(() => server.stop());
    const { events, perform } = await browser.subscribe(t, server, { channel: "BenchmarkChannel" });
    assert.deepEqual(await events.next(), { connected: { reconnected: false } });
    await perform("broadcast", { payload: { text: "<&> 💬" } });
    assert.deepEqual(await events.next(), { received: { action: "broadcast", payload: { text: "<&> 💬" } } });
    assert.deepEqual(await events.next(), { received: { action: "broadcastResult", payload: { text: "<&> 💬" } } });

    await server.restart();
    assert.deepEqual(await events.next(), { disconnected: { willAttemptReconnect: true } });
    assert.deepEqual(await events.next(RECONNECT_PATIENCE_MS), { connected: { reconnected: true } });
    await perform("echo", { payload: "still here" });
    assert.deepEqual(await events.next(), { received: { action: "echo", payload: "still here" } });
  });

  test("is told that an unknown channel is rejected", async (t) => {
    const server = await Server.start("--app", "benchmark");
    t.after(() => server.stop());
    const { events } = await browser.subscribe(t, server, { channel: "NoSuchChannel" });
    assert.equal(await events.next(), "rejected");
  });

  test("a signed-in user chats, and a stranger is turned away", async (t) => {
    const server = await Server.start("--app", "chat");
    t.after(() => server.stop());
    const params = { channel: "ChatChannel", id: "demo" };
    const kay = await browser.subscribe(t, server, params, "kay/1");
    assert.deepEqual(await kay.events.next(), { connected: { reconnected: false } });
    await kay.perform("speak", { message: "Hello" });
    const message = { action: "newMessage", author_id: "1", author: "kay", message: "Hello" };
    assert.deepEqual(await kay.events.next(), { received: message });

    const stranger = await browser.subscribe(t, server, params);
    assert.deepEqual(await stranger.events.next(), { disconnected: { willAttemptReconnect: false } });
  });
});
