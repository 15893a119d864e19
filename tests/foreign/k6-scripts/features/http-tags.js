// names and tags of requests
import http from "k6/http";
import { group } from "k6";
export { handleSummary } from "../data.js";

const { BASE } = __ENV;
export const options = {
  iterations: 2,
  systemTags: ["status", "method", "url", "name", "group", "check", "error_code", "scenario", "expected_response", "proto"],
  thresholds: { "http_reqs{name:item}": ["count==4"], "http_reqs{own:yes}": ["count==2"], "http_reqs{group:::shop}": ["count==4"] },
};

export default function () {
  group("shop", () => {
    http.get(`${BASE}/item/1`, { tags: { name: "item" } });
    http.get(`${BASE}/item/2`, { tags: { name: "item", own: "yes" } });
  });
  http.get(http.url`${BASE}/user/${__ITER}`);
  http.get(`${BASE}/404`);
  http.get(`${BASE}/redirect/1`);
}
