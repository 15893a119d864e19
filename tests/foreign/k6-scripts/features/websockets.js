// texts and bytes over k6/websockets
import { check } from "k6";
import { WebSocket } from "k6/websockets";
export { handleSummary } from "../data.js";

export const options = { vus: 2, iterations: 4, thresholds: { "ws_sessions{own:yes}": ["count==4"] } };

export default function () {
  const socket = new WebSocket(`${__ENV.WS_BASE}/echo`, null, { tags: { own: "yes" } });
  socket.binaryType = "arraybuffer";
  const received = [];
  socket.onopen = () => {
    check(socket, { "is open": ({ readyState, url }) => readyState === 1 && url.endsWith("/echo") });
    socket.send("one");
    socket.send("grüße");
    socket.send(new Uint8Array([1, 2]).buffer);
  };
  socket.onmessage = ({ data }) => {
    received.push(typeof data === "string" ? data : data.byteLength);
    if (received.length === 3) socket.close();
  };
  socket.onclose = () => check(received, { "all came back": (found) => found.join() === "one,grüße,2" });
}
