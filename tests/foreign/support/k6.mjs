// The real k6, built once from the Go module that `tests/foreign/k6/go.mod` names and `go.sum` pins.

import { execFile, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, renameSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { within } from "./deadline.mjs";

const MODULE = fileURLToPath(new URL("../k6/", import.meta.url));

/** The folder of the program: in the user's cache, so that `cargo clean` keeps it. The program is named after its sources. */
const FOLDER = join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "plimsoll-tests");
const SOURCE = createHash("sha256").update(readFileSync(join(MODULE, "go.mod"))).update(readFileSync(join(MODULE, "go.sum")));
const PROGRAM = join(FOLDER, `k6-${SOURCE.digest("hex").slice(0, 16)}`);

/** 700 packages on one busy core; with Go's build cache filled it is seconds. */
const BUILD_PATIENCE_MS = 20 * 60_000;

/** The longest that a run of these tests may take. */
const RUN_PATIENCE_MS = 90_000;

const running = new Set();
process.on("exit", () => running.forEach((child) => child.kill("SIGKILL")));

/** Builds the program, unless an earlier run did. */
export async function buildK6() {
  if (existsSync(PROGRAM)) return;
  mkdirSync(FOLDER, { recursive: true });
  const unfinished = `${PROGRAM}.${process.pid}`;
  // Without the tables for debuggers: half the size.
  const build = promisify(execFile)("go", ["build", "-ldflags=-s -w", "-o", unfinished, "go.k6.io/k6"], { cwd: MODULE });
  try {
    await within(build, "k6 to be built", BUILD_PATIENCE_MS);
  } catch (error) {
    if (error.code !== "ENOENT") throw error;
    throw new Error("these tests build the real k6 and need Go 1.25 or newer as `go`: https://go.dev/dl", { cause: error });
  }
  renameSync(unfinished, PROGRAM);
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
