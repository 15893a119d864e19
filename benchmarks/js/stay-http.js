// Clients that ask once and stay: a request, a check, a long sleep. VUS of them come within RAMP_S seconds and stay until all are
// there.
import { check, sleep } from "k6";
import http from "k6/http";

const RAMP_S = Number(__ENV.RAMP_S);

export const options = {
  scenarios: {
    stay: { executor: "per-vu-iterations", vus: Number(__ENV.VUS), iterations: 1, maxDuration: "120s" },
  },
  thresholds: { checks: ["rate==1"], iterations: [`count==${__ENV.VUS}`] },
};

export default function () {
  const coming = Math.random() * RAMP_S;
  sleep(coming);
  check(http.get(__ENV.URL), { "status is 200": (response) => response.status === 200 });
  sleep(RAMP_S - coming + 5);
}
