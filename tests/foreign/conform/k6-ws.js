// A client under test: `k6/ws` goes through all cases of `plimsoll conform websocket --listen`, whose address is BASE.

import ws from "k6/ws";

export const options = { vus: 1, iterations: 1 };

const PARAMS = __ENV.COMPRESSION ? { compression: __ENV.COMPRESSION } : {};

/** Opens a WebSocket and returns when it has ended, however that came. */
function visit(path, prepare) {
  try {
    ws.connect(`${__ENV.BASE}${path}`, PARAMS, (socket) => {
      // Cases break the protocol on purpose.
      socket.on("error", () => {});
      prepare(socket);
    });
  } catch {
    // A handshake that was refused.
  }
}

export default function () {
  let n_cases = 0;
  visit("/getCaseCount", (socket) => socket.on("message", (text) => (n_cases = Number(text))));
  for (let number = 1; number <= n_cases; number++) {
    visit(`/runCase?case=${number}&agent=k6-ws`, (socket) => {
      socket.on("message", (text) => socket.send(text));
      socket.on("binaryMessage", (bytes) => socket.sendBinary(bytes));
    });
  }
  visit("/updateReports?agent=k6-ws", () => {});
}
