// cookies of users, jars and requests
import http from "k6/http";
import { check } from "k6";
export { handleSummary } from "../data.js";

const { BASE } = __ENV;
export const options = { scenarios: { one: { executor: "per-vu-iterations", vus: 1, iterations: 2 } } };

export default function () {
  const jar = http.cookieJar();
  check(jar.cookiesForURL(BASE), { "a new iteration has none": (cookies) => Object.keys(cookies).length === 0 });
  jar.set(BASE, "mine", "1", { path: "/" });
  check(http.get(`${BASE}/cookies`), { "is sent": ({ body }) => body === "mine=1" });
  const own = new http.CookieJar();
  own.set(BASE, "other", "2");
  check(http.get(`${BASE}/cookies`, { jar: own }), { "another jar": ({ body }) => body === "other=2" });
  check(http.get(`${BASE}/set-cookie`), { "is set": ({ cookies }) => cookies.taste[0].value === "sweet" && cookies.taste[0].path === "/" });
  jar.delete(BASE, "mine");
  check(http.get(`${BASE}/cookies`), { "is deleted": ({ body }) => body === "taste=sweet" });
  jar.clear(BASE);
  check(jar.cookiesForURL(BASE), { "are cleared": (cookies) => Object.keys(cookies).length === 0 });
}
