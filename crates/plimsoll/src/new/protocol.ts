import http from "k6/http";
import { check, group, sleep } from "k6";
import { Trend } from "k6/metrics";
import type { Options } from "k6/options";

// The target: plimsoll run -e URL=https://example.com FILE
const URL = __ENV.URL || "http://localhost:8080";

// A custom metric. It is in the summary, and thresholds can use it.
const greeting = new Trend("greeting_duration", true);

export const options: Options = {
  scenarios: {
    // Visitors who arrive, stay for a while and leave: you choose their number.
    visitors: {
      executor: "ramping-vus",
      startVUs: 1,
      stages: [
        { duration: "10s", target: 20 },
        { duration: "30s", target: 20 },
        { duration: "10s", target: 0 },
      ],
    },
    // Requests that start even if earlier ones are not answered: you choose their rate.
    arrivals: {
      executor: "constant-arrival-rate",
      exec: "health",
      rate: 50,
      timeUnit: "1s",
      duration: "50s",
      preAllocatedVUs: 10,
      maxVUs: 50,
    },
  },
  // Conditions for the run. If one of them fails, the exit code is 99.
  thresholds: {
    http_req_failed: ["rate<0.01"],
    "http_req_duration{scenario:visitors}": ["p(95)<300"],
    checks: [{ threshold: "rate>0.9", abortOnFail: true, delayAbortEval: "10s" }],
  },
};

interface Started {
  startedAt: string;
}

// Runs once before all users. Its result is passed to the users and to teardown.
export function setup(): Started {
  const response = http.get(`${URL}/health`);
  if (response.status !== 200) {
    throw new Error(`${URL} does not answer: ${response.status} ${response.error}`);
  }
  return { startedAt: new Date().toISOString() };
}

export default function () {
  group("front page", function () {
    const response = http.get(`${URL}/`, { tags: { name: "front page" } });
    greeting.add(response.timings.duration);
    check(response, {
      "status is 200": (answer) => answer.status === 200,
      "body is not empty": (answer) => answer.body.length > 0,
    });
  });
  sleep(Math.random() + 0.5);
}

export function health() {
  http.get(`${URL}/health`);
}

// Runs once after all users.
export function teardown(data: Started) {
  console.log(`started at ${data.startedAt}, done`);
}
