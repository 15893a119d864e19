// Text and binary frames, pings, timers and refusals over `k6/ws`; `WS_BASE` names the server of the test.

import { check } from "k6";
import ws from "k6/ws";

export { handleSummary } from "./data.js";

const BASE = __ENV.WS_BASE;
const ECHOES = 5;

export const options = { vus: 2, iterations: 4, userAgent: "parity" };

export default function () {
  let texts = 0;
  let closed = 0;
  const answer = ws.connect(`${BASE}/echo`, { headers: { "X-Mine": "1" }, tags: { kind: "echo" } }, (socket) => {
    socket.on("open", () => {
      for (let i = 0; i < ECHOES; i++) socket.send(`text ${i}`);
    });
    socket.on("message", (text) => {
      check(text, { "text comes back": (text) => text === `text ${texts}` });
      texts += 1;
      if (texts === ECHOES) socket.sendBinary(new Uint8Array([1, 2, 3]).buffer);
    });
    socket.on("binaryMessage", (bytes) => {
      check(bytes, { "bytes come back": (bytes) => bytes.byteLength === 3 && new Uint8Array(bytes)[2] === 3 });
      socket.setTimeout(() => socket.ping(), 20);
    });
    socket.on("pong", () => socket.close(1000));
    socket.on("close", (code) => {
      closed = code;
    });
    socket.on("error", (error) => console.error(error.error()));
  });
  check(answer, { "status is 101": ({ status }) => status === 101, "closed as asked": () => closed === 1000 });
  const refused = ws.connect(`${BASE}/refused`, {}, (socket) => socket.close());
  check(refused, { "refusal has its status": (refused) => refused.status === 403 });
}
