// A real Redis server of a test's own, which the test may kill.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Redis } from "ioredis";
import { within } from "./deadline.mjs";
import { freePort } from "./ports.mjs";

const running = new Set();
process.on("exit", () => running.forEach((child) => child.kill("SIGKILL")));

export class RedisServer {
  #host;
  #port;
  #folder;
  #options;
  #child;
  /** Where the nodes of its cluster reach it. */
  busPort;

  /**
   * Keeps nothing on disk, unless the options say so. `host` is an address of this machine, and `isNode` means one of a Redis
   * Cluster. Ends with the test.
   */
  static async start(t, { host = "127.0.0.1", port, isNode = false, options = ["--appendonly", "no"] } = {}) {
    const server = new RedisServer();
    server.#host = host;
    server.#port = port ?? (await freePort());
    server.#options = options;
    if (isNode) {
      // Otherwise it would be the port plus 10,000, which any connection of this machine may have.
      server.busPort = await freePort();
      server.#options = [...options, "--cluster-enabled", "yes", "--cluster-port", String(server.busPort)];
    }
    server.#folder = mkdtempSync(join(tmpdir(), "plimsoll-redis-"));
    t.after(async () => {
      await server.kill();
      rmSync(server.#folder, { recursive: true });
    });
    await server.resume();
    return server;
  }

  get pid() {
    return this.#child.pid;
  }

  get url() {
    return `redis://${this.address}`;
  }

  get address() {
    return `${this.#host}:${this.#port}`;
  }

  /** Starts again what was killed, with what it kept. */
  async resume() {
    const args = ["--port", String(this.#port), "--bind", this.#host, "--dir", this.#folder, "--save", ""];
    const child = spawn("redis-server", [...args, ...this.#options], { stdio: ["ignore", "pipe", "inherit"] });
    this.#child = child;
    running.add(child);
    child.exited = once(child, "exit").then(() => running.delete(child));
    const log = [];
    const ready = new Promise((resolve) => {
      createInterface({ input: child.stdout }).on("line", (line) => {
        if (line.includes("Ready to accept connections")) resolve();
        else if (log.length < 100) log.push(line);
      });
    });
    const failed = child.exited.then(() => {
      throw new Error(["redis-server did not start:", ...log].join("\n"));
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
    const client = new Redis(this.#port, this.#host, { maxRetriesPerRequest: 0, retryStrategy: () => 50, ...options });
    client.on("error", () => {});
    t.after(() => client.disconnect());
    return client;
  }
}

/** A real sentinel that watches one group, `mymaster`, and decides alone. */
export class Sentinel {
  #client;
  #dataPassword;

  /** Ends with the test. `password` is its own, `dataPassword` that of the servers. */
  static async start(t, primary, { password, dataPassword } = {}) {
    const sentinel = new Sentinel();
    sentinel.#dataPassword = dataPassword;
    const port = await freePort();
    sentinel.address = `127.0.0.1:${port}`;
    const folder = mkdtempSync(join(tmpdir(), "plimsoll-sentinel-"));
    const file = join(folder, "sentinel.conf");
    const lines = [`port ${port}`, "bind 127.0.0.1", `dir ${folder}`, password && `requirepass ${password}`];
    writeFileSync(file, `${lines.filter(Boolean).join("\n")}\n`);
    const child = spawn("redis-server", [file, "--sentinel"], { stdio: ["ignore", "pipe", "inherit"] });
    running.add(child);
    const exited = once(child, "exit").then(() => running.delete(child));
    t.after(async () => {
      child.kill("SIGKILL");
      await exited;
      rmSync(folder, { recursive: true });
    });
    const ready = new Promise((resolve) => {
      createInterface({ input: child.stdout }).on("line", (line) => line.includes("Sentinel ID is") && resolve());
    });
    await within(ready, "redis-server --sentinel");
    sentinel.#client = new Redis(port, "127.0.0.1", { password });
    t.after(() => sentinel.#client.disconnect());
    await sentinel.watch(primary);
    return sentinel;
  }

  /** Watches this primary from now on, and no other. */
  async watch(primary) {
    const sentinel = (...words) => this.#client.call("SENTINEL", ...words);
    await this.forget();
    await sentinel("MONITOR", "mymaster", ...primary.address.split(":"), "1");
    const settings = { "down-after-milliseconds": "500", "failover-timeout": "2000", ...(this.#dataPassword && { "auth-pass": this.#dataPassword }) };
    for (const [name, value] of Object.entries(settings)) await sentinel("SET", "mymaster", name, value);
  }

  /** Watches nothing any more. */
  forget() {
    return this.#client.call("SENTINEL", "REMOVE", "mymaster").catch(() => {});
  }

  replicas() {
    return this.#client.call("SENTINEL", "REPLICAS", "mymaster");
  }

  /** The address of the primary, as it says. */
  async primary() {
    return (await this.#client.call("SENTINEL", "get-master-addr-by-name", "mymaster")).join(":");
  }
}

/** Makes a function that finds the owner (empty: it waits; "-": it was taken) and the content of a session, or two nulls. */
export function sessionsIn(t, redis) {
  const admin = redis.client(t);
  return (sid) => admin.call("HMGET", `plimsoll:record:${sid}`, "owner", "content");
}
