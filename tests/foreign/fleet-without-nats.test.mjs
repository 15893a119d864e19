// The NATS server of a fleet goes away and does not come back: every run ends by itself, says why, and keeps what it has.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Fleet } from "./support/fleet.mjs";
import { serveHttp } from "./support/http-server.mjs";
import { Server } from "./support/plimsoll.mjs";
import { eventually } from "./support/processes.mjs";

/** The end comes 35 seconds after the last word of an agent, and then each agent is asked once more. */
const PATIENCE_MS = 90_000;

const REASON = /agent a1 was lost after \d+ s \(there was no connection to NATS for 35 s\), and with it 50 %/;

test("runs of all kinds end when NATS is gone for good", async (t) => {
  const asked = { abort: 0, continue: 0 };
  const url = await serveHttp(t, (request, response) => {
    asked[request.url.slice(1)] += 1;
    response.end("ok");
  });
  const server = await Server.start("--app", "benchmark");
  t.after(() => server.stop());
  const script = (policy) => `
import http from "k6/http";
import { sleep } from "k6";
export const options = { vus: 2, duration: "10m" };
export default function () { http.get("${url}/${policy}"); sleep(0.1); }
`;
  const runs = {
    abort: (fleet) => fleet.start(script("abort"), "--format", "json"),
    continue: (fleet) => fleet.start(script("continue"), "--format", "json", "--on-agent-loss", "continue"),
    bench: (fleet) => fleet.startBench("broadcast", server.ws("/cable"), "--server-type", "actioncable", "--step-size", "4", "--total-steps", "1", "--rate", "10/s", "--duration", "10m"),
  };
  await Promise.all(
    Object.entries(runs).map(async ([kind, start]) => {
      const fleet = await Fleet.start(t, 2);
      const run = start(fleet);
      await eventually(() => (kind in asked ? asked[kind] > 60 : run.stderr.includes("sending")), `the load of ${kind}`);
      await fleet.nats.kill();
      await run.said("there was no connection to NATS for 35 s", PATIENCE_MS);
      const { code, stdout, stderr } = await run.ended();
      assert.equal(code, 111, `${kind}: ${stderr}`);
      assert.match(stderr, kind === "bench" ? /no connection to NATS for 35 s/ : REASON);
      if (kind !== "bench") {
        const { conclusion, iterations } = JSON.parse(stdout);
        assert.equal(conclusion.verdict, "incomplete");
        assert.ok(0 < iterations.complete && iterations.complete < asked[kind], JSON.stringify(iterations));
      }
      // The agents are there for the next run.
      await fleet.nats.resume();
      await fleet.free();
      assert.equal((await fleet.list()).agents.length, 2);
    }),
  );
});
