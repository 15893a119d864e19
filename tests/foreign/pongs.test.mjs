// `plimsoll serve --pong_timeout` and `--enable_native_pings`: clients that do not answer pings are disconnected, others stay.

import assert from "node:assert/strict";
import { test } from "node:test";
import { createCable } from "@anycable/core";
import WebSocket from "ws";
import { CableClient } from "./support/cable.mjs";
import { within } from "./support/deadline.mjs";
import { Server } from "./support/plimsoll.mjs";

const BASE = "actioncable-v1-json";
const EXTENDED = "actioncable-v1-ext-json";

const start = (...flags) => Server.start("--public", "--ping_interval", "1", ...flags);

async function connect(t, server, protocol, options) {
  const client = await CableClient.connect(server.ws("/cable"), { protocols: [protocol], ...options });
  t.after(() => client.socket.terminate());
  await client.frames.next();
  return client;
}

/** The client is told why, and its connection is closed. */
async function endsSilently(client) {
  assert.equal(await client.frames.next(), '{"type":"disconnect","reason":"no_pong","reconnect":true}');
  assert.deepEqual(await within(client.closed, "the end"), { code: 1000, reason: "No Pong" });
}

const isOpen = (client) => client.socket.readyState === WebSocket.OPEN;

test("a client of the extended protocol must answer, with pong or any other command, and one of the base protocol need not", async (t) => {
  const server = await start("--pong_timeout", "2");
  t.after(() => server.stop());
  const silent = await connect(t, server, EXTENDED);
  const base = await connect(t, server, BASE);
  const answering = await connect(t, server, EXTENDED);
  answering.socket.on("message", (data) => String(data).includes('"ping"') && answering.send({ command: "pong" }));
  const whispering = await connect(t, server, EXTENDED);
  const unknown = { command: "whisper", identifier: "{}", data: 1 };
  whispering.socket.on("message", (data) => String(data).includes('"ping"') && whispering.send(unknown));
  await endsSilently(silent);
  // Two more timeouts pass.
  for (let n = 0; n < 5; n++) await base.pings.next();
  for (const client of [base, answering, whispering]) assert.ok(isOpen(client));
});

test("with native pings every client must answer, and a WebSocket client does so on its own", async (t) => {
  const server = await start("--pong_timeout", "2", "--enable_native_pings");
  t.after(() => server.stop());
  const silent = await connect(t, server, BASE, { autoPong: false });
  const client = await connect(t, server, BASE);
  const pinged = new Promise((resolve) => client.socket.once("ping", resolve));
  await within(pinged, "a ping of WebSocket");
  await client.pings.next();
  await endsSilently(silent);
  for (let n = 0; n < 3; n++) await client.pings.next();
  assert.ok(isOpen(client));
});

test("a client that is ended for its silence resumes its session", async (t) => {
  const server = await start("--pong_timeout", "1", "--broker", "memory");
  t.after(() => server.stop());
  const client = await CableClient.connect(server.ws("/cable"), { protocols: [EXTENDED] });
  const { sid } = JSON.parse(await client.frames.next());
  await endsSilently(client);
  const again = await CableClient.connect(server.ws(`/cable?sid=${sid}`), { protocols: [EXTENDED] });
  t.after(() => again.socket.terminate());
  assert.equal(JSON.parse(await again.frames.next()).restored, true);
});

test("@anycable/core answers", async (t) => {
  const server = await start("--pong_timeout", "1");
  t.after(() => server.stop());
  const options = { protocol: EXTENDED, websocketImplementation: WebSocket, logLevel: "error" };
  const cable = createCable(server.ws("/cable"), { ...options, protocolOptions: { pongs: true } });
  t.after(() => cable.disconnect());
  const ends = [];
  cable.on("disconnect", (event) => ends.push(event.reason));
  await within(cable.connect(), "the connection");
  const witness = await connect(t, server, BASE);
  for (let n = 0; n < 4; n++) await witness.pings.next();
  assert.deepEqual(ends, []);
  assert.equal(cable.state, "connected");
});
