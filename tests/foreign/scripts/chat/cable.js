// One visitor says one thing: connect, subscribe, perform, receive, disconnect.
import { check, sleep } from "k6";
import cable from "k6/x/cable";

const url = __ENV.WS_URL || "ws://127.0.0.1:8080/cable";

export default function () {
  const visitor = cable.connect(url, { cookies: __ENV.WS_COOKIE });
  const room = visitor.subscribe("ChatChannel", { id: "demo" });
  room.perform("speak", { message: "Good morning" });
  check(room.receive(), { "the room answers": (answer) => answer.action === "newMessage" });
  sleep(1);
  visitor.disconnect();
}
