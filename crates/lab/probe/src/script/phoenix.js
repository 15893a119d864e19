import ws from "k6/ws";
import { check } from "k6";

%HEAD%
// The topic to join. Without one, users only send heartbeats.
const TOPIC = __ENV.TOPIC || %CHANNEL%;
const PARAMETERS = %PARAMETERS%;
const IS_VERSION_2 = URL.includes("vsn=2");

function message(ref, topic, event, payload) {
  return JSON.stringify(IS_VERSION_2 ? [null, ref, topic, event, payload] : { topic, event, payload, ref });
}

export default function () {
  let [nReplies, isJoined] = [0, false];
  const response = ws.connect(URL, { headers: HEADERS }, function (socket) {
    socket.on("open", () => {
      socket.send(message("1", "phoenix", "heartbeat", {}));
      if (TOPIC !== "") socket.send(message("2", TOPIC, "phx_join", PARAMETERS));
    });
    socket.on("message", (text) => {
      const data = JSON.parse(text);
      const [ref, event, payload] = IS_VERSION_2 ? [data[1], data[3], data[4]] : [data.ref, data.event, data.payload];
      if (event !== "phx_reply") return;
      nReplies++;
      if (ref === "2") isJoined = payload.status === "ok";
    });
    socket.setTimeout(() => socket.close(), 3000);
  });
  check(response, { "status is 101": (answer) => answer && answer.status === 101 });
  check(nReplies, { "heartbeat was answered": (number) => number > 0 });
  if (TOPIC !== "") check(isJoined, { joined: (is) => is });
}
