// CPU of a server per delivery and the listeners' latency while ten broadcasts a second are due, written through io_uring and with
// system calls in turn.
//
//     PLIMSOLL_BIN=target/release/plimsoll node benchmarks/fanout/open.mjs [ROUNDS]
//
// Each round has 3,000, 6,000 and 9,000 listeners, or those of LISTENERS, with commas. SECONDS, in which CPU and deliveries are counted
// after all listeners are there, is 10. Prints one line of JSON for each run.

import { measure, serve } from "../engines/measured.mjs";

const LISTENERS = (process.env.LISTENERS ?? "3000,6000,9000").split(",").map(Number);
const SECONDS = Number(process.env.SECONDS ?? 10);
const LOAD = ["--rate", "10/s", "--duration", `${SECONDS + 3}s`];
const WAYS = ["uring", "syscalls"];

const [rounds = "5"] = process.argv.slice(2);
for (let round = 1; round <= Number(rounds); round++) {
  for (const nClients of LISTENERS) {
    // The machine gets slower and faster meanwhile.
    const ways = round % 2 ? WAYS : WAYS.toReversed();
    for (const io of ways) {
      const servers = await serve(1, "--io", io);
      console.log(JSON.stringify({ round, io, listeners: nClients, ...(await measure({ servers, nClients, load: LOAD, seconds: SECONDS })) }));
    }
  }
}
