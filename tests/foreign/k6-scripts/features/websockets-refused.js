// WebSockets that are refused
import { check } from "k6";
import { WebSocket } from "k6/websockets";
export { handleSummary } from "../data.js";
export const options = { iterations: 2 };

export default function () {
  const socket = new WebSocket(`${__ENV.WS_BASE}/nowhere`);
  socket.onopen = () => check(0, { "is not opened": () => false });
  socket.onerror = ({ error }) => check(error, { "an error": (found) => found.length > 0 });
}
