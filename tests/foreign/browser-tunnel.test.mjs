// Unmodified packages in a page in headless Chromium, whose network goes away and comes back: with @anycable/core and
// @anycable/web nothing is missed, in every encoding, and @rails/actioncable gets what the base protocol allows.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Browser } from "./support/browser.mjs";
import { CableClient } from "./support/cable.mjs";
import { within } from "./support/deadline.mjs";
import { Server } from "./support/plimsoll.mjs";
import { Tunnel } from "./support/tunnel.mjs";

/** The packages wait for several seconds before they try again. */
const RECONNECT_PATIENCE_MS = 60_000;

let browser;
before(async () => (browser = await Browser.launch()));
after(() => browser?.close());

/** The page has no network, and its connection ends. */
async function loseNetwork(page, tunnel) {
  await page.context().setOffline(true);
  tunnel.shut();
}

async function findNetwork(page, tunnel) {
  tunnel.open();
  await page.context().setOffline(false);
}

const start = (t, ...flags) =>
  Server.start("--public", "--broker", "memory", "--presence_ttl", "120", "--broadcast_key", "secret", ...flags).then((server) => {
    t.after(() => server.stop());
    return server;
  });

async function publish(server, stream, message) {
  assert.equal((await server.broadcast({ stream, data: JSON.stringify(message) })).status, 201);
}

const CASES = [
  ["@anycable/core", "actioncable-v1-ext-json"],
  ["@anycable/core", "actioncable-v1-ext-msgpack"],
  ["@anycable/web", "actioncable-v1-ext-json"],
  ["@anycable/web", "actioncable-v1-ext-msgpack"],
  ["@anycable/web", "actioncable-v1-ext-protobuf"],
];

describe("a page without network misses nothing", { concurrency: true }, () => {
  for (const [name, protocol] of CASES) {
    test(`${name}, ${protocol}`, async (t) => {
      const server = await start(t);
      const tunnel = await Tunnel.to(t, server.port);
      const identifier = JSON.stringify({ channel: "$pubsub", stream_name: "room" });
      const other = await CableClient.connect(server.ws("/cable"));
      t.after(() => other.socket.terminate());
      await other.frames.next();
      assert.match(await other.subscribe(identifier), /confirm_subscription/);
      const heardByOther = async () => {
        const { type, message } = JSON.parse(await other.frames.next());
        return type ? { type, message } : message;
      };

      const { page, events } = await browser.listen(t, name, tunnel.ws("/cable"), protocol, "room");
      // A subscribe asks for messages since the page was opened.
      assert.deepEqual(await events.take(2), ["connected", "history_received"]);
      await publish(server, "room", { n: 1 });
      assert.deepEqual(await events.next(), { message: { n: 1 } });
      assert.deepEqual(await heardByOther(), { n: 1 });

      await page.evaluate(() => window.channel.presence.join("kay", { name: "Kay" }));
      const joined = { type: "join", id: "kay", info: { name: "Kay" } };
      assert.deepEqual(await events.next(), { presence: joined });
      assert.deepEqual(await heardByOther(), { type: "presence", message: joined });

      await loseNetwork(page, tunnel);
      assert.equal(await events.next(RECONNECT_PATIENCE_MS), "disconnected");
      await publish(server, "room", { n: 2 });
      await publish(server, "room", { n: 3 });
      await findNetwork(page, tunnel);
      const back = [];
      while (back.length < 4) back.push(await events.next(RECONNECT_PATIENCE_MS));
      assert.deepEqual(back, ["restored", { message: { n: 2 } }, { message: { n: 3 } }, "history_received"]);

      // In their order, with nothing between them: the member never left.
      await page.evaluate(() => window.channel.whisper({ typing: true }));
      for (const expected of [{ n: 2 }, { n: 3 }, { typing: true }]) assert.deepEqual(await heardByOther(), expected);
      other.send({ command: "whisper", identifier, data: "psst" });
      assert.deepEqual(await events.next(), { message: "psst" });
      const present = await within(page.evaluate(() => window.channel.presence.info()), "who is present");
      assert.deepEqual(present, { kay: { name: "Kay" } });
    });
  }
});

test("@rails/actioncable goes on with live messages", async (t) => {
  const server = await start(t);
  const tunnel = await Tunnel.to(t, server.port);
  const { page, events } = await browser.subscribe(t, tunnel, { channel: "$pubsub", stream_name: "room" });
  assert.deepEqual(await events.next(), { connected: { reconnected: false } });
  await publish(server, "room", 1);
  assert.deepEqual(await events.next(), { received: 1 });
  await loseNetwork(page, tunnel);
  assert.deepEqual(await events.next(), { disconnected: { willAttemptReconnect: true } });
  await publish(server, "room", 2);
  await findNetwork(page, tunnel);
  assert.deepEqual(await events.next(RECONNECT_PATIENCE_MS), { connected: { reconnected: true } });
  await publish(server, "room", 3);
  assert.deepEqual(await events.next(), { received: 3 });
});
