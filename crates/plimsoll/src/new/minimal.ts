import http from "k6/http";
import { sleep } from "k6";
import type { Options } from "k6/options";

// The target: plimsoll run -e URL=https://example.com/ FILE
const URL = __ENV.URL || "http://localhost:8080/";

// Ten users for half a minute.
export const options: Options = {
  vus: 10,
  duration: "30s",
};

// The iteration that each user repeats.
export default function () {
  http.get(URL);
  sleep(1);
}
