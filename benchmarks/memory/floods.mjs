// Floods `plimsoll serve` again and again and prints its memory: at rest, the peak of each flood, what is left after a
// pause, and the growth per round. Needs Node.js 20 and Linux, nothing else.
//
//   node benchmarks/memory/floods.mjs target/release/plimsoll [--rounds=3] [--echo=400] [--echo-bytes=1000]
//     [--subscriptions=150000] [--bodies=300] [--settle=30] [--limit-kb=…] [-- flags of serve]
//
// `--limit-kb` starts the server under an address-space limit (`ulimit -v`). All traffic stays on the loopback interface,
// and each flood ends after 20 seconds at the latest. The exit code is 1 when the server died.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import net from "node:net";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";

const text = (value) => ({ type: "string", default: value });
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: text("3"),
    echo: text("400"),
    "echo-bytes": text("1000"),
    subscriptions: text("150000"),
    bodies: text("300"),
    settle: text("30"),
    "limit-kb": text("unlimited"),
  },
});
const [binary, ...flags] = positionals;
if (!binary) throw new Error("say which program to start: node benchmarks/memory/floods.mjs target/release/plimsoll");
const amount = (name) => Number(values[name]);

/** The longest that one flood may take. */
const FLOOD_MS = 20_000;
/** Subscriptions of one connection: the server takes no more. */
const PER_CLIENT = 1000;

const server = spawn(
  "sh",
  ["-c", `ulimit -v ${values["limit-kb"]} && exec "$0" "$@"`, binary, "serve", "--port=0", "--announce"]
    .concat(["--app=benchmark", "--public_streams", "--broadcast_key=key", "--log_level=warn"])
    .concat(flags),
  { stdio: ["ignore", "pipe", "inherit"] },
);
let died = null;
server.on("exit", (code, signal) => (died = signal ?? `exit code ${code}`));
process.on("exit", () => server.kill("SIGKILL"));
const [line] = await once(createInterface({ input: server.stdout }), "line");
const port = Number(JSON.parse(line).address.split(":").at(-1));

/** A line of /proc/PID/status in MB. */
const status = (name) => {
  const field = readFileSync(`/proc/${server.pid}/status`, "utf8").match(new RegExp(`^${name}:\\s+(\\d+) kB`, "m"));
  return Number(field[1]) / 1024;
};
const rss = () => status("VmRSS");
/** The most resident memory since the call before. */
const peak = () => {
  const most = status("VmHWM");
  writeFileSync(`/proc/${server.pid}/clear_refs`, "5");
  return most;
};

function frame(opcode, payload) {
  const body = Buffer.from(payload);
  const length = body.length < 126 ? [0x80 | body.length] : [0x80 | 126, body.length >> 8, body.length & 255];
  if (body.length > 65_535) throw new Error("the floods send messages of up to 65,535 bytes");
  return Buffer.concat([Buffer.from([0x80 | opcode, ...length, 0, 0, 0, 0]), body]);
}

/** A connection that has been upgraded; nothing reads it from then on. */
async function upgraded(path) {
  const socket = net.connect({ port, host: "127.0.0.1" });
  socket.on("error", () => {});
  socket.write(
    `GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
      "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
  );
  await Promise.race([once(socket, "readable"), once(socket, "close")]);
  return socket;
}

/** Sends messages and reads nothing, until the server ends the connection. */
async function echoWithoutReading(deadline) {
  const socket = await upgraded("/echo");
  const message = frame(1, "x".repeat(amount("echo-bytes")));
  const batch = Buffer.concat(Array.from({ length: Math.ceil(65_536 / message.length) }, () => message));
  await new Promise((resolve) => {
    const fill = () => socket.write(batch, (error) => error || setImmediate(fill));
    socket.on("close", resolve);
    setTimeout(resolve, deadline - Date.now());
    fill();
  });
  socket.destroy();
}

async function echoes() {
  const deadline = Date.now() + FLOOD_MS;
  await Promise.all(Array.from({ length: amount("echo") }, () => echoWithoutReading(deadline)));
}

/** Subscribes to streams with no other listener. Resolves with the connection when all are confirmed. */
async function subscribe(client) {
  const socket = await upgraded("/cable");
  let answers = "";
  let n_answered = 0;
  const confirmed = new Promise((resolve) => {
    socket.on("close", resolve);
    socket.on("data", (chunk) => {
      answers = (answers + chunk.toString("latin1")).split(/(?:confirm|reject)_subscription/);
      n_answered += answers.length - 1;
      answers = answers.at(-1).slice(-30);
      if (n_answered === PER_CLIENT) resolve();
    });
  });
  for (let stream = 0; stream < PER_CLIENT; stream++) {
    const identifier = JSON.stringify({ channel: "$pubsub", stream_name: `stream-${client}-${stream}-of-the-flood` });
    socket.write(frame(1, JSON.stringify({ command: "subscribe", identifier })));
  }
  await confirmed;
  return socket;
}

async function subscriptions() {
  const n_clients = Math.ceil(amount("subscriptions") / PER_CLIENT);
  const sockets = await Promise.all(Array.from({ length: n_clients }, (_, client) => subscribe(client)));
  sockets.forEach((socket) => socket.destroy());
}

/** Sends a body of a megabyte but its last byte, waits for `all` to have done so, and sends that one. */
async function post(waitForAll) {
  const socket = net.connect({ port, host: "127.0.0.1" });
  socket.on("error", () => {});
  const message = JSON.stringify({ stream: "nobody", data: "x".repeat(1_000_000) });
  socket.write(`POST /_broadcast HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer key\r\nContent-Length: ${message.length}\r\n\r\n`);
  const answered = Promise.race([once(socket, "data").then(([data]) => data), once(socket, "close")]);
  await Promise.race([new Promise((resolve) => socket.write(message.slice(0, -1), resolve)), answered]);
  await waitForAll();
  socket.write(message.slice(-1));
  const answer = await Promise.race([answered, pause(FLOOD_MS)]);
  socket.destroy();
  return answer?.toString().slice(9, 12) ?? "none";
}

async function bodies() {
  let n_missing = amount("bodies");
  let release;
  const all = new Promise((resolve) => (release = resolve));
  const waitForAll = () => {
    n_missing -= 1;
    if (n_missing === 0) setTimeout(release, 200);
    return all;
  };
  const answers = await Promise.all(Array.from({ length: amount("bodies") }, () => post(waitForAll)));
  return [...new Set(answers)].map((code) => `${answers.filter((answer) => answer === code).length} × ${code}`).join(", ");
}

const shown = (megabytes) => `${megabytes.toFixed(1)} MB`;
// The first visitors make what a server that has just started does not have yet.
await Promise.all(Array.from({ length: 16 }, () => upgraded("/echo").then((socket) => socket.destroy())));
await pause(1000);
const atRest = rss();
console.log(`at rest: ${shown(atRest)}`);
let before = atRest;
for (let round = 1; round <= amount("rounds"); round++) {
  for (const flood of [echoes, subscriptions, bodies]) {
    if (amount(flood === echoes ? "echo" : flood.name) === 0) continue;
    peak();
    const started = Date.now();
    const note = await flood();
    const seconds = ((Date.now() - started) / 1000).toFixed(1);
    if (died) break;
    console.log(`round ${round}, ${flood.name}: peak ${shown(peak())}, ${seconds} s ${note ?? ""}`);
  }
  await pause(amount("settle") * 1000);
  if (died) {
    console.log(`the server died: ${died}`);
    process.exit(1);
  }
  const left = rss();
  const ratio = (left / atRest).toFixed(2);
  console.log(`round ${round}: ${shown(left)} after ${values.settle} s, ${ratio} × at rest, ${shown(left - before)} more than before`);
  before = left;
}
process.exit(0);
