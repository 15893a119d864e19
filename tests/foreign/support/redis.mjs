// A real Redis server of a test's own, which the test may kill.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Redis } from "ioredis";
import { within } from "./deadline.mjs";
import { freePort } from "./ports.mjs";

const running = new Set();
process.on("exit", () => running.forEach((child) => child.kill("SIGKILL")));

export class RedisServer {
  #port;
  #folder;
  #options;
  #child;

  /** Keeps nothing on disk, unless the options say so. Ends with the test. */
  static async start(t, { port, options = ["--appendonly", "no"] } = {}) {
    const server = new RedisServer();
    server.#port = port ?? (await freePort());
    server.#options = options;
    server.#folder = mkdtempSync(join(tmpdir(), "plimsoll-redis-"));
    t.after(async () => {
      await server.kill();
      rmSync(server.#folder, { recursive: true });
    });
    await server.resume();
    return server;
  }

  get url() {
    return `redis://${this.address}`;
  }

  get address() {
    return `127.0.0.1:${this.#port}`;
  }

  /** Starts again what was killed, with what it kept. */
  async resume() {
    const args = ["--port", String(this.#port), "--bind", "127.0.0.1", "--dir", this.#folder, "--save", ""];
    const child = spawn("redis-server", [...args, ...this.#options], { stdio: ["ignore", "pipe", "inherit"] });
    this.#child = child;
    running.add(child);
    child.exited = once(child, "exit").then(() => running.delete(child));
    const ready = new Promise((resolve) => {
      createInterface({ input: child.stdout }).on("line", (line) => {
        if (line.includes("Ready to accept connections")) resolve();
      });
    });
    const failed = child.exited.then(() => {
      throw new Error("redis-server did not start");
    });
    await within(Promise.race([ready, failed]), "redis-server");
    failed.catch(() => {});
  }

  /** As a power failure would do it. */
  kill() {
    this.#child.kill("SIGKILL");
    return this.#child.exited;
  }

  signal(name) {
    this.#child.kill(name);
  }

  /** A foreign client, which ends with the test; a command fails when the server goes away meanwhile. */
  client(t, options = {}) {
    const client = new Redis(this.#port, "127.0.0.1", { maxRetriesPerRequest: 0, retryStrategy: () => 50, ...options });
    client.on("error", () => {});
    t.after(() => client.disconnect());
    return client;
  }
}
