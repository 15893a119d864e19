// sessions of k6/ws with tags, cookies and headers
import { check } from "k6";
import http from "k6/http";
import ws from "k6/ws";
export { handleSummary } from "../data.js";

export const options = { iterations: 2, thresholds: { "ws_sessions{own:yes}": ["count==2"], "ws_msgs_sent{own:yes}": ["count==4"] } };

export default function () {
  const jar = new http.CookieJar();
  jar.set(__ENV.WS_BASE.replace("ws", "http"), "a", "b");
  const answer = ws.connect(`${__ENV.WS_BASE}/echo`, { tags: { own: "yes" }, headers: { "X-A": "b" }, jar }, (socket) => {
    let n = 0;
    socket.on("open", () => socket.send("1"));
    socket.on("message", () => {
      n += 1;
      if (n === 1) socket.setTimeout(() => socket.send("2"), 10);
      else socket.close(1001);
    });
    socket.setInterval(() => {}, 1000);
  });
  check(answer, { "was upgraded": ({ status, headers }) => status === 101 && headers.Upgrade === "websocket" });
}
