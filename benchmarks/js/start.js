// Users who all come at once: a cable connection and a subscription each. `ready` is the time since START_MS, the start of the
// process. VUS of them stay until all are there.
import { sleep } from "k6";
import { Trend } from "k6/metrics";
import cable from "k6/x/cable";

const ready = new Trend("ready", true);

export const options = {
  scenarios: {
    start: { executor: "per-vu-iterations", vus: Number(__ENV.VUS), iterations: 1, maxDuration: "120s" },
  },
  thresholds: { iterations: [`count==${__ENV.VUS}`] },
};

export default function () {
  const client = cable.connect(__ENV.URL);
  if (!client.subscribe("BenchmarkChannel")) throw new Error("not subscribed");
  ready.add(Date.now() - Number(__ENV.START_MS));
  sleep(15);
}
