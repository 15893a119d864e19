// A steady closed load: clients that subscribe and unsubscribe without a pause, against the Ruby application. Prints
// subscriptions per second for the adaptive limit and for fixed ones, each in a server of its own, in turn.
//
//   PLIMSOLL_BIN=target/release/plimsoll node benchmarks/peak/steady.mjs [THREADS [ROUNDS]]

import { CableClient } from "../../tests/foreign/support/cable.mjs";
import { BusyApp, startServer } from "./parts.mjs";

const [threads = "30", rounds = "3"] = process.argv.slice(2);
const nThreads = Number(threads);
const N_CLIENTS = 5 * nThreads;
const WARM_UP_SECONDS = 3;
const SECONDS = 10;
const CHAT = '{"channel":"ChatChannel","id":"demo"}';

async function measure(concurrency) {
  const app = new BusyApp(nThreads);
  await app.start();
  const server = await startServer(app, "--rpc_concurrency", String(concurrency), "--rpc_command_timeout", "30000");
  const headers = { cookie: "uid=kay/1" };
  let isOver = false;
  const client = async () => {
    const cable = await CableClient.subscribed(server.ws("/cable"), CHAT, { headers });
    while (!isOver) {
      cable.send({ command: "unsubscribe", identifier: CHAT });
      await cable.subscribe(CHAT);
    }
    cable.close();
  };
  const clients = Array.from({ length: N_CLIENTS }, client);
  const after = (seconds) => new Promise((resolve) => setTimeout(() => resolve(app.reports.at(-1)), seconds * 1000));
  const from = await after(WARM_UP_SECONDS);
  const to = await after(SECONDS);
  isOver = true;
  await Promise.all(clients);
  await server.stop();
  await app.kill();
  return (to.subscriptions - from.subscriptions) / (to.at - from.at);
}

const best = (rates) => Math.max(...rates);
const kinds = [0, nThreads - 2, nThreads - 1, nThreads, nThreads + 1];
const rates = new Map(kinds.map((kind) => [kind, []]));
for (let round = 0; round < Number(rounds); round += 1) {
  for (const kind of kinds) rates.get(kind).push(await measure(kind));
}
const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
for (const [kind, values] of rates) {
  const name = kind === 0 ? "adaptive" : `fixed ${kind}`;
  console.log(`${name.padEnd(9)} ${median(values).toFixed(1)}/s  (${values.map((value) => value.toFixed(1)).join(" ")})`);
}
const fixed = kinds.slice(1).map((kind) => median(rates.get(kind)));
console.log(`adaptive / best fixed: ${(median(rates.get(0)) / best(fixed)).toFixed(3)}`);
process.exit(0);
