// The last unsubscribe of a stream on a server, against the first subscribe: does a confirmed listener hear the next broadcast?
//
//     PLIMSOLL_BIN=target/release/plimsoll node benchmarks/faults/race.mjs ENGINE SECONDS      redis, nats, nats-cluster or broker
//
// Twelve clients of three servers subscribe to one of eight streams, broadcast through any server, wait for the message, and
// leave. So the streams of a server get their first listener and lose their last one all the time. Prints one line of JSON.

import { setTimeout as pause } from "node:timers/promises";
import { CableClient } from "../../tests/foreign/support/cable.mjs";
import { NatsServer, startNatsCluster } from "../../tests/foreign/support/nats.mjs";
import { Server } from "../../tests/foreign/support/plimsoll.mjs";
import { eventually } from "../../tests/foreign/support/processes.mjs";
import { RedisServer } from "../../tests/foreign/support/redis.mjs";

const N_SERVERS = 3;
const N_CLIENTS = 12;
const N_STREAMS = 8;
/** A listener that has not heard its broadcast by then is deaf. */
const DEAF_MS = 5000;

const every = (flags) => Array(N_SERVERS).fill(flags);

/** The flags of each server. */
const ENGINES = {
  redis: async (t) => every(["--pubsub", "redis", "--redis_url", (await RedisServer.start(t)).url]),
  nats: async (t) => every(["--pubsub", "nats", "--nats_servers", (await NatsServer.start(t)).url]),
  // Each server at a NATS server of its own.
  "nats-cluster": async (t) => (await startNatsCluster(t)).map(({ url }) => ["--pubsub", "nats", "--nats_servers", url]),
  broker: async (t) => every(["--broker", "redis", "--redis_url", (await RedisServer.start(t)).url]),
};

const [engine, seconds = 600] = process.argv.slice(2);
if (!(engine in ENGINES)) throw new Error(`no such engine: ${engine}; expected ${Object.keys(ENGINES).join(", ")}`);

const atEnd = [];
const t = { after: (end) => atEnd.unshift(end) };
const choose = (n) => Math.floor(Math.random() * n);

const flags = await ENGINES[engine](t);
const servers = [];
for (let n = 0; n < N_SERVERS; n++) {
  const server = await Server.start("--public", "--norpc", "--broadcast_key", "secret", ...flags[n]);
  t.after(() => server.stop());
  await eventually(async () => (await fetch(server.http("/ready"))).status === 200, "a server that is ready");
  servers.push(server);
}

/** Listeners by server and stream, as this program asked for them. */
const listeners = Array.from({ length: N_SERVERS }, () => Array(N_STREAMS).fill(0));
const counts = { subscriptions: 0, first: 0, last: 0, deaf: 0, refused: 0, maxMs: 0 };
let number = 0;

async function live(client, home, until) {
  while (performance.now() < until) {
    const stream = choose(N_STREAMS);
    const identifier = JSON.stringify({ channel: "$pubsub", stream_name: `race/${stream}` });
    counts.subscriptions += 1;
    if (listeners[home][stream]++ === 0) counts.first += 1;
    client.send({ command: "subscribe", identifier });
    await client.frames.until((frame) => JSON.parse(frame).type === "confirm_subscription");
    const n = ++number;
    const begin = performance.now();
    const { status } = await servers[choose(N_SERVERS)].broadcast({ stream: `race/${stream}`, data: JSON.stringify({ n }) });
    if (status !== 201) counts.refused += 1;
    try {
      await client.frames.until((frame) => JSON.parse(frame).message?.n === n, DEAF_MS);
      counts.maxMs = Math.max(counts.maxMs, Math.round(performance.now() - begin));
    } catch {
      counts.deaf += 1;
    }
    client.send({ command: "unsubscribe", identifier });
    if (--listeners[home][stream] === 0) counts.last += 1;
    if (choose(2) === 0) await pause(choose(5));
  }
}

try {
  const until = performance.now() + seconds * 1000;
  const lives = Array.from({ length: N_CLIENTS }, async (_, n) => {
    const home = n % N_SERVERS;
    const client = await CableClient.connect(servers[home].ws("/cable"));
    t.after(() => client.socket.terminate());
    await client.frames.next();
    await live(client, home, until);
  });
  await Promise.all(lives);
  console.log(JSON.stringify({ engine, seconds: Number(seconds), ...counts }));
} finally {
  for (const end of atEnd) await end();
}
process.exit();
