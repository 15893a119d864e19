// Several servers that hear each other over a real Redis or a real NATS, in the form of anycable-go.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { makeAuthority } from "./support/certificates.mjs";
import { CableClient } from "./support/cable.mjs";
import { KAY, secretToken } from "./support/identity-provider.mjs";
import { Inbox } from "./support/inbox.mjs";
import { NatsServer, startNatsCluster } from "./support/nats.mjs";
import { Server, plimsoll } from "./support/plimsoll.mjs";
import { freePort } from "./support/ports.mjs";
import { eventually } from "./support/processes.mjs";
import { RedisServer } from "./support/redis.mjs";
import { eventuallyCounts, scrape } from "./support/scrape.mjs";
import { clusterFigures } from "./support/shared-streams.mjs";

const SECRET = "a secret of the tests";
const COMMANDS = "__anycable_internal__";

/** A program that hears all channels of an engine, and publishes as another server would. */
const engines = {
  redis: {
    start: (t, options) => RedisServer.start(t, options),
    flags: (engine) => ["--pubsub", "redis", "--redis_url", engine.url],
    async peer(t, engine) {
      const [subscriber, publisher] = [engine.client(t), engine.client(t)];
      const messages = new Inbox("messages of Redis");
      subscriber.on("pmessage", (_pattern, channel, payload) => messages.push({ channel, payload }));
      await subscriber.psubscribe("*");
      return { messages, publish: (channel, payload) => publisher.publish(channel, payload) };
    },
  },
  nats: {
    start: (t, options) => NatsServer.start(t, options),
    flags: (engine) => ["--pubsub", "nats", "--nats_servers", engine.url],
    peer: (t, engine) => engine.peer(t),
  },
};

const isReady = async (server) => (await fetch(server.http("/ready"))).status === 200;

/** A server of a cluster; returned when it hears the others. Clients may listen and whisper, and tokens name them. */
async function node(t, flags, env = {}) {
  const own = ["--norpc", "--noauth", "--public_streams", "--broadcast_key", "secret", "--metrics_http", "/metrics"];
  const server = await Server.startIn({ app: null, env }, ...own, "--jwt_secret", SECRET, ...flags);
  t.after(() => server.isRunning && server.stop());
  await eventually(() => isReady(server), "a server that is ready");
  return server;
}

const nodes = (t, flags, n) => Promise.all(Array.from({ length: n }, () => node(t, flags)));

const stream = (name) => JSON.stringify({ channel: "$pubsub", stream_name: name });

/** A client that is subscribed to a stream. With `as`, its token has these identifiers. */
async function listener(t, server, name, as) {
  const query = as ? `?jid=${await secretToken(SECRET, { ext: as })}` : "";
  const client = await CableClient.connect(server.ws(`/cable${query}`));
  t.after(() => client.close());
  await client.frames.until((frame) => frame.startsWith('{"type":"welcome"'));
  const answer = JSON.parse(await client.subscribe(stream(name)));
  assert.equal(answer.type, "confirm_subscription");
  return client;
}

const message = (name, data, meta) => ({ stream: name, data: JSON.stringify(data), ...(meta && { meta }) });
const payloadOf = (frame) => JSON.parse(frame).message;
const payloads = async (client, n) => (await client.frames.take(n)).map(payloadOf);
const numbers = (n) => Array.from({ length: n }, (_, index) => index);

async function broadcast(server, body) {
  const answer = await server.broadcast(body);
  assert.equal(answer.status, 201, await answer.text());
}

for (const [name, { start, flags, peer }] of Object.entries(engines)) {
  describe(`over ${name}`, () => {
    test("a broadcast into one server reaches the clients of all, once and in order", async (t) => {
      const engine = await start(t);
      const servers = await nodes(t, flags(engine), 3);
      const other = await peer(t, engine);
      const clients = await Promise.all([...servers, ...servers].map((server) => listener(t, server, "räume/1")));
      const elsewhere = await listener(t, servers[1], "elsewhere");
      for (const n of numbers(100)) await broadcast(servers[0], message("räume/1", n));
      await broadcast(servers[1], [100, 101, 102].map((n) => message("räume/1", n)));
      await broadcast(servers[2], message("räume/1", "end"));
      for (const client of clients) {
        const received = await payloads(client, 104);
        // The servers send on connections of their own, so only the messages of one of them have an order.
        assert.deepEqual(received.filter(Number.isInteger).toSorted((a, b) => a - b), numbers(103));
        assert.deepEqual(received.filter((n) => n < 100), numbers(100));
      }
      await broadcast(servers[0], message("elsewhere", "mark"));
      assert.equal(payloadOf(await elsewhere.frames.next()), "mark");
      assert.deepEqual(clients.map((client) => client.frames.size), clients.map(() => 0));
      const sent = await other.messages.take(105);
      const expected = numbers(100).map((n) => ({ channel: "räume/1", payload: `{"stream":"räume/1","data":"${n}"}` }));
      assert.deepEqual(sent.slice(0, 100), expected);
    });

    test("options, whispers and commands reach other servers as anycable-go sends them", async (t) => {
      const engine = await start(t);
      const [here, there] = await nodes(t, flags(engine), 2);
      const other = await peer(t, engine);
      const kay = '{"user":"kay"}';
      const [first, second] = [await listener(t, here, "chat", KAY), await listener(t, there, "chat", KAY)];
      const guest = await listener(t, there, "chat", '{"user":"guest"}');
      const on_the_wire = async () => (await other.messages.next()).payload;

      first.send({ command: "whisper", identifier: stream("chat"), data: { typing: true } });
      for (const client of [second, guest]) {
        assert.equal(await client.frames.next(), JSON.stringify({ identifier: stream("chat"), message: { typing: true } }));
      }
      const whisper = await on_the_wire();
      const { meta } = JSON.parse(whisper);
      const text = `{"stream":"chat","data":"{\\"typing\\":true}","meta":{"exclude_socket":"${meta.exclude_socket}","broadcast_type":"whisper","transient":true}}`;
      assert.equal(whisper, text);

      const options = { exclude_socket: meta.exclude_socket, broadcast_type: "news" };
      await broadcast(there, message("chat", 1, options));
      for (const client of [second, guest]) assert.deepEqual(JSON.parse(await client.frames.next()), { type: "news", identifier: stream("chat"), message: 1 });
      assert.equal(await on_the_wire(), JSON.stringify(message("chat", 1, options)));

      await broadcast(there, { command: "disconnect", payload: { identifier: kay, reconnect: false } });
      for (const client of [first, second]) {
        // Whatever came to the sender before would be here.
        assert.equal(await client.frames.next(), '{"type":"disconnect","reason":"remote","reconnect":false}');
        await client.closed;
      }
      assert.deepEqual(await other.messages.next(), {
        channel: COMMANDS,
        payload: `{"command":"disconnect","payload":{"identifier":${JSON.stringify(kay)},"reconnect":false}}`,
      });
      await broadcast(here, message("chat", 2));
      assert.equal(payloadOf(await guest.frames.next()), 2);
    });

    test("messages and commands of anycable-go arrive, and others are named in the log", async (t) => {
      const engine = await start(t);
      const server = await node(t, flags(engine));
      const other = await peer(t, engine);
      const client = await listener(t, server, "chat", KAY);
      await other.publish("chat", "of another program");
      await other.publish("chat", '{"stream":"chat","data":"{\\"a\\":1}","Offset":0,"Epoch":""}');
      assert.deepEqual(payloadOf(await client.frames.next()), { a: 1 });
      await other.publish("chat", '{"stream":"chat","data":"2","meta":{"transient":true},"Offset":7,"Epoch":"abcd"}');
      assert.equal(payloadOf(await client.frames.next()), 2);
      await server.logged(/A message of another server over \w+ is dropped: .*expected/);
      await other.publish(COMMANDS, `{"command":"disconnect","payload":{"identifier":${JSON.stringify(KAY)},"reconnect":true}}`);
      assert.equal(await client.frames.next(), '{"type":"disconnect","reason":"remote","reconnect":true}');
    });

    test("servers outlive an engine that is killed, keep their clients, and find it again", async (t) => {
      const engine = await start(t);
      const servers = await nodes(t, flags(engine), 2);
      const clients = await Promise.all([...servers, ...servers].map((server, n) => listener(t, server, `chat_${n >> 1}`)));
      await engine.kill();
      await eventually(async () => !(await Promise.all(servers.map(isReady))).includes(true), "servers that are not ready");
      const refused = await servers[0].broadcast(message("chat_0", "lost"));
      assert.equal(refused.status, 503);
      assert.equal(refused.headers.get("retry-after"), "1");
      assert.match(await refused.text(), /Nothing was published: the servers of the cluster cannot be reached at the moment/);
      // Nothing is waited for.
      const late = await listener(t, servers[1], "late");
      await engine.resume();
      for (const server of servers) await eventually(() => isReady(server), "a server that is ready again");
      for (const n of [0, 1]) await broadcast(servers[n], message(`chat_${n}`, n));
      await broadcast(servers[0], message("late", "found"));
      for (const [n, client] of clients.entries()) assert.equal(payloadOf(await client.frames.next()), n >> 1);
      assert.equal(payloadOf(await late.frames.next()), "found");
      for (const client of [...clients, late]) assert.equal(client.socket.readyState, client.socket.OPEN);
      const { status, cluster, metrics } = await clusterFigures(servers[1]);
      assert.ok(metrics.cluster_deaf_seconds > 0);
      assert.deepEqual([status, cluster], [200, { engine: name, deaf_s: metrics.cluster_deaf_seconds }]);
      assert.equal(metrics.cluster_channels_num, 4, "three streams and the channel for commands");
    });

    test("a subscription that is confirmed hears the next broadcast, and one without listeners ends", async (t) => {
      const engine = await start(t);
      const [here, there] = await nodes(t, flags(engine), 2);
      for (const n of numbers(30)) {
        const client = await listener(t, there, `room_${n % 3}`);
        await broadcast(here, message(`room_${n % 3}`, n));
        assert.equal(payloadOf(await client.frames.next()), n);
        await client.close();
      }
      const channels = async () => (await scrape(there.http("/metrics"))).cluster_channels_num;
      await eventually(async () => (await channels()) === 1, "only the channel for commands");
    });

    test("a broker beside it is refused", async () => {
      for (const [broker, reason] of [
        ["memory", /--pubsub \w+ connects several servers, and --broker memory keeps messages on one of them/],
        ["redis", /--pubsub \w+ and --broker redis both connect the servers of a cluster/],
      ]) {
        const { code, stderr } = await plimsoll("serve", "--pubsub", name, "--broker", broker);
        assert.equal(code, 2);
        assert.match(stderr, reason);
      }
    });
  });
}

describe("Redis", () => {
  test("the adapters share a Redis with the servers of the cluster", async (t) => {
    const redis = await RedisServer.start(t);
    const shared = ["--redis_channel", COMMANDS, "--broadcast_adapter", "redis,redisx"];
    const servers = await nodes(t, [...engines.redis.flags(redis), ...shared], 2);
    const backend = redis.client(t);
    const clients = await Promise.all(servers.map((server) => listener(t, server, "chat")));
    // One server gets the entry of the stream, and all get the message of the channel.
    await backend.xadd("__anycable__", "*", "payload", JSON.stringify(message("chat", "stream")));
    for (const client of clients) assert.equal(payloadOf(await client.frames.next()), "stream");
    await backend.publish(COMMANDS, JSON.stringify(message("chat", "channel")));
    for (const client of clients) assert.equal(payloadOf(await client.frames.next()), "channel");
    assert.deepEqual(clients.map((client) => client.frames.size), [0, 0]);
    assert.deepEqual(await backend.pubsub("NUMSUB", COMMANDS, `${COMMANDS}-int`, "chat"), [COMMANDS, 2, `${COMMANDS}-int`, 2, "chat", 2]);
  });
});

describe("NATS", () => {
  test("names that are no subjects connect servers, and hear no other stream", async (t) => {
    const nats = await NatsServer.start(t);
    const [here, there] = await nodes(t, engines.nats.flags(nats), 2);
    const other = await nats.peer(t);
    const names = ["chat room", "*", ">", "a.*", "a..b", "$SYS", "plain.name"];
    const clients = await Promise.all(names.map((name) => listener(t, there, name)));
    await broadcast(here, message("a.b", "without a listener"));
    for (const name of names) await broadcast(here, message(name, name));
    for (const [n, client] of clients.entries()) assert.equal(payloadOf(await client.frames.next()), names[n]);
    const subjects = (await other.messages.take(8)).map(({ channel }) => channel);
    const encoded = (name) => `_plimsoll.${Buffer.from(name).toString("base64url")}`;
    assert.deepEqual(subjects, ["a.b", ...names.slice(0, 6).map(encoded), "plain.name"]);
    const refused = await here.broadcast(message("x".repeat(5000), 1));
    assert.equal(refused.status, 422);
    assert.match(await refused.text(), /Nothing was published: the name of the stream has 5000 bytes, more than fit into a subject of NATS/);
  });

  test("while NATS is away, entries of a Redis stream wait, and whispers are dropped and counted", async (t) => {
    const [nats, redis] = [await NatsServer.start(t), await RedisServer.start(t)];
    const server = await node(t, [...engines.nats.flags(nats), "--broadcast_adapter", "redisx", "--redis_url", redis.url]);
    const backend = redis.client(t);
    const client = await listener(t, server, "chat");
    await nats.kill();
    await eventually(async () => !(await isReady(server)), "a server that is not ready");
    await backend.xadd("__anycable__", "*", "payload", JSON.stringify(message("chat", "kept")));
    client.send({ command: "whisper", identifier: stream("chat"), data: "dropped" });
    await eventuallyCounts(server.http("/metrics"), { cluster_unsent_msg_total: 1 });
    assert.equal(await backend.xlen("__anycable__"), 1);
    await nats.resume();
    assert.equal(payloadOf(await client.frames.next()), "kept");
    await eventually(async () => (await backend.xlen("__anycable__")) === 0, "the acknowledgement");
    assert.equal(client.frames.size, 0);
  });

  test("the adapter nats gives every server every broadcast", async (t) => {
    const nats = await NatsServer.start(t);
    const flags = ["--broadcast_adapter", "nats", "--nats_servers", `nats://127.0.0.1:${await freePort()},${nats.url}`];
    const servers = await nodes(t, [...flags, "--nats_dont_randomize_servers"], 2);
    const other = await nats.peer(t);
    const clients = await Promise.all(servers.map((server) => listener(t, server, "chat", KAY)));
    await other.publish("__anycable__", JSON.stringify([message("chat", 1), message("chat", 2)]));
    for (const client of clients) assert.deepEqual(await payloads(client, 2), [1, 2]);
    await other.publish("__anycable__", JSON.stringify({ command: "disconnect", payload: { identifier: KAY } }));
    for (const client of clients) assert.equal(await client.frames.next(), '{"type":"disconnect","reason":"remote","reconnect":true}');
  });

  test("servers at three servers of a NATS cluster hear each other, and go on at the next one when theirs dies", async (t) => {
    const cluster = await startNatsCluster(t);
    // The URLs of each begin with another server of the cluster.
    const urls = (n) => [...cluster.slice(n), ...cluster.slice(0, n)].map(({ url }) => url).join(",");
    const at = (n) => node(t, ["--pubsub", "nats", "--nats_servers", urls(n), "--nats_dont_randomize_servers"]);
    const servers = await Promise.all([0, 1, 2].map(at));
    const clients = await Promise.all(servers.map((server) => listener(t, server, "chat")));
    // Interest in a subject reaches the other servers of the cluster a moment after the subscription is confirmed.
    let n_sent = 0;
    const heard = clients.map(() => []);
    const hearAll = () =>
      eventually(async () => {
        await broadcast(servers[0], message("chat", n_sent++));
        await Promise.all(clients.map(async (client, n) => heard[n].push(...(await payloads(client, client.frames.size)))));
        return heard.every((numbers) => numbers.length > 0);
      }, "a broadcast that all clients hear");
    await hearAll();
    const consecutive = async () => {
      const last = n_sent;
      for (let n = 0; n < 50; n++) await broadcast(servers[0], message("chat", n_sent++));
      for (const [n, client] of clients.entries()) {
        while (heard[n].at(-1) !== n_sent - 1) heard[n].push(payloadOf(await client.frames.next()));
        assert.deepEqual(heard[n].filter((number) => number >= last), numbers(50).map((number) => last + number));
      }
    };
    await consecutive();
    await cluster[2].kill();
    heard[2] = [];
    await hearAll();
    await consecutive();
    for (const client of clients) assert.equal(client.socket.readyState, client.socket.OPEN);
  });

  test("credentials come from the URL, and wrong ones are named on /ready", async (t) => {
    for (const [options, good, wrong] of [
      [["--user", "kay", "--pass", "s3cret"], "kay:s3cret@", "kay:other@"],
      [["--auth", "t0ken"], "t0ken@", ""],
    ]) {
      const nats = await NatsServer.start(t, { options });
      const url = (credentials) => nats.url.replace("nats://", `nats://${credentials}`);
      await node(t, ["--pubsub", "nats", "--nats_servers", url(good)]);
      const refused = await Server.startIn({ app: null }, "--norpc", "--pubsub", "nats", "--nats_servers", url(wrong));
      t.after(() => refused.stop());
      await refused.logged(/No broadcasts from other servers over NATS: NATS refused the connection: Authorization Violation/);
      const ready = await fetch(refused.http("/ready"));
      assert.equal(ready.status, 503);
      assert.match(await ready.text(), /NATS refused the connection: Authorization Violation/);
      assert.doesNotMatch(refused.stderr, /s3cret|other@|t0ken/);
    }
  });

  test("a connection is encrypted if the server asks for it, with the system's authorities", async (t) => {
    const { ca, server: certificate } = makeAuthority();
    const options = ["--tls", "--tlscert", certificate.cert, "--tlskey", certificate.key];
    const nats = await NatsServer.start(t, { options });
    const servers = [
      await node(t, engines.nats.flags(nats), { SSL_CERT_FILE: ca.cert }),
      await node(t, ["--pubsub", "nats", "--nats_servers", `tls://${nats.address}`], { SSL_CERT_FILE: ca.cert }),
    ];
    const client = await listener(t, servers[0], "chat");
    await broadcast(servers[1], message("chat", 1));
    assert.equal(payloadOf(await client.frames.next()), 1);
    const stranger = await Server.startIn({ app: null }, "--norpc", ...engines.nats.flags(nats));
    t.after(() => stranger.stop());
    await stranger.logged(/encrypt the connection to NATS at 127.0.0.1:\d+: .*UnknownIssuer/);
  });
});
