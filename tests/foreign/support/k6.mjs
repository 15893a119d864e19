// The real k6, built once from the Go module that `tests/foreign/k6/go.mod` names and `go.sum` pins.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { within } from "./deadline.mjs";
import { built, programOf } from "./go.mjs";

const PROGRAM = programOf("k6");

/** The longest that a run of these tests may take. */
const RUN_PATIENCE_MS = 90_000;

const running = new Set();
process.on("exit", () => running.forEach((child) => child.kill("SIGKILL")));

/** Builds the program, unless an earlier run did. */
export const buildK6 = () => built("k6", "go.k6.io/k6");

/** Runs k6 to its end in `cwd`, with `env` on top of the environment: `{ code, signal, stdout, stderr }`. */
export async function k6In({ cwd, env }, ...args) {
  const ours = Object.entries(process.env).filter(([name]) => !/^(K6_.*|(https?|no)_proxy)$/i.test(name));
  const child = spawn(PROGRAM, args, {
    stdio: ["ignore", "pipe", "pipe"],
    // No run tells its maker about itself.
    env: { ...Object.fromEntries(ours), K6_NO_USAGE_REPORT: "true", ...env },
    cwd,
  });
  running.add(child);
  const output = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"]) child[name].setEncoding("utf8").on("data", (text) => (output[name] += text));
  const [code, signal] = await within(once(child, "close"), `\`k6 ${args.join(" ")}\``, RUN_PATIENCE_MS);
  running.delete(child);
  return { code, signal, ...output };
}
