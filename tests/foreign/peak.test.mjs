// Peaks of stock Rails clients, and an application that cannot decide for a while. A stock client forgets a rejected
// subscription for good, so none may be rejected, and all must be connected in the end without a reload.

import assert from "node:assert/strict";
import { test } from "node:test";
import ActionCable from "@rails/actioncable";
import { ExampleApp } from "./support/example-app.mjs";
import { CableClient } from "./support/cable.mjs";
import { Server } from "./support/plimsoll.mjs";
import { keptPort } from "./support/ports.mjs";
import { confirm } from "./support/rpc-app.mjs";
import { RailsHerd } from "./support/rails-herd.mjs";
import { eventuallyCounts, scrape } from "./support/scrape.mjs";

// Two missed pings mean a dead connection, as by default; the server pings every second instead of every three.
ActionCable.ConnectionMonitor.staleThreshold = 2;
const FLAGS = ["--metrics_http", "/metrics", "--ping_interval", "1"];
const ROOM = '{"channel":"ChatChannel","id":"demo"}';
const N_CLIENTS = 100;

/** The Ruby chat with work to do, and a server that asks it. */
async function start(t, variables, ...flags) {
  const app = await ExampleApp.create(t, "busy");
  const server = await Server.start("--rpc_host", app.rpcHost, ...FLAGS, ...(await keptPort()), ...flags);
  t.after(() => server.stop());
  const startApp = () => app.listen({ WORK_SECONDS: "0.15", ...variables });
  await startApp();
  return { app, server, startApp };
}

function herd(t, server) {
  const herd = new RailsHerd(server.ws("/cable"), N_CLIENTS);
  t.after(() => herd.leave());
  return herd;
}

test("more clients at once than the application has threads for are all connected, none rejected", async (t) => {
  // Each waits longer for its turn than a call may.
  const { server } = await start(t, { ANYCABLE_RPC_POOL_SIZE: "5" }, "--rpc_command_timeout", "1000");
  const clients = herd(t, server);
  await clients.decided();
  assert.equal(clients.nRejected, 0);
  await eventuallyCounts(server.http("/metrics"), { pending_subscriptions_num: 0, abandoned_subscriptions_total: 0 });
});

test("an application that raises, goes away and comes back loses no subscription", async (t) => {
  const { app, server, startApp } = await start(t, {}, "--rpc_command_timeout", "500");
  app.signal("SIGUSR1");
  const clients = herd(t, server);
  const pending = (n) => eventuallyCounts(server.http("/metrics"), { pending_subscriptions_num: n });
  await pending(N_CLIENTS);
  await server.logged(/Pending subscriptions: \d+\. The server asks the application again\. The last call failed: the database is away/);
  await app.kill();
  await pending(N_CLIENTS);
  await startApp();
  await clients.decided();
  assert.equal(clients.nRejected, 0);
  await pending(0);
  await server.logged(/No subscription is pending any more/);
});

test("a server that restarts gets all its clients back", async (t) => {
  const { server } = await start(t, {});
  const clients = herd(t, server);
  await clients.decided();
  await server.restart();
  await clients.decided();
  assert.equal(clients.nRejected, 0);
});

test("a repeated subscribe joins the pending one, and costs no call of its own", async (t) => {
  const { app, server } = await start(t, {}, "--rpc_command_timeout", "500");
  const client = await CableClient.connect(server.ws("/cable"), { headers: { cookie: "uid=kay/1" } });
  assert.match(await client.frames.next(), /"welcome"/);
  app.signal("SIGUSR1");
  client.send({ command: "subscribe", identifier: ROOM });
  await eventuallyCounts(server.http("/metrics"), { pending_subscriptions_num: 1 });
  for (let n = 0; n < 1000; n += 1) client.send({ command: "subscribe", identifier: ROOM });
  app.signal("SIGUSR1");
  assert.equal(await client.frames.next(), confirm(ROOM));
  const { rpc_call_total } = await scrape(server.http("/metrics"));
  assert.ok(rpc_call_total < 100, `${rpc_call_total} calls`);
});
