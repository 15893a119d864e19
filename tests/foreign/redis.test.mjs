// Broadcasts through a real Redis, published by ioredis.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { makeAuthority } from "./support/certificates.mjs";
import { BENCHMARK, CableClient } from "./support/cable.mjs";
import { within } from "./support/deadline.mjs";
import { Server, plimsoll } from "./support/plimsoll.mjs";
import { eventually } from "./support/processes.mjs";
import { freePort, keptPort } from "./support/ports.mjs";
import { RedisServer } from "./support/redis.mjs";

const KEY = "__anycable__";
const GROUP = "bx";

/** The longest payload that is taken. */
const MAX_PAYLOAD_BYTES = 1 << 20;

/** What the server logs when an adapter is connected. */
const READY = { redis: /Receiving broadcasts from Redis publish\/subscribe/, redisx: /Receiving broadcasts from the Redis stream/ };

const times = (text, pattern) => text.match(new RegExp(pattern, "g"))?.length ?? 0;

/** A server that takes broadcasts from Redis; returned when it does. */
async function startServer(t, redis, adapter, ...args) {
  const server = await Server.start("--broadcast_adapter", adapter, "--redis_url", redis.url, ...(await keptPort()), ...args);
  t.after(() => server.isRunning && server.stop());
  await ready(server, adapter);
  return server;
}

const ready = (server, adapter, n = 1) =>
  eventually(() => adapter.split(",").every((name) => !READY[name] || times(server.stderr, READY[name]) >= n), `adapter ${adapter}`);

async function subscribe(t, server) {
  const client = await CableClient.subscribed(server.ws("/cable"));
  t.after(() => client.close());
  return client;
}

/** Sends a payload in the way of an adapter. */
const publishers = {
  redis: (client, payload) => client.publish(KEY, payload),
  redisx: (client, payload) => client.xadd(KEY, "*", "payload", payload),
};

const message = (data) => JSON.stringify({ stream: "all", data: JSON.stringify(data) });
const payloadOf = (frame) => JSON.parse(frame).message;

/** Waits until Redis has nothing left of what was published. */
async function nothingLeft(client) {
  for (;;) {
    const [[n_pending], length] = [await client.xpending(KEY, GROUP), await client.xlen(KEY)];
    if (n_pending === 0 && length === 0) return;
  }
}

/** What a client still gets of what Redis has been told is done. */
async function rest(client) {
  return (await client.received()).map(payloadOf);
}

const consumers = async (client) => (await client.xinfo("CONSUMERS", KEY, GROUP)).map((fields) => fields[fields.indexOf("name") + 1]);

describe("without --broadcast_adapter", () => {
  test("broadcasts come over HTTP, and from the Redis that is named, as AnyCable's gem sends them", async (t) => {
    const redis = await RedisServer.start(t);
    const server = await Server.startIn({ env: { REDIS_URL: redis.url } }, "--broadcast_key", "secret");
    t.after(() => server.stop());
    await ready(server, "redis");
    const client = await subscribe(t, server);
    await publishers.redis(redis.client(t), message(1));
    assert.equal(payloadOf(await client.frames.next()), 1);
    assert.equal((await server.broadcast(message(2))).status, 201);
    assert.equal(payloadOf(await client.frames.next()), 2);
  });

  test("no Redis is asked for when none is named", async (t) => {
    const server = await Server.start();
    t.after(() => server.stop());
    assert.equal((await fetch(server.http("/ready"))).status, 200);
    assert.doesNotMatch(server.stderr, /Redis/);
  });
});

for (const adapter of ["redis", "redisx"]) {
  describe(`adapter ${adapter}`, () => {
    test("messages arrive in order, one by one and in batches", async (t) => {
      const redis = await RedisServer.start(t);
      const backend = redis.client(t);
      const server = await startServer(t, redis, adapter);
      const client = await subscribe(t, server);
      const publish = (payload) => publishers[adapter](backend, payload);
      const singles = Array.from({ length: 1000 }, (_, n) => n);
      await Promise.all(singles.map((n) => publish(message(n))));
      await publish(JSON.stringify([1000, 1001, 1002].map((n) => ({ stream: "all", data: String(n) }))));
      const frames = await client.frames.take(1003);
      assert.equal(frames[0], `{"identifier":${JSON.stringify(BENCHMARK)},"message":0}`);
      assert.deepEqual(frames.map(payloadOf), [...singles, 1000, 1001, 1002]);
      if (adapter === "redisx") await within(nothingLeft(backend), "the acknowledgements");
    });

    test("payloads that are not valid are named in the log, and those behind them arrive", async (t) => {
      const redis = await RedisServer.start(t);
      const backend = redis.client(t);
      const server = await startServer(t, redis, adapter);
      const client = await subscribe(t, server);
      const invalid = ["nonsense", "", '{"stream":"all"}', '{"command":"restart"}', Buffer.from([0xff, 0xfe])];
      for (const payload of invalid) await publishers[adapter](backend, payload);
      if (adapter === "redisx") {
        await backend.xadd(KEY, "*", "other", message("lost"));
        await backend.xadd(KEY, "*", Buffer.from([0xff]), Buffer.from([0xff]));
      }
      await publishers[adapter](backend, message("behind"));
      assert.equal(payloadOf(await client.frames.next()), "behind");
      const isInvalid = /A broadcast from Redis is dropped/;
      await eventually(() => times(server.stderr, isInvalid) === invalid.length, "a line for each of them");
      await server.logged(/"data" is missing/);
      await server.logged(/"restart" is unknown/);
      if (adapter === "redisx") {
        await eventually(() => times(server.stderr, /has no field "payload"/) === 2, "a line for each entry");
        await within(nothingLeft(backend), "the acknowledgements");
      }
    });

    test("payloads that are too long are dropped with their size, and never held in memory", async (t) => {
      const redis = await RedisServer.start(t);
      const backend = redis.client(t);
      const server = await startServer(t, redis, adapter);
      const client = await subscribe(t, server);
      const longest = JSON.stringify("x".repeat(MAX_PAYLOAD_BYTES - JSON.stringify({ stream: "all", data: '""' }).length));
      await publishers[adapter](backend, JSON.stringify({ stream: "all", data: longest }));
      assert.equal(payloadOf(await client.frames.next()).length, JSON.parse(longest).length, "the longest that is taken");
      const before = server.rssBytes;
      // Redis itself disconnects a subscriber with more than 32 MB of waiting messages.
      const huge = adapter === "redis" ? 24 << 20 : 100 << 20;
      for (const n_bytes of [MAX_PAYLOAD_BYTES + 1, huge]) await publishers[adapter](backend, "x".repeat(n_bytes));
      await publishers[adapter](backend, message("behind"));
      assert.equal(payloadOf(await client.frames.next()), "behind");
      const grown = server.rssBytes - before;
      assert.ok(grown < 8 << 20, `memory grew by ${grown} bytes`);
      await server.logged(/dropped: .*longer than 1048576 bytes.*n_bytes=1048577/);
      await server.logged(new RegExp(`n_bytes=${huge}`));
      if (adapter === "redisx") await within(nothingLeft(backend), "the acknowledgements");
    });

    test("without Redis the server serves, and it connects when Redis is there", async (t) => {
      const port = await freePort();
      const url = `redis://127.0.0.1:${port}`;
      const server = await Server.start("--broadcast_adapter", adapter, "--redis_url", url);
      t.after(() => server.stop());
      await eventually(() => times(server.stderr, /No broadcasts from/) > 0, "the warning");
      assert.equal((await fetch(server.http("/health"))).status, 200);
      const client = await subscribe(t, server);
      const redis = await RedisServer.start(t, { port });
      await ready(server, adapter);
      await publishers[adapter](redis.client(t), message("at last"));
      assert.equal(payloadOf(await client.frames.next()), "at last");
      assert.equal(times(server.stderr, /No broadcasts from/), 1, server.stderr);
    });

    test("when Redis goes and comes back there is one warning and one line about its return", async (t) => {
      const redis = await RedisServer.start(t);
      const server = await startServer(t, redis, adapter, "--log_level", "debug");
      const client = await subscribe(t, server);
      await redis.kill();
      await eventually(() => times(server.stderr, /DEBUG.*No broadcasts from/) >= 3, "three attempts");
      client.perform(BENCHMARK, { action: "echo", payload: "alive" });
      assert.equal(payloadOf(await client.frames.next()).payload, "alive");
      await redis.resume();
      const backend = redis.client(t);
      // Redis lost everything, the group too; what it takes before the server is back must still arrive.
      if (adapter === "redisx") await publishers.redisx(backend, message("early"));
      await ready(server, adapter, 2);
      await publishers[adapter](backend, message("back"));
      if (adapter === "redisx") assert.equal(payloadOf(await client.frames.next()), "early");
      assert.equal(payloadOf(await client.frames.next()), "back");
      assert.equal(times(server.stderr, /WARN.*No broadcasts from/), 1, server.stderr);
      assert.equal(times(server.stderr, READY[adapter]), 2, server.stderr);
    });

    test("password and database are those of the URL; a wrong password is named in the log", async (t) => {
      const redis = await RedisServer.start(t, { options: ["--requirepass", "open sesame"] });
      const server = await startServer(t, { url: `redis://:open%20sesame@${redis.address}/2` }, adapter);
      const client = await subscribe(t, server);
      await publishers[adapter](redis.client(t, { password: "open sesame", db: 2 }), message("in"));
      assert.equal(payloadOf(await client.frames.next()), "in");
      const burglar = await Server.start("--broadcast_adapter", adapter, "--redis_url", `redis://:guess@${redis.address}`);
      t.after(() => burglar.stop());
      await eventually(() => /No broadcasts from.*WRONGPASS/.test(burglar.stderr), "the refusal");
      assert.doesNotMatch(burglar.stderr, /guess/);
    });

    test("HTTP broadcasts are off unless they are asked for", async (t) => {
      const redis = await RedisServer.start(t);
      const server = await startServer(t, redis, adapter, "--broadcast_key", "secret");
      assert.equal((await server.broadcast({ stream: "all", data: "1" })).status, 404);
      const both = await startServer(t, redis, `http,${adapter}`, "--broadcast_key", "secret");
      assert.equal((await both.broadcast({ stream: "all", data: "1" })).status, 201);
    });
  });
}

test("an entry of a Redis stream is kept in the history before it is acknowledged", async (t) => {
  const redis = await RedisServer.start(t);
  const backend = redis.client(t);
  const server = await startServer(t, redis, "redisx", "--broker", "memory", "--api_secret", "key");
  const headers = { authorization: "Bearer key" };
  for (let n = 1; n <= 50; n += 1) {
    await publishers.redisx(backend, message(n));
    await within(nothingLeft(backend), "the acknowledgement");
    const { messages } = await (await fetch(server.http("/api/history/all?limit=1000"), { headers })).json();
    assert.equal(messages.at(-1).data, n);
  }
});

describe("adapter redisx with several servers", () => {
  test("each message is handled by one server of the group", async (t) => {
    const redis = await RedisServer.start(t);
    const backend = redis.client(t);
    const servers = [await startServer(t, redis, "redisx"), await startServer(t, redis, "redisx")];
    const clients = await Promise.all(servers.map((server) => subscribe(t, server)));
    const all = Array.from({ length: 500 }, (_, n) => n);
    for (const n of all) await publishers.redisx(backend, message(n));
    await within(nothingLeft(backend), "the acknowledgements");
    const heard = await Promise.all(clients.map(rest));
    assert.deepEqual(heard.flat().sort((a, b) => a - b), all);
    for (const part of heard) assert.deepEqual(part, part.toSorted((a, b) => a - b), "each server keeps the order");
  });

  test("what a server had when it was killed is taken over by another one", async (t) => {
    const redis = await RedisServer.start(t);
    const backend = redis.client(t);
    const survivor = await startServer(t, redis, "redisx");
    const client = await subscribe(t, survivor);
    // Frozen, the survivor does not ask again, so that the next message goes to the other one.
    process.kill(survivor.pid, "SIGSTOP");
    await within(nobodyWaits(backend), "the survivor's last read to end");
    const victim = await startServer(t, redis, "redisx");
    await frozenWhileItWaits(backend, victim);
    await publishers.redisx(backend, message("inherited"));
    const [n_pending] = await backend.xpending(KEY, GROUP);
    assert.equal(n_pending, 1, "the victim has the message and cannot acknowledge it");
    process.kill(victim.pid, "SIGKILL");
    process.kill(survivor.pid, "SIGCONT");
    assert.equal(payloadOf(await client.frames.next()), "inherited");
    await within(nothingLeft(backend), "the acknowledgement");
    assert.deepEqual(await rest(client), [], "it comes once");
  });

  const n_waiting = async (client) => times(await client.client("LIST"), /cmd=xreadgroup/);
  const blocked = async (client) => times(await client.client("LIST"), /flags=\w*b/);

  async function nobodyWaits(client) {
    while ((await blocked(client)) > 0);
  }

  /** Stops the process at a moment when it waits for a message. */
  async function frozenWhileItWaits(client, server) {
    for (;;) {
      process.kill(server.pid, "SIGSTOP");
      if ((await n_waiting(client)) > 0 && (await blocked(client)) > 0) return;
      process.kill(server.pid, "SIGCONT");
    }
  }

  test("a server that stops leaves the group and loses nothing", async (t) => {
    const redis = await RedisServer.start(t);
    const backend = redis.client(t);
    // A server that waits for its read to end is not gone in time for `stop`.
    const server = await startServer(t, redis, "redisx", "--redisx-read-block-milliseconds", "60000");
    assert.equal((await consumers(backend)).length, 1);
    assert.equal((await server.stop()).code, 0, server.stderr);
    assert.deepEqual(await consumers(backend), []);
    await publishers.redisx(backend, message("meanwhile"));
    await startServer(t, redis, "redisx");
    await within(nothingLeft(backend), "the next server to take what came meanwhile");
  });
});

describe("adapter redisx and a server that is killed", () => {
  /** The next server on the same port, and its clients, as they come back. */
  async function comeBack(t, server) {
    await server.startAgain();
    return Promise.all([1, 2, 3].map(() => subscribe(t, server)));
  }

  test("--redisx_hold keeps the backlog until clients are back: they get all of it, in order", async (t) => {
    const redis = await RedisServer.start(t);
    const backend = redis.client(t);
    const server = await startServer(t, redis, "redisx", "--redisx_hold", "3");
    const before = await subscribe(t, server);
    await publishers.redisx(backend, message("first"));
    assert.equal(payloadOf(await before.frames.next()), "first");
    // In the middle: some messages are delivered, some are in the server's hands, the others wait. The server is frozen
    // before the others come: it could be done with all of them before a slow machine gets round to the kill.
    const publish = (from, to) =>
      Promise.all(Array.from({ length: to - from }, (_, n) => publishers.redisx(backend, message(from + n))));
    const published = publish(0, 3000);
    await before.frames.take(500);
    process.kill(server.pid, "SIGSTOP");
    await published;
    await publish(3000, 6000);
    process.kill(server.pid, "SIGKILL");
    const waiting = (await backend.xrange(KEY, "-", "+")).map(([, [, payload]]) => JSON.parse(JSON.parse(payload).data));
    assert.ok(waiting.length >= 3000, `${waiting.length} messages wait for the next server`);
    const clients = await comeBack(t, server);
    await server.logged(/Messages of the Redis stream wait [0-9] s/);
    assert.equal((await fetch(server.http("/ready"))).status, 200, "clients may come");
    for (const client of clients) {
      assert.deepEqual((await client.frames.take(waiting.length)).map(payloadOf), waiting);
    }
    await within(nothingLeft(backend), "the acknowledgements");
    assert.equal(times(server.stderr, READY.redisx), 2);
  });

  test("a server that is stopped while it holds the backlog leaves it to the next one", async (t) => {
    const redis = await RedisServer.start(t);
    const backend = redis.client(t);
    const first = await startServer(t, redis, "redisx");
    assert.equal((await first.stop()).code, 0);
    await publishers.redisx(backend, message("kept"));
    const holding = await Server.start("--broadcast_adapter", "redisx", "--redis_url", redis.url, "--redisx_hold", "3600");
    t.after(() => holding.isRunning && holding.stop());
    await holding.logged(/Messages of the Redis stream wait \d+ s/);
    // One that waits for the hold is not gone in time for `stop`.
    assert.equal((await holding.stop()).code, 0, holding.stderr);
    assert.equal(await backend.xlen(KEY), 1);
    assert.deepEqual(await consumers(backend), []);
  });
});

describe("adapter redisx and a Redis that is killed", () => {
  test("nothing that Redis has acknowledged is lost, doubled or out of order", async (t) => {
    const redis = await RedisServer.start(t, { options: ["--appendonly", "yes", "--appendfsync", "always"] });
    const backend = redis.client(t);
    const server = await startServer(t, redis, "redisx");
    const client = await subscribe(t, server);
    const acknowledged = [];
    let publishing = true;
    const published = (async () => {
      for (let n = 0; publishing; n++) {
        await publishers.redisx(backend, message(n)).then(
          () => acknowledged.push(n),
          () => {},
        );
      }
    })();
    const heard = [];
    const hear = async (n) => heard.push(...(await client.frames.take(n)).map(payloadOf));
    for (let kill = 1; kill <= 3; kill++) {
      await hear(200);
      await redis.kill();
      await redis.resume();
      await ready(server, "redisx", kill + 1);
    }
    await hear(200);
    publishing = false;
    await published;
    await within(nothingLeft(backend), "the acknowledgements");
    heard.push(...(await rest(client)));
    assert.deepEqual(heard, heard.toSorted((a, b) => a - b), "in order");
    const known = new Set(heard);
    assert.equal(known.size, heard.length, "nothing comes twice");
    const missing = acknowledged.filter((n) => !known.has(n));
    assert.deepEqual(missing, [], `${acknowledged.length} were acknowledged`);
  });
});

test("a Redis that hangs is found out by the keepalive of publish/subscribe", async (t) => {
  const redis = await RedisServer.start(t);
  const server = await startServer(t, redis, "redis", "--redis_keepalive_interval", "1");
  redis.signal("SIGSTOP");
  await server.logged(/No broadcasts from .*did not answer within 5 s/);
  redis.signal("SIGCONT");
  await ready(server, "redis", 2);
});

describe("an encrypted connection", () => {
  const { ca, server: certificate, stranger, client } = makeAuthority();
  const tlsOptions = ({ key, cert }, ...more) => ["--port", "0", "--tls-cert-file", cert, "--tls-key-file", key, "--tls-ca-cert-file", ca.cert, ...more];

  /** A Redis that speaks nothing but TLS. */
  async function startRedis(t, identity, ...more) {
    const port = await freePort();
    return RedisServer.start(t, { port, options: ["--tls-port", String(port), ...tlsOptions(identity, ...more)] });
  }

  const args = (redis, adapter, ...more) => ["--broadcast_adapter", adapter, "--redis_url", `rediss://${redis.address}`, ...more];
  const tls = { ca: readFileSync(ca.cert), checkServerIdentity: () => undefined, cert: readFileSync(client.cert), key: readFileSync(client.key) };

  for (const adapter of ["redis", "redisx"]) {
    test(`carries the broadcasts of ${adapter}, to a certificate that is valid for the name`, async (t) => {
      const redis = await startRedis(t, certificate, "--tls-auth-clients", "no");
      const server = await Server.start(...args(redis, adapter, "--redis_tls_verify", "--redis_tls_ca_cert_path", ca.cert));
      t.after(() => server.stop());
      await ready(server, adapter);
      const hearer = await subscribe(t, server);
      const backend = redis.client(t, { tls });
      for (let n = 0; n < 300; n++) await publishers[adapter](backend, message(n));
      assert.deepEqual((await hearer.frames.take(300)).map(payloadOf), Array.from({ length: 300 }, (_, n) => n));
      assert.doesNotMatch(server.stderr, /not checked/);
    });
  }

  test("takes any certificate unless it is told to check, and says so", async (t) => {
    const redis = await startRedis(t, stranger, "--tls-auth-clients", "no");
    const server = await Server.start(...args(redis, "redis"));
    t.after(() => server.stop());
    await ready(server, "redis");
    await server.logged(/The certificate of Redis is not verified; use --redis_tls_verify/);
  });

  for (const [name, identity, more, reason] of [
    ["for another name", stranger, ["--redis_tls_ca_cert_path", ca.cert], /not valid for name/],
    ["of an unknown authority", certificate, [], /UnknownIssuer/],
  ]) {
    test(`is refused to a certificate ${name}, and the log says why`, async (t) => {
      const redis = await startRedis(t, identity, "--tls-auth-clients", "no");
      const server = await Server.start(...args(redis, "redis", "--redis_tls_verify", ...more));
      t.after(() => server.stop());
      await server.logged(/No broadcasts from/);
      await server.logged(reason);
    });
  }

  test("shows the server's own certificate where Redis wants one", async (t) => {
    const redis = await startRedis(t, certificate, "--tls-auth-clients", "yes");
    const own = ["--redis_tls_client_cert_path", client.cert, "--redis_tls_client_key_path", client.key];
    const [known, unknown] = [await Server.start(...args(redis, "redisx", ...own)), await Server.start(...args(redis, "redisx"))];
    for (const server of [known, unknown]) t.after(() => server.stop());
    await ready(known, "redisx");
    await eventually(() => /No broadcasts from/.test(unknown.stderr), "the refusal");
  });

  test("is not tried with a server that speaks plain", async (t) => {
    const redis = await RedisServer.start(t);
    const server = await Server.start(...args(redis, "redis"));
    t.after(() => server.stop());
    await server.logged(/No broadcasts from .*encrypt the connection/);
  });
});

describe("remote disconnect", () => {
  const KAY = '{"name":"Kay","id":"1"}';

  const ways = {
    http: (server, _backend, payload) => server.broadcast(payload),
    redis: (_server, backend, payload) => publishers.redis(backend, payload),
    redisx: (_server, backend, payload) => publishers.redisx(backend, payload),
  };

  for (const [way, reconnect] of [
    ["http", true],
    ["redis", false],
    ["redisx", true],
  ]) {
    test(`over ${way} ends every session with these identifiers, and no other (reconnect: ${reconnect})`, async (t) => {
      const redis = await RedisServer.start(t);
      const args = ["--app", "chat", "--shards", "4", "--broadcast_key", "secret"];
      const server = await startServer(t, redis, "http,redis,redisx", ...args);
      const connect = async (uid) => {
        const client = await CableClient.connect(server.ws("/cable"), { headers: { cookie: `uid=${uid}` } });
        assert.match(await client.frames.next(), /"type":"welcome"/);
        return client;
      };
      const kays = await Promise.all(["Kay/1", "Kay/1", "Kay/1"].map(connect));
      const others = await Promise.all(["Kay/11", "Ka/1"].map(connect));
      const command = { command: "disconnect", payload: { identifier: KAY, reconnect } };
      await ways[way](server, redis.client(t), JSON.stringify(command));
      for (const kay of kays) {
        assert.equal(await kay.frames.next(), `{"type":"disconnect","reason":"remote","reconnect":${reconnect}}`);
        assert.deepEqual(await within(kay.closed, "the close"), { code: 1000, reason: "Closed remotely" });
      }
      for (const other of others) {
        assert.deepEqual(await other.settle(), []);
        await other.close();
      }
      const again = await connect("Kay/1");
      assert.deepEqual(await again.settle(), [], "who comes back may stay");
      await again.close();
    });
  }
});

describe("with a broker", () => {
  const flags = ["--public", "--broker", "memory", "--api_secret", "s3cret"];
  const kept = async (server) => {
    const response = await fetch(server.http("/api/history/all"), { headers: { authorization: "Bearer s3cret" } });
    return (await response.json()).messages.map(({ offset, data }) => [offset, data]);
  };

  test("what came to the Redis stream while no server ran is history for a client that returns", async (t) => {
    const redis = await RedisServer.start(t);
    const first = await startServer(t, redis, "redisx", ...flags);
    const backend = redis.client(t);
    await publishers.redisx(backend, message("before"));
    await nothingLeft(backend);
    const since = Math.floor(Date.now() / 1000);
    await first.stop();
    for (let n = 1; n <= 150; n++) await publishers.redisx(backend, message(n));
    const server = await startServer(t, redis, "redisx", ...flags, "--history_limit", "1000");
    await nothingLeft(backend);
    const client = await CableClient.connect(server.ws("/cable"), { protocols: ["actioncable-v1-ext-json"] });
    t.after(() => client.socket.terminate());
    await client.frames.next();
    const identifier = JSON.stringify({ channel: "$pubsub", stream_name: "all" });
    client.send({ command: "subscribe", identifier, history: { since } });
    const frames = [];
    while (frames.at(-1)?.type !== "confirm_history") frames.push(JSON.parse(await client.frames.next()));
    const [confirmation, ...messages] = frames.slice(0, -1);
    assert.equal(confirmation.type, "confirm_subscription");
    assert.deepEqual(messages.map(({ offset, message }) => [offset, message]), Array.from({ length: 150 }, (_, n) => [n + 1, n + 1]));
  });

  test("an entry is kept before Redis is told that it is done, and a broadcast over HTTP before it is acknowledged", async (t) => {
    const redis = await RedisServer.start(t);
    const server = await startServer(t, redis, "http,redisx", ...flags, "--broadcast_key", "secret");
    const backend = redis.client(t);
    for (let n = 1; n <= 20; n++) {
      if (n % 2) {
        await publishers.redisx(backend, message(n));
        await nothingLeft(backend);
      } else {
        assert.equal((await server.broadcast(message(n))).status, 201);
      }
      assert.deepEqual((await kept(server)).at(-1), [n, n]);
    }
  });

  test("entries that a killed server had not finished are history of the next one", async (t) => {
    const redis = await RedisServer.start(t);
    const first = await startServer(t, redis, "redisx", ...flags);
    const backend = redis.client(t);
    first.signal("SIGSTOP");
    for (let n = 1; n <= 10; n++) await publishers.redisx(backend, message(n));
    first.signal("SIGKILL");
    await eventually(() => !first.isRunning, "the end of the server");
    const server = await startServer(t, redis, "redisx", ...flags);
    await eventually(async () => (await kept(server)).length >= 10, "the entries in the history");
    // The first entry was on its way to the killed server, so it is taken over behind those that no server had.
    const found = (await kept(server)).map(([, data]) => data);
    assert.deepEqual(found.toSorted((a, b) => a - b), Array.from({ length: 10 }, (_, n) => n + 1));
  });
});

describe("wrong use", () => {
  for (const [args, expected] of [
    [["--redis_url", "redis://a:1,redis://b:1/2"], /Redis Cluster has only the database 0/],
    [["--redis_url", "http://localhost"], /not a Redis URL/],
    [["--redis_tls_client_cert_path", "client.crt"], /--redis.tls.client.key.path/],
    [["--broadcast_adapter", "redisxx"], /redisx/],
    [["--broadcast_adapter", "kafka"], /http, redis, redisx, nats/],
  ]) {
    test(`${args.join(" ")}: exit code 2, and what is possible`, async () => {
      const { code, stderr } = await plimsoll("serve", ...args);
      assert.equal(code, 2, stderr);
      assert.match(stderr, expected);
    });
  }

  test("a file that is no certificate is named, and what is expected in it: exit code 1", async () => {
    const args = ["--broadcast_adapter", "redis", "--redis_url", "rediss://localhost", "--redis_tls_verify"];
    for (const path of ["/no/such.crt", "/dev/null"]) {
      const { code, stderr } = await plimsoll("serve", ...args, "--redis_tls_ca_cert_path", path);
      assert.equal(code, 1, stderr);
      assert.match(stderr, new RegExp(`read ${path}: .*; expected a PEM file with a certificate`));
    }
  });
});
