// What was missed, over Server-Sent Events: `plimsoll serve --sse --broker memory`.

import assert from "node:assert/strict";
import { test } from "node:test";
import { EventsClient, EventsResponse } from "./support/events.mjs";
import { Inbox } from "./support/inbox.mjs";
import { Server } from "./support/plimsoll.mjs";
import { json } from "./support/rpc-app.mjs";

const path = (more) => `/events?${new URLSearchParams({ stream: "chat/1", ...more })}`;

const PUBSUB = json({ channel: "$pubsub", stream_name: "chat/1" });
const position = (type) => json({ type, identifier: PUBSUB });

/** A server that has kept 1 to 5, and the epoch of the stream. */
async function withHistory(t) {
  const server = await Server.start("--sse", "--public", "--broker", "memory", "--broadcast_key", "secret");
  t.after(() => server.stop());
  for (let n = 1; n <= 5; n++) assert.equal((await server.broadcast({ stream: "chat/1", data: json(n) })).status, 201);
  const response = await EventsResponse.fetch(t, server.http(path({ history_since: "1" })));
  assert.deepEqual((await response.events.take(8)).map(([type, data]) => [type, type === "message" && data]), [
    ["welcome", false],
    ["confirm_subscription", false],
    ...[1, 2, 3, 4, 5].map((n) => ["message", String(n)]),
    ["confirm_history", false],
  ]);
  const source = new EventsClient(t, server.http(path({ history_since: "1" })));
  const ids = new Inbox("ids of events");
  source.source.addEventListener("message", ({ lastEventId }) => ids.push(lastEventId));
  const [first] = await ids.take(5);
  return { server, epoch: /^1\/([^/]+)\/chat\/1$/.exec(first)[1] };
}

test("the header Last-Event-ID and history_since bring what was missed, and a gap is told", async (t) => {
  const { server, epoch } = await withHistory(t);
  const now = String(Math.floor(Date.now() / 1000) + 100);
  for (const [query, headers, expected] of [
    [{}, { "Last-Event-ID": `3/${epoch}/chat/1` }, ["4", "5", "confirm_history"]],
    [{}, { "Last-Event-ID": `5/${epoch}/chat/1` }, ["confirm_history"]],
    // The position counts, and not the time.
    [{ history_since: "1" }, { "Last-Event-ID": `4/${epoch}/chat/1` }, ["5", "confirm_history"]],
    [{ history_since: now }, {}, ["confirm_history"]],
    [{}, { "Last-Event-ID": "3/other/chat/1" }, ["reject_history"]],
    [{}, { "Last-Event-ID": `9/${epoch}/chat/1` }, ["reject_history"]],
    [{}, {}, []],
  ]) {
    const response = await EventsResponse.fetch(t, server.http(path(query)), { headers });
    await response.events.until(([type]) => type === "confirm_subscription");
    for (const text of expected) {
      const event = /history/.test(text) ? [text, position(text)] : ["message", text];
      assert.deepEqual(await response.events.next(), event, json([query, headers]));
    }
    response.abort();
  }
});

test("raw=1 has the missed messages alone, and POST takes history in its commands", async (t) => {
  const { server, epoch } = await withHistory(t);
  const raw = await EventsResponse.fetch(t, server.http(path({ raw: "1" })), { headers: { "Last-Event-ID": `4/${epoch}/chat/1` } });
  assert.deepEqual(await raw.events.next(), ["message", "5"]);
  assert.deepEqual(await raw.comments.take(3), ["welcome", "confirm_subscription", "confirm_history"]);
  const streams = { "chat/1": { offset: 4, epoch } };
  const body = json({ command: "subscribe", identifier: PUBSUB, history: { streams } });
  const posted = await EventsResponse.fetch(t, server.http("/events"), { method: "POST", body });
  await posted.events.until(([type]) => type === "confirm_subscription");
  const [type, data] = await posted.events.next();
  assert.deepEqual([type, JSON.parse(data).message, JSON.parse(data).offset], ["message", 5, 5]);
  assert.equal((await posted.events.next())[0], "confirm_history");
});
