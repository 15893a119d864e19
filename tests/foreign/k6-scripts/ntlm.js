// Users who sign in with NTLM at the server of the test, which `HOST` names.

import { check } from "k6";
import http from "k6/http";

export { handleSummary } from "./data.js";

export const options = { scenarios: { all: { executor: "per-vu-iterations", vus: 2, iterations: 2 } } };

const JOHN = "DOMAIN%5Cjohn:secret%20word";
const MARY = "mary%40example.com:p%C3%A4%24%24w%C3%B6rd";

// Another name has other connections, none of which is signed in.
const FRESH = __ENV.HOST.replace("127.0.0.1", "localhost");
const to = (user, path) => `http://${user}@${path.startsWith("/fresh") ? FRESH : __ENV.HOST}${path}`;
const get = (user, path, params = {}) => http.get(to(user, path), { auth: "ntlm", ...params });

export default function () {
  check(get(JOHN, "/ntlm"), { "john is known": (r) => r.status === 200 && r.body === "GET DOMAIN\\john " });
  check(http.post(to(JOHN, "/ntlm"), "text", { auth: "ntlm" }), { "his connection, too": (r) => r.body === "POST DOMAIN\\john text" });
  check(http.post(to(JOHN, "/fresh/ntlm"), "text", { auth: "ntlm" }), { "a body is sent again": (r) => r.body === "POST DOMAIN\\john text" });
  check(get(MARY, "/fresh/ntlm"), { "mary is known": (r) => r.status === 200 && r.body === "GET mary@example.com " });
  check(get(JOHN, "/fresh/negotiate"), { "the other scheme works": (r) => r.status === 200 });
  check(get(JOHN, "/fresh/basic"), { "Basic is left": (r) => r.status === 401 });
  check(get(JOHN, "/redirect"), { "a redirect is followed": (r) => r.status === 200 && r.url.endsWith("/ntlm") });
  check(get("DOMAIN%5Cjohn:wrong", "/fresh/ntlm"), { "a wrong password is refused": (r) => r.status === 401 && r.error_code === 1401 });
  check(get("DOMAIN%5Cnobody:secret%20word", "/fresh/ntlm"), { "so is a wrong user": (r) => r.status === 401 });
  check(get("OTHER%5Cjohn:secret%20word", "/fresh/ntlm"), { "so is a wrong domain": (r) => r.status === 401 });
  check(get(JOHN, "/fresh/digest"), { "another scheme is left": (r) => r.status === 401 });
  check(http.get(`http://${FRESH}/fresh/ntlm`, { auth: "ntlm" }), { "without a user nothing is negotiated": (r) => r.status === 401 });
  const Authorization = "Basic RE9NQUlOXGpvaG46c2VjcmV0IHdvcmQ=";
  check(http.get(`http://${FRESH}/fresh/ntlm`, { auth: "ntlm", headers: { Authorization } }), { "a field has the user": (r) => r.status === 200 });
  check(get(MARY, "/fresh/ntlm", { responseCallback: http.expectedStatuses(200) }), { "statuses are expected": (r) => r.status === 200 });
}
