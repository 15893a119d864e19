// A fleet of a test's own: a real NATS server, agents, and runs that they carry out.

import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { NatsServer } from "./nats.mjs";
import { plimsollIn, startPlimsollIn } from "./plimsoll.mjs";
import { eventually } from "./processes.mjs";
import { folderOf } from "./scripts.mjs";
import { Terminal } from "./terminal.mjs";

/** A process of the program that runs while the test goes on, with the lines of its standard error. */
export class Member {
  #child;
  #lines = [];
  #closed;
  stdout = "";

  static start(t, surroundings, ...args) {
    const member = new Member();
    member.#child = startPlimsollIn(surroundings, ...args);
    t.after(() => member.#child.kill("SIGKILL"));
    member.#closed = once(member.#child, "close");
    member.#child.stdout.setEncoding("utf8").on("data", (text) => (member.stdout += text));
    createInterface({ input: member.#child.stderr }).on("line", (line) => member.#lines.push(line));
    return member;
  }

  get stderr() {
    return this.#lines.join("\n");
  }

  /** Waits until it has said this. */
  said(words, patienceMs) {
    const has = () => this.#lines.some((line) => line.includes(words));
    return eventually(has, `\`${words}\``, patienceMs).catch((error) => {
      throw new Error(`${error.message}; it said: ${this.stderr}`);
    });
  }

  get pid() {
    return this.#child.pid;
  }

  signal(name) {
    this.#child.kill(name);
  }

  /** Waits for its end: `{ code, stdout, stderr }`. */
  async ended() {
    await this.#closed;
    const { code } = await this.#child.exited;
    return { code, stdout: this.stdout, stderr: this.stderr };
  }
}

/** The variables of the runs of commands. */
const VARIABLES = { ROOM: "lobby" };

export class Fleet {
  #t;
  #flags;
  nats;
  agents = [];

  /** `n` agents at a NATS server. `flags` are for agents and runs, `settings` those of the server. */
  static async start(t, n, { settings, flags = [], env } = {}) {
    const fleet = new Fleet();
    fleet.#t = t;
    fleet.nats = await NatsServer.start(t, { settings });
    fleet.#flags = ["--fleet", fleet.nats.url, ...flags];
    for (let at = 1; at <= n; at += 1) await fleet.add(`a${at}`, { env });
    return fleet;
  }

  /** One more agent. `n_files` is the most that it may open. */
  async add(name, { env, n_files, flags = this.#flags } = {}) {
    const agent = Member.start(this.#t, { cwd: folderOf(this.#t, {}), env, n_files }, "agent", ...flags, "--name", name);
    await agent.said("waits for runs");
    this.agents.push(agent);
    return agent;
  }

  /** An agent that makes no load, and watches these targets. */
  async watch(name, targets, { flags = this.#flags } = {}) {
    const watched = targets.flatMap((target) => ["--watch", target]);
    const observer = Member.start(this.#t, { cwd: folderOf(this.#t, {}) }, "agent", ...flags, "--name", name, ...watched);
    await observer.said("waits for runs, to watch");
    return observer;
  }

  /** What `plimsoll agents` says: its text, and the agents. */
  async list() {
    const list = (format) => plimsollIn({}, "agents", ...this.#flags.slice(0, 2), "--timeout", "600ms", "--format", format);
    const [text, json] = await Promise.all([list("text"), list("json")]);
    return { text: text.stdout, agents: JSON.parse(json.stdout) };
  }

  /** Starts a run of a script on all agents, and leaves it running. */
  start(script, ...args) {
    return Member.start(this.#t, this.#folder(script), ...this.#command(args));
  }

  /** Runs a script on all agents to its end: `{ code, stdout, stderr, summary }`. */
  async run(script, ...args) {
    const outcome = await plimsollIn(this.#folder(script), ...this.#command(["--format", "json", ...args]));
    return { ...outcome, summary: outcome.stdout.trim().startsWith("{") ? JSON.parse(outcome.stdout) : null };
  }

  /** Runs another command on all agents, beside these files: `{ code, stdout, stderr, cwd }`. */
  async perform(files, command, ...args) {
    const cwd = folderOf(this.#t, files);
    const outcome = await plimsollIn({ cwd, env: VARIABLES }, command, ...this.flags, ...args);
    return { ...outcome, cwd };
  }

  /** The flags of a command that has the load of all agents. */
  get flags() {
    return [...this.#flags, "--agents", String(this.agents.length)];
  }

  /** Starts a bench on all agents, and leaves it running. */
  startBench(...args) {
    return Member.start(this.#t, { cwd: folderOf(this.#t, {}) }, ...this.#benchCommand(args));
  }

  /** Runs a bench on all agents to its end: `{ code, stdout, stderr, read }`, where `read` parses a file that it wrote. */
  async bench(...args) {
    const cwd = folderOf(this.#t, {});
    const outcome = await plimsollIn({ cwd }, ...this.#benchCommand(args));
    const read = (name) => (existsSync(join(cwd, name)) ? JSON.parse(readFileSync(join(cwd, name), "utf8")) : null);
    return { ...outcome, read };
  }

  /** Starts a command on all agents, beside these files, in a terminal with its view, and with its page: `{ terminal, url }`. */
  async show(files, ...args) {
    const surroundings = { cwd: folderOf(this.#t, files), size: [160, 40] };
    const flags = [...this.#flags, "--agents", String(this.agents.length), "--tui", "--ui"];
    const terminal = Terminal.start(this.#t, surroundings, ...args, ...flags);
    const [, url] = await terminal.shows(/Live page: (http:\S+)/);
    return { terminal, url };
  }

  /** Waits until no agent works for a run. */
  free() {
    const isFree = async () => {
      const { stdout } = await plimsollIn({}, "agents", ...this.#flags.slice(0, 2), "--timeout", "600ms", "--format", "json");
      return JSON.parse(stdout).every(({ busy_with }) => busy_with === null);
    };
    return eventually(isFree, "free agents");
  }

  #folder(script) {
    return { cwd: folderOf(this.#t, { "script.js": script }) };
  }

  #benchCommand(args) {
    return ["bench", ...args, ...this.flags];
  }

  #command(args) {
    const isGiven = args.includes("--agents");
    const n = isGiven ? [] : ["--agents", String(this.agents.length)];
    return ["run", "--quiet", ...this.#flags, ...n, ...args, "script.js"];
  }
}

/** Runs a command beside these files in one process (`n` is 0), or on a fleet of `n` agents: `{ code, stdout, stderr, cwd }`. */
export async function perform(t, n, files, command, ...args) {
  if (n > 0) return (await Fleet.start(t, n)).perform(files, command, ...args);
  const cwd = folderOf(t, files);
  return { ...(await plimsollIn({ cwd, env: VARIABLES }, command, ...args)), cwd };
}
