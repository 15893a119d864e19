// Floods that must not make the server hold more than its limits say, and whose memory comes back (issue 14).

import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import net from "node:net";
import { after, before, test } from "node:test";
import { within } from "./support/deadline.mjs";
import { Server } from "./support/plimsoll.mjs";
import { eventually } from "./support/processes.mjs";
import { frame, text, upgradeRequest } from "./support/raw.mjs";
import { scrape } from "./support/scrape.mjs";

const MB = 1 << 20;
const MAX_PENDING_TOTAL = 32 * MB;
const MAX_BODY_TOTAL = 16 * MB;
/** What a flood may take beside what is counted: connections, the allocator's reserves, hyper's buffers. */
const SLACK = 24 * MB;
/** The longest that a flood lasts. */
const FLOOD_MS = 6_000;
/** The allocator returns what is free within ten seconds or so. */
const RETURN_MS = 60_000;

let server;
let idle;
before(async () => {
  server = await Server.start(
    ...["--app", "benchmark", "--public_streams", "--broadcast_key", "secret", "--metrics_http", "/metrics"],
    ...["--ws_max_pending_size", String(16 * MB), "--max_pending_total", String(MAX_PENDING_TOTAL)],
    ...["--max_body_total", String(MAX_BODY_TOTAL), "--shards", "2"],
  );
  await Promise.all(Array.from({ length: 16 }, () => upgraded("/echo").then((socket) => socket.destroy())));
  await post("{}", () => {});
  idle = server.rssBytes;
});
after(() => server.stop());

/** A connection that has been upgraded; nothing reads it from then on. */
async function upgraded(path) {
  const socket = net.connect(server.port, "127.0.0.1");
  socket.on("error", () => {});
  socket.write(upgradeRequest(path));
  await within(once(socket, "readable"), "an upgrade");
  return socket;
}

/** Resolves when the server has ended the connection, or when the flood is over. */
async function over(socket) {
  const closed = new Promise((resolve) => socket.on("close", resolve));
  await within(closed, "the end of a flood", FLOOD_MS).catch(() => {});
  socket.destroy();
}

/** A hundred clients who send messages and read no echo. */
async function echoes() {
  const batch = Buffer.concat(Array.from({ length: 64 }, () => frame(0x82, Buffer.alloc(1000))));
  await Promise.all(
    Array.from({ length: 100 }, async () => {
      const socket = await upgraded("/echo");
      const fill = () => socket.write(batch, (error) => error || setImmediate(fill));
      fill();
      await over(socket);
    }),
  );
}

/** Fifty clients with a thousand subscriptions each, all to streams with no other listener. */
async function subscriptions() {
  const sockets = await Promise.all(
    Array.from({ length: 50 }, async (_, client) => {
      const socket = await upgraded("/cable");
      let n_confirmed = 0;
      let rest = "";
      const confirmed = new Promise((resolve) => {
        socket.on("data", (chunk) => {
          const parts = (rest + chunk.toString("latin1")).split("confirm_subscription");
          n_confirmed += parts.length - 1;
          rest = parts.at(-1).slice(-19);
          if (n_confirmed === 1000) resolve();
        });
      });
      for (let n = 0; n < 1000; n++) {
        const identifier = JSON.stringify({ channel: "$pubsub", stream_name: `a-stream-of-${client}-with-number-${n}` });
        socket.write(text(JSON.stringify({ command: "subscribe", identifier })));
      }
      await within(confirmed, "a thousand confirmations", 60_000);
      return socket;
    }),
  );
  sockets.forEach((socket) => socket.destroy());
}

/** Posts a body, the last byte of it after `everybody` is so far; resolves with the answer's status. */
async function post(body, everybody) {
  const socket = net.connect(server.port, "127.0.0.1");
  socket.on("error", () => {});
  const answer = Promise.race([once(socket, "data"), once(socket, "close").then(() => ["HTTP/1.1 cut"])]);
  socket.write(
    `POST /_broadcast HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer secret\r\nContent-Length: ${body.length}\r\n\r\n`,
  );
  await Promise.race([new Promise((resolve) => socket.write(body.slice(0, -1), resolve)), answer]);
  await everybody();
  socket.write(body.slice(-1));
  const [head] = await within(answer, "an answer");
  socket.destroy();
  return head.toString();
}

/** A hundred bodies of a megabyte at a time. */
async function bodies() {
  const body = JSON.stringify({ stream: "nobody", data: "x".repeat(1_000_000) });
  let n_missing = 100;
  let release;
  const all = new Promise((resolve) => (release = resolve));
  const everybody = () => {
    if (--n_missing === 0) release();
    return all;
  };
  const answers = await Promise.all(Array.from({ length: 100 }, () => post(body, everybody)));
  const refused = answers.filter((answer) => answer.startsWith("HTTP/1.1 503"));
  assert.ok(refused.length >= 50, `${refused.length} of 100 bodies were refused`);
  assert.ok(refused.every((answer) => /^retry-after: 1\r$/im.test(answer)), refused[0]);
  assert.ok(answers.some((answer) => answer.startsWith("HTTP/1.1 201")), "nobody could publish");
  assert.match(await post(body, () => {}), /^HTTP\/1.1 201/, "afterwards there is room again");
}

/** The most resident memory since the call before, in bytes. */
function peak() {
  const status = readFileSync(`/proc/${server.pid}/status`, "utf8");
  writeFileSync(`/proc/${server.pid}/clear_refs`, "5");
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)[1]) * 1024;
}

const shown = (bytes) => `${(bytes / MB).toFixed(1)} MB`;

/** Waits until so little memory is resident. */
const returned = (most) =>
  eventually(() => server.rssBytes <= most, `less than ${shown(most)} of resident memory`, RETURN_MS);

test("floods stay within the limits, and their memory comes back", { timeout: 300_000 }, async (t) => {
  for (let round = 1; round <= 3; round++) {
    for (const [flood, limit] of [
      [echoes, MAX_PENDING_TOTAL],
      [bodies, MAX_BODY_TOTAL],
      [subscriptions, Infinity],
    ]) {
      peak();
      const start = server.rssBytes;
      await flood();
      const most = peak();
      t.diagnostic(`round ${round}, ${flood.name}: peak ${shown(most)} after ${shown(start)}`);
      assert.ok(most <= start + limit * 1.25 + SLACK, `${flood.name}: peak ${shown(most)} after ${shown(start)}`);
      // The same for each round, so that nothing grows from one to the next.
      await returned(idle * 1.5);
    }
  }
  const counts = await scrape(server.http("/metrics"));
  assert.ok(counts.disconnected_for_memory_total > 0, "slow clients had to go");
  assert.ok(counts.refused_bodies_total >= 240, `${counts.refused_bodies_total} bodies were refused`);
  assert.equal(counts.request_body_bytes, 0);
});
