// When the clients of a server with --shutdown_slowdrain_period are sent away, and what it answers meanwhile.
//
//     PLIMSOLL_BIN=target/release/plimsoll node benchmarks/drain/slow.mjs [CLIENTS] [PERIOD]      default: 5000 clients, 20 seconds
//
// Prints one line of JSON.

import { once } from "node:events";
import { createRequire } from "node:module";
import { setTimeout as pause } from "node:timers/promises";
import { CableClient } from "../../tests/foreign/support/cable.mjs";
import { Server } from "../../tests/foreign/support/plimsoll.mjs";

const WebSocket = createRequire(new URL("../../tests/foreign/", import.meta.url))("ws");
const [nClients = 5000, period = 20] = process.argv.slice(2).map(Number);
const IDENTIFIER = JSON.stringify({ channel: "$pubsub", stream_name: "drain" });
/** How long the stop may take beyond the period. */
const REST_MS = 40_000;

const server = await Server.start("--public", "--norpc", "--shutdown_slowdrain_period", `${period}`);
const url = server.ws("/cable");

/** The status of a handshake that is refused; 101 if it is not. */
async function newcomer() {
  const socket = new WebSocket(url, "actioncable-v1-json");
  socket.on("error", () => {});
  const refused = once(socket, "unexpected-response").then(([, response]) => response.statusCode);
  return Promise.race([refused, once(socket, "open").then(() => 101)]);
}

const clients = [];
while (clients.length < nClients) {
  const n = Math.min(100, nClients - clients.length);
  clients.push(...(await Promise.all(Array.from({ length: n }, () => CableClient.subscribed(url, IDENTIFIER)))));
}

const begin = performance.now();
const stopped = server.stop(period * 1000 + REST_MS);
const perSecond = Array(period).fill(0);
const reasons = new Set();
const sentAway = clients.map(async ({ frames }) => {
  const { type, reason, reconnect } = JSON.parse(await frames.next(period * 1000 + REST_MS));
  reasons.add(`${type}: ${reason}, reconnect ${reconnect}`);
  perSecond[Math.min(period - 1, Math.floor((performance.now() - begin) / 1000))] += 1;
});
await pause((period / 4) * 1000);
const meanwhile = { health: (await fetch(server.http("/health"))).status, newcomer: await newcomer() };
await Promise.all(sentAway);
const { code, tookMs } = await stopped;
console.log(JSON.stringify({ clients: nClients, period, reasons: [...reasons], perSecond, meanwhile, code, tookMs: Math.round(tookMs) }));
