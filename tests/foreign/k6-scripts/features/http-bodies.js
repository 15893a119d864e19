// bodies of all kinds, and responses as text, bytes and nothing
import { check } from "k6";
import http from "k6/http";
export { handleSummary } from "../data.js";

const { BASE } = __ENV;
export const options = { iterations: 1, thresholds: { "http_reqs{method:POST}": ["count==7"] } };

export default function () {
  for (const [name, body, params] of [
    ["text", "text"], ["form", { a: "1", b: ["2", "3"] }], ["bytes", new Uint8Array([65, 66]).buffer], ["json", JSON.stringify({ a: 1 }), { headers: { "Content-Type": "application/json" } }],
    ["nothing", null], ["a number in a form", { n: 5, yes: true }],
  ]) {
    const { status, body: answer } = http.post(`${BASE}/${name.replace(/ /g, "-")}`, body, params);
    console.log(name, status, answer);
  }
  const part = http.file("content", "name.txt", "text/plain");
  check(http.post(`${BASE}/multipart`, { part, other: "x" }), { "parts": ({ body }) => body.includes('filename="name.txt"') && body.includes("content") });
  check(http.get(`${BASE}/a`, { responseType: "binary" }), { "bytes": ({ body }) => body.byteLength === 7 });
  check(http.get(`${BASE}/a`, { responseType: "none" }), { "nothing": ({ body }) => body === null });
}
