// Our load client against real Action Cable on Puma, which was written without us.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { plimsollJson } from "./support/plimsoll.mjs";
import { startRails } from "./support/rails.mjs";

const CABLE = ["--sub-protocol", "actioncable-v1-json"];

describe("plimsoll bench against real Action Cable", () => {
  test("broadcasts reach every client, twice as many in the second step", async (t) => {
    const url = await startRails(t);
    const sizes = ["--step-size", "20", "--total-steps", "2", "--sample-size", "10", "--concurrent", "2"];
    const { code, report, stderr } = await plimsollJson(
      "bench", "broadcast", url, "--server-type", "actioncable", "--payload-padding", "200", ...CABLE, ...sizes,
    );
    assert.equal(code, 0, stderr);
    const counts = report.steps.map(({ clients, plimsoll: it }) => [clients, it.n_deliveries, it.n_lost, it.n_duplicated]);
    assert.deepEqual(counts, [
      [20, 200, 0, 0],
      [40, 400, 0, 0],
    ]);
  });

  test("echoes come back to their sender", async (t) => {
    const url = await startRails(t);
    const sizes = ["--step-size", "10", "--total-steps", "1", "--sample-size", "100", "--concurrent", "5"];
    const { code, report, stderr } = await plimsollJson(
      "bench", "echo", url, "--server-type", "actioncable", ...CABLE, ...sizes,
    );
    assert.equal(code, 0, stderr);
    assert.equal(report.steps[0].plimsoll.acknowledgement_us.count, 100);
  });

  test("every client gets ready", async (t) => {
    const url = await startRails(t);
    const sizes = ["--step-size", "50", "--total-steps", "1", "--concurrent", "10"];
    const { code, report, stderr } = await plimsollJson(
      "bench", "connect", url, "--server-type", "actioncable-connect", ...CABLE, ...sizes,
    );
    assert.equal(code, 0, stderr);
    const { n_connected, n_failed, welcome_us } = report.steps[0].plimsoll.connect;
    assert.deepEqual([n_connected, n_failed, welcome_us.count], [50, 0, 50]);
  });
});
