// The cable suite can fail: a server with one fault at a time is caught, by the cases that are about that fault.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { FAULTS } from "./faults/cable.mjs";
import { PROGRAM, plimsollIn } from "./support/plimsoll.mjs";

const PROXY = fileURLToPath(new URL("faults/cable-proxy.mjs", import.meta.url));
const EXPECTED = fileURLToPath(new URL("expectations/cable-plimsoll.txt", import.meta.url));

/** Runs the suite against the proxy. */
function conform(fault, ...flags) {
  const command = `"${process.execPath}" "${PROXY}" {port} {rpc} "${fault}"`;
  const suite = ["conform", "cable", "ws://127.0.0.1:0/cable", "--rpc-listen", "127.0.0.1:0", "--broadcast-key", "secret"];
  return plimsollIn({ env: { PLIMSOLL_BIN: PROGRAM } }, ...suite, "--command", command, ...flags);
}

test("without a fault the proxy changes no verdict", async () => {
  const { code, stdout, stderr } = await conform("", "--expect", EXPECTED, "--patience", "20", "--timeout", "60");
  assert.equal(code, 0, `${stdout}\n${stderr}`);
});

describe("is caught:", { concurrency: 4 }, () => {
  for (const [name, { caughtBy, verdict = "fail" }] of Object.entries(FAULTS)) {
    test(name, async () => {
      const only = caughtBy.map((id) => `cable/${id}`);
      const { stdout, stderr } = await conform(name, "--only", only.join(), "--patience", "4", "--format", "json");
      const { outcomes } = JSON.parse(stdout || `{"outcomes":${JSON.stringify(stderr)}}`);
      const verdicts = Object.fromEntries(outcomes.map((outcome) => [outcome.id, outcome.verdict]));
      for (const id of only) assert.equal(verdicts[id], verdict, `${id}: ${stdout}`);
    });
  }
});
