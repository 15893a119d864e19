import cable from "k6/x/cable";
import { check, fail, sleep } from "k6";
import { Trend } from "k6/metrics";

// The target: plimsoll serve --app chat --port 8080
const URL = __ENV.CABLE_URL || "ws://localhost:8080/cable";
const ROOM = __ENV.ROOM || "demo";

// The time from sending a message to receiving it, in milliseconds.
const roundTrip = new Trend("rtt", true);

export const options = {
  // The number of users rises, stays and falls.
  stages: [
    { duration: "5s", target: 10 },
    { duration: "15s", target: 50 },
    { duration: "5s", target: 0 },
  ],
  thresholds: {
    checks: ["rate>0.99"],
    rtt: ["p(95)<100"],
  },
};

// One visit: connect, join a room, send three messages, leave.
export default function () {
  const user = `visitor${__VU}`;
  const client = cable.connect(URL, { cookies: `uid=${user}/${__VU}`, receiveTimeoutMs: 5000 });
  if (!check(client, { connected: (found) => found })) {
    fail("no connection");
  }

  const room = client.subscribe("ChatChannel", { id: ROOM });
  if (!check(room, { subscribed: (found) => found })) {
    fail("no subscription");
  }

  for (let n = 1; n <= 3; n++) {
    const sentAt = performance.now();
    room.perform("speak", { message: `${user} says ${n}` });
    const heard = room.receive({ author_id: `${__VU}` });
    if (check(heard, { "heard its own message": (message) => message })) {
      roundTrip.add(performance.now() - sentAt);
    }
    sleep(0.5 + Math.random());
  }
  client.disconnect();
}
