// Requests over HTTP, one per iteration, as scripts usually have it: VUS users, OPERATIONS each.
import http from "k6/http";

const VUS = Number(__ENV.VUS);
const OPERATIONS = Number(__ENV.OPERATIONS);

export const options = {
  scenarios: {
    get: { executor: "per-vu-iterations", vus: VUS, iterations: OPERATIONS, maxDuration: "120s" },
  },
  // One failed request, and the run has no figure.
  thresholds: { http_reqs: [`count==${VUS * OPERATIONS}`], http_req_failed: ["rate==0"] },
};

export default function () {
  http.get(__ENV.URL);
}
