// What the measurements of fleets share: a place that is cleaned up at the end, a target that writes down arrivals, and runs.

import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import net from "node:net";
import { Fleet } from "../../tests/foreign/support/fleet.mjs";
import { plimsollIn } from "../../tests/foreign/support/plimsoll.mjs";
import { folderOf } from "../../tests/foreign/support/scripts.mjs";

/** Takes the place of a test: what it was told to do after it. */
export class Place {
  #after = [];

  after(clean) {
    this.#after.unshift(clean);
  }

  async leave() {
    for (const clean of this.#after) await clean();
  }
}

/** A target that writes down when what was asked for: `{ url, arrivals }` with pairs of milliseconds and the path. */
export async function startTarget(place) {
  const arrivals = [];
  const server = createServer((request, response) => {
    arrivals.push([performance.now(), request.url]);
    response.end("ok");
  });
  server.keepAliveTimeout = 600_000;
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  place.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${server.address().port}`, arrivals };
}

/** Runs a script on `n` agents, or in one process for 0: `{ code, stderr, summary }`. */
export async function runOn(place, n, script, ...args) {
  if (n > 0) return (await Fleet.start(place, n)).run(script, ...args);
  const cwd = folderOf(place, { "script.js": script });
  const outcome = await plimsollIn({ cwd }, "run", "--quiet", "--format", "json", ...args, "script.js");
  return { ...outcome, summary: JSON.parse(outcome.stdout) };
}

/** How far away a distant agent is from NATS in each direction, and how far ahead its clock, in milliseconds. */
export const [DELAY_MS, AHEAD_MS] = [25, 200];

/** A relay to a port that holds each byte for a while in both directions. */
async function startRelay(place, port) {
  const later = (from, to) => {
    from.on("data", (bytes) => setTimeout(() => to.write(bytes), DELAY_MS));
    from.on("close", () => setTimeout(() => to.destroy(), DELAY_MS));
    from.on("error", () => to.destroy());
  };
  const server = net.createServer((near) => {
    const far = net.connect(port, "127.0.0.1");
    near.setNoDelay();
    far.setNoDelay();
    later(near, far);
    later(far, near);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  place.after(() => server.close());
  return `nats://127.0.0.1:${server.address().port}`;
}

/**
 * Two agents. The second one reaches NATS through a relay, and runs under libfaketime (Debian: faketime), which sets its system's
 * clock ahead.
 */
export async function startDistant(place) {
  const library = ["x86_64", "aarch64"].map((machine) => `/usr/lib/${machine}-linux-gnu/faketime/libfaketime.so.1`).find(existsSync);
  if (!library) throw new Error("libfaketime is missing: apt-get install faketime");
  const fleet = await Fleet.start(place, 1);
  const relay = await startRelay(place, Number(fleet.nats.url.split(":").at(-1)));
  const env = { LD_PRELOAD: library, FAKETIME: `+${AHEAD_MS / 1_000}`, FAKETIME_DONT_FAKE_MONOTONIC: "1" };
  await fleet.add("a2", { env, flags: ["--fleet", relay] });
  return fleet;
}

/** The value below which a share of the sorted numbers lies. */
export const quantile = (sorted, share) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];

/** The memory of a process in MB: `VmRSS`, resident now, or `VmHWM`, the most so far. */
export function memoryOf(pid, name) {
  const [, kilobytes] = new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(readFileSync(`/proc/${pid}/status`, "utf8"));
  return rounded(Number(kilobytes) / 1_024, 1);
}

export const rounded = (value, digits = 2) => Number(value.toFixed(digits));
