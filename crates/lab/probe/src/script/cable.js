import cable from "k6/x/cable";
import { check, fail, sleep } from "k6";

%HEAD%
// The channel to subscribe to, and its parameters. Without a channel, users only connect.
const CHANNEL = __ENV.CHANNEL || %CHANNEL%;
const PARAMETERS = %PARAMETERS%;

export default function () {
  const client = cable.connect(URL, { headers: HEADERS, receiveTimeoutMs: 5000 });
  if (!check(client, { connected: (found) => found })) {
    fail("no connection");
  }
  if (CHANNEL !== "") {
    const channel = client.subscribe(CHANNEL, PARAMETERS);
    check(channel, { subscribed: (found) => found });
    // To act: channel.perform("speak", { message: "hello" }), then channel.receive({ message: "hello" }).
  }
  sleep(3);
  client.disconnect();
}
