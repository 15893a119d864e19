// The applications of `examples/apps`: each one's chat with unmodified browsers.

import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { after, before, describe, test } from "node:test";
import { Browser } from "./support/browser.mjs";
import { ExampleApp, buildNode, folderOf } from "./support/example-app.mjs";
import { Inbox } from "./support/inbox.mjs";
import { Server } from "./support/plimsoll.mjs";
import { eventually } from "./support/processes.mjs";
import { RedisServer } from "./support/redis.mjs";

const KEY = "secret";
const RPC_SECRET = "rpc secret";
const ROOM = { channel: "ChatChannel", id: "demo" };

/** What the server logs when it takes broadcasts from Redis. */
const READY = { redis: /Receiving broadcasts from Redis publish\/subscribe/, redisx: /Receiving broadcasts from the Redis stream/ };

/** An application and a server that asks it, with broadcasts from one to the other over HTTP. */
async function overHttp(t, name) {
  const app = await ExampleApp.create(t, name);
  const rpcFlags = name === "python" ? ["--http_rpc_secret", RPC_SECRET] : [];
  const server = await startServer(t, app, "--broadcast_key", KEY, ...rpcFlags);
  await app.listen({
    ANYCABLE_HTTP_BROADCAST_URL: server.http("/_broadcast"),
    ANYCABLE_BROADCAST_KEY: KEY,
    ANYCABLE_HTTP_RPC_SECRET: RPC_SECRET,
  });
  return server;
}

/** The same with a real Redis between them. */
async function overRedis(t, name, adapter) {
  const redis = await RedisServer.start(t);
  const app = await ExampleApp.create(t, name);
  const server = await startServer(t, app, "--broadcast_adapter", adapter, "--redis_url", redis.url);
  await app.listen({ ANYCABLE_BROADCAST_ADAPTER: adapter, REDIS_URL: redis.url });
  await eventually(() => READY[adapter].test(server.stderr), `the server to take broadcasts from ${adapter}`);
  return server;
}

async function startServer(t, app, ...flags) {
  const server = await Server.start("--rpc_host", app.rpcHost, ...flags);
  t.after(() => server.stop());
  return server;
}

describe("example applications with @rails/actioncable in Chromium", () => {
  let browser;
  before(async () => {
    browser = await Browser.launch();
    await buildNode();
  });
  after(() => browser?.close());

  /** Two users talk to each other; who has not signed in and who asks for no room is turned away. */
  async function checkChat(t, server) {
    const [kay, bo] = await Promise.all(["kay/1", "bo/2"].map((uid) => browser.subscribe(t, server, ROOM, uid)));
    for (const { events } of [kay, bo]) assert.deepEqual(await events.next(), { connected: { reconnected: false } });
    for (const [speaker, author, author_id, message] of [
      [kay, "kay", "1", "Hello <b>&</b> 💬"],
      [bo, "bo", "2", "Hi, kay"],
    ]) {
      await speaker.perform("speak", { message });
      const received = { action: "newMessage", author_id, author, message };
      for (const { events } of [kay, bo]) assert.deepEqual(await events.next(), { received });
    }
    const stranger = await browser.subscribe(t, server, ROOM);
    assert.deepEqual(await stranger.events.next(), { disconnected: { willAttemptReconnect: false } });
    const lost = await browser.subscribe(t, server, { channel: "ChatChannel" }, "kay/1");
    assert.equal(await lost.events.next(), "rejected");
  }

  for (const [name, adapter, start] of [
    ["ruby", "http", overHttp],
    ["ruby", "redis", overRedis],
    ["ruby", "redisx", overRedis],
    ["node", "http", overHttp],
    ["python", "http", overHttp],
  ]) {
    test(`${name}: two browsers chat, broadcasts travel over ${adapter}`, async (t) => {
      await checkChat(t, await start(t, name, adapter));
    });
  }

  test("the page for people signs in, and shows what is said", async (t) => {
    const server = await overHttp(t, "ruby");
    const html = readFileSync(`${folderOf("page")}index.html`);
    const pages = createServer((_, response) => response.end(html)).listen(0, "127.0.0.1");
    t.after(() => pages.close());
    await once(pages, "listening");
    const join = async (name) => {
      const page = await browser.newPage(t);
      await page.goto(`http://127.0.0.1:${pages.address().port}/?cable=${server.ws("/cable")}`);
      await page.fill("input[name=author]", name);
      await page.click("text=Join");
      return page;
    };
    const [kay, bo] = await Promise.all([join("kay"), join("bo")]);
    for (const [page, message] of [
      [kay, "Hello <b>"],
      [bo, "Hi"],
    ]) {
      await page.fill("input[name=message]", message);
      await page.click("text=Send");
      await page.waitForSelector(`li >> text=${message}`);
    }
    await kay.waitForSelector("li >> text=bo: Hi");
    assert.deepEqual(await kay.locator("li").allTextContents(), ["kay: Hello <b>", "bo: Hi"]);
  });
});

test("node: its contract is the server's", () => {
  const [own, server] = [`${folderOf("node")}rpc.proto`, `${folderOf("node")}../../../crates/server/rpc/proto/rpc.proto`];
  assert.equal(readFileSync(own, "utf8"), readFileSync(server, "utf8"));
});

describe("python: calls over HTTP", () => {
  const SUCCESS = 1;
  const FAILURE = 2;
  const identifier = JSON.stringify(ROOM);
  const env = { url: "http://localhost/cable", headers: { cookie: "a=b; uid=kay/1" } };

  /** The application, how to call it, and what it broadcasts. */
  async function start(t) {
    const broadcasts = new Inbox("broadcasts");
    const receiver = createServer(async (request, response) => {
      const body = await new Response(request).text();
      broadcasts.push({ authorization: request.headers.authorization, body: JSON.parse(body) });
      response.writeHead(201).end();
    }).listen(0, "127.0.0.1");
    t.after(() => receiver.close());
    await once(receiver, "listening");
    const app = await ExampleApp.create(t, "python");
    await app.listen({
      ANYCABLE_HTTP_RPC_SECRET: RPC_SECRET,
      ANYCABLE_HTTP_BROADCAST_URL: `http://127.0.0.1:${receiver.address().port}/_broadcast`,
      ANYCABLE_BROADCAST_KEY: KEY,
    });
    const post = (path, body, secret = RPC_SECRET) =>
      fetch(`${app.rpcHost}${path}`, {
        method: "POST",
        headers: { authorization: `Bearer ${secret}`, "x-anycable-meta-sid": "s1" },
        body: typeof body === "string" ? body : JSON.stringify(body),
      });
    const call = async (path, body) => {
      const response = await post(path, body);
      assert.equal(response.status, 200);
      return response.json();
    };
    return { post, call, broadcasts };
  }

  test("a user connects, subscribes, speaks and leaves", async (t) => {
    const { call, broadcasts } = await start(t);
    const connected = await call("/connect", { env });
    assert.equal(connected.status, SUCCESS);
    assert.deepEqual(JSON.parse(connected.identifiers), { name: "kay", id: "1" });
    assert.deepEqual(connected.transmissions.map(JSON.parse), [{ type: "welcome", sid: "s1" }]);

    const command = { identifier, connection_identifiers: connected.identifiers, env };
    const subscribed = await call("/command", { command: "subscribe", ...command });
    assert.deepEqual([subscribed.status, subscribed.streams], [SUCCESS, ["chat_demo"]]);
    assert.deepEqual(subscribed.transmissions.map(JSON.parse), [{ type: "confirm_subscription", identifier }]);

    const data = JSON.stringify({ action: "speak", message: "Hi" });
    assert.equal((await call("/command", { command: "message", data, ...command })).status, SUCCESS);
    const { authorization, body } = await broadcasts.next();
    assert.equal(authorization, `Bearer ${KEY}`);
    assert.equal(body.stream, "chat_demo");
    assert.deepEqual(JSON.parse(body.data), { action: "newMessage", author_id: "1", author: "kay", message: "Hi" });

    const unsubscribed = await call("/command", { command: "unsubscribe", ...command });
    assert.deepEqual(unsubscribed, { status: SUCCESS, stop_streams: true });
    assert.deepEqual(await call("/disconnect", { env }), { status: SUCCESS });
  });

  test("strangers and unknown channels are refused in the words of the cable protocol", async (t) => {
    const { call } = await start(t);
    const refused = await call("/connect", { env: { url: env.url, headers: {} } });
    assert.equal(refused.status, FAILURE);
    const words = { type: "disconnect", reason: "unauthorized", reconnect: false };
    assert.deepEqual(refused.transmissions.map(JSON.parse), [words]);
    const unknown = '{"channel":"Unknown"}';
    const rejected = await call("/command", { command: "subscribe", identifier: unknown, connection_identifiers: "{}" });
    assert.equal(rejected.status, FAILURE);
    assert.deepEqual(rejected.transmissions.map(JSON.parse), [{ type: "reject_subscription", identifier: unknown }]);
  });

  test("requests that are not the server's have a status of their own", async (t) => {
    const { post } = await start(t);
    assert.equal((await post("/connect", { env }, "guess")).status, 401);
    assert.equal((await post("/connect", "not JSON")).status, 422);
    assert.equal((await post("/connect", {})).status, 422);
    assert.equal((await post("/nothing", {})).status, 404);
    assert.equal((await post("/connect", " ".repeat(2 ** 20 + 1))).status, 400);
  });
});
