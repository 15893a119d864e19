// Stock Rails clients against the Ruby application: how long until all are subscribed, how many are rejected for good, and
// how busy the application's threads were meanwhile.
//
//   PLIMSOLL_BIN=target/release/plimsoll node benchmarks/peak/peak.mjs SCENARIO CLIENTS THREADS [SERVE FLAGS…]
//
// Scenarios:
//   peak     all clients connect at once; says how busy the threads were in each second
//   raise    as peak, while every command raises for 3 s
//   away     the application is killed when the first client is connected, and started again after 9 s
//   restart  the server is stopped when all are connected, and started again at once

import { RailsHerd } from "../../tests/foreign/support/rails-herd.mjs";
import { BusyApp, startServer } from "./parts.mjs";

const PATIENCE_SECONDS = 120;

const [scenario = "peak", clients = "1000", threads = "30", ...flags] = process.argv.slice(2);
const [nClients, nThreads] = [Number(clients), Number(threads)];
const sleep = (seconds) => new Promise((resolve) => setTimeout(resolve, seconds * 1000));

const app = new BusyApp(nThreads);
await app.start();
const server = await startServer(app, ...flags);
if (scenario === "raise") app.toggleRaising();

let start = performance.now();
const seconds = () => (performance.now() - start) / 1000;
const startedAt = app.reports.at(-1)?.at ?? 0;
const herd = new RailsHerd(server.ws("/cable"), nClients);

const disturbances = {
  peak: async () => {},
  raise: async () => {
    await sleep(3);
    app.toggleRaising();
  },
  away: async () => {
    await herd.any();
    await app.kill();
    await sleep(9);
    await app.start();
  },
  restart: async () => {
    await herd.decided(PATIENCE_SECONDS * 1000);
    start = performance.now();
    await server.restart();
  },
};
await disturbances[scenario]();
const allAfter = await herd.decided(PATIENCE_SECONDS * 1000).then(seconds, () => null);
await sleep(0.2);

const ideal = (nClients * app.workSeconds) / nThreads;
const when = allAfter === null ? `not all within ${PATIENCE_SECONDS} s` : `all after ${allAfter.toFixed(2)} s`;
const ratio = scenario === "peak" && allAfter !== null ? ` (${(allAfter / ideal).toFixed(2)} × ${ideal.toFixed(2)} s)` : "";
console.log(
  `${scenario}: ${nClients} clients, ${nThreads} threads: ${herd.nConnected} connected, ${herd.nRejected} rejected, ${when}${ratio}`,
);
if (scenario === "peak") {
  const end = allAfter ?? PATIENCE_SECONDS;
  const busy = Array.from({ length: Math.floor(end) }, (_, second) => app.busy(startedAt + second, startedAt + second + 1));
  console.log(`  busy threads in each whole second: ${busy.map((n) => n.toFixed(1)).join(" ")}`);
  console.log(`  from the second second on: ${app.busy(startedAt + 1, startedAt + Math.floor(end)).toFixed(1)}`);
}
const { rpc_call_total, rpc_retries_total, rpc_error_total, rpc_capacity_num } = await server.metrics();
console.log(
  `  calls: ${rpc_call_total}, of which after a failure ${rpc_retries_total}; failed ${rpc_error_total}; limit at the end ${rpc_capacity_num}`,
);
herd.leave();
await server.stop();
await app.kill();
process.exit(0);
