// Readers of one page: more of them from second to second, each back after a moment.
import http from "k6/http";
import { check, sleep } from "k6";
import { randomIntBetween } from "https://jslib.k6.io/k6-utils/1.1.0/index.js";

export let options = {
  discardResponseBodies: true,
  thresholds: { checks: ["rate>0.99"] },
  scenarios: {
    post: {
      executor: "ramping-vus",
      startVUs: 5,
      stages: [
        { duration: "60s", target: 100 },
        { duration: "5s", target: 0 },
      ],
    },
  },
};

export default function () {
  const page = http.get(__ENV.POST_URL || "http://127.0.0.1:3000/");
  check(page, { "the page is there": (page) => page.status === 200 });
  sleep(randomIntBetween(5, 10) / 20);
}
