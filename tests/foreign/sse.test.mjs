// Server-Sent Events, as browsers, npm `eventsource`, `fetch` and raw sockets see them.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Browser } from "./support/browser.mjs";
import { BENCHMARK, CableClient } from "./support/cable.mjs";
import { CertificateFiles } from "./support/certificates.mjs";
import { within } from "./support/deadline.mjs";
import { EventsClient, EventsResponse } from "./support/events.mjs";
import { inSeconds, secretToken } from "./support/identity-provider.mjs";
import { Inbox } from "./support/inbox.mjs";
import { Server } from "./support/plimsoll.mjs";
import { keptPort } from "./support/ports.mjs";
import { eventually } from "./support/processes.mjs";
import { signNames } from "./support/rails-signing.mjs";
import { RawSocket } from "./support/raw.mjs";
import { GrpcApp } from "./support/grpc-app.mjs";
import { CHAT, confirm, gate, json, reject, transmission } from "./support/rpc-app.mjs";

const RESTART = json({ type: "disconnect", reason: "server_restart", reconnect: true });

/** The path of a stream for a GET. */
const events = (parameters) => `/events?${new URLSearchParams(parameters)}`;
const BENCHMARK_EVENTS = events({ channel: "BenchmarkChannel" });

const subscribe = (identifier, more) => `${json({ command: "subscribe", identifier, ...more })}\n`;

/** A server with event streams and the benchmark application. */
async function start(t, ...flags) {
  const server = await Server.start("--sse", "--broadcast_key", "secret", ...(await keptPort()), ...flags);
  t.after(() => server.isRunning && server.stop());
  return server;
}

/** An application and a server that asks it; both end with the test. */
async function startWithApp(t, habits, ...flags) {
  const app = await GrpcApp.start(habits);
  const server = await start(t, "--rpc_host", app.host, ...flags);
  t.after(() => app.kill());
  return { app, server };
}

async function publish(server, stream, message) {
  assert.equal((await server.broadcast({ stream, data: json(message) })).status, 201);
}

describe("EventSource", () => {
  test("gets welcome, confirmation, messages of every shape, and pings", async (t) => {
    const server = await start(t, "--ping_interval", "1");
    const client = new EventsClient(t, server.http(BENCHMARK_EVENTS));
    const [type, welcome] = await client.events.next();
    assert.equal(type, "welcome");
    assert.match(JSON.parse(welcome).sid, /^[\w-]{21}$/);
    assert.deepEqual(await client.events.next(), ["confirm_subscription", confirm(BENCHMARK)]);
    for (const [data, expected] of [
      ['{"b":1, "a":12345678901234567890}', '{"b":1, "a":12345678901234567890}'],
      ['{"pretty":\r\n\t[1,\n2]}', '{"pretty":\n\t[1,\n2]}'],
      ['"<turbo-stream>\\n<template>💬</template>\\r\\n</turbo-stream>"', "<turbo-stream>\n<template>💬</template>\n</turbo-stream>"],
      ['""', ""],
      ["[null]", "[null]"],
    ]) {
      assert.equal((await server.broadcast({ stream: "all", data })).status, 201);
      assert.deepEqual(await client.events.next(), ["message", expected]);
    }
    assert.equal(JSON.parse(await client.pings.next()).type, "ping");
    assert.equal(client.events.size, 0);
  });

  test("what names the channel becomes its identifier", async (t) => {
    const { app, server } = await startWithApp(t);
    for (const [parameters, identifier] of [
      [{ identifier: CHAT, channel: "Other" }, CHAT],
      [{ channel: 'Chat "1"', stream: "other" }, '{"channel":"Chat \\"1\\""}'],
      [{ stream: "chat/1 &", signed_stream: "other" }, '{"channel":"$pubsub","stream_name":"chat/1 &"}'],
      [{ signed_stream: "x--y", turbo_signed_stream_name: "other" }, '{"channel":"$pubsub","signed_stream_name":"x--y"}'],
      [{ turbo_signed_stream_name: "x--y" }, '{"channel":"Turbo::StreamsChannel","signed_stream_name":"x--y"}'],
    ]) {
      const client = await EventsClient.subscribed(t, server.http(events(parameters)));
      const call = await app.calls.Command.next();
      assert.deepEqual([call.command, call.identifier], ["subscribe", identifier]);
      client.close();
    }
  });

  test("the application gets URL, cookies and address, and hears of the client's end once", async (t) => {
    const { app, server } = await startWithApp(t);
    const path = events({ identifier: CHAT, token: "a b" });
    const client = await EventsClient.subscribed(t, server.http(path), { cookie: "uid=kay/1", "X-Request-ID": "mine" });
    const { env, sid } = await app.calls.Connect.next();
    assert.equal(env.url, server.http(path));
    assert.deepEqual(env.headers, { cookie: "uid=kay/1", REMOTE_ADDR: "127.0.0.1" });
    assert.notEqual(sid, "mine");
    client.close();
    const farewell = await app.calls.Disconnect.next();
    assert.deepEqual([farewell.sid, farewell.subscriptions], [sid, [CHAT]]);
    await server.stop();
    assert.equal(app.calls.Disconnect.size, 0);
  });

  test("raw=1 leaves nothing but messages", async (t) => {
    const server = await start(t, "--ping_interval", "1");
    const path = `${BENCHMARK_EVENTS}&raw=1`;
    const source = new EventsClient(t, server.http(path));
    await source.opened.next();
    const response = await EventsResponse.fetch(t, server.http(path));
    await publish(server, "all", { n: 1 });
    assert.deepEqual(await source.events.next(), ["message", '{"n":1}']);
    assert.deepEqual(await response.events.next(), ["message", '{"n":1}']);
    assert.deepEqual(await response.comments.take(3), ["welcome", "confirm_subscription", "ping"]);
    assert.equal(source.pings.size, 0);
  });

  test("there is no history: who asks for it is told so, and hears what comes", async (t) => {
    const server = await start(t);
    const lastEvent = { "Last-Event-ID": "7/e1/all" };
    for (const [path, headers] of [
      [BENCHMARK_EVENTS, lastEvent],
      [`${BENCHMARK_EVENTS}&history_since=1700000000`, {}],
    ]) {
      const client = await EventsClient.subscribed(t, server.http(path), headers);
      assert.deepEqual(await client.events.next(), ["reject_history", json({ type: "reject_history", identifier: BENCHMARK })]);
      await publish(server, "all", 1);
      assert.deepEqual(await client.events.next(), ["message", "1"]);
    }
  });

  test("survives a restart of the server, which says goodbye", async (t) => {
    const server = await start(t);
    const client = await EventsClient.subscribed(t, server.http(BENCHMARK_EVENTS));
    const restarted = server.restart();
    assert.deepEqual(await client.events.next(), ["disconnect", RESTART]);
    await restarted;
    await client.confirmed();
    await publish(server, "all", "still here");
    assert.deepEqual(await client.events.next(), ["message", "still here"]);
  });

  test("comes back after a remote disconnect, unless it is told not to", async (t) => {
    const Connect = ({ env, sid }) => ({
      status: "SUCCESS",
      identifiers: env.headers.cookie,
      transmissions: [json({ type: "welcome", sid })],
    });
    const { app, server } = await startWithApp(t, { Connect });
    const url = server.http(events({ identifier: CHAT }));
    const banned = await EventsClient.subscribed(t, url, { cookie: "banned" });
    const restless = await EventsClient.subscribed(t, url, { cookie: "restless" });
    await app.calls.Connect.take(2);
    for (const [client, identifier, reconnect] of [
      [banned, "banned", false],
      [restless, "restless", true],
    ]) {
      const command = { command: "disconnect", payload: { identifier, reconnect } };
      assert.equal((await server.broadcast(command)).status, 201);
      const told = json({ type: "disconnect", reason: "remote", reconnect });
      assert.deepEqual(await client.events.next(), ["disconnect", told]);
    }
    // Both have the same patience by themselves, and the banned one was sent away first.
    await restless.confirmed();
    assert.equal((await app.calls.Connect.next()).env.headers.cookie, "restless");
    assert.equal(app.calls.Connect.size, 0, "the banned one stays away");
    assert.equal(banned.source.readyState, banned.source.CONNECTING);
  });
});

describe("before the head", () => {
  test("a refused client: 401, and no Disconnect call", async (t) => {
    const unauthorized = json({ type: "disconnect", reason: "unauthorized", reconnect: false });
    const { app, server } = await startWithApp(t, {
      Connect: () => ({ status: "FAILURE", transmissions: [unauthorized] }),
    });
    const client = new EventsClient(t, server.http(BENCHMARK_EVENTS));
    assert.equal(await client.errors.next(), 401);
    assert.equal(client.source.readyState, client.source.CLOSED);
    await server.stop();
    assert.equal(app.calls.Disconnect.size, 0);
    assert.equal(app.calls.Command.size, 0);
  });

  test("an application that cannot be asked: 503, and nothing of it is kept", async (t) => {
    const { server } = await startWithApp(t, { Connect: () => ({ status: "ERROR", error_msg: "no such table" }) });
    const response = await fetch(server.http(BENCHMARK_EVENTS));
    assert.equal(response.status, 503);
    assert.match(await response.text(), /could not be reached/);
  });

  test("a subscription that cannot be decided: the answer waits until it is", async (t) => {
    let n_failures = 2;
    const { server } = await startWithApp(t, {
      Command: ({ identifier }) =>
        n_failures-- > 0
          ? { status: "ERROR", error_msg: "no such table" }
          : { status: "SUCCESS", transmissions: [confirm(identifier)] },
    });
    const response = await fetch(server.http(BENCHMARK_EVENTS));
    assert.equal(response.status, 200);
    await response.body.cancel();
  });

  test("a rejected subscription: 400 for all, and a Disconnect call with those that were granted", async (t) => {
    const { app, server } = await startWithApp(t, {
      Command: ({ identifier }) =>
        identifier === "good"
          ? { status: "SUCCESS", streams: ["room"], transmissions: [confirm(identifier)] }
          : { status: "FAILURE", transmissions: [reject(identifier)] },
    });
    const body = subscribe("good") + subscribe("bad") + subscribe("never asked");
    const response = await fetch(server.http("/events"), { method: "POST", body });
    assert.equal(response.status, 400);
    assert.equal(await response.text(), "The subscription to bad was rejected.\n");
    const { subscriptions } = await app.calls.Disconnect.next();
    assert.deepEqual(subscriptions, ["good"]);
    assert.equal(app.calls.Command.size, 2);
  });

  test("nothing is sent until the application has decided, and then nothing is missing", async (t) => {
    const { passed, open } = gate();
    const { app, server } = await startWithApp(t, {
      Command: async ({ identifier }) => {
        if (identifier === "slow") await passed;
        return { status: "SUCCESS", streams: [identifier], transmissions: [confirm(identifier)] };
      },
    });
    const raw = await RawSocket.connect(server.port);
    t.after(() => raw.destroy());
    const body = subscribe("fast") + subscribe("slow");
    raw.write(`POST /events HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
    await app.calls.Command.take(2);
    await publish(server, "fast", 1);
    assert.equal(raw.n_received, 0);
    open();
    assert.match(await raw.head(), /^HTTP\/1\.1 200 OK\r\n/);
    const lines = await raw.until(/"slow"/);
    const order = ["welcome", "fast", '"message":1', "slow"].map((part) => lines.indexOf(part));
    assert.deepEqual(order, [...order].sort((a, b) => a - b), lines);
    assert.ok(order.every((position) => position >= 0), lines);
  });
});

describe("requests", () => {
  let server;
  before(async () => (server = await Server.start("--sse", "--broadcast_key", "secret", "--handshake_timeout_ms", "300")));
  after(() => server.stop());

  test("the head forbids to keep events", async (t) => {
    const { headers } = await EventsResponse.fetch(t, server.http(BENCHMARK_EVENTS));
    assert.equal(headers.get("content-type"), "text/event-stream; charset=utf-8");
    assert.match(headers.get("cache-control"), /private.*no-store/);
    assert.equal(headers.get("x-accel-buffering"), "no");
    assert.equal(headers.get("access-control-allow-origin"), "*");
  });

  for (const [name, method, path, body, status, reason] of [
    ["no channel", "GET", "/events", undefined, 400, /\?channel=ChatChannel/],
    ["an empty channel", "GET", "/events?channel=", undefined, 400, /no channel/],
    ["an unknown channel", "GET", events({ channel: "Nope" }), undefined, 400, /"Nope".* was rejected/],
    ["no time", "GET", `${BENCHMARK_EVENTS}&history_since=today`, undefined, 400, /history_since=1700000000/],
    ["no JSON", "POST", "/events", `${subscribe(BENCHMARK)}{`, 400, /line 2 of the body: the command is not JSON/],
    ["another command", "POST", "/events", '{"command":"unsubscribe","identifier":"x"}', 400, /only subscribe/],
    ["a large body", "POST", "/events", " ".repeat(65_537), 413, /65536 bytes/],
    ["PUT", "PUT", BENCHMARK_EVENTS, "", 405, /GET or POST/],
    ["DELETE", "DELETE", BENCHMARK_EVENTS, undefined, 405, /GET or POST/],
    ["a preflight", "OPTIONS", "/events", undefined, 200, /./],
  ]) {
    test(`${name}: ${status}`, async () => {
      const response = await fetch(server.http(path), { method, body });
      assert.equal(response.status, status);
      assert.match(await response.text(), reason);
      assert.equal(response.headers.get("access-control-allow-origin"), "*");
    });
  }

  test("a body that does not come: 408", async (t) => {
    const raw = await RawSocket.connect(server.port);
    t.after(() => raw.destroy());
    raw.write("POST /events HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n{");
    assert.match(await raw.head(), /^HTTP\/1\.1 408 /);
  });

  for (const [name, request] of [
    ["HTTP/1.0", `GET ${BENCHMARK_EVENTS} HTTP/1.0\r\n\r\n`],
    ["a chunked body", `POST /events HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n${chunk(subscribe(BENCHMARK))}`],
    ["an absolute target", `GET http://x${BENCHMARK_EVENTS} HTTP/1.1\r\nHost: x\r\n\r\n`],
    ["requests before it on the same connection", `GET /health HTTP/1.1\r\nHost: x\r\n\r\nOPTIONS /events HTTP/1.1\r\nHost: x\r\n\r\nGET ${BENCHMARK_EVENTS} HTTP/1.1\r\nHost: x\r\n\r\n`],
    ["a request behind it", `GET ${BENCHMARK_EVENTS} HTTP/1.1\r\nHost: x\r\n\r\nGET /health HTTP/1.1\r\nHost: x\r\n\r\n`],
  ]) {
    test(`${name}: served`, async (t) => {
      const raw = await RawSocket.connect(server.port);
      t.after(() => raw.destroy());
      raw.write(request);
      await raw.until(/HTTP\/1\.1 200 OK\r\nContent-Type: text\/event-stream[^]*event: confirm_subscription/);
      await publish(server, "all", "hello");
      assert.match(await raw.until(/data: .*hello.*\n\n/), /hello/);
    });
  }

  test("a client that goes on sending is cut off", async (t) => {
    const raw = await RawSocket.connect(server.port);
    t.after(() => raw.destroy());
    raw.write(`GET ${BENCHMARK_EVENTS} HTTP/1.1\r\nHost: x\r\n\r\n`);
    await raw.until(/confirm_subscription/);
    raw.write("x".repeat(100_000));
    await within(raw.closed, "the end of the connection");
  });

  test("without --sse there is no such path", async (t) => {
    const plain = await Server.start();
    t.after(() => plain.stop());
    assert.equal((await fetch(plain.http(BENCHMARK_EVENTS))).status, 404);
  });
});

test("--sse_path moves it, and --allowed_origins says whose pages may listen", async (t) => {
  const server = await start(t, "--sse_path", "/sse", "--allowed_origins", "app.example");
  const url = server.http("/sse?channel=BenchmarkChannel");
  const { status } = await fetch(url, { headers: { origin: "https://evil.example" } });
  assert.equal(status, 403);
  const { headers } = await EventsResponse.fetch(t, url, { headers: { origin: "https://app.example" } });
  assert.equal(headers.get("access-control-allow-origin"), "https://app.example");
  assert.equal(headers.get("access-control-allow-credentials"), "true");
  await EventsResponse.fetch(t, url);
});

describe("POST", () => {
  test("several subscriptions: whole messages, and each says where it belongs", async (t) => {
    const { server } = await startWithApp(t, {
      Command: ({ identifier }) => ({ status: "SUCCESS", streams: [`stream ${identifier}`], transmissions: [confirm(identifier)] }),
    });
    const body = subscribe("a") + subscribe("b", { history: { since: 1 } });
    const response = await EventsResponse.fetch(t, server.http("/events"), { method: "POST", body });
    assert.equal((await response.events.next())[0], "welcome");
    assert.deepEqual(await response.events.take(3), [
      ["confirm_subscription", confirm("a")],
      ["confirm_subscription", confirm("b")],
      ["reject_history", json({ type: "reject_history", identifier: "b" })],
    ]);
    await publish(server, "stream a", "one");
    await publish(server, "stream b", { two: 2 });
    assert.deepEqual(await response.events.take(2), [
      ["message", transmission("a", "one")],
      ["message", transmission("b", { two: 2 })],
    ]);
  });

  test("without commands there is a session that hears nothing", async (t) => {
    const server = await start(t);
    const response = await EventsResponse.fetch(t, server.http("/events"), { method: "POST" });
    assert.equal((await response.events.next())[0], "welcome");
  });
});

test("without an application: tokens say who listens, and names in the query to what", async (t) => {
  const [jwt, streams, turbo] = ["jwt secret", "streams secret", "turbo secret"];
  const secrets = ["--jwt_secret", jwt, "--streams_secret", streams, "--turbo_streams_secret", turbo];
  const server = await start(t, "--norpc", "--enforce_jwt", "--public_streams", "--turbo_streams", ...secrets);
  const token = await secretToken(jwt);
  const [signed] = signNames(streams, "rails", "room");
  const [turboSigned] = signNames(turbo, "rails", "room");
  for (const [parameters, headers] of [
    [{ stream: "room", jid: token }],
    [{ signed_stream: signed }, { "X-JID": token }],
    [{ turbo_signed_stream_name: turboSigned, jid: token }],
  ]) {
    const client = await EventsClient.subscribed(t, server.http(events(parameters)), headers);
    await publish(server, "room", "<turbo-stream>\n</turbo-stream>");
    assert.deepEqual(await client.events.next(), ["message", "<turbo-stream>\n</turbo-stream>"]);
    client.close();
  }
  const expired = await secretToken(jwt, { exp: inSeconds(-60) });
  for (const [parameters, status] of [
    [{ stream: "room" }, 401],
    [{ stream: "room", jid: "forged" }, 401],
    [{ stream: "room", jid: expired }, 401],
    [{ signed_stream: turboSigned, jid: token }, 400],
  ]) {
    assert.equal((await fetch(server.http(events(parameters)))).status, status, json(parameters));
  }
});

test("over TLS: events, the goodbye, and TLS's own end", async (t) => {
  const files = new CertificateFiles();
  const server = await start(t, ...files.flags);
  const raw = await RawSocket.connect(server.port, files.trust);
  t.after(() => raw.destroy());
  const ended = new Promise((resolve) => raw.socket.once("end", resolve));
  raw.write(`GET ${BENCHMARK_EVENTS} HTTP/1.1\r\nHost: x\r\n\r\n`);
  assert.match(await raw.until(/event: confirm_subscription\n.*\n\n/), /^HTTP\/1\.1 200 OK/);
  const stopped = server.stop();
  assert.match(await raw.until(/\n\n/), /^event: disconnect\n/);
  await within(ended, "the end of the stream");
  assert.equal((await stopped).code, 0);
});

describe("the same sessions and limits as a WebSocket's", () => {
  test("listeners of both kinds hear one stream", async (t) => {
    const server = await start(t, "--enable_ws_compression");
    const cable = await CableClient.subscribed(server.ws("/cable"));
    const plain = await CableClient.subscribed(server.ws("/cable"), BENCHMARK, { perMessageDeflate: false });
    const source = await EventsClient.subscribed(t, server.http(BENCHMARK_EVENTS));
    const post = await EventsResponse.fetch(t, server.http("/events"), { method: "POST", body: subscribe(BENCHMARK) });
    await post.events.until(([type]) => type === "confirm_subscription");
    const message = { text: "<&> 💬".repeat(100) };
    plain.perform(BENCHMARK, { action: "broadcast", payload: message });
    const heard = { action: "broadcast", payload: message };
    for (const client of [cable, plain]) assert.deepEqual(JSON.parse(await client.frames.next()).message, heard);
    assert.deepEqual(JSON.parse((await source.events.next())[1]), heard);
    assert.deepEqual(JSON.parse((await post.events.next())[1]), { identifier: BENCHMARK, message: heard });
    await Promise.all([cable.close(), plain.close()]);
  });

  test("SIGTERM: the goodbye, a proper end, and the server is gone in time", async (t) => {
    const { app, server } = await startWithApp(t);
    const response = await EventsResponse.fetch(t, server.http(events({ identifier: CHAT })));
    await response.events.until(([type]) => type === "confirm_subscription");
    await publish(server, "room", "last words");
    const stopped = server.stop();
    assert.deepEqual(await response.events.take(2), [["message", "last words"], ["disconnect", RESTART]]);
    await within(response.ended, "the end of the stream");
    const { code, tookMs } = await stopped;
    assert.equal(code, 0, server.stderr);
    assert.ok(tookMs < 2000, `stopping took ${Math.round(tookMs)} ms`);
    assert.equal(app.calls.Disconnect.size, 1);
  });

  test("connections are counted together", async (t) => {
    const server = await start(t, "--max_conn", "2");
    const source = await EventsClient.subscribed(t, server.http(BENCHMARK_EVENTS));
    const cable = await CableClient.subscribed(server.ws("/cable"));
    assert.equal((await fetch(server.http(BENCHMARK_EVENTS))).status, 503);
    source.close();
    // The place is free a moment after the client has left.
    const asked = async () => {
      const { status, body } = await fetch(server.http(BENCHMARK_EVENTS));
      await body.cancel();
      if (status !== 200) assert.equal(status, 503);
      return status === 200;
    };
    await eventually(asked, "a free place");
    await cable.close();
  });

  test("a client that does not read is cut off, and the others miss nothing", async (t) => {
    const server = await start(t, "--ws_max_pending_size", "262144");
    const reader = await EventsResponse.fetch(t, server.http(BENCHMARK_EVENTS));
    const deaf = await RawSocket.connect(server.port);
    t.after(() => deaf.destroy());
    deaf.write(`GET ${BENCHMARK_EVENTS} HTTP/1.1\r\nHost: x\r\n\r\n`);
    await deaf.until(/confirm_subscription/);
    deaf.socket.pause();
    await reader.events.until(([type]) => type === "confirm_subscription");
    // More than the kernel holds for one connection.
    const [n_batches, n_each, padding] = [60, 50, "x".repeat(10_000)];
    for (let batch = 0; batch < n_batches; batch++) {
      const messages = Array.from({ length: n_each }, (_, n) => ({ n: batch * n_each + n, padding }));
      const body = messages.map((message) => ({ stream: "all", data: json(message) }));
      assert.equal((await server.broadcast(body)).status, 201);
      for (const { n } of messages) {
        const [, data] = await reader.events.until(([type]) => type === "message");
        assert.equal(JSON.parse(data).n, n);
      }
    }
    deaf.socket.resume();
    await within(deaf.closed, "the end of the slow connection");
    assert.ok(deaf.n_received < n_batches * n_each * padding.length, "it did not get everything");
  });
});

describe("Chromium", () => {
  let browser;
  before(async () => (browser = await Browser.launch()));
  after(() => browser?.close());

  /** A page that reports what it gets. */
  async function open(t) {
    const page = await browser.newPage(t);
    const reports = new Inbox("reports of the page");
    await page.exposeFunction("report", (report) => reports.push(report));
    await page.goto(browser.url);
    assert.equal(await reports.next(), "loaded");
    return { page, reports };
  }

  /** Opens an EventSource in a page. */
  const listen = (page, url) =>
    page.evaluate((url) => {
      const source = (window.source = new EventSource(url));
      for (const type of ["confirm_subscription", "disconnect", "message"]) {
        source.addEventListener(type, ({ data }) => report([type, data]));
      }
      source.onerror = () => report(["error", source.readyState]);
    }, url);

  test("its EventSource listens across origins and comes back after a restart", async (t) => {
    const server = await start(t);
    const { page, reports } = await open(t);
    await listen(page, server.http(BENCHMARK_EVENTS));
    assert.deepEqual(await reports.next(), ["confirm_subscription", confirm(BENCHMARK)]);
    await publish(server, "all", "one\ntwo\r\n💬");
    assert.deepEqual(await reports.next(), ["message", "one\ntwo\n💬"]);
    const restarted = server.restart();
    assert.deepEqual(await reports.next(), ["disconnect", RESTART]);
    await restarted;
    await reports.until(([type]) => type === "confirm_subscription");
    await publish(server, "all", 2);
    assert.deepEqual(await reports.next(), ["message", "2"]);
  });

  test("its EventSource gives up when the subscription is rejected", async (t) => {
    const server = await start(t);
    const { page, reports } = await open(t);
    await listen(page, server.http(events({ channel: "Nope" })));
    const CLOSED = 2;
    assert.deepEqual(await reports.next(), ["error", CLOSED]);
  });

  test("its EventSource stays away when it is told to", async (t) => {
    const Connect = ({ env, sid }) => ({
      status: "SUCCESS",
      identifiers: new URL(env.url).searchParams.get("who"),
      transmissions: [json({ type: "welcome", sid })],
    });
    const { app, server } = await startWithApp(t, { Connect });
    const clients = {};
    for (const who of ["banned", "restless"]) {
      clients[who] = await open(t);
      await listen(clients[who].page, server.http(events({ identifier: CHAT, who })));
      assert.equal((await clients[who].reports.next())[0], "confirm_subscription");
    }
    await app.calls.Connect.take(2);
    for (const [identifier, reconnect] of [["banned", false], ["restless", true]]) {
      await server.broadcast({ command: "disconnect", payload: { identifier, reconnect } });
      assert.equal((await clients[identifier].reports.next())[0], "disconnect");
    }
    await clients.restless.reports.until(([type]) => type === "confirm_subscription");
    assert.match((await app.calls.Connect.next()).env.url, /restless/);
    assert.equal(app.calls.Connect.size, 0);
  });

  test("its fetch posts after a preflight on the same connection and reads the stream", async (t) => {
    const server = await start(t);
    const { page, reports } = await open(t);
    const posted = page.evaluate(
      async ([url, body]) => {
        const headers = { "content-type": "application/jsonl" };
        const response = await fetch(url, { method: "POST", headers, body });
        const decoder = new TextDecoder();
        for await (const bytes of response.body) report(decoder.decode(bytes, { stream: true }));
      },
      [server.http("/events"), subscribe(BENCHMARK)],
    );
    let received = "";
    while (!received.includes("confirm_subscription")) received += await reports.next();
    await publish(server, "all", 7);
    while (!received.includes(`data: ${transmission(BENCHMARK, 7)}\n\n`)) received += await reports.next();
    await server.stop();
    await within(posted, "the end of the response");
  });
});

function chunk(text) {
  return `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n0\r\n\r\n`;
}
