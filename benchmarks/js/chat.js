// People in a chat: the usual script for k6's cable extension, with rooms of ten or of PEOPLE_OF_A_ROOM, so that the load grows
// with the people and not with their square. Everybody comes once and stays longer than it takes for all to come: there is a moment
// when all are there.
//
// VUS people come within RAMP_S seconds. The counters say what became of it; who cannot get in goes home.
import { check, fail, sleep } from "k6";
import cable from "k6/x/cable";
import { randomIntBetween } from "https://jslib.k6.io/k6-utils/1.1.0/index.js";
import { Counter, Trend } from "k6/metrics";

const VUS = Number(__ENV.VUS);
const RAMP_S = Number(__ENV.RAMP_S);
const PEOPLE_OF_A_ROOM = Number(__ENV.PEOPLE_OF_A_ROOM ?? 10);
const MESSAGES_EACH = 3;

const rtt = new Trend("rtt", true);
const subscribed = new Counter("chat_subscribed");
const spoken = new Counter("chat_spoken");
const heard = new Counter("chat_heard");

export const options = {
  scenarios: {
    chat: { executor: "per-vu-iterations", vus: VUS, iterations: 1, maxDuration: "120s" },
  },
};

export default function () {
  sleep(Math.random() * RAMP_S);
  const userId = `100${__VU}`;
  const client = cable.connect(__ENV.CABLE_URL, { cookies: `uid=Kay${userId}/${userId}`, receiveTimeoutMS: 10000 });
  if (!check(client, { "successful connection": (obj) => obj })) fail("connection failed");

  const room = client.subscribe("ChatChannel", { id: `room${Math.floor(__VU / PEOPLE_OF_A_ROOM)}` });
  if (!check(room, { "successful subscription": (obj) => obj })) fail("failed to subscribe");
  subscribed.add(1);

  for (let i = 0; i < MESSAGES_EACH; i++) {
    const begin = Date.now();
    room.perform("speak", { message: `hello from Kay${userId}` });
    spoken.add(1);
    const own = room.receive({ author_id: userId });
    if (check(own, { "received its own message": (obj) => obj })) heard.add(1);
    rtt.add(Date.now() - begin);
    sleep(randomIntBetween(40, 60) / 10);
  }

  client.disconnect();
}
