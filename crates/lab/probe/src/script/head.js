// Written by `plimsoll probe`. For another server: plimsoll run -e URL=… FILE
const URL = __ENV.URL || %URL%;
%HEADERS%
export const options = {
  vus: 10,
  duration: "10s",
  thresholds: { checks: ["rate>0.99"] },%TLS%
};
