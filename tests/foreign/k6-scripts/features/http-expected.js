// which responses a script expects
import http from "k6/http";
export { handleSummary } from "../data.js";

const { BASE } = __ENV;
export const options = { iterations: 1, thresholds: { http_req_failed: ["rate>0"], "http_reqs{expected_response:true}": ["count==4"] } };

export default function () {
  http.get(`${BASE}/404`);
  http.get(`${BASE}/404`, { responseCallback: http.expectedStatuses(404) });
  http.get(`${BASE}/ok`, { responseCallback: http.expectedStatuses({ min: 300, max: 399 }) });
  http.setResponseCallback(http.expectedStatuses({ min: 200, max: 299 }, 404));
  http.get(`${BASE}/404`);
  http.get(`${BASE}/ok`);
  http.setResponseCallback(null);
  http.get(`${BASE}/404`);
  http.get(`${BASE}/404`, { responseCallback: null });
  http.setResponseCallback(http.expectedStatuses(200));
  http.get(`${BASE}/ok`);
}
