// Round trips over Action Cable, one after the other: VUS users, OPERATIONS each.
import cable from "k6/x/cable";
import { Counter } from "k6/metrics";

const VUS = Number(__ENV.VUS);
const OPERATIONS = Number(__ENV.OPERATIONS);
const answers = new Counter("answers");

export const options = {
  scenarios: {
    echo: { executor: "per-vu-iterations", vus: VUS, iterations: 1, maxDuration: "120s" },
  },
  // One lost answer, and the run has no figure.
  thresholds: { answers: [`count==${VUS * OPERATIONS}`] },
};

export default function () {
  const client = cable.connect(__ENV.URL);
  const channel = client.subscribe("BenchmarkChannel");
  let n = 0;
  while (n < OPERATIONS) {
    channel.perform("echo", { payload: { n } });
    if (!channel.receive({ action: "echo" })) break;
    n += 1;
  }
  answers.add(n);
  client.disconnect();
}
