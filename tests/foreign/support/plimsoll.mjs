// The program under test: one-off commands, and servers that live as long as a test needs them.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { within } from "./deadline.mjs";
import { eventually } from "./processes.mjs";

/** The program itself. */
export const PROGRAM = process.env.PLIMSOLL_BIN;
assert.ok(PROGRAM, "PLIMSOLL_BIN must name the binary; `cargo xtask test --only e2e` sets it");

/** Another release for every second server of an engine (docs/how-to/several-servers.md); the program itself without one. */
const OTHER_PROGRAM = process.env.PLIMSOLL_OTHER_BIN ?? PROGRAM;

/** How many servers were started at each Redis or NATS. */
const startedAt = new Map();

/** The program of the next server with these arguments. */
function programOf(args) {
  const at = args.findIndex((arg) => /^--(redis_url|nats_servers)$/.test(arg));
  if (at < 0) return PROGRAM;
  const engine = args[at + 1].split(",").toSorted().join();
  const n = startedAt.get(engine) ?? 0;
  startedAt.set(engine, n + 1);
  return n % 2 === 0 ? PROGRAM : OTHER_PROGRAM;
}

/** The longest that a command of these tests may take. */
const COMMAND_PATIENCE_MS = 90_000;

/** No test leaves a process behind: these end with this process, and a server also when this process is killed. */
const running = new Set();
process.on("exit", () => running.forEach((child) => child.kill("SIGKILL")));

/** Runs are saved here, and not among those of the developer. */
const DATA = mkdtempSync(join(tmpdir(), "plimsoll-data-"));
process.on("exit", () => rmSync(DATA, { recursive: true, force: true }));

/**
 * What this machine's environment says about servers and load tests is not part of a test, except the way in which servers write:
 * both ways pass the same tests.
 */
export const ENVIRONMENT = {
  ...Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(PLIMSOLL_(?!IO$).*|ANYCABLE_.*|K6_.*|PORT|REDIS_URL|(https?|no)_proxy)$/i.test(name)),
  ),
  PLIMSOLL_DATA_DIR: DATA,
};

/**
 * Starts the program; `n_files` is the most that it may open and `file_blocks` the most that it may write into a file,
 * in 512 bytes, as an administrator would set it. `env` comes on top of the environment, and `cwd` is where it runs.
 * `stdout` and `stderr` are open files in place of pipes to this process; `namespace` is the network namespace it runs in.
 * `executable` is another release of the program.
 */
function start(args, { executable = PROGRAM, n_files, file_blocks, env, cwd, namespace, stdout = "pipe", stderr = "pipe" } = {}) {
  const limits = [n_files && `ulimit -n ${n_files}`, file_blocks && `ulimit -f ${file_blocks}`].filter(Boolean);
  const shell = ["sh", "-c", [...limits, 'exec "$0" "$@"'].join(" && ")];
  const apart = namespace ? ["ip", "netns", "exec", namespace] : [];
  const [program, ...words] = [...apart, ...(limits.length > 0 ? shell : []), executable, ...args];
  // Commands see an empty standard input at once; a server that is told to watches for its end.
  const stdin = args.includes("--exit_with_stdin") ? "pipe" : "ignore";
  const child = spawn(program, words, {
    stdio: [stdin, stdout, stderr],
    env: { ...ENVIRONMENT, ...env },
    cwd,
  });
  running.add(child);
  child.exited = once(child, "exit").then(([code, signal]) => {
    running.delete(child);
    return { code, signal };
  });
  return child;
}

/** Runs a command to its end: `{ code, signal, stdout, stderr }`. */
export function plimsoll(...args) {
  return plimsollIn({}, ...args);
}

/** The same in an environment: `{ env, cwd }`. */
export async function plimsollIn(surroundings, ...args) {
  const child = start(args, surroundings);
  const [stdout, stderr, exit] = await within(
    Promise.all([text(child.stdout), text(child.stderr), child.exited]),
    `\`plimsoll ${args.join(" ")}\``,
    COMMAND_PATIENCE_MS,
  );
  return { ...exit, stdout, stderr };
}

/** Runs a command with `--format json`: `{ code, report }`, where the report is null when none was printed. */
export async function plimsollJson(...args) {
  const { code, stdout, stderr } = await plimsoll(...args, "--format", "json");
  return { code, stderr, report: stdout.trim() === "" ? null : JSON.parse(stdout) };
}

/** Standard error without the line that a run adds on a busy machine: its figures are doubtful. */
export function withoutBottleneck(stderr) {
  return stderr.replace(/^.*the figures of this run do not describe the target alone.*\n?/gm, "");
}

/** Starts a command and leaves it running; the caller waits for `exited` or kills it. */
export function startPlimsoll(...args) {
  return start(args);
}

/** The same in an environment: `{ env, cwd }`. */
export function startPlimsollIn(surroundings, ...args) {
  return start(args, surroundings);
}

async function text(stream) {
  stream.setEncoding("utf8");
  let all = "";
  for await (const chunk of stream) all += chunk;
  return all;
}

/** A `plimsoll serve` on a free port of 127.0.0.1. */
export class Server {
  #args;
  #surroundings;
  #child;
  #address;
  #stderr = "";
  #logEnded;

  /** `args` go to `serve` as they are, for example `"--app", "chat"`. */
  static start(...args) {
    return Server.startIn({}, ...args);
  }

  /** The same with a limit of open files. */
  static startWithFiles(n_files, ...args) {
    return Server.startIn({ n_files }, ...args);
  }

  /**
   * The same in an environment: `{ env, cwd }`. With `{ stderr }`, an open file, the log goes there. Without a
   * choice of the test, a server has the application for load tests; with `app: null`, it has the program's default.
   */
  static async startIn(surroundings = {}, ...args) {
    const server = new Server();
    server.#args = args;
    server.#surroundings = { executable: programOf(args), ...surroundings };
    await server.#listen(0);
    return server;
  }

  async #listen(port) {
    const args = ["serve", "--announce", "--exit_with_stdin", ...this.#args];
    if (!args.includes("--host")) args.push("--host", "127.0.0.1");
    if (!args.includes("--port")) args.push("--port", String(port));
    const is_named = this.#args.some((arg) => /^--(app|rpc_host|rpc_impl|norpc)(=|$)/.test(arg));
    if (!is_named && this.#surroundings.app !== null) args.push("--app", "benchmark");
    // Without a key broadcasts for a remote application have a port of their own, which servers that run at the same time
    // must not share.
    const has_port = args.includes("--broadcast_key") || args.includes("--http_broadcast_port");
    if (!args.includes("--app") && !has_port) args.push("--http_broadcast_port", "0");
    this.#child = start(args, this.#surroundings);
    this.#child.stderr?.setEncoding("utf8").on("data", (chunk) => (this.#stderr += chunk));
    this.#logEnded = this.#child.stderr && once(this.#child.stderr, "end");
    const lines = createInterface({ input: this.#child.stdout });
    const refused = this.#child.exited.then(({ code }) => {
      throw new Error(`\`plimsoll ${args.join(" ")}\` exited with ${code}: ${this.#stderr}`);
    });
    const [line] = await within(Promise.race([once(lines, "line"), refused]), "the server's announcement");
    refused.catch(() => {});
    const announcement = JSON.parse(line);
    assert.equal(announcement.event, "listening");
    assert.equal(announcement.pid, this.#child.pid);
    this.#address = announcement.address;
  }

  /** `127.0.0.1:41233` */
  get address() {
    return this.#address;
  }

  get port() {
    return Number(this.#address.split(":").at(-1));
  }

  get pid() {
    return this.#child.pid;
  }

  /** What has arrived of the server's log so far; a line may come later than what the server did afterwards. */
  get stderr() {
    return this.#stderr;
  }

  /** The match of a pattern in the log, as soon as it is there. */
  logged(pattern) {
    return eventually(() => pattern.exec(this.#stderr), `${pattern} in the server's log`);
  }

  ws(path) {
    return `ws${this.#secure}://${this.#address}${path}`;
  }

  http(path) {
    return `http${this.#secure}://${this.#address}${path}`;
  }

  get #secure() {
    return this.#args.includes("--ssl_cert") ? "s" : "";
  }

  /** Resident memory in bytes. */
  get rssBytes() {
    const status = readFileSync(`/proc/${this.pid}/status`, "utf8");
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)[1]) * 1024;
  }

  get isRunning() {
    return running.has(this.#child);
  }

  /** The exit code of a server that ends by itself. */
  async ended() {
    const { code } = await within(this.#child.exited, "the end of the server");
    await within(this.#logEnded, "the end of the server's log");
    return code;
  }

  /** Publishes through `POST /_broadcast`; the server must have been started with this key. */
  broadcast(body, key = "secret") {
    return fetch(this.http("/_broadcast"), {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
  }

  /** Sends a signal that does not end it. */
  signal(name) {
    this.#child.kill(name);
  }

  /** SIGTERM, and how it went: `{ code, signal, tookMs }`. A server that does not go is killed, and that is an error. */
  async stop(patienceMs = 10_000) {
    const sent = performance.now();
    this.#child.kill("SIGTERM");
    try {
      const exit = await within(this.#child.exited, "the server to exit after SIGTERM", patienceMs);
      const tookMs = performance.now() - sent;
      await within(this.#logEnded, "the end of the server's log");
      return { ...exit, tookMs };
    } finally {
      this.#child.kill("SIGKILL");
    }
  }

  /** Stops the server and starts another one on the same port. */
  async restart() {
    const { code } = await this.stop();
    assert.equal(code, 0, `the server stopped with ${code}: ${this.#stderr}`);
    await this.startAgain();
  }

  /** Starts another server on the port of one that is gone. */
  async startAgain() {
    await within(this.#child.exited, "the end of the server before");
    await this.#listen(this.port);
  }
}
