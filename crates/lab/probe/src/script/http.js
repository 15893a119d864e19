import http from "k6/http";
import { check, sleep } from "k6";

%HEAD%
export default function () {
  const response = http.get(URL, { headers: HEADERS });
  check(response, { "status is below 400": (answer) => answer.status > 0 && answer.status < 400 });
  sleep(1);
}
