// A client under test: `k6/websockets` goes through all cases of `plimsoll conform websocket --listen`, whose address is BASE.

import { WebSocket } from "k6/websockets";

export const options = { vus: 1, iterations: 1 };

const PARAMS = __ENV.COMPRESSION ? { compression: __ENV.COMPRESSION } : {};

/** Opens a WebSocket; `onMessage(socket, data)` hears of messages, `then` of the end, however it comes. */
function visit(path, onMessage, then) {
  const socket = new WebSocket(`${__ENV.BASE}${path}`, null, PARAMS);
  socket.binaryType = "arraybuffer";
  let isOver = false;
  const end = () => {
    if (!isOver) then();
    isOver = true;
  };
  socket.addEventListener("message", ({ data }) => onMessage(socket, data));
  // Cases break the protocol on purpose: an error is followed by the end, or is the end.
  socket.addEventListener("error", () => {
    if (socket.readyState === 3) end();
  });
  socket.addEventListener("close", end);
}

const echo = (socket, data) => socket.send(data);

export default function () {
  let n_cases = 0;
  const run = (number) => {
    if (number > n_cases) return visit("/updateReports?agent=k6-websockets", () => {}, () => {});
    visit(`/runCase?case=${number}&agent=k6-websockets`, echo, () => run(number + 1));
  };
  visit("/getCaseCount", (_, data) => (n_cases = Number(data)), () => run(1));
}
