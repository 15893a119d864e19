// CPU of three servers over an engine beside that of one server with as many clients.
//
//     PLIMSOLL_BIN=target/release/plimsoll node benchmarks/engines/clients.mjs MODEL [ROUNDS] [apart]
//
// MODEL is open (three broadcasts a second) or closed (one after the other). Each round has one server, three without an engine, and
// three with each engine and broker; KINDS are some of them, with commas. Without an engine, a client of the first server publishes
// at the other two what it hears: what these three take is what three processes take, whatever is between them. A server alone has
// a thread for each core, and each of three has SHARDS of them. `apart` keeps servers and engine on the first core and the generator
// on the second one. CLIENTS is 18000 unless it is set, and SECONDS, in which CPU and deliveries are counted after all clients are
// there, is 10. Prints one line of JSON for each run.

import { readFileSync } from "node:fs";
import { spawnSync } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";
import { CableClient } from "../../tests/foreign/support/cable.mjs";
import { NatsServer } from "../../tests/foreign/support/nats.mjs";
import { Server, startPlimsoll } from "../../tests/foreign/support/plimsoll.mjs";
import { RedisServer } from "../../tests/foreign/support/redis.mjs";
import { Place, rounded } from "../fleet/bench.mjs";

const N_CLIENTS = Number(process.env.CLIENTS ?? 18_000);
const SECONDS = Number(process.env.SECONDS ?? 10);
/** The threads of each of three servers: with one for each core, the three would have three times as many as there are cores. */
const SHARDS = process.env.SHARDS ?? "1";
/** The first broadcasts, which are not counted. */
const N_FIRST = 3;
/** Each load lasts longer than the counted part. */
const MODELS = {
  open: ["--rate", "3/s", "--duration", `${SECONDS + 5}s`],
  closed: ["--sample-size", String(SECONDS * 20), "--concurrent", "1"],
};
const ENGINES = {
  one: null,
  relay: null,
  "--pubsub redis": "redis",
  "--pubsub nats": "nats",
  "--broker redis": "redis",
  "--broker nats": "nats",
};

const sum = (numbers) => numbers.reduce((a, b) => a + b, 0);

/** CPU seconds of a process and all its threads, as the scheduler counts them. */
function cpuOf(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, "latin1").split(") ").at(-1).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

function keepOn(core, pid) {
  const { status, stderr } = spawnSync("taskset", ["-acp", String(core), String(pid)], { encoding: "utf8" });
  if (status !== 0) throw new Error(`taskset: ${stderr}`);
}

/** Deliveries that the servers have queued so far. */
async function delivered(servers) {
  const counts = servers.map(async (server) => {
    const text = await (await fetch(server.http("/metrics"))).text();
    return Number(/^anycable_go_server_msg_total (\d+)$/m.exec(text)[1]);
  });
  return sum(await Promise.all(counts));
}

/** The servers, each with these arguments. */
async function serve(n, ...args) {
  const servers = [];
  while (servers.length < n) {
    servers.push(await Server.startIn({}, "--app", "benchmark", "--metrics_http", "/metrics", "--broadcast_key", "secret", ...args));
  }
  return servers;
}

const serveThree = (...args) => serve(3, "--shards", SHARDS, ...args);

/** Publishes at the other servers what a client of the first one hears. */
async function relay([first, ...others]) {
  const client = await CableClient.subscribed(first.ws("/cable"));
  client.socket.on("message", (frame) => {
    const { message } = JSON.parse(frame);
    if (message?.action === "broadcast") others.forEach((server) => server.broadcast({ stream: "all", data: JSON.stringify(message) }));
  });
}

/** Servers of this kind: one alone, or three with what is between them. */
async function start(place, kind) {
  if (kind === "one") return { servers: await serve(1), pids: [] };
  if (kind === "relay") {
    const servers = await serveThree();
    await relay(servers);
    return { servers, pids: [] };
  }
  const engine = ENGINES[kind];
  const store =
    engine === "redis" ? await RedisServer.start(place) : await NatsServer.start(place, { jetStream: kind.startsWith("--broker") });
  const where = engine === "redis" ? ["--redis_url", store.url] : ["--nats_servers", store.url];
  return { servers: await serveThree(...kind.split(" "), ...where), pids: [store.pid] };
}

/** One run: what servers and generator took for the deliveries of the counted part. */
async function run(round, kind, model, isApart) {
  const place = new Place();
  const { servers, pids } = await start(place, kind);
  const all = servers.map((server) => server.pid);
  if (isApart) [...all, ...pids].forEach((pid) => keepOn(0, pid));
  const urls = servers.map((server) => server.ws("/cable"));
  const clients = ["--server-type", "actioncable", "--step-size", String(N_CLIENTS), "--total-steps", "1", "--payload-padding", "200"];
  const bench = startPlimsoll("bench", "broadcast", ...urls, ...clients, ...MODELS[model], "--format", "json", "--no-save", "--quiet");
  if (isApart) keepOn(1, bench.pid);
  let stdout = "";
  bench.stdout.setEncoding("utf8").on("data", (chunk) => (stdout += chunk));
  const stderr = [];
  bench.stderr.setEncoding("utf8").on("data", (chunk) => stderr.push(chunk));
  // A welcome and a confirmation for each client come first.
  const begun = (2 + N_FIRST) * N_CLIENTS;
  while ((await delivered(servers)) < begun) {
    if (bench.exitCode !== null) throw new Error(`${await delivered(servers)} of ${begun}: ${stderr.join("")}`);
    await pause(100);
  }
  const look = async () => ({
    at: performance.now(),
    servers: all.map(cpuOf),
    engine: sum(pids.map(cpuOf)),
    generator: cpuOf(bench.pid),
    delivered: await delivered(servers),
  });
  const before = await look();
  await pause(SECONDS * 1_000);
  const after = await look();
  const { code } = await bench.exited;
  const { plimsoll: found } = JSON.parse(stdout).steps[0];
  await Promise.all(servers.map((server) => server.stop()));
  await place.leave();
  const cpu = sum(after.servers) - sum(before.servers);
  const n = after.delivered - before.delivered;
  const names = ["n_deliveries_expected", "n_deliveries", "n_late", "n_lost", "n_duplicated", "n_out_of_order"];
  const counts = Object.fromEntries(names.map((name) => [name, found[name]]));
  const { p50, p95 } = found.last_delivery_us;
  return {
    round,
    kind,
    shards: kind === "one" ? undefined : Number(SHARDS),
    model,
    apart: isApart,
    code,
    seconds: rounded((after.at - before.at) / 1_000, 2),
    servers_cpu_s: rounded(cpu, 2),
    engine_cpu_s: rounded(after.engine - before.engine, 2),
    generator_cpu_s: rounded(after.generator - before.generator, 2),
    counted: n,
    us_per_delivery: rounded((cpu / n) * 1e6, 2),
    last_listener_ms: { p50: rounded(p50 / 1_000, 1), p95: rounded(p95 / 1_000, 1) },
    ...counts,
  };
}

const [model = "open", rounds = "3", apart] = process.argv.slice(2);
if (!MODELS[model]) throw new Error(`MODEL is open or closed, and not ${model}`);
const kinds = process.env.KINDS?.split(",") ?? Object.keys(ENGINES);
for (let round = 1; round <= Number(rounds); round++) {
  // Each round begins with another one, because the machine gets slower and faster meanwhile.
  for (let at = 0; at < kinds.length; at++) {
    const kind = kinds[(round - 1 + at) % kinds.length];
    console.log(JSON.stringify(await run(round, kind, model, apart === "apart")));
  }
}
