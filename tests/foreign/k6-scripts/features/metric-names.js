// names of metrics, and values that they take
import { Counter, Gauge, Trend } from "k6/metrics";
import { valuesOf } from "../values.js";
export { handleSummary } from "../data.js";

const functions = {};
for (const name of ["ok", "_ok", "with space", "with-dash", "with.dot", "1st", "", "ünicode", "a".repeat(128), "a".repeat(129)]) {
  functions[`a counter ${name.length > 20 ? name.length : name}`] = () => new Counter(name).name;
}
functions["the same name again"] = () => new Counter("ok").name;
functions["a built-in name"] = () => new Counter("http_reqs").name;
const values = valuesOf(functions);
const kinds = { counter: new Counter("counted"), gauge: new Gauge("gauged"), trend: new Trend("trended"), time: new Trend("timed", true) };

export const setup = () => values;
export default function () {
  for (const metric of Object.values(kinds)) for (const value of [1, 0, 2.5, "3", true, false]) metric.add(value);
}
