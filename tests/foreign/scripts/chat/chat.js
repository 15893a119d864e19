// A crowd that grows, chats and leaves; each visitor waits for its own words to come back.
import { check, fail, sleep } from "k6";
import { Trend } from "k6/metrics";
import cable from "k6/x/cable";
import { randomIntBetween } from "https://jslib.k6.io/k6-utils/1.1.0/index.js";

const env = (name, otherwise) => __ENV[name] || otherwise;
const url = env("CABLE_URL", "ws://127.0.0.1:8080/cable");
const [seconds, most, nMessages] = [["TIME", "120"], ["MAX", "20"], ["NUM", "5"]].map((it) => parseInt(env(...it)));
const id = `100${__VU}`;
const name = `Kay${id}`;
const rtt = new Trend("rtt", true);

export let options = {
  thresholds: { checks: ["rate>0.9"] },
  scenarios: {
    chat: {
      executor: "ramping-vus",
      startVUs: (most / 10 || 1) | 0,
      stages: [
        { duration: `${seconds / 3}s`, target: (most / 4) | 0 },
        { duration: `${(7 * seconds) / 12}s`, target: most },
        { duration: `${seconds / 12}s`, target: 0 },
      ],
    },
  },
};

const demand = (value, what, otherwise) => check(value, { [what]: (it) => it }) || fail(otherwise);

export default function () {
  // The spelling with a capital S is what scripts of the wild have.
  const visitor = cable.connect(url, { cookies: `uid=${name}/${id}`, receiveTimeoutMS: 10000 });
  demand(visitor, "successful connection", "not connected");
  const room = visitor.subscribe("ChatChannel", { id: env("WORKSPACE", "demo") });
  demand(room, "successful subscription", "not subscribed");
  for (let n = 0; n < nMessages; n++) {
    const begin = Date.now();
    room.perform("speak", { message: `${name} was here` });
    demand(room.receive({ author_id: id }), "received its own message", "nothing came back");
    rtt.add(Date.now() - begin);
    sleep(randomIntBetween(5, 10) / 10);
  }
  visitor.disconnect();
}
