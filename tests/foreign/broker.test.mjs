// `plimsoll serve --broker memory`: what clients get that were away, from npm `ws` and from the unmodified @anycable/core.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { createCable } from "@anycable/core";
import { SignJWT } from "jose";
import WebSocket from "ws";
import { CableClient } from "./support/cable.mjs";
import { within } from "./support/deadline.mjs";
import { GrpcApp } from "./support/grpc-app.mjs";
import { Inbox } from "./support/inbox.mjs";
import { Server, plimsoll } from "./support/plimsoll.mjs";
import { CHAT } from "./support/rpc-app.mjs";

const EXTENDED = "actioncable-v1-ext-json";

const pubsub = (stream) => JSON.stringify({ channel: "$pubsub", stream_name: stream });

const start = (...flags) =>
  Server.start("--public", "--broker", "memory", "--shards", "3", "--broadcast_key", "secret", ...flags);

async function publish(server, stream, message, meta) {
  const { status } = await server.broadcast({ stream, data: JSON.stringify(message), meta });
  assert.equal(status, 201);
}

/** A client of the extended protocol, and its welcome. */
async function extended(t, server, { path = "/cable", headers = {} } = {}) {
  const client = await CableClient.connect(server.ws(path), { protocols: [EXTENDED], headers });
  t.after(() => client.socket.terminate());
  assert.equal(client.socket.protocol, EXTENDED);
  return { client, welcome: JSON.parse(await client.frames.next()) };
}

const next = async (client) => JSON.parse(await client.frames.next());

/** Everything up to a message of this type, and that message. */
async function until(client, type) {
  const messages = [];
  for (;;) {
    const message = await next(client);
    if (message.type === type) return messages;
    messages.push(message);
  }
}

/** The request for what follows the last of these messages. */
function behind(...messages) {
  const position = ({ stream_id, epoch, offset }) => [stream_id, { epoch, offset }];
  return { streams: Object.fromEntries(messages.map(position)) };
}

const offsets = (messages) => messages.map(({ offset }) => offset);

/** `count` numbers from `first` on. */
const from = (first, count) => Array.from({ length: count }, (_, n) => first + n);

describe("history", () => {
  let server;
  before(async () => (server = await start("--history_limit", "500")));
  after(() => server.stop());

  test("clients of the base protocol get positions and history, too", async (t) => {
    const [stream, identifier] = ["base", pubsub("base")];
    await publish(server, stream, 1);
    const client = await CableClient.connect(server.ws("/cable"));
    t.after(() => client.socket.terminate());
    await client.frames.next();
    client.send({ command: "subscribe", identifier, history: { since: 1 } });
    assert.equal((await next(client)).type, "confirm_subscription");
    const [{ epoch, ...first }] = await until(client, "confirm_history");
    assert.deepEqual(first, { identifier, message: 1, stream_id: stream, offset: 1 });
    assert.match(epoch, /^[\w-]{8,}$/);
    await publish(server, stream, 2, { transient: true });
    assert.deepEqual(await next(client), { identifier, message: 2 });
    await publish(server, stream, 3, { broadcast_type: "note" });
    assert.deepEqual(await next(client), { type: "note", identifier, message: 3, stream_id: stream, epoch, offset: 2 });
  });

  test("offsets are in the order of delivery, and a replay fits to what follows, whatever publishes meanwhile", async (t) => {
    const [stream, identifier] = ["busy", pubsub("busy")];
    const count = 200;
    const { client: live } = await extended(t, server);
    live.send({ command: "subscribe", identifier });
    await until(live, "confirm_subscription");
    const publishers = from(0, 4).map(async (number) => {
      for (let n = 0; n < count / 4; n++) await publish(server, stream, [number, n]);
    });
    const late = from(0, 5).map(async () => {
      const { client } = await extended(t, server);
      client.send({ command: "subscribe", identifier, history: { since: 1 } });
      assert.equal((await next(client)).type, "confirm_subscription");
      const replayed = await until(client, "confirm_history");
      const rest = [];
      while (replayed.length + rest.length < count) rest.push(await next(client));
      return offsets([...replayed, ...rest]);
    });
    for (const heard of await Promise.all(late)) {
      assert.deepEqual(heard, from(1, count));
    }
    await Promise.all(publishers);
    const heard = [];
    while (heard.length < count) heard.push((await next(live)).offset);
    assert.deepEqual(heard, from(1, count));
  });

  test("bad requests get answers", async (t) => {
    const [stream, identifier] = ["bad", pubsub("bad")];
    await publish(server, stream, 1);
    const { client } = await extended(t, server);
    client.send({ command: "subscribe", identifier, history: { since: 1 } });
    await next(client);
    const [message] = await until(client, "confirm_history");
    const many = Object.fromEntries(from(0, 1500).map((n) => [`s${n}`, { epoch: "e", offset: n }]));
    for (const [history, answer] of [
      [{ streams: { [stream]: { epoch: message.epoch, offset: 2 ** 53 } } }, "reject_history"],
      [{ streams: { [stream]: { epoch: "other", offset: 1 } } }, "reject_history"],
      [{ streams: { [stream]: "nonsense" } }, "reject_history"],
      [{ streams: many }, "confirm_history"],
      [{ since: 4102444800 }, "confirm_history"],
      [undefined, "reject_history"],
      [{ since: -1 }, "reject_history"],
    ]) {
      client.send({ command: "history", identifier, history });
      assert.equal((await next(client)).type, answer, JSON.stringify(history)?.slice(0, 100));
    }
  });
});

test("a time before the first message that is kept is refused, unless the operator wants the rest", async (t) => {
  for (const [flags, type] of [[[], "reject_history"], [["--history_truncation", "confirm"], "confirm_history"]]) {
    const server = await start("--history_limit", "3", ...flags);
    t.after(() => server.stop());
    for (let n = 1; n <= 5; n++) await publish(server, "s", n);
    const { client } = await extended(t, server);
    client.send({ command: "subscribe", identifier: pubsub("s"), history: { since: 1 } });
    await next(client);
    assert.deepEqual(offsets(await until(client, type)), type === "confirm_history" ? [3, 4, 5] : []);
  }
});

test("a replay larger than a client's memory comes as the client reads, and ends no session", async (t) => {
  const server = await start("--ws_max_pending_size", "65536");
  t.after(() => server.stop());
  const text = "x".repeat(200_000);
  for (let n = 1; n <= 100; n++) await publish(server, "big", text);
  const { client } = await extended(t, server);
  client.send({ command: "subscribe", identifier: pubsub("big"), history: { since: 1 } });
  await next(client);
  // The socket is not read for a while: messages that are published meanwhile belong to the replay.
  client.socket.pause();
  await publish(server, "other", 1);
  client.socket.resume();
  const replayed = await until(client, "confirm_history");
  assert.deepEqual(offsets(replayed), from(1, 100));
  await publish(server, "big", "end");
  const last = await next(client);
  assert.deepEqual([last.message, last.offset], ["end", 101]);
});

describe("resuming", () => {
  let server;
  before(async () => (server = await start()));
  after(() => server.stop());

  test("clients that are cut off again and again miss nothing and hear nothing twice", async (t) => {
    const [stream, identifier] = ["cuts", pubsub("cuts")];
    let published = 0;
    const clients = await Promise.all(
      from(0, 6).map(async () => {
        const { client, welcome } = await extended(t, server);
        client.send({ command: "subscribe", identifier, history: { since: 1 } });
        await until(client, "confirm_history");
        return { client, sid: welcome.sid, heard: [] };
      }),
    );
    for (let round = 0; round < 5; round++) {
      for (let n = 0; n < 5; n++) await publish(server, stream, ++published);
      await Promise.all(
        clients.map(async (user, number) => {
          while (user.heard.length < published) user.heard.push(await next(user.client));
          // Half of them leave their connection open: the server does not know that the client is gone.
          if (number % 2 === 0) user.client.socket.terminate();
          else user.client.socket.pause();
        }),
      );
      for (let n = 0; n < 5; n++) await publish(server, stream, ++published);
      await Promise.all(
        clients.map(async (user) => {
          const { client, welcome } = await extended(t, server, { headers: { "X-ANYCABLE-RESTORE-SID": user.sid } });
          assert.deepEqual([welcome.restored, welcome.restored_ids], [true, [identifier]]);
          assert.notEqual(welcome.sid, user.sid);
          Object.assign(user, { client, sid: welcome.sid });
          client.send({ command: "history", identifier, history: behind(user.heard.at(-1)) });
          user.heard.push(...(await until(client, "confirm_history")));
        }),
      );
    }
    for (const { heard } of clients) assert.deepEqual(heard.map(({ message }) => message), from(1, published));
  });

  /** A client that has heard message 1 of a stream, was cut, has missed 2 and 3, and is back. */
  async function returned(t, stream, ...flags) {
    const own = flags.length > 0 ? await start(...flags) : server;
    if (own !== server) t.after(() => own.stop());
    const identifier = pubsub(stream);
    const { client, welcome } = await extended(t, own);
    client.send({ command: "subscribe", identifier });
    await until(client, "confirm_subscription");
    await publish(own, stream, 1);
    const first = await next(client);
    client.socket.terminate();
    for (const n of [2, 3]) await publish(own, stream, n);
    const { client: again, welcome: restored } = await extended(t, own, { path: `/cable?sid=${welcome.sid}` });
    assert.deepEqual(restored.restored_ids, [identifier]);
    return { own, identifier, again, first };
  }

  test("messages between the return and the request for history come once, in the replay", async (t) => {
    const { own, identifier, again, first } = await returned(t, "between");
    for (const n of [4, 5]) await publish(own, "between", n);
    // A message that is not kept belongs to no replay, so it does not wait for the request.
    await publish(own, "between", "passing", { transient: true });
    assert.equal((await next(again)).message, "passing");
    again.send({ command: "history", identifier, history: behind(first) });
    const heard = await until(again, "confirm_history");
    assert.deepEqual(heard.map(({ message }) => message), [2, 3, 4, 5]);
    await publish(own, "between", 6);
    assert.equal((await next(again)).offset, 6);
  });

  test("a client whose request is refused is told, and then hears what came since its return", async (t) => {
    const { own, identifier, again, first } = await returned(t, "refused", "--history_limit", "3");
    for (const n of [4, 5, 6]) await publish(own, "refused", n);
    again.send({ command: "history", identifier, history: behind(first) });
    assert.equal((await next(again)).type, "reject_history");
    for (const n of [4, 5, 6]) assert.equal((await next(again)).message, n);
  });

  test("a client that does not ask hears what came since its return, or learns that it is gone", async (t) => {
    for (const [stream, limit, act] of [["idle", 10], ["acts", 10, true], ["gone", 1]]) {
      const { own, identifier, again } = await returned(t, stream, "--history_limit", `${limit}`);
      for (const n of [4, 5]) await publish(own, stream, n);
      if (act) again.perform(identifier, {});
      if (limit === 1) assert.equal((await next(again)).type, "reject_history");
      else for (const n of [4, 5]) assert.equal((await next(again)).message, n);
      await publish(own, stream, 6);
      assert.equal((await next(again)).message, 6);
    }
  });

  test("a session can be resumed once, and only by its sid", async (t) => {
    const { client, welcome } = await extended(t, server);
    client.socket.terminate();
    for (const [sid, restored] of [["no-such-session", undefined], [welcome.sid, true], [welcome.sid, undefined]]) {
      const { welcome: again, client } = await extended(t, server, { path: `/cable?sid=${sid}` });
      assert.equal(again.restored, restored, sid);
      client.socket.terminate();
    }
  });

  test("a session that a backend has ended is not resumed", async (t) => {
    for (const isAway of [false, true]) {
      const { client, welcome } = await extended(t, server);
      if (isAway) client.socket.terminate();
      const identifiers = JSON.stringify({ sid: welcome.sid });
      const command = { command: "disconnect", payload: { identifier: identifiers, reconnect: true } };
      assert.equal((await server.broadcast(command)).status, 201);
      await within(client.closed, "the end of the session");
      const { welcome: again } = await extended(t, server, { path: `/cable?sid=${welcome.sid}` });
      assert.equal(again.restored, undefined, `away: ${isAway}`);
    }
  });
});

test("with --resume_check token a session goes on for its own user alone", async (t) => {
  const secret = "a secret that is long enough for tokens";
  const flags = ["--norpc", "--broker", "memory", "--jwt_secret", secret];
  const server = await Server.start(...flags, "--resume_check", "token");
  t.after(() => server.stop());
  const token = (user, end = "1h") =>
    new SignJWT({ ext: JSON.stringify({ user }) })
      .setProtectedHeader({ alg: "HS256" })
      .setExpirationTime(end)
      .sign(new TextEncoder().encode(secret));
  const [kay, ann, late] = await Promise.all([token("kay"), token("ann"), token("kay", 1)]);
  const { client, welcome } = await extended(t, server, { path: `/cable?jid=${kay}` });
  client.socket.terminate();
  const headers = { "X-ANYCABLE-RESTORE-SID": welcome.sid };
  for (const [query, expected] of [
    [`?jid=${ann}`, ["welcome", undefined, undefined]],
    [`?jid=${late}`, ["disconnect", "token_expired", undefined]],
    [`?jid=${kay}`, ["welcome", undefined, true]],
  ]) {
    const { client: again, welcome } = await extended(t, server, { path: `/cable${query}`, headers });
    assert.deepEqual([welcome.type, welcome.reason, welcome.restored], expected, query.slice(0, 8));
    again.socket.terminate();
  }
});

test("--resume_check token without anything to check tokens with is a mistake", async () => {
  const { code, stderr } = await plimsoll("serve", "--broker", "memory", "--public", "--resume_check", "token");
  assert.notEqual(code, 0);
  assert.match(stderr, /--resume_check token would let no client go on .*--jwt_secret, --jwt_jwks or --secret/);
});

test("sessions are not resumed with --sessions_ttl 0", async (t) => {
  const server = await start("--sessions_ttl", "0");
  t.after(() => server.stop());
  const { client, welcome } = await extended(t, server);
  client.socket.terminate();
  const { welcome: again } = await extended(t, server, { path: `/cable?sid=${welcome.sid}` });
  assert.equal(again.restored, undefined);
});

test("@anycable/core resumes its session and gets what it missed, or learns that it is gone", async (t) => {
  const server = await start("--history_limit", "5");
  t.after(() => server.stop());
  const cable = createCable(server.ws("/cable"), {
    protocol: EXTENDED,
    websocketImplementation: WebSocket,
    logLevel: "error",
  });
  t.after(() => cable.disconnect());
  const channel = cable.streamFrom("news");
  const events = new Inbox("events");
  channel.on("message", (message) => events.push(message));
  channel.on("connect", ({ restored }) => restored && events.push("restored"));
  channel.on("info", ({ type }) => events.push(type));
  await within(channel.ensureSubscribed(), "the subscription");
  await publish(server, "news", 1);
  assert.equal(await events.next(), 1);
  for (const [count, expected] of [
    [3, ["restored", 2, 3, 4, "history_received"]],
    [6, ["restored", "history_not_found"]],
  ]) {
    cable.transport.ws.terminate();
    for (let n = 0; n < count; n++) await publish(server, "news", n + 2);
    const found = [];
    while (found.length < expected.length) found.push(await events.next());
    assert.deepEqual(found, expected);
  }
});

test("the application is not asked about a session that goes on, and does not hear of its end before the grace", async (t) => {
  const app = await GrpcApp.start();
  t.after(() => app.kill());
  const flags = ["--rpc_host", app.host, "--broker", "memory", "--broadcast_key", "secret"];
  for (const grace of [0, 3600]) {
    const server = await Server.start(...flags, "--disconnect_grace", `${grace}`);
    const { client, welcome } = await extended(t, server);
    client.send({ command: "subscribe", identifier: CHAT });
    await until(client, "confirm_subscription");
    const { sid } = await app.calls.Connect.next();
    assert.equal((await app.calls.Command.next()).command, "subscribe");
    client.socket.terminate();
    if (grace === 0) assert.equal((await app.calls.Disconnect.next()).sid, sid);
    const { client: again, welcome: restored } = await extended(t, server, { path: `/cable?sid=${welcome.sid}` });
    assert.deepEqual(restored.restored_ids, [CHAT]);
    await publish(server, "room", "hello");
    assert.equal((await next(again)).message, "hello");
    again.perform(CHAT, { action: "speak" });
    const { command, connection_identifiers } = await app.calls.Command.next();
    assert.deepEqual([command, connection_identifiers], ["message", '{"user":"kay"}']);
    // The server stops: now the application hears of the end of the session, once.
    await server.stop();
    const { subscriptions } = await app.calls.Disconnect.next();
    assert.deepEqual(subscriptions, [CHAT]);
    for (const calls of Object.values(app.calls)) assert.equal(calls.size, 0);
  }
});
