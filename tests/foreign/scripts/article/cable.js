// cable.js
import { check, sleep } from "k6";
import cable from "k6/x/cable";

const WS_URL = __ENV.WS_URL || "wss://ws.demo.anycable.io/cable";
const WS_COOKIE = __ENV.WS_COOKIE; // we need a valid cookie to authorize request

export default function () {
  const client = cable.connect(WS_URL, { cookies: WS_COOKIE });
  // At this point, the client has been successfully connected
  // (e.g., welcome message has been received)

  // Send subscription request and wait for the confirmation.
  // Returns null if failed to subscribe (due to rejection or timeout).
  const channel = client.subscribe("ChatChannel", { id: "demo" });

  // Perform an action
  channel.perform("speak", { message: "Hello" });

  // Retrieve a single message from the incoming inbox (FIFO).
  // Returns null if no messages have been received in the specified period of time.
  const res = channel.receive();
  check(res, {
    "received res": (obj) => obj.action === "newMessage",
  });

  sleep(1);
  // Terminate the WS connection
  client.disconnect();
}
