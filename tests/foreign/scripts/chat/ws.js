// The visitor of cable.js without the extension: every frame of the protocol by hand.
import ws from "k6/ws";
import { check } from "k6";

const url = __ENV.WS_URL || "ws://127.0.0.1:8080/cable";
const identifier = '{"channel":"ChatChannel","id":"demo"}';
const command = (command, data) => JSON.stringify({ command, identifier, data });

export default function () {
  const response = ws.connect(url, { headers: { Cookie: __ENV.WS_COOKIE } }, (socket) => {
    socket.on("open", () => {
      socket.send(command("subscribe"));
      socket.setTimeout(() => socket.send(command("message", '{"action":"speak","message":"Good morning"}')), 500);
    });
    socket.on("message", (text) => {
      const frame = JSON.parse(text);
      if (frame.type === "confirm_subscription") {
        check(frame, { "subscribed": (frame) => frame.identifier === identifier });
      } else if (frame.message && frame.message.action) {
        check(frame, { "the room answers": (frame) => frame.message.action === "newMessage" });
      }
    });
    socket.setTimeout(() => socket.close(), 3000);
  });
  check(response, { "status is 101": (response) => response && response.status === 101 });
}
