import ws from "k6/ws";
import { check } from "k6";

%HEAD%
// The public channel to subscribe to. Without one, users only connect.
const CHANNEL = __ENV.CHANNEL || %CHANNEL%;

export default function () {
  let [isConnected, isSubscribed] = [false, false];
  const response = ws.connect(URL, { headers: HEADERS }, function (socket) {
    socket.on("message", (text) => {
      const { event } = JSON.parse(text);
      if (event === "pusher:connection_established") {
        isConnected = true;
        if (CHANNEL !== "") socket.send(JSON.stringify({ event: "pusher:subscribe", data: { channel: CHANNEL } }));
      }
      if (event === "pusher_internal:subscription_succeeded") isSubscribed = true;
      if (event === "pusher:ping") socket.send(JSON.stringify({ event: "pusher:pong", data: {} }));
    });
    socket.setTimeout(() => socket.close(), 3000);
  });
  check(response, { "status is 101": (answer) => answer && answer.status === 101 });
  check(isConnected, { "connection established": (is) => is });
  if (CHANNEL !== "") check(isSubscribed, { subscribed: (is) => is });
}
