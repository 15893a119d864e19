// basic authentication, in the URL and in the parameters
import http from "k6/http";
import { check } from "k6";
export { handleSummary } from "../data.js";

const { BASE } = __ENV;
export const options = { iterations: 1 };
export default function () {
  const withUser = BASE.replace("://", "://user:pass@");
  check(http.get(`${withUser}/a`), { "in the URL": ({ status }) => status === 200 });
  check(http.get(`${withUser}/a`, { auth: "basic" }), { "as asked": ({ status }) => status === 200 });
  check(http.get(`${BASE}/a`, { headers: { Authorization: "Bearer x" } }), { "of its own": ({ request }) => request.headers.Authorization[0] === "Bearer x" });
}
