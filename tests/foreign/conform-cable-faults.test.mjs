// The cable suite can fail: a server with one fault at a time is caught, by the cases that are about that fault.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { FAULTS, FREEDOMS } from "./faults/cable.mjs";
import { SharedServer } from "./faults/shared.mjs";
import { PROGRAM, plimsollIn } from "./support/plimsoll.mjs";

const PROXY = fileURLToPath(new URL("faults/cable-proxy.mjs", import.meta.url));
const EXPECTED = fileURLToPath(new URL("expectations/cable-plimsoll.txt", import.meta.url));

/** Most of a run is waiting for messages that the fault has swallowed, so many run at a time. */
const AT_ONCE = 12;

/** Runs the suite. */
function conform(...args) {
  return plimsollIn({ env: { PLIMSOLL_BIN: PROGRAM } }, "conform", "cable", ...args, "--broadcast-key", "secret");
}

/** Arguments for a run that starts the server under test itself, and so can restart it. */
function ofItsOwn(fault) {
  const command = `"${process.execPath}" "${PROXY}" {port} {rpc} "${fault}"`;
  return ["ws://127.0.0.1:0/cable", "--rpc-listen", "127.0.0.1:0", "--command", command];
}

/** The verdicts of some cases, by id, and all that was printed. */
async function verdictsOf(target, only, ...flags) {
  const { stdout, stderr } = await conform(...target, "--only", only.join(), "--format", "json", ...flags);
  const { outcomes } = JSON.parse(stdout || `{"outcomes":${JSON.stringify(stderr)}}`);
  return { verdicts: Object.fromEntries(outcomes.map((outcome) => [outcome.id, outcome.verdict])), stdout };
}

// Side by side, because both wait more than they compute.
describe("a proxy", { concurrency: true }, () => {
  test("without a fault the proxy changes no verdict", async () => {
    // A thousand clients that come back keep Node.js busy for ten seconds, and no fault is about them.
    const flags = ["--except", "cable/closing/restart-crowd", "--patience", "20", "--timeout", "60"];
    const { code, stdout, stderr } = await conform(...ofItsOwn(""), "--expect", EXPECTED, ...flags);
    assert.equal(code, 0, `${stdout}\n${stderr}`);
  });

  describe("is caught:", { concurrency: AT_ONCE }, () => {
    let server;
    before(async () => (server = await SharedServer.start()));
    after(() => server.stop());

    for (const [name, fault] of Object.entries(FAULTS)) {
      const { caughtBy, verdict = "fail", restarts } = fault;
      test(name, async () => {
        const only = caughtBy.map((id) => `cable/${id}`);
        const target = restarts ? ofItsOwn(name) : await server.run(fault);
        const { verdicts, stdout } = await verdictsOf(target, only, "--patience", "4");
        for (const id of only) assert.equal(verdicts[id], verdict, `${id}: ${stdout}`);
      });
    }

    test("nothing, by all these cases, without a fault", async () => {
      const caughtBy = Object.values(FAULTS).flatMap(({ caughtBy, restarts }) => (restarts ? [] : caughtBy));
      const only = [...new Set(caughtBy)].map((id) => `cable/${id}`);
      const { verdicts, stdout } = await verdictsOf(await server.run({}), only, "--patience", "20", "--timeout", "60");
      for (const id of only) assert.equal(verdicts[id], "pass", `${id}: ${stdout}`);
    });

    for (const [name, freedom] of Object.entries(FREEDOMS)) {
      test(`nothing, where a server is free: ${name}`, async () => {
        const only = freedom.allowedBy.map((id) => `cable/${id}`);
        const { code, stdout, stderr } = await conform(...(await server.run(freedom)), "--only", only.join(), "--patience", "8");
        assert.equal(code, 0, `${stdout}\n${stderr}`);
      });
    }
  });
});
