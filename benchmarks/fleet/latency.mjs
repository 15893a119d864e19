// Latency of broadcasts between two agents, of which one is 50 ms away from NATS and has a clock that is 200 ms ahead, beside that of
// one process. The target holds each broadcast for a second, or for 20 ms, so the truth is known.
//
//     PLIMSOLL_BIN=target/release/plimsoll node benchmarks/fleet/latency.mjs
//
// Senders and listeners are on both agents. Prints one line of JSON for each run.

import { startBroadcasting } from "../../tests/foreign/support/broadcasting-server.mjs";
import { plimsollIn } from "../../tests/foreign/support/plimsoll.mjs";
import { folderOf } from "../../tests/foreign/support/scripts.mjs";
import { AHEAD_MS, Place, startDistant } from "./bench.mjs";

const LOAD = ["--step-size", "20", "--total-steps", "1", "--rate", "20/s", "--duration", "5s"];

for (const holdMs of [1_000, 20]) {
  for (const n_agents of [0, 2]) {
    const place = new Place();
    const url = await startBroadcasting(place, ({ clients, text, confirm }) =>
      setTimeout(() => {
        for (const client of clients) client.send(text);
        confirm();
      }, holdMs),
    );
    const flags = n_agents === 0 ? [] : (await startDistant(place)).flags;
    const cwd = folderOf(place, {});
    const { code, stdout, stderr } = await plimsollIn({ cwd }, "bench", "broadcast", url, ...LOAD, "--format", "json", ...flags);
    await place.leave();
    if (code !== 0) console.error(stderr);
    const { deliveries, listener_us, last_delivery_us, clock_uncertainty_us } = JSON.parse(stdout).steps[0].plimsoll;
    console.log(JSON.stringify({
      agents: n_agents,
      code,
      held_ms: holdMs,
      offset_ms: n_agents === 0 ? null : AHEAD_MS,
      listener_us,
      last_delivery_us,
      clock_uncertainty_us,
      deliveries,
      said: stderr.split("\n").filter((line) => /clocks|times of deliveries/.test(line)),
    }));
  }
}
