// Programs in Go, built once from the modules beside this folder, whose `go.sum` pins what they are made of.

import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { within } from "./deadline.mjs";

/** The folder of the programs: in the user's cache, so that `cargo clean` keeps them. */
const FOLDER = join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "plimsoll-tests");

/** 700 packages on one busy core; with Go's build cache filled it is seconds. */
const BUILD_PATIENCE_MS = 20 * 60_000;

/** The path of the program of the module in the folder `name`, which is named after its sources. */
export function programOf(name) {
  const hash = createHash("sha256");
  for (const file of sources(name)) hash.update(readFileSync(join(moduleOf(name), file)));
  return join(FOLDER, `${name}-${hash.digest("hex").slice(0, 16)}`);
}

/** The builds of this process: tests of one file that run at the same time share a build. */
const builds = new Map();

/** Builds `packageName` of the module in the folder `name`, unless an earlier run did; resolves to the program's path. */
export function built(name, packageName = ".") {
  const program = programOf(name);
  if (!builds.has(program)) builds.set(program, build(name, packageName, program));
  return builds.get(program);
}

async function build(name, packageName, program) {
  if (existsSync(program)) return program;
  mkdirSync(FOLDER, { recursive: true });
  // Another process may build the same.
  const unfinished = `${program}.${process.pid}`;
  // Without the tables for debuggers: half the size.
  const args = ["build", "-ldflags=-s -w", "-o", unfinished, packageName];
  try {
    await within(promisify(execFile)("go", args, { cwd: moduleOf(name) }), `${name} to be built`, BUILD_PATIENCE_MS);
  } catch (error) {
    if (error.code !== "ENOENT") throw error;
    throw new Error(`these tests build ${name} and need Go 1.25 or newer as \`go\`: https://go.dev/dl`, { cause: error });
  }
  renameSync(unfinished, program);
  return program;
}

const moduleOf = (name) => fileURLToPath(new URL(`../${name}/`, import.meta.url));

/** go.mod and go.sum first, as they are in every module. */
const sources = (name) => ["go.mod", "go.sum", ...readdirSync(moduleOf(name)).filter((file) => file.endsWith(".go")).sort()];
