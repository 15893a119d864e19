// Unary calls of several users, with tags, sub-metrics and checks; the connection stays for all iterations of a user.

import { check, group } from "k6";
import exec from "k6/execution";
import { Client, StatusNotFound, StatusOK } from "k6/net/grpc";
import { Counter } from "k6/metrics";

export { handleSummary } from "./data.js";

const client = new Client();
client.load(["protos"], "laboratory.proto");
const calls = new Counter("calls");

export const options = {
  summaryTrendStats: ["count", "max"],
  scenarios: { users: { executor: "per-vu-iterations", vus: 3, iterations: 4, tags: { kind: "unary" } } },
  thresholds: {
    grpc_req_duration: ["max>=0"],
    "grpc_req_duration{status:0}": ["max>=0"],
    "grpc_req_duration{status:5}": ["max>=0"],
    "grpc_req_duration{service:laboratory.Laboratory,method:Greet}": ["max>=0"],
    "grpc_req_duration{name:/laboratory.Laboratory/Fail}": ["max>=0"],
    "grpc_req_duration{name:named}": ["max>=0"],
    [`grpc_req_duration{url:${__ENV.ADDRESS}/laboratory.Laboratory/Greet}`]: ["max>=0"],
    "grpc_req_duration{own:yes}": ["max>=0"],
    "grpc_req_duration{group:::greeting}": ["max>=0"],
    "grpc_req_duration{scenario:users,kind:unary}": ["max>=0"],
  },
};

export default function () {
  if (exec.vu.iterationInScenario === 0) client.connect(__ENV.ADDRESS, { plaintext: true });
  group("greeting", () => {
    const response = client.invoke("laboratory.Laboratory/Greet", { name: `user ${exec.vu.idInTest}` }, { tags: { own: "yes" } });
    check(response, {
      "status is OK": ({ status }) => status === StatusOK,
      "greets the user": ({ message }) => message.name === `hello user ${exec.vu.idInTest}`,
    });
  });
  const tags = exec.vu.iterationInScenario % 2 ? { name: "named" } : {};
  const failed = client.invoke("/laboratory.Laboratory/Fail", { code: StatusNotFound, message: "gone" }, { tags });
  check(failed, { "status is that of the server": ({ status, error }) => status === StatusNotFound && error.message === "gone" });
  calls.add(2);
  if (exec.vu.iterationInScenario === 3) client.close();
}
