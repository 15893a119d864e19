// One run of `plimsoll bench broadcast` against servers, with what it took of them while all clients were there.

import { readFileSync } from "node:fs";
import { spawnSync } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";
import { Server, startPlimsoll } from "../../tests/foreign/support/plimsoll.mjs";
import { rounded } from "../fleet/bench.mjs";

/** The first broadcasts, which are not counted. */
const N_FIRST = 3;

const sum = (numbers) => numbers.reduce((a, b) => a + b, 0);

/** CPU seconds of a process and all its threads, as the scheduler counts them. */
function cpuOf(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, "latin1").split(") ").at(-1).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

function keepOn(core, pid) {
  const { status, stderr } = spawnSync("taskset", ["-acp", String(core), String(pid)], { encoding: "utf8" });
  if (status !== 0) throw new Error(`taskset: ${stderr}`);
}

/** Deliveries that the servers have queued so far. */
async function delivered(servers) {
  const counts = servers.map(async (server) => {
    const text = await (await fetch(server.http("/metrics"))).text();
    return Number(/^anycable_go_server_msg_total (\d+)$/m.exec(text)[1]);
  });
  return sum(await Promise.all(counts));
}

/** The servers, each with these arguments. */
export async function serve(n, ...args) {
  const servers = [];
  while (servers.length < n) {
    servers.push(await Server.startIn({}, "--app", "benchmark", "--metrics_http", "/metrics", "--broadcast_key", "secret", ...args));
  }
  return servers;
}

const milliseconds = ({ p50, p95 }) => ({ p50: rounded(p50 / 1_000, 1), p95: rounded(p95 / 1_000, 1) });

/**
 * Loads servers with clients of the benchmark application, counts for `seconds` after `N_FIRST` broadcasts, and stops the servers.
 * `load` is the rest of the bench's arguments, and lasts longer than the counted part; `pids` are processes whose CPU time counts as
 * the engine's. `isApart` keeps them and the servers on the first core, and the generator on the second one.
 */
export async function measure({ servers, pids = [], nClients, load, seconds, isApart = false }) {
  const all = servers.map((server) => server.pid);
  if (isApart) [...all, ...pids].forEach((pid) => keepOn(0, pid));
  const urls = servers.map((server) => server.ws("/cable"));
  const clients = ["--server-type", "actioncable", "--step-size", String(nClients), "--total-steps", "1", "--payload-padding", "200"];
  const bench = startPlimsoll("bench", "broadcast", ...urls, ...clients, ...load, "--format", "json", "--no-save", "--quiet");
  if (isApart) keepOn(1, bench.pid);
  let stdout = "";
  bench.stdout.setEncoding("utf8").on("data", (chunk) => (stdout += chunk));
  const stderr = [];
  bench.stderr.setEncoding("utf8").on("data", (chunk) => stderr.push(chunk));
  // A welcome and a confirmation for each client come first.
  const begun = (2 + N_FIRST) * nClients;
  while ((await delivered(servers)) < begun) {
    if (bench.exitCode !== null) throw new Error(`${await delivered(servers)} of ${begun}: ${stderr.join("")}`);
    await pause(100);
  }
  const look = async () => ({
    at: performance.now(),
    servers: all.map(cpuOf),
    engine: sum(pids.map(cpuOf)),
    generator: cpuOf(bench.pid),
    delivered: await delivered(servers),
  });
  const before = await look();
  await pause(seconds * 1_000);
  const after = await look();
  const { code } = await bench.exited;
  const { plimsoll: found } = JSON.parse(stdout).steps[0];
  await Promise.all(servers.map((server) => server.stop()));
  const cpu = sum(after.servers) - sum(before.servers);
  const n = after.delivered - before.delivered;
  const names = ["n_deliveries_expected", "n_deliveries", "n_late", "n_lost", "n_duplicated", "n_out_of_order"];
  return {
    code,
    seconds: rounded((after.at - before.at) / 1_000, 2),
    servers_cpu_s: rounded(cpu, 2),
    engine_cpu_s: rounded(after.engine - before.engine, 2),
    generator_cpu_s: rounded(after.generator - before.generator, 2),
    counted: n,
    us_per_delivery: rounded((cpu / n) * 1e6, 2),
    listener_ms: milliseconds(found.listener_us),
    last_listener_ms: milliseconds(found.last_delivery_us),
    doubtful: found.generator.doubtful,
    ...Object.fromEntries(names.map((name) => [name, found[name]])),
  };
}
