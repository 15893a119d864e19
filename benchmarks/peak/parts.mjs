// The Ruby application with work to do, and a server that asks it.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { Server } from "../../tests/foreign/support/plimsoll.mjs";
import { freePort } from "../../tests/foreign/support/ports.mjs";
import { scrape } from "../../tests/foreign/support/scrape.mjs";

const PROGRAM = fileURLToPath(new URL("busy_chat.rb", import.meta.url));

export class BusyApp {
  workSeconds = 0.15;
  /** What it said of itself, every 100 ms, since its last start. */
  reports = [];
  #nThreads;
  #process;

  constructor(nThreads) {
    this.#nThreads = nThreads;
  }

  async start() {
    this.address ??= `127.0.0.1:${await freePort()}`;
    this.reports = [];
    const env = {
      ANYCABLE_RPC_HOST: this.address,
      ANYCABLE_RPC_POOL_SIZE: String(this.#nThreads),
      WORK_SECONDS: String(this.workSeconds),
    };
    this.#process = spawn("ruby", [PROGRAM], { env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "inherit"] });
    await new Promise((resolve) =>
      createInterface({ input: this.#process.stdout }).on("line", (line) => {
        if (line.startsWith("{")) this.reports.push(JSON.parse(line));
        else resolve();
      }),
    );
  }

  /** Mean number of busy threads between two times of the application's own clock. */
  busy(from, to) {
    const at = (time) => this.reports.findLast((report) => report.at <= time) ?? this.reports[0];
    const [a, b] = [at(from), at(to)];
    return b.at > a.at ? (b.busy - a.busy) / (b.at - a.at) : 0;
  }

  toggleRaising() {
    this.#process.kill("SIGUSR1");
  }

  kill() {
    this.#process.kill("SIGKILL");
    return once(this.#process, "exit");
  }
}

export async function startServer(app, ...flags) {
  const server = await Server.start("--rpc_host", app.address, "--metrics_http", "/metrics", ...flags);
  server.metrics = () => scrape(server.http("/metrics"));
  return server;
}
