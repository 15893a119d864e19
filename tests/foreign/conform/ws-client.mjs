// A client under test: npm `ws` goes through all cases of `plimsoll conform websocket --listen`, whose address is the argument.

import WebSocket from "ws";

const [base, compression] = process.argv.slice(2);
const perMessageDeflate = compression === "deflate" ? { threshold: 0 } : false;

/** Opens a WebSocket and resolves when it has ended, however that came. */
function visit(path, onMessage = () => {}) {
  return new Promise((resolve) => {
    const socket = new WebSocket(`${base}${path}`, { perMessageDeflate });
    socket.on("message", (data, isBinary) => onMessage(socket, data, isBinary));
    socket.on("error", () => {});
    socket.on("close", resolve);
  });
}

let n_cases = 0;
await visit("/getCaseCount", (_, data) => (n_cases = Number(data)));
for (let number = 1; number <= n_cases; number++) {
  await visit(`/runCase?case=${number}&agent=ws`, (socket, data, isBinary) => socket.send(data, { binary: isBinary }));
}
await visit("/updateReports?agent=ws");
