// Clients that do nothing: a cable connection and a subscription each, without any message. VUS of them come within RAMP_S
// seconds and stay until all are there.
import { sleep } from "k6";
import cable from "k6/x/cable";

const RAMP_S = Number(__ENV.RAMP_S);

export const options = {
  scenarios: {
    stay: { executor: "per-vu-iterations", vus: Number(__ENV.VUS), iterations: 1, maxDuration: "120s" },
  },
  thresholds: { iterations: [`count==${__ENV.VUS}`] },
};

export default function () {
  const coming = Math.random() * RAMP_S;
  sleep(coming);
  const client = cable.connect(__ENV.URL);
  const channel = client.subscribe("BenchmarkChannel");
  if (!channel) throw new Error("not subscribed");
  sleep(RAMP_S - coming + 5);
  client.disconnect();
}
