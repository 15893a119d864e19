// The arrivals of an open model, made by one process and by two, three and seven agents: how many in each second, and whether
// agents take turns.
//
//     PLIMSOLL_BIN=target/release/plimsoll node benchmarks/fleet/arrivals.mjs
//
// RATE (3000 a second) and DURATION (10 seconds) change the run. Prints one line of JSON for each number of agents; 0 is one
// process.

import { Place, quantile, rounded, runOn, startTarget } from "./bench.mjs";

const RATE = Number(process.env.RATE ?? 3_000);
const SECONDS = Number(process.env.DURATION ?? 10);

const script = (url) => `
import http from "k6/http";
import exec from "k6/execution";
export const options = { discardResponseBodies: true, scenarios: { a: {
  executor: "constant-arrival-rate", rate: ${RATE}, duration: "${SECONDS}s", preAllocatedVUs: 210, maxVUs: 420,
} } };
export default function () { http.get("${url}/" + exec.scenario.iterationInTest); }
`;

for (const n of [0, 2, 3, 7]) {
  const place = new Place();
  const { url, arrivals } = await startTarget(place);
  const { code, stderr, summary } = await runOn(place, n, script(url));
  await place.leave();
  if (code !== 0) console.error(stderr);
  const begin = Math.min(...arrivals.map(([at, path]) => at - (Number(path.slice(1)) * 1_000) / RATE));
  const late = arrivals.map(([at, path]) => at - begin - (Number(path.slice(1)) * 1_000) / RATE).sort((a, b) => a - b);
  const seconds = Array.from({ length: SECONDS }, () => 0);
  for (const [at] of arrivals) seconds[Math.min(SECONDS - 1, Math.floor((at - begin) / 1_000))] += 1;
  const numbers = new Set(arrivals.map(([, path]) => path));
  // By how many places an arrival comes before or after its turn.
  const turns = arrivals.map(([, path], place) => Math.abs(Number(path.slice(1)) - place)).sort((a, b) => a - b);
  console.log(JSON.stringify({
    agents: n,
    code,
    planned: RATE * SECONDS,
    arrived: arrivals.length,
    different: numbers.size,
    dropped: summary.metrics.dropped_iterations?.values?.count ?? 0,
    worst_second_percent: rounded(Math.max(...seconds.map((count) => (Math.abs(count - RATE) / RATE) * 100))),
    places_off: { p50: quantile(turns, 0.5), p99: quantile(turns, 0.99) },
    late_ms: { p50: rounded(quantile(late, 0.5)), p99: rounded(quantile(late, 0.99)), max: rounded(late.at(-1)) },
    doubtful: summary.generator.doubtful,
    agents_iterations: (summary.agents ?? []).map(({ iterations }) => iterations),
  }));
}
