// Requests of all kinds against the server of the test, which `BASE` names.

import { check, group } from "k6";
import http from "k6/http";

export { handleSummary } from "./data.js";

const BASE = __ENV.BASE;

const KEYS =
  "remote_ip,remote_port,url,status,status_text,proto,headers,cookies,body,timings,tls_version,tls_cipher_suite,ocsp,error," +
  "error_code,request,clickLink,html,json,submitForm";

export const options = {
  vus: 2,
  iterations: 6,
  userAgent: "parity",
  thresholds: {
    "http_req_duration{expected_response:true}": ["p(95)<60000"],
    "http_reqs{status:404}": ["count==12"],
    "http_reqs{kind:tagged}": ["count==6"],
    http_req_failed: ["rate<0.5"],
  },
};

export default function () {
  group("methods", () => {
    const got = http.get(`${BASE}/hello?a=1`, { tags: { kind: "tagged" }, headers: { "X-Mine": "1" } });
    check(got, {
      "get is 200": (r) => r.status === 200 && r.status_text === "200 OK" && r.proto === "HTTP/1.1",
      "body is text": (r) => r.body === "GET /hello?a=1 ",
      "headers are canonical": (r) => r.headers["Content-Type"] === "text/plain" && r.headers["X-Two-Words"] === "yes",
      "request is known": (r) => r.request.method === "GET" && r.request.headers["X-Mine"][0] === "1",
      "it can be listed": (r) => Object.keys(r).join() === KEYS && Object.keys({ ...r }).join() === KEYS,
      "it can be copied": ({ ...copy }) => copy.status === 200 && copy.html().text() === copy.body && JSON.stringify(copy).length === JSON.stringify(got).length,
      "timings add up": ({ timings: t }) => Math.abs(t.duration - t.sending - t.waiting - t.receiving) < 0.01,
    });
    check(http.post(`${BASE}/form`, { a: "1 2", b: ["x", "y"] }), {
      "form is sent": (r) => r.body === "POST /form a=1+2&b=x&b=y",
    });
    check(http.put(`${BASE}/json`, JSON.stringify({ a: 1 })), { "put has a body": (r) => r.body === 'PUT /json {"a":1}' });
    check(http.del(`${BASE}/gone`), { "delete has none": (r) => r.body === "DELETE /gone " });
    check(http.request("PATCH", `${BASE}/part`, "x"), { "any method": (r) => r.body === "PATCH /part x" });
    check(http.post(`${BASE}/echo`, "plain", { compression: "gzip" }), {
      "request is known uncompressed": (r) => r.request.body === "plain" && r.request.headers["Content-Encoding"][0] === "gzip",
    });
    check(http.get(`${BASE}/none`), { "no content is null": (r) => r.status === 204 && r.body === null });
    check(http.head(`${BASE}/head`), { "head is empty": (r) => r.status === 200 && !r.body });
    check(http.get(`${BASE}/value`).json("list.1.deep"), { "json path": (found) => found === 7 });
  });
  group("redirects", () => {
    check(http.get(`${BASE}/redirect/2`), {
      "are followed": (r) => r.status === 200 && r.url === `${BASE}/redirect/0`,
    });
    check(http.get(`${BASE}/redirect/2`, { redirects: 0 }), {
      "are left": (r) => r.status === 302 && r.headers.Location === "/redirect/1",
    });
  });
  group("cookies", () => {
    http.get(`${BASE}/set-cookie`);
    check(http.get(`${BASE}/cookies`), { "come back": (r) => r.body === "taste=sweet" });
    check(http.get(`${BASE}/cookies`, { cookies: { mine: "1" } }), {
      "are added": (r) => r.body.split("; ").sort().join("; ") === "mine=1; taste=sweet",
    });
    check(http.get(`${BASE}/cookies`, { cookies: { mine: "1; not=2" }, headers: { Cookie: "own=0" } }), {
      "are one field": (r) => r.body.split("; ").sort().join("; ") === 'mine="1 not=2"; own=0; taste=sweet',
    });
    check(http.cookieJar().cookiesForURL(BASE), { "are in the jar": (cookies) => cookies.taste[0] === "sweet" });
  });
  group("batch", () => {
    const answers = http.batch([
      `${BASE}/one`,
      ["POST", `${BASE}/two`, "body"],
      { method: "GET", url: `${BASE}/three`, params: { tags: { name: "three" } } },
    ]);
    check(answers, { "keeps the order": ([one, two]) => one.body === "GET /one " && two.body === "POST /two body" });
    check(http.batch([["GET", `${BASE}/four`, "body"]]), { "sends any body": ([four]) => four.body === "GET /four body" });
    const { a } = http.batch({ a: `${BASE}/a`, b: `${BASE}/b` });
    check(a, { "keeps names": (a) => a.body === "GET /a " });
  });
  group("failures", () => {
    check(http.get(`${BASE}/404`), { "is an answer": (r) => r.status === 404 && r.error_code === 1404 });
    check(http.get("http://127.0.0.1:1/"), {
      "is refused": (r) => r.status === 0 && r.error_code === 1212 && r.body === null,
    });
    check(http.get(`${BASE}/slow`, { timeout: "100ms" }), { "times out": (r) => r.error_code === 1050 });
    check(http.get(`${BASE}/slow`, { timeout: 0 }), { "times out at once": (r) => r.error_code === 1050 });
    check(http.get(`${BASE}/end`), { "has no answer": (r) => r.error_code === 1000 && r.error === "EOF" });
    check(http.get(`${BASE}/cut`), { "is cut": (r) => r.error_code === 1000 && r.error === "unexpected EOF" });
    check(http.get("/no-host"), { "has no host": (r) => r.status === 0 && r.error_code === 1000 });
    check(http.get("http:///no-host"), { "has an empty host": (r) => r.status === 0 && r.error_code === 1000 });
    check(http.get(`${BASE}/a\r\nX: y`), { "is not a URL": (r) => r.status === 0 && r.error_code === 1020 });
    check(http.get(`${BASE}/a`, { headers: { "X-A": "b\r\nX-B: c" } }), { "is not a field": (r) => r.error_code === 1000 });
    check(http.get(`${BASE}/404`, { responseCallback: http.expectedStatuses(404), tags: { name: "fine" } }), {
      "is expected": (r) => r.status === 404,
    });
  });
}
