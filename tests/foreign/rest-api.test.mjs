// The REST API of `plimsoll serve`: with fetch, and against its OpenAPI document.

import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { readFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import Ajv from "ajv/dist/2020.js";
import { CableClient } from "./support/cable.mjs";
import { Server } from "./support/plimsoll.mjs";
import { freePort } from "./support/ports.mjs";

const OPENAPI = JSON.parse(readFileSync(new URL("../../docs/reference/openapi.json", import.meta.url), "utf8"));
const ajv = new Ajv({ allErrors: true, strict: false });
ajv.addSchema(OPENAPI, "openapi.json");

const KEY = "s3cret";
const json = JSON.stringify;

/** A request; the document must know the operation, its status, and the body of its answer. */
async function call(base, method, path, { key = KEY, headers = {}, body } = {}) {
  const authorization = key && { authorization: `Bearer ${key}` };
  const response = await fetch(`${base}${path}`, { method, headers: { ...authorization, ...headers }, body });
  const text = await response.text();
  const route = path.replace(/\?.*/, "").replace(/^\/(history|presence)\/[^/]+/, "/$1/{stream}");
  const operation = OPENAPI.paths[route]?.[method.toLowerCase()];
  if (!operation) return { status: response.status, text, headers: response.headers };
  const described = operation.responses[response.status];
  assert.ok(described, `${method} ${path}: ${response.status} is not in the document: ${text}`);
  const [type] = Object.keys(described.content);
  assert.ok(response.headers.get("content-type").startsWith(type));
  if (type !== "application/json") return { status: response.status, text, headers: response.headers };
  const document = JSON.parse(text);
  const validate = ajv.compile({ $ref: `openapi.json${described.content[type].schema.$ref}` });
  assert.ok(validate(document), json(validate.errors));
  return { status: response.status, text, document, headers: response.headers };
}

const message = (stream, data, meta) => json({ stream, data: json(data), meta });

/** The data of the history of a stream. */
async function kept(base, stream, query = "") {
  const { document } = await call(base, "GET", `/history/${encodeURIComponent(stream)}${query}`);
  return document.messages.map(({ data }) => data);
}

describe("with a key", () => {
  let server, base;
  before(async () => {
    server = await Server.start("--public", "--broker", "memory", "--history_limit", "5", "--api_secret", KEY, "--broadcast_key", "b");
    base = server.http("/api");
  });
  after(() => server.stop());

  test("a message is kept and delivered", async (t) => {
    const client = await CableClient.connect(server.ws("/cable"));
    t.after(() => client.socket.terminate());
    await client.frames.next();
    client.send({ command: "subscribe", identifier: json({ channel: "$pubsub", stream_name: "chat/1" }) });
    await client.frames.next();
    assert.equal((await call(base, "POST", "/publish", { body: message("chat/1", { n: 1 }) })).status, 201);
    // Kept before it was acknowledged.
    assert.deepEqual(await kept(base, "chat/1"), [{ n: 1 }]);
    assert.deepEqual(JSON.parse(await client.frames.next()).message, { n: 1 });
    const batch = json([JSON.parse(message("chat/1", 2, { broadcast_type: "note" })), JSON.parse(message("chat/1", 3, { transient: true }))]);
    assert.equal((await call(base, "POST", "/publish", { body: batch })).status, 201);
    const { document } = await call(base, "GET", "/history/chat%2F1");
    assert.deepEqual(document.messages.map(({ offset, type, data }) => [offset, type, data]), [[1, undefined, { n: 1 }], [2, "note", 2]]);
    assert.deepEqual([document.stream, document.offset, document.has_more], ["chat/1", 2, false]);
  });

  test("broadcasts are kept before they are acknowledged, too", async () => {
    for (let n = 1; n <= 20; n += 1) {
      assert.equal((await server.broadcast({ stream: "acknowledged", data: String(n) }, "b")).status, 201);
      assert.equal((await kept(base, "acknowledged")).at(-1), n);
    }
  });

  test("parts of the history", async () => {
    for (let n = 1; n <= 7; n += 1) await call(base, "POST", "/publish", { body: message("parts", n) });
    const { document } = await call(base, "GET", "/history/parts?limit=2");
    assert.deepEqual([document.messages.map(({ data }) => data), document.has_more], [[3, 4], true]);
    const after = `?after=4&epoch=${encodeURIComponent(document.epoch)}`;
    assert.deepEqual(await kept(base, "parts", after), [5, 6, 7]);
    const refused = await call(base, "GET", `/history/parts?after=1&epoch=${encodeURIComponent(document.epoch)}`);
    assert.deepEqual([refused.status, refused.text], [410, "There is no such answer: some of the messages are no longer kept.\n"]);
    assert.equal((await call(base, "GET", "/history/parts?since=1")).status, 410);
    assert.deepEqual(await kept(base, "parts", `?since=${Math.floor(Date.now() / 1000) + 60}`), []);
    assert.deepEqual(await kept(base, "never heard of"), []);
    assert.equal((await call(base, "GET", "/history/never?after=1&epoch=x")).status, 410);
  });

  test("a repeated request publishes once", async () => {
    const headers = { "idempotency-key": "order-17" };
    const body = message("orders", 17);
    const publish = (more = {}) => call(base, "POST", "/publish", { headers, body, ...more });
    const answers = [await publish(), await publish(), await publish({ body: message("orders", 18) })];
    assert.deepEqual(answers.map(({ status }) => status), [201, 201, 422]);
    assert.deepEqual(answers.map(({ headers }) => headers.get("idempotent-replayed")), [null, "true", null]);
    const many = await Promise.all(Array.from({ length: 20 }, () => publish({ headers: { "idempotency-key": "many" } })));
    assert.ok(many.every(({ status }) => status === 201 || status === 409));
    // A request that was refused does not use the key up.
    assert.equal((await publish({ headers: { "idempotency-key": "bad" }, body: "{" })).status, 400);
    assert.equal((await publish({ headers: { "idempotency-key": "bad" } })).status, 201);
    assert.deepEqual(await kept(base, "orders"), [17, 17, 17]);
    assert.equal((await publish({ headers: { "idempotency-key": "x".repeat(256) } })).status, 400);
  });

  test("streams, the largest first", async () => {
    await call(base, "POST", "/publish", { body: message("size-small", "x") });
    await call(base, "POST", "/publish", { body: message("size-large", "x".repeat(5000)) });
    const { document } = await call(base, "GET", "/streams?prefix=size-");
    assert.deepEqual(document.streams.map(({ stream, messages, offset }) => [stream, messages, offset]), [["size-large", 1, 1], ["size-small", 1, 1]]);
    assert.ok(document.streams[0].bytes > 5000 && document.total >= 2);
    assert.equal((await call(base, "GET", "/streams?limit=1")).document.streams.length, 1);
  });

  test("who is present, as clients are told, and in pages", async (t) => {
    const identifier = json({ channel: "$pubsub", stream_name: "chat/1" });
    const client = await CableClient.connect(server.ws("/cable"));
    t.after(() => client.socket.terminate());
    await client.frames.next();
    await client.subscribe(identifier);
    const users = async (query = "") => (await call(base, "GET", `/presence/chat%2F1/users${query}`)).document;
    assert.deepEqual(await users(), { type: "info", total: 0 });
    const others = [];
    for (const [id, info] of [["kay", { n: 1.5 }], ["ann", undefined], ["Zoë/ü", [1]]]) {
      const other = await CableClient.connect(server.ws("/cable"));
      t.after(() => other.socket.terminate());
      await other.frames.next();
      await other.subscribe(identifier);
      other.send({ command: "join", identifier, presence: { id, info } });
      assert.equal(JSON.parse(await other.frames.next()).message.type, "join");
      others.push(other);
    }
    const records = [{ id: "Zoë/ü", info: [1] }, { id: "ann" }, { id: "kay", info: { n: 1.5 } }];
    assert.deepEqual(await users(), { type: "info", total: 3, records });
    assert.deepEqual(await users("?return_records=false"), { type: "info", total: 3 });
    assert.deepEqual(await users("?limit=2"), { type: "info", total: 3, records: records.slice(0, 2), has_more: true });
    assert.deepEqual(await users("?after=ann&limit=2"), { type: "info", total: 3, records: records.slice(2) });
    client.send({ command: "presence", identifier });
    let answer;
    // Behind the news of the joins.
    while (answer?.type !== "info") answer = JSON.parse(await client.frames.next()).message;
    assert.deepEqual(answer, await users());
    others[0].send({ command: "leave", identifier });
    await others[0].settle();
    assert.deepEqual((await users()).total, 2);
  });

  test("orders to disconnect are checked", async () => {
    const order = (body) => call(base, "POST", "/disconnect", { body: json(body) });
    assert.equal((await order({ identifier: "someone else" })).status, 201);
    const bad = await order({ id: 1 });
    assert.equal(bad.status, 400);
    assert.match(bad.text, /No client was disconnected: unknown field `id`.*expected \{"identifier":"…","reconnect":true\}/);
    assert.equal((await order({ identifier: "" })).status, 400);
  });

  test("refusals", async () => {
    for (const [method, path, options, expected] of [
      ["POST", "/publish", { key: null }, 401],
      ["POST", "/publish", { key: "b" }, 401],
      ["GET", "/streams", { key: null }, 401],
      ["GET", "/history/x", { key: "wrong" }, 401],
      ["POST", "/publish", { body: "{" }, 400],
      ["POST", "/publish", { body: "x".repeat((1 << 20) + 1) }, 413],
      ["PUT", "/publish", { body: "{}" }, 422],
      ["GET", "/streams?limit=0", {}, 400],
      ["GET", "/streams?size=1", {}, 400],
      ["GET", "/history/x?after=1", {}, 400],
      ["GET", "/presence/x/users", { key: null }, 401],
      ["POST", "/presence/x/users", { body: "{}" }, 422],
      ["GET", "/presence/x/users?limit=0", {}, 400],
      ["GET", "/presence/x/users?return_records=no", {}, 400],
      ["GET", "/presence/a/b/users", {}, 404],
      ["GET", "", {}, 404],
    ]) {
      const { status, text } = await call(base, method, path, options);
      assert.equal(status, expected, `${method} ${path}: ${text}`);
    }
  });
});

test("the key is derived from --secret, as AnyCable derives it", async (t) => {
  const server = await Server.start("--secret", "qwerty");
  t.after(() => server.stop());
  const key = createHmac("sha256", "qwerty").update("api-cable").digest("hex");
  const { status, text } = await call(server.http("/api"), "GET", "/streams", { key });
  assert.deepEqual([status, text], [501, "The server keeps no messages; start it with --broker memory.\n"]);
  assert.equal((await call(server.http("/api"), "GET", "/presence/a/users", { key })).status, 501);
  assert.equal((await call(server.http("/api"), "POST", "/publish", { key, body: message("a", 1) })).status, 201);
  const broadcasts = createHmac("sha256", "qwerty").update("broadcast-cable").digest("hex");
  assert.equal((await call(server.http("/api"), "POST", "/publish", { key: broadcasts, body: message("a", 1) })).status, 401);
});

test("without a key it needs a port of its own, and there programs of this machine only", async (t) => {
  const port = await freePort();
  const server = await Server.start("--public", "--api_port", String(port), "--api_path", "/v1", "--broker", "memory");
  t.after(() => server.stop());
  const own = `http://127.0.0.1:${port}/v1`;
  const publish = (base, headers) => call(base, "POST", "/publish", { key: null, body: message("a", 1), headers });
  assert.equal((await publish(own)).status, 201);
  assert.equal((await publish(own, { origin: "https://evil.example" })).status, 403);
  assert.equal((await fetch(server.http("/v1/publish"), { method: "POST", body: "{}" })).status, 404);
  assert.equal((await fetch(`http://127.0.0.1:${port}/metrics`)).status, 404);
  assert.equal((await fetch(`http://127.0.0.1:${port}/cable`)).status, 404);
  const none = await Server.start("--public");
  t.after(() => none.stop());
  assert.equal((await fetch(none.http("/api/publish"), { method: "POST", body: "{}" })).status, 404);
});
