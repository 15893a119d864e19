// A terminal of a given size in which the program runs, as people have it.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { within } from "./deadline.mjs";
import { ENVIRONMENT, PROGRAM } from "./plimsoll.mjs";
import { eventually } from "./processes.mjs";

const SCRIPT = fileURLToPath(new URL("terminal.py", import.meta.url));

/** Debian's python3 has pseudo-terminals; Node.js has not. */
export class Terminal {
  #child;
  #closed;
  #output = "";
  #end = "";

  /** Runs `plimsoll ...args` in a terminal of `[columns, lines]`: `{ size, env, cwd }`. */
  static start(t, { size: [columns, lines] = [120, 40], env, cwd }, ...args) {
    const terminal = new Terminal();
    terminal.#child = spawn("python3", [SCRIPT, String(columns), String(lines), PROGRAM, ...args], {
      stdio: ["pipe", "pipe", "inherit", "pipe"],
      env: { ...ENVIRONMENT, TERM: "xterm-256color", NO_COLOR: "1", ...env },
      cwd,
    });
    // The end of standard input ends the program, too.
    t.after(() => terminal.#child.stdin.destroy());
    terminal.#closed = once(terminal.#child, "close");
    terminal.#child.stdin.on("error", () => {});
    terminal.#child.stdout.setEncoding("utf8").on("data", (text) => (terminal.#output += text));
    terminal.#child.stdio[3].setEncoding("utf8").on("data", (text) => (terminal.#end += text));
    return terminal;
  }

  /** All that the program has written, control sequences included. */
  get output() {
    return this.#output;
  }

  /** What it writes from now on. */
  after() {
    const start = this.#output.length;
    return { shows: (pattern) => this.#shows(pattern, start) };
  }

  /** Waits until it has written this. */
  shows(pattern) {
    return this.#shows(pattern, 0);
  }

  #shows(pattern, start) {
    return eventually(() => pattern.exec(this.#output.slice(start)), `${pattern} in the terminal`).catch((error) => {
      throw new Error(`${error.message}, which shows: ${this.#output.slice(start)}`);
    });
  }

  press(keys) {
    this.#order({ keys });
  }

  resize(columns, lines) {
    this.#order({ size: [columns, lines] });
  }

  signal(signal) {
    this.#order({ signal });
  }

  /** Closes the window. */
  close() {
    this.#order({ hangup: true });
  }

  #order(order) {
    this.#child.stdin.write(`${JSON.stringify(order)}\n`);
  }

  /** How the program ended: `{ code, signal, echo, lineMode }`, the last two as it left the terminal. */
  async end() {
    await within(this.#closed, `the program to end, which shows: ${this.#output}`);
    return JSON.parse(this.#end);
  }
}
