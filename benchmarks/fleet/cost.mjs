// What a fleet costs: the coordinator's CPU and memory, the bytes of each agent, and the CPU of an iteration on an agent beside that
// of a plain run.
//
//     PLIMSOLL_BIN=target/release/plimsoll node benchmarks/fleet/cost.mjs [coordinator [SECONDS] | iteration [PAIRS]]
//
// `coordinator`: four agents with 20 trends of their own for 600 seconds. `iteration`: the same script in one process and on one
// agent in turn. Prints one line of JSON for each.

import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { Fleet } from "../../tests/foreign/support/fleet.mjs";
import { Place, memoryOf, quantile, rounded, runOn } from "./bench.mjs";

/** CPU seconds and resident memory of a process. */
function usage(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, "latin1").split(") ").at(-1).split(" ");
  return { cpu: (Number(fields[11]) + Number(fields[12])) / 100, rss_mb: memoryOf(pid, "VmRSS") };
}

const trends = (seconds) => `
import { sleep } from "k6";
import { Trend } from "k6/metrics";
const trends = Array.from({ length: 20 }, (_, at) => new Trend("own_" + at, true));
export const options = { vus: 40, duration: "${seconds}s" };
export default function () {
  for (const trend of trends) trend.add(Math.random() * 1000);
  sleep(0.1);
}
`;

async function coordinator(seconds) {
  const place = new Place();
  const fleet = await Fleet.start(place, 4);
  const run = fleet.start(trends(seconds), "--format", "json");
  await run.said("has the agents");
  await pause(10_000);
  const [first, before] = [usage(run.pid), await fleet.nats.connections()];
  const begun = performance.now();
  const memory = [first.rss_mb];
  const end = begun + (seconds - 20) * 1_000;
  while (performance.now() < end) {
    await pause(Math.min(30_000, end - performance.now()));
    memory.push(usage(run.pid).rss_mb);
  }
  const elapsed = (performance.now() - begun) / 1_000;
  const [last, after] = [usage(run.pid), await fleet.nats.connections()];
  const { code } = await run.ended();
  await place.leave();
  // The coordinator sends to all agents; each of the others is one.
  const sent = after.map(({ cid, in_bytes }) => in_bytes - (before.find((known) => known.cid === cid)?.in_bytes ?? 0));
  console.log(JSON.stringify({
    what: "coordinator",
    code,
    seconds: rounded(elapsed, 0),
    core_share: rounded((last.cpu - first.cpu) / elapsed, 4),
    agents_kb_per_second: sent.map((bytes) => rounded(bytes / elapsed / 1_000, 1)),
    rss_mb: { first: memory[0], last: memory.at(-1), most: Math.max(...memory), each_30_s: memory },
  }));
}

const work = `
import { Trend } from "k6/metrics";
const trend = new Trend("own", true);
export const options = { vus: 2, duration: "10s" };
export default function () { for (let n = 0; n < 200; n += 1) trend.add(n % 100); }
`;

async function iteration(pairs) {
  const ratios = [];
  for (let pair = 0; pair < pairs; pair += 1) {
    const each = {};
    // In alternating order.
    for (const n of pair % 2 === 0 ? [0, 1] : [1, 0]) {
      const place = new Place();
      const { summary } = await runOn(place, n, work);
      await place.leave();
      const cpu = n === 0 ? summary.generator.cpu_seconds : summary.agents[0].cpu_seconds;
      each[n] = (cpu / summary.iterations.complete) * 1e6;
    }
    ratios.push(each[1] / each[0]);
    console.log(JSON.stringify({ what: "iteration", plain_us: rounded(each[0], 3), agent_us: rounded(each[1], 3), ratio: rounded(each[1] / each[0], 3) }));
  }
  console.log(JSON.stringify({ what: "iteration", pairs, median_ratio: rounded(quantile(ratios.sort((a, b) => a - b), 0.5), 3) }));
}

const [what, number] = process.argv.slice(2);
if (what !== "iteration") await coordinator(Number((what && number) ?? 600));
if (what !== "coordinator") await iteration(Number((what && number) ?? 5));
