// The common start and the clocks, when one of two agents is 50 ms away and its clock is 200 ms ahead.
//
//     PLIMSOLL_BIN=target/release/plimsoll node benchmarks/fleet/clock.mjs
//
// The second agent reaches NATS through a relay that holds each byte for 25 ms, and runs under libfaketime (Debian: faketime), which
// moves its system's clock. The target says how far apart the agents really began. ROUNDS (5) is the number of runs; each prints one
// line of JSON.

import { AHEAD_MS, DELAY_MS, Place, quantile, rounded, startDistant, startTarget } from "./bench.mjs";

const RATE = 200;

const script = (url) => `
import http from "k6/http";
import exec from "k6/execution";
export const options = { scenarios: { a: {
  executor: "constant-arrival-rate", rate: ${RATE}, duration: "6s", preAllocatedVUs: 20, maxVUs: 20,
} } };
export default function () { http.get("${url}/" + exec.scenario.iterationInTest); }
`;

for (let round = 1; round <= Number(process.env.ROUNDS ?? 5); round += 1) {
  const place = new Place();
  const { url, arrivals } = await startTarget(place);
  const fleet = await startDistant(place);
  const { code, stderr, summary } = await fleet.run(script(url));
  await place.leave();
  if (code !== 0) console.error(stderr);
  // Agents take turns, so even numbers are the first one's.
  const begun = [0, 1].map((agent) => {
    const own = arrivals.map(([at, path]) => [at, Number(path.slice(1))]).filter(([, number]) => number % 2 === agent);
    return quantile(own.map(([at, number]) => at - (number * 1_000) / RATE).sort((a, b) => a - b), 0.5);
  });
  const [one, other] = summary.agents.map(({ clock }) => clock);
  console.log(JSON.stringify({
    round,
    code,
    skew_at_target_ms: rounded(begun[1] - begun[0]),
    stated: { offset_ms: rounded(other.offset_ms), uncertainty_ms: rounded(other.uncertainty_ms), start_skew_ms: rounded(other.start_skew_ms - one.start_skew_ms) },
    true_offset_ms: AHEAD_MS,
    allowed_skew_ms: 5 + 2 * DELAY_MS / 2,
  }));
}
