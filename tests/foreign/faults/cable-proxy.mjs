// Between clients and a `plimsoll serve` of its own: does nothing, or one thing wrong. Run by `plimsoll conform cable` as the
// server under test:
//
//   node cable-proxy.mjs PORT RPC_HOST [FAULT]

import { spawn } from "node:child_process";
import { once } from "node:events";
import http from "node:http";
import { createInterface } from "node:readline";
import { WebSocket, WebSocketServer } from "ws";
import { FAULTS } from "./cable.mjs";

/** The only sub-protocol that the server speaks. */
const BASE = "actioncable-v1-json";

const [port, rpcHost, name] = process.argv.slice(2);
const fault = name ? FAULTS[name] : {};
if (!fault) throw new Error(`no fault is called ${name}`);

const flags = ["--headers", "cookie,x-api-token", "--broadcast_key", "secret", "--ping_interval", "1", "--ping_timestamp_precision", "ms"];
const child = spawn(
  process.env.PLIMSOLL_BIN,
  ["serve", "--host", "127.0.0.1", "--port", "0", "--announce", "--exit_with_stdin", "--rpc_host", rpcHost, ...flags],
  { stdio: ["pipe", "pipe", "inherit"] },
);
const [line] = await once(createInterface({ input: child.stdout }), "line");
const upstream = JSON.parse(line).address;

/** What faults remember of all connections. */
const shared = {};

const sockets = new WebSocketServer({ noServer: true, handleProtocols: (offered, request) => request.agreed || false });
const server = http.createServer((request, response) => {
  const { method, url: path, headers } = request;
  const [host, port] = upstream.split(":");
  const forwarded = http.request({ method, path, headers, host, port }, (answer) => {
    response.writeHead(answer.statusCode, answer.headers);
    answer.pipe(response);
  });
  request.pipe(forwarded);
});
server.on("upgrade", (request, socket, head) => {
  const offered = (request.headers["sec-websocket-protocol"] ?? "").split(/, */).filter(Boolean);
  const { path, headers } = (fault.handshake ?? ((it) => it))({ path: request.url, headers: own(request.headers) });
  // `ws` gives up on a server that takes none of its offers, which is what the suite wants to see.
  const known = offered.filter((protocol) => protocol === BASE);
  const above = new WebSocket(`ws://${upstream}${path}`, known, { headers, perMessageDeflate: false });
  above.on("error", () => socket.destroy());
  above.once("open", () => {
    request.agreed = fault.protocol ? fault.protocol(offered) : above.protocol;
    sockets.handleUpgrade(request, socket, head, (below) => join(below, above, socket));
  });
});

/** Headers of the client itself; those of the handshake are made anew. */
function own(headers) {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !/^(connection|upgrade|sec-websocket-.*)$/.test(name)));
}

function join(below, above, socket) {
  const notes = { shared };
  const cut = () => {
    socket.destroy();
    above.terminate();
  };
  const toClient = (text) => below.send(text);
  const toServer = (text) => above.send(text);
  const pass = (text, { pass }) => pass(text);
  const down = fault.toClient ?? pass;
  const up = fault.toServer ?? pass;
  above.on("message", (data) => down(data.toString(), { pass: toClient, notes, cut }));
  below.on("message", (data) => up(data.toString(), { pass: toServer, toClient, notes, cut }));
  const close = (code, reason) => below.close(...(code === 1005 || code === 1006 ? [] : [code, reason]));
  above.on("close", (code, reason) => (fault.closed ? fault.closed({ cut }) : close(code, reason)));
  below.on("close", () => above.close());
  below.on("error", () => above.terminate());
}

// The suite signals the whole group: the server says goodbye, and all that passes through here first.
let isEnding = false;
process.on("SIGTERM", () => {
  isEnding = true;
  server.close();
});
child.on("exit", (code) => {
  if (!isEnding) process.exit(code ?? 1);
  const ended = setInterval(() => {
    if ([...sockets.clients].every(({ readyState }) => readyState === WebSocket.CLOSED)) {
      clearInterval(ended);
      process.exit(0);
    }
  }, 10);
});
server.listen(Number(port), "127.0.0.1");
