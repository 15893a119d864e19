import ws from "k6/ws";
import { check } from "k6";
import { Trend } from "k6/metrics";

%HEAD%
// The time from sending a message to receiving it, in milliseconds.
const roundTrip = new Trend("rtt", true);

export default function () {
  let nEchoes = 0;
  const response = ws.connect(URL, { headers: HEADERS }, function (socket) {
    let sentAt;
    const send = () => {
      sentAt = Date.now();
      socket.send(`hello from user ${__VU}`);
    };
    socket.on("open", send);
    socket.on("message", () => {
      nEchoes++;
      roundTrip.add(Date.now() - sentAt);
    });
    socket.setInterval(send, 1000);
    socket.setTimeout(() => socket.close(), 3500);
  });
  check(response, { "status is 101": (answer) => answer && answer.status === 101 });
  check(nEchoes, { "messages came back": (number) => number > 0 });
}
