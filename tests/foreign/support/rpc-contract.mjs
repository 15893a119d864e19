// What every remote application can rely on, whatever the kind of RPC: one suite, run with an application of each kind.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { CableClient } from "./cable.mjs";
import { within } from "./deadline.mjs";
import { Server } from "./plimsoll.mjs";
import { RawSocket, upgradeRequest } from "./raw.mjs";
import { CHAT, confirm, gate, json, reject, transmission } from "./rpc-app.mjs";

const GOODBYE = '{"type":"disconnect","reason":"server_restart","reconnect":true}';
const UNAUTHORIZED = '{"type":"disconnect","reason":"unauthorized","reconnect":false}';

/** An application of a kind and a server that asks it; both end with the test. */
export async function start(App, t, habits, ...flags) {
  const app = await App.start(habits);
  const server = await Server.start("--rpc_host", app.host, "--broadcast_key", "secret", ...flags);
  t.after(async () => {
    if (server.isRunning) await server.stop();
    app.kill();
  });
  return { app, server, url: server.ws("/cable") };
}

/** A client after its welcome. */
export async function welcomed(url, options) {
  const client = await CableClient.connect(url, options);
  assert.equal(JSON.parse(await client.frames.next()).type, "welcome");
  return client;
}

/** The suite. `App` is the application's class. */
export function describeContract(App) {
  describe("Connect", () => {
    test("an accepted client gets the application's welcome, and commands carry its identifiers and the sid", async (t) => {
      const { app, url } = await start(App, t);
      const client = await CableClient.connect(url);
      const { sid, protov } = await app.calls.Connect.next();
      assert.match(sid, /^[\w-]{21}$/);
      assert.equal(protov, "v1");
      assert.equal(await client.frames.next(), json({ type: "welcome", sid }));
      assert.equal(await client.subscribe(CHAT), confirm(CHAT));
      const command = await app.calls.Command.next();
      assert.equal(command.sid, sid);
      assert.equal(command.protov, "v1");
      assert.equal(command.command, "subscribe");
      assert.equal(command.identifier, CHAT);
      assert.equal(command.connection_identifiers, '{"user":"kay"}');
    });

    test("a refused client gets the application's words, then 1000 Auth Failed, and no Disconnect call", async (t) => {
      const { app, server, url } = await start(App, t, {
        Connect: () => ({ status: "FAILURE", transmissions: [UNAUTHORIZED] }),
      });
      const client = await CableClient.connect(url);
      assert.equal(await client.frames.next(), UNAUTHORIZED);
      assert.deepEqual(await within(client.closed, "the close"), { code: 1000, reason: "Auth Failed" });
      await server.stop();
      assert.equal(app.calls.Disconnect.size, 0);
    });

    for (const [name, Connect] of [
      ["says ERROR", () => ({ status: "ERROR", error_msg: "no such table" })],
      ["fails", () => Promise.reject(App.rejection("no such table"))],
    ]) {
      test(`an application that ${name}: 1011 Auth Error, nothing before it, and a line in the log`, async (t) => {
        const { app, server, url } = await start(App, t, { Connect });
        const client = await CableClient.connect(url);
        assert.deepEqual(await within(client.closed, "the close"), { code: 1011, reason: "Auth Error" });
        assert.equal(client.frames.size, 0);
        await app.calls.Connect.next();
        assert.equal(app.calls.Connect.size, 0, "the call is not repeated");
        await server.stop();
        assert.match(server.stderr, /Connect failed: .*no such table/);
      });
    }

    test("the application gets URL, cookies, chosen headers and the peer's address", async (t) => {
      const { app, server } = await start(App, t, {}, "--headers", "Cookie,X-Api-Token,X-Missing");
      const headers = { cookie: "_session=a==; uid=kay/1", "X-API-Token": "t0k", "X-Other": "no", "X-Request-ID": "mine" };
      await welcomed(server.ws("/cable?room=7&a=%20b"), { headers });
      const { env, sid } = await app.calls.Connect.next();
      assert.equal(env.url, `http://${server.address}/cable?room=7&a=%20b`);
      assert.deepEqual(env.headers, { cookie: "_session=a==; uid=kay/1", "x-api-token": "t0k", REMOTE_ADDR: "127.0.0.1" });
      assert.notEqual(sid, "mine");
    });

    test("by default the application gets cookies only, and --proxy-cookies chooses among them", async (t) => {
      const { app, url } = await start(App, t, {}, "--proxy-cookies", "_session,uid");
      await welcomed(url, { headers: { cookie: "track=1; _session=a=b==; uid=kay/1; x_uid=2", "X-Other": "no" } });
      const { env } = await app.calls.Connect.next();
      assert.deepEqual(env.headers, { cookie: "_session=a=b==; uid=kay/1", REMOTE_ADDR: "127.0.0.1" });
    });

    test("the upgrade is answered while the application makes up its mind", async (t) => {
      const { passed, open } = gate();
      const { app, server } = await start(App, t, {
        Connect: async ({ sid }) => {
          await passed;
          return { status: "SUCCESS", transmissions: [json({ type: "welcome", sid })] };
        },
      });
      const raw = await RawSocket.connect(server.port);
      raw.write(upgradeRequest("/cable"));
      await app.calls.Connect.next();
      assert.match(await raw.head(), /^HTTP\/1\.1 101 /);
      open();
      await raw.textFrame(/"type":"welcome"/, () => {});
      raw.destroy();
    });
  });

  describe("Command", () => {
    test("a refused subscription: the application's words, and no stream is heard", async (t) => {
      const { server, url } = await start(App, t, {
        Command: ({ identifier }) => ({ status: "FAILURE", streams: ["room"], transmissions: [reject(identifier)] }),
      });
      const client = await welcomed(url);
      assert.equal(await client.subscribe(CHAT), reject(CHAT));
      await server.broadcast({ stream: "room", data: '"nobody"' });
      assert.equal(await client.subscribe(CHAT), reject(CHAT), "asked again, and no message in between");
    });

    test("an error on subscribe rejects nothing: the application is asked again until it decides", async (t) => {
      let n_failures = 2;
      const { app, url } = await start(App, t, {
        Command: async ({ identifier }) => {
          if (n_failures-- > 0) throw App.rejection();
          return { status: "SUCCESS", transmissions: [confirm(identifier)] };
        },
      });
      const client = await welcomed(url);
      assert.equal(await client.subscribe(CHAT), confirm(CHAT));
      assert.equal((await app.calls.Command.take(3)).length, 3);
    });

    test("all streams are live when the first transmission arrives, and transmissions keep their order and bytes", async (t) => {
      const odd = '{"identifier":"x", "message": {"b":1.0,"a":12345678901234567890,"c":"<é>"}}';
      const { app, server, url } = await start(App, t, {
        Command: async ({ identifier }) => ({
          status: "SUCCESS",
          streams: ["room", "other"],
          transmissions: [odd, confirm(identifier), transmission(identifier, "first")],
        }),
      });
      const client = await welcomed(url);
      client.send({ command: "subscribe", identifier: CHAT });
      await app.calls.Command.next();
      assert.equal(await client.frames.next(), odd);
      await server.broadcast([
        { stream: "room", data: '"a"' },
        { stream: "other", data: '"b"' },
      ]);
      assert.deepEqual(await client.frames.take(4), [
        confirm(CHAT),
        transmission(CHAT, "first"),
        transmission(CHAT, "a"),
        transmission(CHAT, "b"),
      ]);
    });

    test("state comes back changed by each reply: istate with its subscription, cstate with all", async (t) => {
      const { app, url } = await start(App, t, {
        Connect: ({ sid }) => ({
          status: "SUCCESS",
          transmissions: [json({ type: "welcome", sid })],
          env: { cstate: { _s_: '{"a":1}', gone: "x" } },
        }),
        Command: ({ command, identifier, data, env }) => {
          if (command === "subscribe") {
            const state = { istate: { count: "0", kept: "yes" }, cstate: { gone: "" } };
            return { status: "SUCCESS", transmissions: [confirm(identifier)], env: state };
          }
          const count = JSON.parse(data).action === "forget" ? "" : String(Number(env.istate.count) + 1);
          return { status: "SUCCESS", transmissions: [transmission(identifier, { count })], env: { istate: { count } } };
        },
      });
      const client = await welcomed(url);
      const other = '{"channel":"Other"}';
      await client.subscribe(CHAT);
      await client.subscribe(other);
      const replies = [];
      for (const [identifier, action] of [
        [CHAT, "tick"],
        [CHAT, "tick"],
        [other, "tick"],
        [CHAT, "forget"],
        [CHAT, "look"],
      ]) {
        client.perform(identifier, { action });
        replies.push(JSON.parse(await client.frames.next()).message.count);
      }
      assert.deepEqual(replies, ["1", "2", "1", "", "NaN"]);
      const calls = await app.calls.Command.take(7);
      assert.deepEqual(calls[0].env.cstate, { _s_: '{"a":1}', gone: "x" });
      assert.deepEqual(calls[1].env.cstate, { _s_: '{"a":1}' }, "an empty value deletes");
      assert.deepEqual(calls[1].env.istate, {}, "each subscription has its own state");
      assert.deepEqual(
        calls.slice(2).map(({ data, env }) => [JSON.parse(data).action, env.istate]),
        [
          ["tick", { count: "0", kept: "yes" }],
          ["tick", { count: "1", kept: "yes" }],
          ["tick", { count: "0", kept: "yes" }],
          ["forget", { count: "2", kept: "yes" }],
          ["look", { kept: "yes" }],
        ],
      );
    });

    test("streams are stopped one by one, all at once, and always by unsubscribe", async (t) => {
      const { server, url } = await start(App, t, {
        Command: ({ command, identifier, data }) => {
          if (command === "subscribe")
            return { status: "SUCCESS", streams: ["a", "b", "c"], transmissions: [confirm(identifier)] };
          if (command === "unsubscribe") return { status: "SUCCESS" };
          return { status: "SUCCESS", transmissions: [transmission(identifier, "done")], ...JSON.parse(data) };
        },
      });
      const client = await welcomed(url);
      const heard = async () => {
        await server.broadcast(["a", "b", "c", "d"].map((stream) => ({ stream, data: json(stream) })));
        // A message to a stream that the subscription joins only now comes after all of those.
        client.perform(CHAT, { streams: ["mark"] });
        assert.ok(await client.frames.until((frame) => (messages.push(JSON.parse(frame).message), frame.includes('"done"'))));
        const before = messages.splice(0).filter((message) => message !== "done");
        await server.broadcast({ stream: "mark", data: '"mark"' });
        await client.frames.until((frame) => (messages.push(JSON.parse(frame).message), frame.includes('"mark"')));
        return [...before, ...messages.splice(0).filter((message) => message !== "mark")];
      };
      const messages = [];
      const told = async (reply) => {
        client.perform(CHAT, reply);
        assert.equal(await client.frames.next(), transmission(CHAT, "done"));
      };
      await client.subscribe(CHAT);
      assert.deepEqual(await heard(), ["a", "b", "c"]);
      await told({ stopped_streams: ["b"] });
      assert.deepEqual(await heard(), ["a", "c"]);
      await told({ stopped_streams: ["a"], streams: ["d"] });
      assert.deepEqual(await heard(), ["c", "d"]);
      await told({ stop_streams: true, streams: ["a"] });
      assert.deepEqual(await heard(), ["a"]);
      client.send({ command: "unsubscribe", identifier: CHAT });
      assert.equal(await client.subscribe('{"channel":"Next"}'), confirm('{"channel":"Next"}'));
      await server.broadcast({ stream: "a", data: '"once"' });
      assert.equal(await client.frames.next(), transmission('{"channel":"Next"}', "once"));
    });

    test("the disconnect flag closes the connection after the transmissions", async (t) => {
      const goodbye = '{"type":"disconnect","reason":"remote","reconnect":false}';
      const { app, url } = await start(App, t, {
        Command: () => ({ status: "SUCCESS", disconnect: true, transmissions: [goodbye] }),
      });
      const client = await welcomed(url);
      // Both commands in one packet: the second comes too late.
      client.socket._socket.cork();
      client.send({ command: "subscribe", identifier: CHAT });
      client.send({ command: "subscribe", identifier: '{"channel":"TooLate"}' });
      client.socket._socket.uncork();
      assert.equal(await client.frames.next(), goodbye);
      const closed = await within(client.closed, "the close");
      assert.deepEqual(closed, { code: 1000, reason: "Closed by the application" });
      assert.deepEqual((await app.calls.Disconnect.next()).subscriptions, [CHAT]);
    });

    test("a subscription without an answer in time is asked for again", async (t) => {
      const { passed, open } = gate();
      t.after(open);
      let n_calls = 0;
      const { url } = await start(
        App,
        t,
        {
          Command: async ({ identifier }) => {
            if (n_calls++ === 0) await passed;
            return { status: "SUCCESS", transmissions: [confirm(identifier)] };
          },
        },
        "--rpc_command_timeout",
        "200",
      );
      const client = await welcomed(url);
      assert.equal(await client.subscribe(CHAT), confirm(CHAT));
      assert.equal(n_calls, 2);
    });

    test("an application without a free worker is asked again", async (t) => {
      let n_busy = 3;
      const { app, url } = await start(App, t, {
        Command: ({ identifier }) => {
          if (n_busy-- > 0) throw App.overload();
          return { status: "SUCCESS", transmissions: [confirm(identifier)] };
        },
      });
      const client = await welcomed(url);
      assert.equal(await client.subscribe(CHAT), confirm(CHAT));
      assert.equal((await app.calls.Command.take(4)).length, 4);
    });

    test("no more calls than --rpc_concurrency are under way, and the others wait their turn", async (t) => {
      const { passed, open } = gate();
      let n_now = 0;
      let n_most = 0;
      const { app, url } = await start(
        App,
        t,
        {
          Connect: async ({ sid }) => {
            n_most = Math.max(n_most, ++n_now);
            await passed;
            n_now--;
            return { status: "SUCCESS", transmissions: [json({ type: "welcome", sid })] };
          },
        },
        "--rpc_concurrency",
        "3",
      );
      const clients = await Promise.all(Array.from({ length: 20 }, () => CableClient.connect(url)));
      await app.calls.Connect.take(3);
      open();
      await Promise.all(clients.map((client) => client.frames.next()));
      assert.equal(n_most, 3);
    });
  });

  describe("Disconnect", () => {
    const counting = {
      Connect: ({ sid }) => ({
        status: "SUCCESS",
        identifiers: "kay",
        transmissions: [json({ type: "welcome", sid })],
        env: { cstate: { _s_: "1" } },
      }),
      Command: ({ command, identifier }) => ({
        status: identifier.includes("Secret") ? "FAILURE" : "SUCCESS",
        transmissions: command === "subscribe" ? [confirm(identifier)] : [],
        env: { istate: { count: '"2"' } },
      }),
    };

    test("comes once, with what the application granted and its state", async (t) => {
      const { app, server, url } = await start(App, t, counting);
      const client = await welcomed(`${url}?a=1`, { headers: { cookie: "uid=1" } });
      const [left, stateful] = ['{"channel":"Left"}', '{"channel":"Stays"}'];
      for (const identifier of [left, CHAT, stateful, '{"channel":"Secret"}']) await client.subscribe(identifier);
      client.send({ command: "unsubscribe", identifier: left });
      await app.calls.Command.take(5);
      client.socket.terminate();
      const { sid, protov, identifiers, subscriptions, env } = await app.calls.Disconnect.next();
      assert.equal(sid, (await app.calls.Connect.next()).sid);
      assert.equal(protov, "v1");
      assert.equal(identifiers, "kay");
      assert.deepEqual(subscriptions.sort(), [CHAT, stateful].sort());
      assert.equal(env.url, `http://${server.address}/cable?a=1`);
      assert.deepEqual(env.headers, { cookie: "uid=1", REMOTE_ADDR: "127.0.0.1" });
      assert.deepEqual(env.cstate, { _s_: "1" });
      assert.deepEqual(env.istate, { [CHAT]: '{"count":"\\"2\\""}', [stateful]: '{"count":"\\"2\\""}' });
      await server.stop();
      assert.equal(app.calls.Disconnect.size, 0);
    });

    for (const method of ["Connect", "Command"]) {
      test(`a session that dies during ${method} is disconnected once, after what that call granted`, async (t) => {
        const { passed, open } = gate();
        const waiting = async (call) => {
          await passed;
          return counting[method](call);
        };
        const { app, server, url } = await start(App, t, { ...counting, [method]: waiting });
        const client = await CableClient.connect(url);
        if (method === "Command") client.send({ command: "subscribe", identifier: CHAT });
        await app.calls[method].next();
        client.socket.terminate();
        await client.closed;
        open();
        const { subscriptions } = await app.calls.Disconnect.next();
        assert.deepEqual(subscriptions, method === "Command" ? [CHAT] : []);
        await server.stop();
        assert.equal(app.calls.Disconnect.size, 0);
      });
    }

    test("at shutdown clients hear the goodbye first, then the application hears of all of them", async (t) => {
      const { app, server, url } = await start(App, t, counting, "--disconnect_rate", "1");
      const clients = await Promise.all(Array.from({ length: 50 }, () => welcomed(url)));
      const { code, tookMs } = await server.stop();
      assert.equal(code, 0, server.stderr);
      assert.ok(tookMs < 3000, `stopping took ${Math.round(tookMs)} ms`);
      for (const client of clients) assert.equal(await client.frames.next(), GOODBYE);
      assert.equal(app.calls.Disconnect.size, 50);
    });

    test("a subscription that is granted after the clients' time to leave is in the Disconnect call, too", async (t) => {
      const { passed, open } = gate();
      const waiting = async (call) => {
        await passed;
        return counting.Command(call);
      };
      const { app, server, url } = await start(App, t, { ...counting, Command: waiting });
      const client = await welcomed(url);
      client.send({ command: "subscribe", identifier: CHAT });
      await app.calls.Command.next();
      const stopped = server.stop();
      assert.equal(await client.frames.next(), GOODBYE);
      // Clients get two seconds; this application takes a little longer.
      setTimeout(open, 2300);
      assert.deepEqual((await app.calls.Disconnect.next()).subscriptions, [CHAT]);
      assert.equal((await stopped).code, 0);
      assert.equal(app.calls.Disconnect.size, 0);
    });

    test("calls that do not end hold up the shutdown for --shutdown_timeout at the most", async (t) => {
      const habits = { ...counting, Command: () => new Promise(() => {}) };
      const { app, server, url } = await start(App, t, habits, "--shutdown_timeout", "3", "--rpc_command_timeout", "60000");
      const client = await welcomed(url);
      client.send({ command: "subscribe", identifier: CHAT });
      await app.calls.Command.next();
      const { code, tookMs } = await server.stop();
      assert.equal(code, 0);
      assert.ok(tookMs < 4000, `stopping took ${Math.round(tookMs)} ms`);
      assert.deepEqual((await app.calls.Disconnect.next()).subscriptions, []);
    });

    test("an application that does not answer holds up the shutdown for --shutdown_timeout at the most", async (t) => {
      const { app, server, url } = await start(App, t, { Disconnect: () => new Promise(() => {}) }, "--shutdown_timeout", "1");
      await welcomed(url);
      const { code, tookMs } = await server.stop();
      assert.equal(code, 0);
      assert.ok(tookMs < 2000, `stopping took ${Math.round(tookMs)} ms`);
      assert.equal(app.calls.Disconnect.size, 1);
      assert.match(server.stderr, /did not learn of all ended sessions/);
    });

    test("more than --disconnect_backlog_size waiting sessions are dropped with a warning", async (t) => {
      const flags = ["--disconnect_rate", "1", "--disconnect_backlog_size", "2"];
      const { app, server, url } = await start(App, t, counting, ...flags);
      const clients = await Promise.all(Array.from({ length: 20 }, () => welcomed(url)));
      await Promise.all(clients.map((client) => client.close()));
      await server.stop();
      assert.ok(app.calls.Disconnect.size < 20);
      assert.match(server.stderr, /Disconnect call is dropped/);
    });

    test("--disconnect_mode never: no call", async (t) => {
      const { app, server, url } = await start(App, t, counting, "--disconnect_mode", "never");
      await (await welcomed(url)).close();
      await server.stop();
      assert.equal(app.calls.Disconnect.size, 0);
    });
  });

  describe("an application that goes away and comes back", () => {
    test("live sessions keep receiving, new ones end with 1011, and subscriptions wait until it is back", async (t) => {
      const { app, server, url } = await start(App, t, {}, "--rpc_command_timeout", "500");
      const client = await welcomed(url);
      await client.subscribe(CHAT);
      app.kill();
      await server.broadcast({ stream: "room", data: '"still here"' });
      assert.equal(await client.frames.next(), transmission(CHAT, "still here"));

      const late = await CableClient.connect(url);
      assert.deepEqual(await within(late.closed, "the close"), { code: 1011, reason: "Auth Error" });
      const other = '{"channel":"Other"}';
      client.send({ command: "subscribe", identifier: other });

      await app.listen();
      assert.equal(await client.frames.next(), confirm(other));
      await welcomed(url);
    });

    test("an application that comes back in time is waited for", async (t) => {
      const { app, url } = await start(App, t);
      await welcomed(url);
      app.kill();
      const client = await CableClient.connect(url);
      await app.listen();
      assert.equal(JSON.parse(await client.frames.next()).type, "welcome");
    });

    test("an action whose connection breaks is not made twice, and a subscription is", async (t) => {
      const { passed, open } = gate();
      t.after(open);
      const stalled = new Set(["message", "subscribe"]);
      const { app, url } = await start(App, t, {
        Command: async ({ command, identifier }) => {
          if (identifier === CHAT && stalled.delete(command)) await passed;
          return { status: "SUCCESS", transmissions: [confirm(identifier)] };
        },
      });
      const client = await welcomed(url);
      const breakDuring = async (command) => {
        assert.equal((await app.calls.Command.next()).command, command);
        app.kill();
        await app.listen();
      };
      client.send({ command: "subscribe", identifier: CHAT });
      await breakDuring("subscribe");
      assert.equal(await client.frames.next(), confirm(CHAT));
      assert.equal((await app.calls.Command.next()).command, "subscribe");
      client.perform(CHAT, { action: "speak" });
      await breakDuring("message");
      const other = '{"channel":"Other"}';
      assert.equal(await client.subscribe(other), confirm(other));
      assert.equal((await app.calls.Command.next()).identifier, other);
    });
  });
}
