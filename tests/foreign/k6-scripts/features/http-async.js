// requests side by side
import http from "k6/http";
import { check } from "k6";
export { handleSummary } from "../data.js";

const { BASE } = __ENV;
export const options = { iterations: 2, batch: 2, batchPerHost: 1, thresholds: { http_reqs: ["count==14"] } };

export default async function () {
  const answers = await Promise.all([1, 2, 3].map((n) => http.asyncRequest("GET", `${BASE}/${n}`)));
  check(answers, { "each its own": (found) => found.map(({ body }) => body).join() === "GET /1 ,GET /2 ,GET /3 " });
  const { a, b } = http.batch({ a: `${BASE}/a`, b: { method: "POST", url: `${BASE}/b`, body: "x" } });
  check(null, { "names": () => a.body === "GET /a " && b.body === "POST /b x" });
  check(http.batch([`${BASE}/x`, ["PUT", `${BASE}/y`, "z"]]), { "a list": ([x, y]) => x.status === 200 && y.body === "PUT /y z" });
}
