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

import { CableClient } from "../../tests/foreign/support/cable.mjs";
import { NatsServer } from "../../tests/foreign/support/nats.mjs";
import { RedisServer } from "../../tests/foreign/support/redis.mjs";
import { Place } from "../fleet/bench.mjs";
import { measure, serve } from "./measured.mjs";

const N_CLIENTS = Number(process.env.CLIENTS ?? 18_000);
const SECONDS = Number(process.env.SECONDS ?? 10);
/** The threads of each of three servers: with one for each core, the three would have three times as many as there are cores. */
const SHARDS = process.env.SHARDS ?? "1";
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
  const found = await measure({ servers, pids, nClients: N_CLIENTS, load: MODELS[model], seconds: SECONDS, isApart });
  await place.leave();
  return { round, kind, shards: kind === "one" ? undefined : Number(SHARDS), model, apart: isApart, ...found };
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
