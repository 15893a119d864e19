// An application that is killed under load, and what its server makes of that.

import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { before, test } from "node:test";
import WebSocket from "ws";
import { CableClient } from "./support/cable.mjs";
import { ExampleApp, buildNode } from "./support/example-app.mjs";
import { Server } from "./support/plimsoll.mjs";
import { eventually } from "./support/processes.mjs";
import { confirm, transmission } from "./support/rpc-app.mjs";

const KEY = "secret";
const CHAT = '{"channel":"ChatChannel","id":"demo"}';
const AUTH_ERROR = "1011 Auth Error";

const N_LISTENERS = 200;
/** Visitors who try to connect at the same time, again and again. */
const N_VISITORS = 20;
/** The outage lasts until so many of them were turned away: some seconds, with a deadline of half a second each. */
const N_TURNED_AWAY = 100;
const FLAGS = ["--broadcast_key", KEY, "--rpc_command_timeout", "500"];
const OTHER = '{"channel":"ChatChannel","id":"other"}';

/** Connects and leaves again; returns what came first: `welcome`, or how the connection ended. */
function visit(url) {
  const socket = new WebSocket(url, ["actioncable-v1-json"], { headers: { cookie: "uid=visitor/9" } });
  return new Promise((resolve, reject) => {
    socket.on("message", (data) => {
      resolve(JSON.parse(data).type);
      socket.close();
    });
    socket.on("close", (code, reason) => resolve(`${code} ${reason}`));
    socket.on("error", reject);
  });
}

/** Visitors who come until `isEnough` of what they met; returns that, counted. */
async function visits(url, isEnough) {
  const met = {};
  const visitor = async () => {
    while (!isEnough(met)) {
      const outcome = await visit(url);
      met[outcome] = (met[outcome] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: N_VISITORS }, visitor));
  return met;
}

const nOpenFiles = (server) => readdirSync(`/proc/${server.pid}/fd`).length;

before(buildNode);

test("live sessions keep receiving, new ones are turned away, recovery is by itself, and nothing is left behind", async (t) => {
  const app = await ExampleApp.create(t, "node");
  const server = await Server.start("--rpc_host", app.rpcHost, ...FLAGS);
  t.after(() => server.stop());
  const startApp = () =>
    app.listen({ ANYCABLE_HTTP_BROADCAST_URL: server.http("/_broadcast"), ANYCABLE_BROADCAST_KEY: KEY });
  await startApp();
  const url = server.ws("/cable");
  const listener = () => CableClient.subscribed(url, CHAT, { headers: { cookie: "uid=kay/1" } });
  // One after the other: calls have half a second each, and a busy machine may need that for 200 at once.
  const listeners = [];
  while (listeners.length < N_LISTENERS) listeners.push(await listener());
  const [kay] = listeners;

  /** All clients get the next message, and none before it. */
  const hearAll = async (message) => {
    for (const { frames } of listeners) assert.equal(await frames.next(), transmission(CHAT, message));
  };
  let n_published = 0;
  const publish = () => server.broadcast({ stream: "chat_demo", data: String(++n_published) });

  /** Kills the application under load, and starts it again. */
  const outage = async () => {
    app.kill();
    const published = [];
    const met = visits(url, (met) => {
      published.push(publish());
      return met[AUTH_ERROR] >= N_TURNED_AWAY;
    });
    // An action is lost; a subscription waits for the application.
    kay.perform(CHAT, { action: "speak", message: "lost" });
    kay.send({ command: "subscribe", identifier: OTHER });
    assert.deepEqual(Object.keys(await met), [AUTH_ERROR]);
    await Promise.all(published);
    const first = n_published - published.length + 1;
    for (const { frames } of listeners) {
      const messages = (await frames.take(published.length)).map((frame) => JSON.parse(frame).message);
      // They were published all at once, in no order.
      messages.sort((a, b) => a - b);
      assert.deepEqual(messages, published.map((_, n) => first + n));
    }
    // Who comes while the application starts waits for it, or is turned away like those before.
    const recovered = visits(url, ({ welcome }) => welcome >= N_VISITORS);
    await startApp();
    const outcomes = Object.keys(await recovered);
    assert.equal(await kay.frames.next(), confirm(OTHER));
    kay.send({ command: "unsubscribe", identifier: OTHER });
    assert.deepEqual(outcomes.filter((outcome) => outcome !== AUTH_ERROR), ["welcome"]);
    kay.perform(CHAT, { action: "speak", message: "Hello again" });
    await hearAll({ action: "newMessage", author_id: "1", author: "kay", message: "Hello again" });
  };

  // What the server needs at most without an outage: everybody there, and many who came and left.
  await visits(url, ({ welcome }) => welcome >= N_TURNED_AWAY);
  const [rssBytes, nFiles] = [server.rssBytes, nOpenFiles(server)];
  await outage();
  await outage();
  assert.equal(await kay.subscribe(OTHER), confirm(OTHER));
  // Not more than the connections of this process that published, each for a visitor.
  await eventually(() => nOpenFiles(server) <= nFiles + N_VISITORS, `${nFiles} open files as before`);
  const growth = server.rssBytes / rssBytes;
  assert.ok(growth < 1.1, `resident memory grew to ${growth.toFixed(2)} times what it was`);
});
