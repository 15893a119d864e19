// Runs a file of tests/foreign/artillery and notes what can be compared: exit code, counters, sample counts, wire.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ArtilleryTarget } from "./artillery-target.mjs";

export const FOLDER = new URL("../artillery/", import.meta.url).pathname;

/** The longest that one file may take. */
const PATIENCE_MS = 60_000;

/** Counters that only one of the tools has: ours are additions, bytes depend on header fields. */
const OWN_COUNTERS = [/^vusers\.skipped$/, /^websocket\.untimed$/, /^websocket\.inbox_dropped$/, /^websocket\.messages_received$/];
/** Distributions that only we have. */
const OWN_SUMMARIES = [/lateness$/, /^websocket\./];

const without = (entries, own) => Object.entries(entries ?? {}).filter(([name]) => !own.some((it) => it.test(name)));

/** The first line of a file may be `# flags: …`, for more flags of the command line. */
function flagsOf(file) {
  const flags = /^# flags: (.*)$/m.exec(readFileSync(join(FOLDER, file), "utf8"))?.[1];
  return flags ? JSON.parse(flags) : [];
}

/** Runs `command` with the arguments of `artillery run` in a copy of the folder. */
export async function observe(command, file, env = {}) {
  const target = await ArtilleryTarget.start();
  const cwd = mkdtempSync(join(tmpdir(), "artillery-"));
  try {
    cpSync(FOLDER, cwd, { recursive: true });
    const url = /engine: ws/.test(readFileSync(join(cwd, file), "utf8")) ? target.url.replace("http", "ws") : target.url;
    const [program, ...args] = command;
    const flags = flagsOf(file).map((flag) => flag.replace("TARGET", url));
    const child = spawn(program, [...args, file, "-t", url, "-o", "report.json", ...flags], {
      cwd,
      env: { ...process.env, ...env, TARGET_URL: url },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    child.stdout.on("data", (text) => (output += text));
    child.stderr.on("data", (text) => (output += text));
    const timer = setTimeout(() => child.kill("SIGKILL"), PATIENCE_MS);
    const [code] = await once(child, "close");
    clearTimeout(timer);
    let aggregate = {};
    try {
      ({ aggregate } = JSON.parse(readFileSync(join(cwd, "report.json"), "utf8")));
    } catch {
      // A file that is refused makes no report.
    }
    const port = new URL(target.url).port;
    const wire = target.wire();
    // The length of a form with files depends on its boundary, and so does the echo of it.
    if (wire.some((line) => line.includes("BOUNDARY"))) delete aggregate.counters?.["http.downloaded_bytes"];
    const counters = Object.fromEntries(
      without(aggregate.counters, OWN_COUNTERS)
        .map(([name, n]) => [name.replaceAll(port, "PORT"), n])
        .sort(([one], [other]) => (one < other ? -1 : 1)),
    );
    const samples = Object.fromEntries(
      without(aggregate.summaries, OWN_SUMMARIES)
        .map(([name, { count }]) => [name, count])
        .sort(([one], [other]) => (one < other ? -1 : 1)),
    );
    return { found: { code, counters, samples, wire }, output };
  } finally {
    await target.stop();
    rmSync(cwd, { recursive: true, force: true });
  }
}
