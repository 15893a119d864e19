// Round trips over a WebSocket, one after the other: VUS users, OPERATIONS each.
import ws from "k6/ws";
import { Counter } from "k6/metrics";

const VUS = Number(__ENV.VUS);
const OPERATIONS = Number(__ENV.OPERATIONS);
const MESSAGE = '{"type":"echo","payload":{"n":1}}';
const answers = new Counter("answers");

export const options = {
  scenarios: {
    echo: { executor: "per-vu-iterations", vus: VUS, iterations: 1, maxDuration: "120s" },
  },
  // One lost answer, and the run has no figure.
  thresholds: { answers: [`count==${VUS * OPERATIONS}`] },
};

export default function () {
  let n = 0;
  ws.connect(__ENV.URL, (socket) => {
    socket.on("open", () => socket.send(MESSAGE));
    socket.on("message", () => {
      n += 1;
      if (n < OPERATIONS) socket.send(MESSAGE);
      else socket.close();
    });
  });
  answers.add(n);
}
