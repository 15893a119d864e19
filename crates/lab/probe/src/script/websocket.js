import ws from "k6/ws";
import { check } from "k6";

%HEAD%
export default function () {
  const response = ws.connect(URL, { headers: HEADERS }, function (socket) {
    // To speak: socket.on("open", () => socket.send("hello")).
    // To listen: socket.on("message", (message) => console.log(message)).
    socket.setTimeout(() => socket.close(), 3000);
  });
  check(response, { "status is 101": (answer) => answer && answer.status === 101 });
}
