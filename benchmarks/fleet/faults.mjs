// What is lost, and when agents end, when one of four agents is killed, NATS is killed and started again, an agent stands still for five
// seconds, the coordinator gets Ctrl-C, or a threshold ends the run.
//
//     PLIMSOLL_BIN=target/release/plimsoll node benchmarks/fleet/faults.mjs
//
// The target counts the requests of each agent, and the report says how many iterations of each agent it knows of. SECONDS (30) is the
// length of a run; each fault comes half way. Prints one line of JSON for each.

import { setTimeout as pause } from "node:timers/promises";
import { Fleet } from "../../tests/foreign/support/fleet.mjs";
import { eventually } from "../../tests/foreign/support/processes.mjs";
import { Place, rounded, startTarget } from "./bench.mjs";

const N_AGENTS = 4;
const RATE = 400;
const SECONDS = Number(process.env.SECONDS ?? 30);

/** Users of all agents in turn tell the target who they are. */
const script = (url, options) => `
import http from "k6/http";
import exec from "k6/execution";
import { sleep } from "k6";
export const options = ${JSON.stringify(options)};
export default function () { http.get("${url}/" + exec.vu.idInTest); ${options.vus ? "sleep(0.01);" : ""} }
`;

const arrivals = { scenarios: { a: { executor: "constant-arrival-rate", rate: RATE, duration: `${SECONDS}s`, preAllocatedVUs: 40, maxVUs: 40 } } };
const users = { vus: 8, duration: `${SECONDS}s`, gracefulStop: "0s" };
const limited = { ...users, thresholds: { http_reqs: [{ threshold: `count<${200 * SECONDS}`, abortOnFail: true }] } };

const FAULTS = {
  none: { options: arrivals },
  "kill -9 of an agent": { options: arrivals, half: ({ agents }) => agents[1].signal("SIGKILL") },
  "kill -9 of an agent, continue": {
    options: arrivals,
    args: ["--on-agent-loss", "continue"],
    half: ({ agents }) => agents[1].signal("SIGKILL"),
  },
  "kill -9 of NATS": {
    options: arrivals,
    half: async ({ nats }) => {
      await nats.kill();
      await pause(5_000);
      await nats.resume();
    },
  },
  "SIGSTOP of an agent": {
    options: arrivals,
    half: async ({ agents }) => {
      agents[1].signal("SIGSTOP");
      await pause(5_000);
      agents[1].signal("SIGCONT");
    },
  },
  "Ctrl-C": { options: users, half: (_fleet, run) => run.signal("SIGINT") },
  threshold: { options: limited },
};

for (const [name, { options, args = [], half }] of Object.entries(FAULTS)) {
  const place = new Place();
  const { url, arrivals: seen } = await startTarget(place);
  const fleet = await Fleet.start(place, N_AGENTS);
  const run = fleet.start(script(url, options), "--format", "json", ...args);
  await eventually(() => seen.length > 0, "a request", 20_000);
  await pause(SECONDS * 500);
  await half?.(fleet, run);
  const { code, stdout, stderr } = await run.ended();
  await fleet.free();
  await place.leave();
  const { agents, iterations, metrics, conclusion, generator } = JSON.parse(stdout);
  const own = agents.map((_, agent) => seen.filter(([, path]) => (Number(path.slice(1)) - 1) % N_AGENTS === agent).map(([at]) => at));
  const last = own.map((times) => Math.max(...times));
  console.log(JSON.stringify({
    fault: name,
    code,
    verdict: conclusion.verdict,
    planned: options.scenarios ? RATE * SECONDS : null,
    complete: iterations.complete,
    interrupted: iterations.interrupted,
    dropped: metrics.dropped_iterations?.values?.count ?? 0,
    at_target: seen.length,
    by_agent: agents.map(({ iterations: told, lost_at_seconds }, agent) => ({ told, at_target: own[agent].length, lost_at_seconds })),
    last_request_apart_ms: rounded(Math.max(...last) - Math.min(...last), 1),
    doubtful: generator.doubtful,
    said: stderr.split("\n").filter((line) => /lost|incomplete|crossed|doubtful|signal/.test(line)),
  }));
}
