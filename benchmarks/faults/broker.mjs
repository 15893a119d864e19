// Three servers with a shared broker and the clients of all of them, while the engine, a network or a server fails, or while
// the servers are replaced one after the other.
//
//     PLIMSOLL_BIN=target/release/plimsoll node benchmarks/faults/broker.mjs ENGINE FAULT…
//
// ENGINE is redis, sentinel or nats, FAULT one of none, kill, cut, stop, network, node, rolling; of sentinel, a Redis with an
// asynchronous replica and three sentinels, failover or lagging: its primary is killed, and with lagging the replica has heard nothing
// for half a second. `network` needs root: the third server runs in a network namespace of its own. An application answers Connect, which the result counts. CLIENTS (5000), DURATION (60
// seconds), RATE (200 broadcasts a second), SLOW_DRAIN (20 seconds for each server of `rolling`) and PROTOCOL
// (actioncable-v1-ext-json) change the run. Prints one line of JSON for each fault.

import { spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { createRequire } from "node:module";
import { setTimeout as pause } from "node:timers/promises";
import { HttpApp } from "../../tests/foreign/support/http-app.mjs";
import { NatsServer } from "../../tests/foreign/support/nats.mjs";
import { Server } from "../../tests/foreign/support/plimsoll.mjs";
import { RedisServer, Sentinel } from "../../tests/foreign/support/redis.mjs";
import { Tunnel } from "../../tests/foreign/support/tunnel.mjs";

const WebSocket = createRequire(new URL("../../tests/foreign/", import.meta.url))("ws");
const N_CLIENTS = Number(process.env.CLIENTS ?? 5000);
const SECONDS = Number(process.env.DURATION ?? 60);
const N_STREAMS = 50;
const PER_SECOND = Number(process.env.RATE ?? 200);
const SLOW_DRAIN = Number(process.env.SLOW_DRAIN ?? 20);
const PROTOCOL = process.env.PROTOCOL ?? "actioncable-v1-ext-json";
const IS_EXTENDED = PROTOCOL.includes("-ext-");
const N_NODES = 3;
const PADDING = "x".repeat(300);
/** How long everything may take to reach everyone after the last broadcast. */
const REST_MS = 60_000;
/** The namespace of the third server, and both ends of the cable to it. */
const NAMESPACE = "plimsoll-faults";
const [OUR_ADDRESS, ITS_ADDRESS] = ["10.77.0.1", "10.77.0.2"];

const sum = (numbers) => numbers.reduce((a, b) => a + b, 0);
const nameOf = (stream) => `faults/${stream}`;

function ip(...words) {
  const { status, stderr } = spawnSync("ip", words, { encoding: "utf8" });
  if (status !== 0) throw new Error(`ip ${words.join(" ")}: ${stderr}`);
}

/** What the clients of one stream heard. All of them must hear the same. */
class Stream {
  /** The number of each message, by epoch and offset. */
  numbers = new Map();
  epochs = new Set();
  confirmed = new Set();
  top = 0;

  /** How many confirmed messages no client has heard. */
  get n_unheard() {
    const heard = new Set(this.numbers.values());
    return [...this.confirmed].filter((n) => !heard.has(n)).length;
  }
}

class Client {
  n_disconnects = 0;
  n_gaps = 0;
  n_repeated = 0;
  n_different = 0;
  n_rejected = 0;
  n_restored = 0;
  wholeAfterMs = [];
  /** When servers said that they end the session. */
  disconnectedAt = [];

  constructor(streams, stream) {
    this.stream = streams[stream];
    this.name = nameOf(stream);
    this.identifier = JSON.stringify({ channel: "$pubsub", stream_name: this.name });
  }

  /** Connects to one of the servers. Resolves when the client misses nothing any more. */
  connect(servers, node) {
    this.servers = servers;
    const begin = performance.now();
    const headers = this.sid === undefined ? {} : { "X-ANYCABLE-RESTORE-SID": this.sid };
    const socket = (this.socket = new WebSocket(servers[node].ws("/cable"), PROTOCOL, { headers, perMessageDeflate: false }));
    let isWhole = false;
    return new Promise((resolve, reject) => {
      const whole = () => {
        isWhole = true;
        resolve(performance.now() - begin);
      };
      socket.on("error", reject);
      socket.on("message", (data) => this.#hear(JSON.parse(data.toString()), whole));
      socket.on("close", () => (isWhole ? this.#closed() : reject(new Error("closed"))));
    });
  }

  #closed() {
    if (this.isDone) return;
    this.n_disconnects += 1;
    this.#comeBack();
  }

  /** At another server, as a balancer would choose it. */
  async #comeBack() {
    for (;;) {
      await pause(Math.random() * 1000);
      const alive = this.servers.flatMap((server, node) => (server.isRunning && !server.isStopping ? [node] : []));
      try {
        const node = alive[Math.floor(Math.random() * alive.length)];
        return this.wholeAfterMs.push(await this.connect(this.servers, node));
      } catch {
        // Not yet.
      }
    }
  }

  #hear(message, whole) {
    switch (message.type) {
      case "welcome":
        this.sid = message.sid;
        return this.#welcomed(message.restored === true && message.restored_ids?.includes(this.identifier));
      case "confirm_subscription":
        return this.last === undefined || !IS_EXTENDED ? whole() : undefined;
      case "disconnect":
        this.disconnectedAt.push(performance.now());
        return this.socket.close();
      case "confirm_history":
        return whole();
      case "reject_history":
        this.n_rejected += 1;
        return whole();
      case undefined:
        return this.#note(message);
      default:
    }
  }

  #welcomed(isRestored) {
    const history = IS_EXTENDED && this.last ? { streams: { [this.name]: this.last } } : undefined;
    if (isRestored) this.n_restored += 1;
    this.socket.send(JSON.stringify({ command: isRestored ? "history" : "subscribe", identifier: this.identifier, history }));
  }

  #note({ message: { n }, epoch, offset }) {
    const { stream } = this;
    if (this.last?.epoch === epoch) {
      if (offset <= this.last.offset) this.n_repeated += 1;
      if (offset > this.last.offset + 1) this.n_gaps += 1;
    }
    const position = `${epoch}/${offset}`;
    const known = stream.numbers.get(position);
    if (known === undefined) {
      stream.numbers.set(position, n);
      stream.epochs.add(epoch);
      stream.top = offset;
    } else if (known !== n) this.n_different += 1;
    this.last = { epoch, offset };
  }

  /** Whether it heard its stream up to the last message. */
  get isWhole() {
    return this.last?.offset === this.stream.top;
  }
}

/** Publishes at a steady rate; a message that is not confirmed is sent again under its key, to the next server. */
class Backend {
  n_sent = 0;
  n_again = 0;
  #waiting = new Set();

  constructor(servers, streams) {
    this.servers = servers;
    this.streams = streams;
  }

  async run(seconds) {
    const begin = performance.now();
    while (this.n_sent < seconds * PER_SECOND) {
      const due = Math.min(seconds * PER_SECOND, Math.floor(((performance.now() - begin) / 1000) * PER_SECOND));
      while (this.n_sent < due) {
        const sending = this.#publish(this.n_sent++);
        this.#waiting.add(sending);
        sending.finally(() => this.#waiting.delete(sending));
      }
      await pause(5);
    }
    await Promise.all(this.#waiting);
  }

  async #publish(n) {
    const key = randomUUID();
    const stream = n % N_STREAMS;
    const body = JSON.stringify({ stream: nameOf(stream), data: JSON.stringify({ n, PADDING }) });
    for (let attempt = 0; ; attempt++) {
      const server = this.servers[(n + attempt) % N_NODES];
      try {
        const response = await fetch(server.http("/_broadcast"), {
          method: "POST",
          headers: { authorization: "Bearer secret", "idempotency-key": key },
          body,
          signal: AbortSignal.timeout(5000),
        });
        await response.text();
        if (response.status === 201) return this.streams[stream].confirmed.add(n);
      } catch {
        // The server is gone, or the network.
      }
      this.n_again += 1;
      await pause(500);
    }
  }
}

/** What happens during the broadcasts. */
const FAULTS = {
  none: async () => {},
  kill: async ({ engine }) => {
    await pause(15_000);
    await engine.kill();
    await pause(3000);
    await engine.resume();
  },
  cut: async ({ cut }) => {
    for (let second = 2; second < SECONDS; second += 2) {
      await pause(2000);
      await cut();
    }
  },
  stop: async ({ engine }) => {
    await pause(20_000);
    engine.signal("SIGSTOP");
    await pause(10_000);
    engine.signal("SIGCONT");
  },
  network: async () => {
    await pause(20_000);
    ip("link", "set", "plimsoll-here", "down");
    await pause(10_000);
    ip("link", "set", "plimsoll-here", "up");
  },
  node: async ({ servers }) => {
    await pause(20_000);
    process.kill(servers[2].pid, "SIGKILL");
  },
  failover: async ({ engine }) => {
    await pause(20_000);
    await engine.kill();
  },
  lagging: async ({ engine, replica }) => {
    await pause(20_000);
    await replica.call("REPLICAOF", "127.0.0.1", "1");
    await pause(500);
    await engine.kill();
  },
  rolling: async ({ servers, startServer }) => {
    await pause(3000);
    for (let node = 0; node < N_NODES; node++) {
      const old = servers[node];
      old.isStopping = true;
      await old.stop(120_000);
      servers[node] = await startServer(node);
      await pause(2000);
    }
  },
};

/** The engines: their start, what their clients are told, and how their subscriptions are cut. */
const ENGINES = {
  redis: {
    async start(t, isApart) {
      // Everything that Redis has confirmed outlives it.
      const options = ["--appendonly", "yes", "--appendfsync", "always"];
      if (isApart) options.push("--bind", "127.0.0.1", OUR_ADDRESS, "--protected-mode", "no");
      const engine = await RedisServer.start(t, { options });
      const cut = () => engine.client(t).client("KILL", "TYPE", "pubsub");
      return { engine, cut, flags: ["--broker", "redis", "--redis_url", engine.url] };
    },
  },
  sentinel: {
    async start(t) {
      const options = ["--appendonly", "yes", "--appendfsync", "everysec", "--repl-diskless-sync-delay", "0"];
      const engine = await RedisServer.start(t, { options });
      const follower = await RedisServer.start(t, { options: [...options, "--replicaof", ...engine.address.split(":")] });
      const replica = follower.client(t);
      while (!(await replica.info("replication")).includes("master_link_status:up")) await pause(50);
      const sentinels = [];
      for (let n = 0; n < 3; n++) sentinels.push(await Sentinel.start(t, engine));
      for (const sentinel of sentinels) while ((await sentinel.replicas()).length === 0) await pause(50);
      const addresses = sentinels.map(({ address }) => address).join(",");
      return { engine, replica, flags: ["--broker", "redis", "--redis_url", "redis://mymaster", "--redis_sentinels", addresses] };
    },
  },
  nats: {
    async start(t, isApart) {
      const options = isApart ? ["-a", "0.0.0.0"] : [];
      const engine = await NatsServer.start(t, { jetStream: true, options });
      if (isApart) return { engine, flags: ["--broker", "nats", "--nats_servers", engine.url] };
      // All connections of the servers lead through a tunnel that can be shut.
      const tunnel = await Tunnel.to(t, Number(engine.address.split(":")[1]));
      const cut = () => {
        tunnel.shut();
        tunnel.open();
      };
      return { engine, cut, flags: ["--broker", "nats", "--nats_servers", tunnel.address] };
    },
  },
};

function layCable({ after }) {
  ip("netns", "add", NAMESPACE);
  after(() => ip("netns", "delete", NAMESPACE));
  ip("link", "add", "plimsoll-here", "type", "veth", "peer", "name", "there", "netns", NAMESPACE);
  ip("address", "add", `${OUR_ADDRESS}/24`, "dev", "plimsoll-here");
  ip("link", "set", "plimsoll-here", "up");
  ip("-n", NAMESPACE, "address", "add", `${ITS_ADDRESS}/24`, "dev", "there");
  ip("-n", NAMESPACE, "link", "set", "there", "up");
  ip("-n", NAMESPACE, "link", "set", "lo", "up");
}

async function start(name, fault, t) {
  const hasNetwork = fault === "network";
  if (hasNetwork) layCable(t);
  const { engine, cut, replica, flags } = await ENGINES[name].start(t, hasNetwork);
  const app = await HttpApp.start();
  t.after(() => app.kill());
  const startServer = async (node) => {
    const isApart = hasNetwork && node === 2;
    const own = flags.map((flag) => (isApart ? flag.replace("127.0.0.1", OUR_ADDRESS) : flag));
    own.push("--public_streams", "--broadcast_key", "secret", "--history_limit", "1000", "--rpc_concurrency", "28");
    // Only in a namespace of its own it cannot reach the application.
    own.push(...(isApart ? ["--host", ITS_ADDRESS, "--norpc", "--noauth"] : ["--rpc_host", app.host, "--http_rpc_secret", "secret"]));
    if (fault === "rolling") own.push("--shutdown_slowdrain_period", String(SLOW_DRAIN));
    const server = await Server.startIn({ namespace: isApart ? NAMESPACE : undefined }, ...own);
    t.after(() => server.isRunning && server.stop(60_000));
    return server;
  };
  const servers = [];
  for (let node = 0; node < N_NODES; node++) servers.push(await startServer(node));
  return { engine, cut, replica, app, servers, startServer };
}

const percentile = (sorted, share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];

/** The most of these times, in milliseconds, that lie within one second. */
function mostInASecond(times) {
  times.sort((a, b) => a - b);
  let most = 0;
  for (let first = 0, last = 0; last < times.length; last++) {
    while (times[last] - times[first] > 1000) first++;
    most = Math.max(most, last - first + 1);
  }
  return most;
}

async function run(name, fault) {
  const atEnd = [];
  const t = { after: (end) => atEnd.unshift(end) };
  try {
    const parts = await start(name, fault, t);
    const { servers, app } = parts;
    const streams = Array.from({ length: N_STREAMS }, () => new Stream());
    const clients = Array.from({ length: N_CLIENTS }, (_, n) => new Client(streams, n % N_STREAMS));
    for (let n = 0; n < N_CLIENTS; n += 100) {
      await Promise.all(clients.slice(n, n + 100).map((client, i) => client.connect(servers, (n + i) % N_NODES)));
    }
    const connectsBefore = app.calls.Connect.size;
    const backend = new Backend(servers, streams);
    await Promise.all([backend.run(SECONDS), FAULTS[fault](parts)]);
    const end = performance.now();
    const isSettled = () => clients.every((client) => client.isWhole) && streams.every((stream) => stream.n_unheard === 0);
    while (performance.now() - end < REST_MS && !isSettled()) await pause(50);
    const settledMs = Math.round(performance.now() - end);
    for (const client of clients) client.isDone = true;

    const returns = clients.flatMap((client) => client.wholeAfterMs).sort((a, b) => a - b);
    const total = (name) => sum(clients.map((client) => client[name]));
    console.log(
      JSON.stringify({
        engine: name,
        fault,
        clients: N_CLIENTS,
        broadcasts: backend.n_sent,
        confirmed: sum(streams.map(({ confirmed }) => confirmed.size)),
        sentAgain: backend.n_again,
        confirmedThatNobodyHeard: sum(streams.map((stream) => stream.n_unheard)),
        storedTwice: sum(streams.map(({ numbers }) => numbers.size - new Set(numbers.values()).size)),
        clientsBehind: clients.filter((client) => !client.isWhole).length,
        gaps: total("n_gaps"),
        repeatedOrReordered: total("n_repeated"),
        different: total("n_different"),
        newEpochs: sum(streams.map(({ epochs }) => epochs.size)) - N_STREAMS,
        rejected: total("n_rejected"),
        disconnects: total("n_disconnects"),
        restored: total("n_restored"),
        connectCalls: app.calls.Connect.size - connectsBefore,
        mostDisconnectsInASecond: mostInASecond(clients.flatMap((client) => client.disconnectedAt)),
        returns: returns.length,
        returnMs: returns.length > 0 ? { p50: Math.round(percentile(returns, 0.5)), max: Math.round(returns.at(-1)) } : undefined,
        settledMs,
      }),
    );
    for (const client of clients) client.socket.terminate();
  } finally {
    for (const end of atEnd) await end();
  }
}

const [name, ...faults] = process.argv.slice(2);
if (!(name in ENGINES)) throw new Error(`no such engine: ${name}; expected ${Object.keys(ENGINES).join(", ")}`);
for (const fault of faults) {
  if (!(fault in FAULTS)) throw new Error(`no such fault: ${fault}; expected ${Object.keys(FAULTS).join(", ")}`);
  await run(name, fault);
}
process.exit();
