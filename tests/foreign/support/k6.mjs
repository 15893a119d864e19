// The real k6, built once from the Go module that `tests/foreign/k6/go.mod` names and `go.sum` pins.

import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { within } from "./deadline.mjs";

const MODULE = fileURLToPath(new URL("../k6/", import.meta.url));

/** Beside the binary under test, so that the program lives as long as the rest of the build does. */
const PROGRAM = join(dirname(process.env.PLIMSOLL_BIN), "..", "foreign", "k6");

/** 700 packages on one busy core; with Go's build cache filled it is seconds. */
const BUILD_PATIENCE_MS = 20 * 60_000;

/** The longest that a run of these tests may take. */
const RUN_PATIENCE_MS = 90_000;

const running = new Set();
process.on("exit", () => running.forEach((child) => child.kill("SIGKILL")));

/** Builds what Go does not find built. */
export async function buildK6() {
  // Without the tables for debuggers: half the size.
  const build = promisify(execFile)("go", ["build", "-ldflags=-s -w", "-o", PROGRAM, "go.k6.io/k6"], { cwd: MODULE });
  try {
    await within(build, "k6 to be built", BUILD_PATIENCE_MS);
  } catch (error) {
    if (error.code !== "ENOENT") throw error;
    throw new Error("these tests build the real k6 and need Go 1.25 or newer as `go`: https://go.dev/dl", { cause: error });
  }
}

/** Runs k6 to its end in `cwd`, with `env` on top of the environment: `{ code, signal, stdout, stderr }`. */
export async function k6In({ cwd, env }, ...args) {
  const ours = Object.entries(process.env).filter(([name]) => !name.startsWith("K6_"));
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
