// Durable Streams: `plimsoll serve --ds` for the unmodified @durable-streams/client, and with fetch.

import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { stream as read } from "@durable-streams/client";
import { within } from "./support/deadline.mjs";
import { HttpApp } from "./support/http-app.mjs";
import { Inbox } from "./support/inbox.mjs";
import { Server } from "./support/plimsoll.mjs";
import { eventually } from "./support/processes.mjs";
import { eventuallyCounts, scrape } from "./support/scrape.mjs";

const json = JSON.stringify;
const publish = async (server, stream, ...data) => {
  for (const each of data) {
    const { status } = await server.broadcast({ stream, data: json(each) });
    assert.equal(status, 201);
  }
};

const start = (...flags) => Server.start("--broker", "memory", "--ds", "--broadcast_key", "secret", "--metrics_http", "/metrics", ...flags);

/** `{ status, next, upToDate, cursor, body, headers }` of one request. */
async function get(server, path, { method = "GET", headers } = {}) {
  const response = await fetch(server.http(`/ds${path}`), { method, headers });
  const text = await response.text();
  const header = (name) => response.headers.get(name);
  const isJson = header("content-type") === "application/json";
  return {
    status: response.status,
    next: header("stream-next-offset"),
    upToDate: header("stream-up-to-date"),
    cursor: header("stream-cursor"),
    headers: response.headers,
    text,
    body: isJson && text ? JSON.parse(text) : undefined,
  };
}

describe("with public streams", () => {
  let server;
  before(async () => (server = await start("--public", "--history_limit", "150", "--ds_poll_interval", "1", "--ds_sse_ttl", "3")));
  after(() => server.stop());

  test("the client library catches up, and goes on with long polls and with events", async (t) => {
    await publish(server, "chat/1", { n: 1 }, { n: 2 });
    const url = server.http("/ds/chat/1");
    const caught = await read({ url, offset: "-1", live: false });
    assert.deepEqual(await caught.json(), [{ n: 1 }, { n: 2 }]);
    for (const live of ["long-poll", "sse"]) {
      const items = new Inbox(`items over ${live}`);
      const reader = await read({ url, offset: caught.offset, live, json: true });
      t.after(() => reader.cancel());
      reader.subscribeJson(async (batch) => batch.items.forEach((item) => items.push(item)));
      const sent = Array.from({ length: 20 }, (_, n) => ({ live, n }));
      for (const item of sent) await publish(server, "chat/1", item);
      const earlier = live === "sse" ? 20 : 0;
      await items.take(earlier);
      assert.deepEqual(await items.take(20), sent);
      if (live === "sse") {
        // The answer ends, and the library goes on with another request.
        const n_requests = async () => (await scrape(server.http("/metrics"))).ds_sse_clients_total;
        const n_first = await n_requests();
        await eventually(async () => (await n_requests()) > n_first, "the next request");
        await publish(server, "chat/1", "after the next request");
        assert.equal(await items.next(), "after the next request");
      }
      reader.cancel();
    }
  });

  test("parts follow each other without a gap", async () => {
    await publish(server, "long", ...Array.from({ length: 130 }, (_, n) => n));
    const first = await get(server, "/long?offset=-1");
    assert.deepEqual([first.status, first.upToDate, first.body], [200, null, Array.from({ length: 100 }, (_, n) => n)]);
    assert.equal(first.headers.get("cache-control"), "private, max-age=60, stale-while-revalidate=300");
    const second = await get(server, `/long?offset=${first.next}`);
    assert.deepEqual([second.upToDate, second.body], ["true", Array.from({ length: 30 }, (_, n) => n + 100)]);
    assert.ok(first.next < second.next);
    const third = await get(server, `/long?offset=${second.next}`);
    assert.deepEqual([third.status, third.next, third.upToDate, third.body], [200, second.next, "true", []]);
    const head = await get(server, "/long", { method: "HEAD" });
    assert.deepEqual([head.status, head.next, head.headers.get("cache-control")], [200, second.next, "no-store"]);
    // AnyCable's form of an offset is read, too.
    const [offset, epoch] = first.next.split("::");
    assert.deepEqual((await get(server, `/long?offset=${Number(offset)}::${epoch}`)).body, second.body);
  });

  test("an answer that is known is not sent again", async () => {
    await publish(server, "tagged", 1);
    const { headers } = await get(server, "/tagged");
    const known = { headers: { "if-none-match": `"other", ${headers.get("etag")}` } };
    const again = await get(server, "/tagged", known);
    assert.deepEqual([again.status, again.text], [304, ""]);
    await publish(server, "tagged", 2);
    assert.deepEqual((await get(server, "/tagged", known)).body, [1, 2]);
  });

  test("a long poll waits for a message, or for its time", async () => {
    const tail = await get(server, "/wait%2Fing?offset=now");
    assert.deepEqual([tail.status, tail.body, tail.upToDate], [200, [], "true"]);
    const waiting = get(server, `/wait/ing?offset=${tail.next}&live=long-poll`);
    await eventuallyCounts(server.http("/metrics"), { ds_poll_clients_num: 1 });
    await publish(server, "wait/other", "not for this reader");
    await publish(server, "wait/ing", "first");
    const { status, body, next, cursor, upToDate } = await waiting;
    assert.deepEqual([status, body, upToDate], [200, ["first"], "true"]);
    const late = await get(server, `/wait/ing?offset=${next}&live=long-poll&cursor=${cursor}`);
    assert.deepEqual([late.status, late.text, late.next, late.upToDate], [204, "", next, "true"]);
    assert.ok(Number(late.cursor) > Number(cursor));
    const now = get(server, `/wait/ing?offset=now&live=long-poll`);
    await eventuallyCounts(server.http("/metrics"), { ds_poll_clients_num: 1 });
    await publish(server, "wait/ing", "second");
    assert.deepEqual((await now).body, ["second"]);
    await eventuallyCounts(server.http("/metrics"), { ds_poll_clients_num: 0 });
  });

  test("events have the messages and where to go on", async (t) => {
    const abort = new AbortController();
    t.after(() => abort.abort());
    const response = await fetch(server.http("/ds/live?offset=now&live=sse"), { signal: abort.signal });
    assert.deepEqual([response.status, response.headers.get("content-type")], [200, "text/event-stream; charset=utf-8"]);
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    const until = async (n) => {
      while (text.split("\n\n").length <= n) {
        const { value, done } = await within(reader.read(), `${n} events; until then came ${text}`);
        if (done) break;
        text += value;
      }
      return text.split("\n\n").slice(0, n);
    };
    const [first] = await until(1);
    const control = (event) => JSON.parse(/^event: control\ndata: (.*)$/.exec(event)[1]);
    assert.equal(control(first).upToDate, true);
    await eventuallyCounts(server.http("/metrics"), { ds_sse_clients_num: 1 });
    await publish(server, "live", { line: "a\nb" });
    const [, data, position] = await until(3);
    assert.equal(data, `event: data\ndata: [{"line":"a\\nb"}]`);
    const { streamNextOffset, streamCursor } = control(position);
    assert.match(streamCursor, /^\d+$/);
    assert.deepEqual((await get(server, `/live?offset=${streamNextOffset}`)).body, []);
    // The answer ends by itself.
    for (;;) if ((await within(reader.read(), "the end")).done) break;
    await eventuallyCounts(server.http("/metrics"), { ds_sse_clients_num: 0 });
  });

  test("a reader that missed messages is told", async () => {
    const empty = await get(server, "/gap");
    await publish(server, "gap", 0);
    const { next } = await get(server, "/gap");
    await publish(server, "gap", ...Array.from({ length: 160 }, (_, n) => n + 1));
    for (const offset of [empty.next, next, "5::other", next.replace(/\d+/, "900")]) {
      for (const live of ["", "&live=long-poll", "&live=sse"]) {
        const answer = await get(server, `/gap?offset=${offset}${live}`);
        assert.equal(answer.status, 410, `${offset}${live}: ${answer.text}`);
      }
    }
    assert.equal((await get(server, "/gap?offset=-1")).body[0], 11);
  });

  test("requests that cannot be served", async () => {
    for (const [path, options, status] of [
      ["", {}, 400],
      ["/", {}, 400],
      ["/a?offset=seven", {}, 400],
      ["/a?live=sse", {}, 400],
      ["/a?live=ws&offset=-1", {}, 400],
      ["/%FF", {}, 400],
      ["/a", { method: "POST" }, 405],
      ["/a", { method: "PUT" }, 405],
      ["/a", { method: "OPTIONS", headers: { origin: "https://app.example" } }, 200],
    ]) {
      const answer = await get(server, path, options);
      assert.equal(answer.status, status, `${path}: ${answer.text}`);
      assert.equal(answer.headers.get("access-control-allow-origin"), "*");
      assert.match(answer.headers.get("access-control-expose-headers"), /Stream-Next-Offset/);
      assert.equal(answer.headers.get("x-content-type-options"), "nosniff");
    }
    assert.equal((await fetch(server.http("/dsx"))).status, 404);
  });
});

test("a stream is for clients with its signed name", async (t) => {
  const server = await start("--noauth", "--norpc", "--streams_secret", "qwerty");
  t.after(() => server.stop());
  const sign = (name) => {
    const encoded = Buffer.from(json(name)).toString("base64");
    return `${encoded}--${createHmac("sha256", "qwerty").update(encoded).digest("hex")}`;
  };
  await publish(server, "private/1", "secret");
  assert.deepEqual((await get(server, `/private/1?signed=${encodeURIComponent(sign("private/1"))}`)).body, ["secret"]);
  assert.deepEqual((await get(server, "/private/1", { headers: { "x-signed": sign("private/1") } })).body, ["secret"]);
  for (const path of ["/private/1", `/private/1?signed=${encodeURIComponent(sign("private/2"))}`, "/private/1?signed=x--y", "/private/1?live=sse&offset=-1"]) {
    const { status, headers } = await get(server, path);
    assert.deepEqual([status, headers.get("www-authenticate")], [401, "Bearer"], path);
  }
});

test("the application decides about clients, and hears of their end, unless it is left out", async (t) => {
  const welcome = ({ env: { url }, sid }) =>
    url.includes("reject=1")
      ? { status: "FAILURE", transmissions: [] }
      : { status: "SUCCESS", identifiers: "kay", transmissions: [json({ type: "welcome", sid })] };
  const app = await HttpApp.start({ Connect: welcome });
  t.after(() => app.kill());
  const server = await start("--rpc_host", app.host, "--public_streams", "--disconnect_mode", "always");
  t.after(() => server.stop());
  await publish(server, "a", 1);
  assert.deepEqual((await get(server, "/a")).body, [1]);
  const { sid } = await app.calls.Connect.next();
  const end = await app.calls.Disconnect.next();
  assert.deepEqual([end.sid, end.identifiers, end.subscriptions ?? []], [sid, "kay", []]);
  assert.equal((await get(server, "/a?reject=1")).status, 401);
  const open = await start("--rpc_host", "http://127.0.0.1:1/", "--public_streams", "--ds_skip_auth");
  t.after(() => open.stop());
  await publish(open, "a", 1);
  const answer = await get(open, "/a?offset=-1");
  assert.deepEqual([answer.body, answer.headers.get("cache-control")], [[1], "public, no-cache"]);
});

test("a server that stops ends its readers", async () => {
  const server = await start("--public", "--ds_poll_interval", "60");
  const polling = get(server, "/a?offset=now&live=long-poll");
  const listening = fetch(server.http("/ds/a?offset=now&live=sse")).then((response) => response.text());
  await eventuallyCounts(server.http("/metrics"), { ds_poll_clients_num: 1, ds_sse_clients_num: 1 });
  const samples = await scrape(server.http("/metrics"));
  assert.deepEqual([samples.ds_requests_total, samples.ds_poll_clients_total, samples.ds_sse_clients_total], [2, 1, 1]);
  const { code, tookMs } = await server.stop();
  assert.equal(code, 0);
  assert.ok(tookMs < 9000);
  const { status, headers } = await polling;
  assert.deepEqual([status, headers.get("retry-after")], [503, "1"]);
  assert.match(await listening, /^event: control\n/);
});

test("without a broker there are no durable streams, and the log says why", async (t) => {
  const server = await Server.start("--public", "--ds");
  t.after(() => server.stop());
  assert.equal((await fetch(server.http("/ds/a"))).status, 404);
  await server.logged(/--ds.*--broker/s);
});
