// paths of JSON, also in bodies of plain text
import http from "k6/http";
import { valuesOf } from "../values.js";
export { handleSummary } from "../data.js";

const { BASE } = __ENV;
export function setup() {
  const json = http.get(`${BASE}/value`);
  const text = http.get(`${BASE}/text`);
  return valuesOf({
    all: () => json.json(),
    path: () => json.json("list.1.deep"),
    number: () => json.json("list.#"),
    missing: () => json.json("none.deeper"),
    "a path of text": () => text.json("a.b"),
    "text as a whole": () => text.json(),
    keys: () => Object.keys(json).length,
    copy: () => ({ ...json }).status,
  });
}
export default function () {}
