// hosts with addresses of the script's own, and blocked ones
import http from "k6/http";
import { check } from "k6";
export { handleSummary } from "../data.js";

const port = __ENV.BASE.split(":").pop();
export const options = { iterations: 1, hosts: { "shop.test": "127.0.0.1", "*.wild.test": "127.0.0.1" }, blockHostnames: ["blocked.test", "*.bad.test"], blacklistIPs: ["10.0.0.0/8"] };

export default function () {
  check(http.get(`http://shop.test:${port}/a`), { "a name": ({ status }) => status === 200 });
  check(http.get(`http://x.wild.test:${port}/a`), { "a pattern": ({ status }) => status === 200 });
  check(http.get(`http://blocked.test:${port}/a`), { "a blocked name": ({ status, error_code }) => status === 0 && error_code === 1111 });
  check(http.get(`http://very.bad.test:${port}/a`), { "a blocked pattern": ({ error_code }) => error_code === 1111 });
  check(http.get("http://10.1.2.3/a"), { "a blocked address": ({ error_code }) => error_code === 1110 });
}
