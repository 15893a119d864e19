// Sessions of servers that share a broker: one goes on at any server, once, and the application does not hear of it. The
// scenarios are the same for Redis and NATS JetStream; an engine says what differs.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { CableClient } from "./cable.mjs";
import { within } from "./deadline.mjs";
import { GrpcApp } from "./grpc-app.mjs";
import { Server } from "./plimsoll.mjs";
import { eventually } from "./processes.mjs";
import { CHAT, confirm, json } from "./rpc-app.mjs";
import { scrape } from "./scrape.mjs";

const EXTENDED = "actioncable-v1-ext-json";

/** A fault lasts seconds. */
const PATIENCE_MS = 60_000;

const next = async (client) => JSON.parse(await client.frames.next(PATIENCE_MS));

/** An application that counts a client's actions in its state, and names clients by `user` in their URLs. */
const HABITS = {
  Connect: ({ env, sid }) => ({
    status: "SUCCESS",
    identifiers: json({ user: new URL(env.url).searchParams.get("user") ?? "kay" }),
    transmissions: [json({ type: "welcome", sid })],
    env: { cstate: { color: "blue" } },
  }),
  Command: ({ command, identifier, env }) => {
    if (command === "subscribe")
      return {
        status: "SUCCESS",
        streams: ["room"],
        transmissions: [confirm(identifier)],
        env: { istate: { n: "0" } },
      };
    const n = Number(env.istate.n) + 1;
    const message = { identifier, message: { n, color: env.cstate.color, url: env.url } };
    return { status: "SUCCESS", transmissions: [json(message)], env: { istate: { n: String(n) } } };
  },
};

/** Servers that share a store, and an application. */
export class Cluster {
  servers = [];

  static async start(t, engine, { n = 2, flags = [] } = {}) {
    const cluster = new Cluster();
    cluster.t = t;
    // Before the store ends, for which they would wait.
    t.after(() => Promise.all(cluster.servers.map((server) => server.stop())));
    cluster.store = await engine.start(t);
    cluster.session = await engine.sessions(t, cluster.store);
    cluster.app = await GrpcApp.start(HABITS);
    t.after(() => cluster.app.kill());
    cluster.flags = [...engine.flags(cluster.store), "--shards", "2", ...flags];
    cluster.flags.push("--broadcast_key", "secret", "--metrics_http", "/metrics", "--rpc_host", cluster.app.host);
    for (let i = 0; i < n; i++) await cluster.add();
    return cluster;
  }

  async add() {
    const server = await Server.start(...this.flags);
    this.servers.push(server);
    await eventually(async () => (await fetch(server.http("/ready"))).status === 200, "a ready server", PATIENCE_MS);
    return server;
  }

  /** A client of the extended protocol, and its welcome. */
  async connect(n, { sid, user = "kay" } = {}) {
    const headers = sid ? { "X-ANYCABLE-RESTORE-SID": sid } : {};
    const url = this.servers[n].ws(`/cable?user=${user}`);
    const client = await CableClient.connect(url, { protocols: [EXTENDED], headers });
    this.t.after(() => client.socket.terminate());
    return { client, welcome: await next(client) };
  }

  async subscribed(n, options) {
    const { client, welcome } = await this.connect(n, options);
    assert.equal(await client.subscribe(CHAT), confirm(CHAT));
    await this.known(welcome.sid);
    return { client, sid: welcome.sid };
  }

  /** Comes back to a session, which must go on. */
  async resume(n, sid) {
    const { client, welcome } = await this.connect(n, { sid });
    assert.deepEqual([welcome.restored, welcome.restored_ids], [true, [CHAT]]);
    assert.notEqual(welcome.sid, sid);
    await this.known(welcome.sid);
    return { client, sid: welcome.sid };
  }

  async publish(n, ...messages) {
    for (const message of messages) {
      const { status } = await this.servers[n].broadcast({ stream: "room", data: json(message) });
      assert.equal(status, 201);
    }
  }

  /** Completes when the store has the session. A client that leaves earlier, and is back at another server before that, connects anew. */
  known(sid) {
    return this.stored(sid, (owner) => owner !== null);
  }

  /** Completes when the store has the session in this state. */
  async stored(sid, isStored) {
    await eventually(async () => isStored(...(await this.session(sid))), `the session ${sid} in the store`, PATIENCE_MS);
  }

  get nConnects() {
    return this.app.calls.Connect.size;
  }
}

/** The answer to an action: how many there were, and the connection's state. */
async function act(client) {
  client.perform(CHAT, {});
  const { message } = await next(client);
  return message;
}

export const counted = (n) => (_, content) => content?.includes(`"n":"${n}"`);

/**
 * An engine has `flags(store)` for the servers, and `start(t)` for a store. `sessions(t, store)` makes a function that finds the
 * owner (empty: it waits; "-": it was taken) and the content of a session by its sid; both are null when there is none.
 */
export function sessionScenarios(engine) {
  describe("a session goes on at another server", () => {
    test("with its subscriptions, its state and what it missed, and without a call to the application", async (t) => {
      const cluster = await Cluster.start(t, engine);
      const { client, sid } = await cluster.subscribed(0);
      await cluster.publish(1, 1);
      const { epoch, offset } = await next(client);
      assert.equal((await act(client)).n, 1);
      client.socket.terminate();
      await cluster.publish(1, 2, 3);
      const nConnects = cluster.nConnects;
      const back = await cluster.resume(1, sid);
      await cluster.publish(0, 4);
      back.client.send({ command: "history", identifier: CHAT, history: { streams: { room: { epoch, offset } } } });
      const frames = [];
      while (frames.length < 4) frames.push(await next(back.client));
      // What was published last may be announced after the replay.
      const [confirmation] = frames.splice(frames.findIndex(({ type }) => type === "confirm_history"), 1);
      assert.equal(confirmation.type, "confirm_history");
      assert.deepEqual(
        frames.map(({ message }) => message),
        [2, 3, 4],
      );
      const { n, color, url } = await act(back.client);
      assert.deepEqual([n, color], [2, "blue"]);
      assert.equal(url, cluster.servers[1].http("/cable?user=kay"));
      await cluster.publish(0, 5);
      assert.equal((await next(back.client)).message, 5);
      assert.equal(cluster.nConnects, nConnects);
    });

    test("again and again, each time under a new sid", async (t) => {
      const cluster = await Cluster.start(t, engine, { n: 3 });
      let { client, sid } = await cluster.subscribed(0);
      for (let turn = 1; turn <= 9; turn++) {
        client.socket.terminate();
        ({ client, sid } = await cluster.resume(turn % 3, sid));
        assert.equal((await act(client)).n, turn);
      }
      assert.equal(cluster.nConnects, 1);
    });

    test("although its server was killed", async (t) => {
      const cluster = await Cluster.start(t, engine);
      const { client, sid } = await cluster.subscribed(0);
      assert.equal((await act(client)).n, 1);
      await cluster.stored(sid, counted(1));
      process.kill(cluster.servers[0].pid, "SIGKILL");
      await within(client.closed, "the end of the connection");
      const back = await cluster.resume(1, sid);
      assert.equal((await act(back.client)).n, 2);
      assert.equal(cluster.nConnects, 1);
    });

    test("although its old connection seems open: that one is cut, and a session never exists twice", async (t) => {
      const cluster = await Cluster.start(t, engine);
      const { client, sid } = await cluster.subscribed(0);
      await cluster.stored(sid, counted(0));
      client.socket.pause();
      const back = await cluster.resume(1, sid);
      assert.equal((await act(back.client)).n, 1);
      client.socket.resume();
      await within(client.closed, "the end of the old connection");
      const { welcome } = await cluster.connect(0, { sid });
      assert.equal(welcome.restored, undefined);
    });

    test("although its server stood still: what that server still says is refused, and its client is sent away", async (t) => {
      const cluster = await Cluster.start(t, engine);
      const { client, sid } = await cluster.subscribed(0);
      await cluster.stored(sid, counted(0));
      cluster.servers[0].signal("SIGSTOP");
      const back = await cluster.resume(1, sid);
      cluster.servers[0].signal("SIGCONT");
      client.perform(CHAT, {});
      await within(client.closed, "the end of the old connection", PATIENCE_MS);
      assert.equal((await act(back.client)).n, 1);
    });

    test("once, however many ask for it at the same time", async (t) => {
      const cluster = await Cluster.start(t, engine, { n: 3 });
      for (let round = 0; round < 10; round++) {
        const { client, sid } = await cluster.subscribed(round % 3);
        client.socket.terminate();
        const all = await Promise.all(Array.from({ length: 12 }, (_, n) => cluster.connect(n % 3, { sid })));
        assert.equal(all.filter(({ welcome }) => welcome.restored).length, 1, `round ${round}`);
      }
    });
  });

  describe("servers that stop", () => {
    test("leave their sessions to the others, also those that were sent away one after the other", async (t) => {
      for (const flags of [[], ["--shutdown_slowdrain_period", "1"]]) {
        const cluster = await Cluster.start(t, engine, { flags });
        const users = await Promise.all(Array.from({ length: 20 }, () => cluster.subscribed(0)));
        const stopping = cluster.servers[0].stop();
        await Promise.all(
          users.map(async ({ client, sid }) => {
            assert.deepEqual(await next(client), { type: "disconnect", reason: "server_restart", reconnect: true });
            client.socket.close();
            await within(client.closed, "the end of the connection");
            const back = await cluster.resume(1, sid);
            assert.equal((await act(back.client)).n, 1);
          }),
        );
        await stopping;
        assert.equal(cluster.nConnects, 20);
      }
    });
  });

  describe("a session does not go on", () => {
    test("if a backend has disconnected its client, wherever the client and its server are", async (t) => {
      const cluster = await Cluster.start(t, engine, { n: 3 });
      const disconnect = { command: "disconnect", payload: { identifier: json({ user: "kay" }), reconnect: true } };
      const away = await cluster.subscribed(0);
      const killed = await cluster.subscribed(1);
      const other = await cluster.subscribed(1, { user: "ann" });
      for (const { sid } of [killed, other]) await cluster.stored(sid, counted(0));
      away.client.socket.terminate();
      await cluster.stored(away.sid, (owner) => owner === "");
      process.kill(cluster.servers[1].pid, "SIGKILL");
      assert.equal((await cluster.servers[2].broadcast(disconnect)).status, 201);
      for (const { sid } of [away, killed]) {
        const { welcome } = await cluster.connect(2, { sid });
        assert.equal(welcome.restored, undefined);
      }
      await cluster.resume(2, other.sid);
    });

    test("if its time is over, or if nothing knows it", async (t) => {
      const cluster = await Cluster.start(t, engine, { flags: ["--sessions_ttl", "1"] });
      const { client, sid } = await cluster.subscribed(0);
      client.socket.terminate();
      await cluster.stored(sid, (owner) => owner === null);
      for (const unknown of [sid, "no-such-session", "a b\n", "x".repeat(1000)].map(encodeURIComponent)) {
        const { welcome } = await cluster.connect(1, { sid: unknown });
        assert.equal(welcome.restored, undefined);
      }
    });

    test("if the store is away: the client connects anew, and what the store did not get is written when it is back", async (t) => {
      const cluster = await Cluster.start(t, engine);
      const [impatient, patient] = [await cluster.subscribed(0), await cluster.subscribed(0)];
      for (const { sid } of [impatient, patient]) await cluster.stored(sid, counted(0));
      cluster.store.signal("SIGSTOP");
      for (const { client } of [impatient, patient]) client.socket.terminate();
      const { welcome } = await cluster.connect(1, { sid: impatient.sid });
      assert.equal(welcome.restored, undefined);
      cluster.store.signal("SIGCONT");
      await cluster.stored(patient.sid, (owner) => owner === "");
      await cluster.resume(1, patient.sid);
    });
  });

  test("with --disconnect_grace the application hears of an end only if the client comes back to no server", async (t) => {
    const cluster = await Cluster.start(t, engine, { flags: ["--disconnect_grace", "1"] });
    const [returning, leaving] = [await cluster.subscribed(0, { user: "ann" }), await cluster.subscribed(0)];
    for (const { client } of [returning, leaving]) client.socket.terminate();
    await cluster.resume(1, returning.sid);
    const { sid } = await cluster.app.calls.Disconnect.next(PATIENCE_MS);
    assert.equal(sid, leaving.sid);
    assert.equal(cluster.app.calls.Disconnect.size, 0);
  });

  test("the metrics count servers and sessions that went on", async (t) => {
    const cluster = await Cluster.start(t, engine);
    const { client, sid } = await cluster.subscribed(0);
    client.socket.terminate();
    await cluster.resume(1, sid);
    const figures = () => Promise.all(cluster.servers.map((server) => scrape(server.http("/metrics"))));
    const [first, second] = await figures();
    assert.deepEqual([first.sessions_resumed_total, second.sessions_resumed_total], [0, 1]);
    const see = async (n) => (await figures()).every(({ broker_servers_num }) => broker_servers_num === n);
    await eventually(() => see(2), "two servers", PATIENCE_MS);
    await cluster.add();
    await eventually(() => see(3), "three servers", PATIENCE_MS);
    await cluster.servers.pop().stop();
    await eventually(() => see(2), "two servers again", PATIENCE_MS);
  });
}
