import ws from "k6/ws";
import { check } from "k6";

%HEAD%
// Messages of Engine.IO begin with a digit: 0 opens, 2 and 3 are ping and pong, 4 is a message of Socket.IO.
export default function () {
  let isConnected = false;
  const response = ws.connect(URL, { headers: HEADERS }, function (socket) {
    socket.on("message", (message) => {
      if (message.startsWith("0")) socket.send("40");
      if (message.startsWith("40")) isConnected = true;
      if (message === "2") socket.send("3");
      // To emit an event: socket.send('42["hello",{"text":"hi"}]').
    });
    socket.setTimeout(() => socket.close(), 3000);
  });
  check(response, { "status is 101": (answer) => answer && answer.status === 101 });
  check(isConnected, { "connected to the namespace /": (is) => is });
}
