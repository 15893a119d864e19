// Users who listen to everything and sometimes broadcast. Its metrics are those that Action Cable's own benchmarks print.

import { check, sleep } from "k6";
import { Counter, Trend } from "k6/metrics";
import cable from "k6/x/cable";

const rtt = new Trend("rtt", true);
const duration = new Trend("broadcast_duration", true);
const sent = new Counter("broadcasts_sent");
const received = new Counter("broadcasts_rcvd");
const acknowledged = new Counter("acks_rcvd");

const USERS = 5;
const BROADCASTS = 20;

export const options = {
  scenarios: { storm: { executor: "per-vu-iterations", vus: USERS, iterations: 1 } },
};

/** Waits until all users listen: each says "here" until it has heard all, and once more for the last one. */
function callTheRoll(channel, present) {
  const here = () => channel.perform("broadcast", { payload: { here: __VU } });
  while (present.size < USERS) {
    here();
    sleep(0.05);
  }
  here();
}

export default function () {
  const client = cable.connect(__ENV.CABLE_URL);
  check(client, { "successful connection": (it) => it });
  const channel = client.subscribe("BenchmarkChannel", {});
  check(channel, { "successful subscription": (it) => it });
  const present = new Set();
  let [n, heard, answered] = [0, 0, 0];
  channel.ignoreReads();
  channel.onMessage(({ action, payload, __timestamp__ }) => {
    if (payload.here) {
      present.add(payload.here);
    } else if (action === "broadcastResult") {
      answered++;
      acknowledged.add(1);
      rtt.add(__timestamp__ - payload.ts);
    } else {
      heard++;
      received.add(1);
      duration.add(__timestamp__ - payload.ts);
    }
  });
  callTheRoll(channel, present);
  client.loop(() => {
    if (n < BROADCASTS) {
      n++;
      sent.add(1);
      channel.perform("broadcast", { payload: { ts: Date.now() } });
    }
    sleep(0.02);
    return heard >= USERS * BROADCASTS && answered >= BROADCASTS;
  });
  // What comes now is one too many.
  sleep(0.2);
  client.disconnect();
}
