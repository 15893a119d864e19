// requests that throw
import http from "k6/http";
import { check } from "k6";
export { handleSummary } from "../data.js";

export const options = { iterations: 2, throw: true };
const kind = (action) => {
  try {
    action();
    return "nothing";
  } catch {
    return "an error";
  }
};

export default function () {
  check(kind(() => http.get("http://127.0.0.1:1/")), { "refused": (found) => found === "an error" });
  check(kind(() => http.get(`${__ENV.BASE}/404`)), { "not found": (found) => found === "nothing" });
  check(kind(() => http.get(`${__ENV.BASE}/slow`, { timeout: "50ms" })), { "too slow": (found) => found === "an error" });
}
