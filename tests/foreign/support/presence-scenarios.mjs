// Clients of servers that share a broker are present together. The scenarios are the same for Redis and NATS JetStream; an
// engine says what differs.

import assert from "node:assert/strict";
import { test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { CableClient } from "./cable.mjs";
import { Server } from "./plimsoll.mjs";
import * as messages from "./presence.mjs";
import { joined, left, list } from "./presence.mjs";
import { eventually } from "./processes.mjs";
import { PATIENCE_MS, expectReadiness, next, pubsub } from "./shared-streams.mjs";

const EXTENDED = "actioncable-v1-ext-json";
const STREAM = "room/1";
const ROOM = pubsub(STREAM);

/** Servers that share a store. A member leaves two seconds after its connection is lost. */
async function cluster(t, engine, { n = 2, flags = [] } = {}) {
  const servers = [];
  // Before the store ends, for which they would wait.
  t.after(() => Promise.all(servers.map((server) => server.stop())));
  const store = await engine.start(t);
  const add = async () => {
    const server = await Server.start(
      ...["--public", ...engine.flags(store), "--shards", "2", "--presence_ttl", "2", "--api_secret", "key", ...flags],
    );
    servers.push(server);
    await expectReadiness([server], 200);
    return server;
  };
  for (let i = 0; i < n; i++) await add();
  return { servers, store, add };
}

async function connect(t, server, { sid } = {}) {
  const headers = sid ? { "X-ANYCABLE-RESTORE-SID": sid } : {};
  const client = await CableClient.connect(server.ws("/cable"), { protocols: [EXTENDED], headers });
  t.after(() => client.socket.terminate());
  return { client, welcome: await next(client) };
}

async function subscribed(t, server, identifier = ROOM) {
  const { client, welcome } = await connect(t, server);
  client.send({ command: "subscribe", identifier });
  assert.equal((await next(client)).type, "confirm_subscription");
  return { client, sid: welcome.sid };
}

const join = (client, id, info) => messages.join(client, ROOM, id, info);
const leave = (client) => client.send({ command: "leave", identifier: ROOM });
const presence = (client) => messages.presence(client, ROOM, PATIENCE_MS);
const ask = (client) => messages.ask(client, ROOM, undefined, PATIENCE_MS);

async function expectAll(clients, ...expected) {
  for (const message of expected) for (const client of clients) assert.deepEqual(await presence(client), message);
}

/** What a server's REST API says, whether it hears the stream or not; null while the store is away. */
async function listed(server) {
  const url = server.http(`/api/presence/${encodeURIComponent(STREAM)}/users`);
  const response = await fetch(url, { headers: { authorization: "Bearer key" } });
  if (response.status === 503) return null;
  assert.equal(response.status, 200);
  return response.json();
}

/** Members come, change and go at two servers. */
export async function comeAndGo(t, engine) {
  const { servers } = await cluster(t, engine);
  const { client: observer } = await subscribed(t, servers[0]);
  const [one, other] = await Promise.all([0, 1].map((n) => subscribed(t, servers[n])));
  const all = [observer, one.client, other.client];
  join(one.client, "kay");
  await expectAll(all, joined("kay"));
  join(other.client, "kay");
  join(one.client, "kay", 1);
  other.client.send({ command: "leave", identifier: ROOM });
  leave(one.client);
  await expectAll(all, left("kay"));
  // The second server may tell the store of its member's coming and going after the first one.
  const isEmpty = async (server) => isDeepStrictEqual(await listed(server), list());
  for (const server of servers) await eventually(() => isEmpty(server), "no member", PATIENCE_MS);
}

/**
 * An engine has `flags(store)` for the servers, `start(t)` for a store that loses everything when it is killed, `cut(t, store)`,
 * which makes a function that cuts the subscriptions of all servers, and `sessions(t, store)`, which makes a function that finds the
 * owner and the content of a session.
 */
export function presenceScenarios(engine) {
  test("members come, change and go at two servers", (t) => comeAndGo(t, engine));

  test("one id is one member, at however many servers, until the last one of its clients leaves", async (t) => {
    const { servers, add } = await cluster(t, engine);
    const { client: observer } = await subscribed(t, servers[0]);
    const [one, other, again] = await Promise.all([0, 1, 1].map((n) => subscribed(t, servers[n])));
    const all = [observer, one.client, other.client, again.client];
    join(one.client, "kay", { at: 0 });
    await expectAll(all, joined("kay", { at: 0 }));
    join(other.client, "kay", { at: 1 });
    join(again.client, "ann");
    await expectAll(all, joined("ann"));
    // The changes of different members may be made at the same time.
    const both = list({ id: "ann" }, { id: "kay", info: { at: 1 } });
    const isKnown = async (client) => isDeepStrictEqual(await ask(client), both);
    for (const client of all) await eventually(() => isKnown(client), "both members", PATIENCE_MS);
    const deaf = await add();
    for (const server of [...servers.slice(0, 2), deaf]) {
      assert.deepEqual(await listed(server), both);
    }
    leave(one.client);
    other.client.send({ command: "unsubscribe", identifier: ROOM });
    await expectAll([observer, one.client, again.client], left("kay"));
    again.client.socket.terminate();
    await expectAll([observer, one.client], left("ann"));
    assert.deepEqual(await ask(observer), list());
    assert.deepEqual(await listed(deaf), { type: "info", total: 0 });
  });

  test("a changed info is known to all, and told if the operator wants that", async (t) => {
    const { servers } = await cluster(t, engine, { n: 1 });
    const { client } = await subscribed(t, servers[0]);
    join(client, "kay", 1);
    assert.deepEqual(await presence(client), joined("kay", 1));
    join(client, "kay", 2);
    await eventually(async () => (await listed(servers[0])).records[0].info === 2, "the changed info", PATIENCE_MS);
    assert.deepEqual(await ask(client), list({ id: "kay", info: 2 }), "without an event");
    const telling = await cluster(t, engine, { flags: ["--presence_updates"] });
    const clients = await Promise.all(telling.servers.map(async (server) => (await subscribed(t, server)).client));
    join(clients[0], "kay", 1);
    join(clients[0], "kay", 2);
    // The store may hear of both at once.
    const events = [await presence(clients[1])];
    if (events[0].info === 1) events.push(await presence(clients[1]));
    assert.equal(events.at(-1).info, 2);
  });

  test("a member whose client goes on at another server has never left", async (t) => {
    const { servers } = await cluster(t, engine);
    const { client: observer } = await subscribed(t, servers[0]);
    const { client, sid } = await subscribed(t, servers[0]);
    join(client, "kay", 1);
    await expectAll([observer, client], joined("kay", 1));
    client.socket.terminate();
    const back = await connect(t, servers[1], { sid });
    assert.equal(back.welcome.restored, true);
    // Ann comes later and is gone for good: by then the absence at the first server has ended, too.
    const { client: ann } = await subscribed(t, servers[0]);
    join(ann, "ann");
    await expectAll([observer, back.client], joined("ann"));
    ann.socket.terminate();
    await expectAll([observer, back.client], left("ann"));
    assert.deepEqual(await ask(observer), list({ id: "kay", info: 1 }));
    leave(back.client);
    await expectAll([observer, back.client], left("kay"));
  });

  test("the members of a server that dies are gone after a while, and those who come back to another one are not", async (t) => {
    const { servers, store } = await cluster(t, engine);
    const content = await engine.sessions(t, store);
    const { client: observer } = await subscribed(t, servers[0]);
    const [kay, ann] = await Promise.all([0, 0].map(() => subscribed(t, servers[1])));
    join(kay.client, "kay", 1);
    await expectAll([observer, kay.client, ann.client], joined("kay", 1));
    join(ann.client, "ann", 2);
    await expectAll([observer, kay.client, ann.client], joined("ann", 2));
    // A server tells of changes within a second.
    const isStored = async () => (await content(kay.sid))[1]?.includes('"present"');
    await eventually(isStored, "the session with its member in the store", PATIENCE_MS);
    process.kill(servers.pop().pid, "SIGKILL");
    const back = await connect(t, servers[0], { sid: kay.sid });
    assert.equal(back.welcome.restored, true);
    await expectAll([observer, back.client], left("ann"));
    assert.deepEqual(await ask(observer), list({ id: "kay", info: 1 }));
  });

  test("what happened while a server could hear nothing is told later", async (t) => {
    const { servers, store } = await cluster(t, engine);
    const cut = await engine.cut(t, store);
    const observers = await Promise.all(servers.map(async (server) => (await subscribed(t, server)).client));
    const members = await Promise.all(Array.from({ length: 6 }, (_, n) => subscribed(t, servers[n % 2])));
    const counts = observers.map(() => new Set());
    // The last member to come may be told before an earlier one, when a server reads both at once.
    const isAllKnown = (known) => isDeepStrictEqual([...known].toSorted(), ["end", "member-0", "member-1"]);
    const heard = observers.map(async (client, n) => {
      while (!isAllKnown(counts[n])) {
        const { type, id } = await presence(client);
        assert.equal(counts[n].has(id), type === "leave", `${type} ${id}`);
        if (type === "join") counts[n].add(id);
        else counts[n].delete(id);
      }
    });
    for (let round = 0; round < 12; round++) {
      if (round % 3 === 1) await cut();
      for (const [n, { client }] of members.entries()) {
        if (round % 2 === 0) join(client, `member-${n}`);
        else if (n >= 2) leave(client);
      }
      // The commands are done when the answer to a later one is there.
      for (const { client } of members) {
        client.send({ command: "ping" });
        while ((await next(client)).type !== "pong");
      }
    }
    const expected = list({ id: "member-0" }, { id: "member-1" });
    for (const server of servers) {
      const isSo = async () => isDeepStrictEqual(await listed(server), expected);
      await eventually(isSo, "the members that stay", PATIENCE_MS);
    }
    const { client: last } = await subscribed(t, servers[0]);
    join(last, "end");
    await Promise.all(heard);
  });

  test("members outlive a store that loses everything, and changes wait for one that is away", async (t) => {
    const { servers, store } = await cluster(t, engine);
    const { client: observer } = await subscribed(t, servers[1]);
    const { client } = await subscribed(t, servers[0]);
    join(client, "kay", 1);
    await expectAll([observer, client], joined("kay", 1));
    await store.kill();
    join(client, "kay", 2);
    leave(client);
    join(client, "kay", 3);
    assert.deepEqual(await ask(client), list({ id: "kay", info: 1 }), "the other server has not heard of more");
    await store.resume();
    const isBack = async () => isDeepStrictEqual(await listed(servers[1]), list({ id: "kay", info: 3 }));
    await eventually(isBack, "the member in the new store", PATIENCE_MS);
    // Whether they saw it go and come depends on which server read the store first; in the end it is there for all.
    for (const one of [observer, client]) {
      const isKnown = async () => {
        one.send({ command: "presence", identifier: ROOM });
        for (;;) {
          const message = await presence(one);
          if (message.type === "info") return isDeepStrictEqual(message, list({ id: "kay", info: 3 }));
        }
      };
      await eventually(isKnown, "the member at each server", PATIENCE_MS);
    }
  });
}
