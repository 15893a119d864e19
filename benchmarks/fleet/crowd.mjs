// As many clients as three servers and three agents can have below their limits of open files, in one broadcast.
//
//     PLIMSOLL_BIN=target/release/plimsoll node benchmarks/fleet/crowd.mjs [AGENTS]
//
// Three servers share their broadcasts over NATS; AGENTS (3) agents have the clients together. CLIENTS is 57000 unless it is set, and
// SECONDS, in which one broadcast a second is sent, is 20. REPORT is the path of the report, if one is wanted. Prints one line of
// JSON, and what the coordinator said to standard error.

import { resolve } from "node:path";
import { Fleet } from "../../tests/foreign/support/fleet.mjs";
import { NatsServer } from "../../tests/foreign/support/nats.mjs";
import { Server, plimsollIn } from "../../tests/foreign/support/plimsoll.mjs";
import { folderOf } from "../../tests/foreign/support/scripts.mjs";
import { Place, memoryOf } from "./bench.mjs";

const N_SERVERS = 3;
const N_CLIENTS = Number(process.env.CLIENTS ?? 57_000);
const SECONDS = Number(process.env.SECONDS ?? 20);
const n_agents = Number(process.argv[2] ?? 3);

const place = new Place();
const engine = await NatsServer.start(place);
const servers = [];
for (let n = 0; n < N_SERVERS; n++) {
  const server = await Server.startIn({}, "--app", "benchmark", "--pubsub", "nats", "--nats_servers", engine.url);
  place.after(() => server.stop());
  servers.push(server);
}
const fleet = await Fleet.start(place, n_agents);
const cwd = folderOf(place, {});
const clients = ["--server-type", "actioncable", "--step-size", String(N_CLIENTS), "--total-steps", "1"];
const load = ["--rate", "1/s", "--duration", `${SECONDS}s`];
const report = process.env.REPORT ? ["--report", resolve(process.env.REPORT)] : [];
const outputs = ["--format", "json", "--no-save", ...report];
const urls = servers.map((server) => server.ws("/cable"));
const { code, stdout, stderr } = await plimsollIn({ cwd }, "bench", "broadcast", ...urls, ...clients, ...load, ...outputs, ...fleet.flags);
console.error(stderr);
const { steps, plimsoll } = JSON.parse(stdout);
const memory = ({ pid }) => memoryOf(pid, "VmHWM");
console.log(
  JSON.stringify({
    code,
    agents: n_agents,
    connected: steps.map((step) => step.plimsoll.connect.n_connected),
    failed: steps.map((step) => step.plimsoll.connect.n_failed),
    sent: steps.map((step) => step.plimsoll.n_sent),
    deliveries: plimsoll.deliveries,
    most_mb: { servers: servers.map(memory), agents: fleet.agents.map(memory) },
  }),
);
await place.leave();
