// The applications of `examples/apps`, each as a process of its own.

import { execFile, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync, readFileSync, readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { within } from "./deadline.mjs";
import { freePort } from "./ports.mjs";

/** The folder of one application. */
export const folderOf = (name) => fileURLToPath(new URL(`../../../examples/apps/${name}/`, import.meta.url));

/** The sources of the Node.js application as one text. */
const nodeSources = () => {
  const sources = join(folderOf("node"), "src");
  return readdirSync(sources).sort().map((name) => name + readFileSync(join(sources, name), "utf8")).join("");
};

/** The folder that the Node.js application is compiled to, named after its sources. */
const NODE_BUILD = `dist-${createHash("sha256").update(nodeSources()).digest("hex").slice(0, 16)}`;

/** Compiles the Node.js application for Node.js 20, unless another test file did. */
export async function buildNode() {
  const cwd = folderOf("node");
  if (existsSync(join(cwd, NODE_BUILD))) return;
  const unfinished = `${NODE_BUILD}.${process.pid}`;
  await promisify(execFile)("npm", ["run", "build", "--", "--outDir", unfinished], { cwd });
  try {
    renameSync(join(cwd, unfinished), join(cwd, NODE_BUILD));
  } catch (error) {
    // Another test file was faster.
    if (error.code !== "ENOTEMPTY" && error.code !== "EEXIST") throw error;
    rmSync(join(cwd, unfinished), { recursive: true });
  }
}

/**
 * How each is started in its folder, and what a server calls it; the Node.js one has to be built before. `busy` is the
 * Ruby one with work to do.
 */
const APPS = {
  ruby: { command: ["ruby", "chat.rb"], rpcHost: (address) => address },
  node: { command: ["node", `${NODE_BUILD}/chat.js`], rpcHost: (address) => address },
  busy: { command: ["ruby", "../../../benchmarks/peak/busy_chat.rb"], rpcHost: (address) => address, folder: "ruby" },
  python: { command: ["python3", "chat.py"], rpcHost: (address) => `http://${address}/_anycable` },
};

export class ExampleApp {
  #command;
  #rpcHost;
  #folder;
  #address;
  #process;

  /** Chooses an address; nothing listens there before `listen`. The application ends with the test. */
  static async create(t, name) {
    const app = new ExampleApp();
    app.#command = APPS[name].command;
    app.#folder = folderOf(APPS[name].folder ?? name);
    // A server has to know the application's address, and the application the server's.
    app.#address = `127.0.0.1:${await freePort()}`;
    app.#rpcHost = APPS[name].rpcHost(app.#address);
    t.after(() => app.kill());
    return app;
  }

  /** What a server's `--rpc_host` says. */
  get rpcHost() {
    return this.#rpcHost;
  }

  /** Starts the process with these variables besides our own, and waits until it listens. */
  async listen(variables) {
    // The kernel ends the application when this process ends, in whatever way that happens.
    const child = spawn("setpriv", ["--pdeathsig", "KILL", ...this.#command], {
      cwd: this.#folder,
      env: { ...process.env, ANYCABLE_RPC_HOST: this.#address, ...variables },
      stdio: ["ignore", "pipe", "inherit"],
    });
    this.#process = child;
    child.exited = once(child, "exit");
    const listening = new Promise((resolve) => {
      createInterface({ input: child.stdout }).on("line", (line) => line.includes(" listens on ") && resolve());
    });
    const ended = child.exited.then(() => {
      throw new Error(`\`${this.#command.join(" ")}\` ended without listening`);
    });
    await within(Promise.race([listening, ended]), `\`${this.#command.join(" ")}\` to listen`);
    ended.catch(() => {});
  }

  /** Sends a signal that does not end it. */
  signal(name) {
    this.#process.kill(name);
  }

  /** As a power failure would do it. */
  kill() {
    this.#process?.kill("SIGKILL");
    return this.#process?.exited;
  }
}
