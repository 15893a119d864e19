// When the clients of a server with --shutdown_slowdrain_period are sent away, and what it answers meanwhile.
//
//     node benchmarks/drain/slow.mjs [CLIENTS] [PERIOD]      default: 5000 clients, 20 seconds
//
// PLIMSOLL_BIN names the program (default: target/release/plimsoll). Prints one line of JSON.

import { once } from "node:events";
import { spawn } from "node:child_process";
import { createRequire } from "node:module";

const WebSocket = createRequire(new URL("../../tests/foreign/", import.meta.url))("ws");
const program = process.env.PLIMSOLL_BIN ?? "target/release/plimsoll";
const [nClients = 5000, period = 20] = process.argv.slice(2).map(Number);
const IDENTIFIER = JSON.stringify({ channel: "$pubsub", stream_name: "drain" });

const server = spawn(
  program,
  ["serve", "--port", "0", "--http_broadcast_port", "0", "--public", "--norpc", "--announce", "--shutdown_slowdrain_period", `${period}`],
  { stdio: ["ignore", "pipe", "ignore"] },
);
const [announcement] = await once(server.stdout, "data");
const host = JSON.parse(announcement).address;
const url = `ws://${host}/cable`;

/** Since the signal, in seconds. */
const told = [];
const reasons = new Set();
let begin = 0;
const since = () => (performance.now() - begin) / 1000;

function connect() {
  const socket = new WebSocket(url, "actioncable-v1-json");
  return new Promise((resolve, reject) => {
    socket.on("error", reject);
    socket.on("message", (text) => {
      const { type, reason, reconnect } = JSON.parse(text);
      if (type === "welcome") socket.send(JSON.stringify({ command: "subscribe", identifier: IDENTIFIER }));
      if (type === "confirm_subscription") resolve();
      if (type === "disconnect") {
        told.push(since());
        reasons.add(`${reason}, reconnect ${reconnect}`);
      }
    });
  });
}

/** The status of a handshake that is refused; 101 if it is not. */
async function newcomer() {
  const socket = new WebSocket(url, "actioncable-v1-json");
  socket.on("error", () => {});
  const refused = once(socket, "unexpected-response").then(([, response]) => response.statusCode);
  return Promise.race([refused, once(socket, "open").then(() => 101)]);
}

for (let n = 0; n < nClients; n += 100) {
  await Promise.all(Array.from({ length: Math.min(100, nClients - n) }, connect));
}
begin = performance.now();
server.kill("SIGTERM");
const ended = once(server, "exit").then(([code]) => ({ code, after_s: Number(since().toFixed(2)) }));
await new Promise((resolve) => setTimeout(resolve, (period / 4) * 1000));
const while_draining = { health: (await fetch(`http://${host}/health`)).status, newcomer: await newcomer() };
const { code, after_s } = await ended;
const perSecond = Array(period).fill(0);
for (const seconds of told) perSecond[Math.min(period - 1, Math.floor(seconds))] += 1;
console.log(JSON.stringify({ clients: nClients, period, told: told.length, reasons: [...reasons], per_second: perSecond, while_draining, code, after_s }));
