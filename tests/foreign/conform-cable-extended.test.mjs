// History, resumed sessions and presence: `plimsoll conform cable` against a small server that has them, without a fault and
// with one at a time.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { Server } from "./extended/server.mjs";
import { FAULTS } from "./faults/extended.mjs";
import { plimsoll } from "./support/plimsoll.mjs";
import { freePort } from "./support/ports.mjs";

const path = (name) => fileURLToPath(new URL(name, import.meta.url));

/** Who loses the connection leaves after three seconds: a case comes back in less, and others wait for it. */
const SETTINGS = ["--presence_ttl", "3", "--ping_interval", "1"];

/** What every fault leaves right: a server that does not work at all fails, too. */
const RIGHT = "cable/streams/receives";

/** Most of a run is waiting for messages that the fault has swallowed, so many run at a time. */
const AT_ONCE = 12;

const conform = (url, ...flags) => plimsoll("conform", "cable", url, "--rpc", "http", ...flags);

/** Starts a server with parts in the place of right ones. Returns its URL, and where it expects its application. */
async function startFaulty(t, { Server: Kind = Server, ...parts }) {
  const application = `127.0.0.1:${await freePort()}`;
  const server = new Kind(["--port", "0", "--rpc_host", `http://${application}/_anycable`, ...SETTINGS], parts, () => {});
  const port = await server.listen();
  t.after(() => server.end());
  return { url: `ws://127.0.0.1:${port}/cable`, application };
}

// Side by side, because both wait more than they compute.
describe("the cases of the extended protocol", { concurrency: true }, () => {
  test("a server without faults conforms", async () => {
    const main = path("extended/main.mjs");
    const command = `"${process.execPath}" "${main}" --port {port} --rpc_host {rpc} ${SETTINGS.join(" ")}`;
    const started = ["--rpc-listen", "127.0.0.1:0", "--command", command];
    // A thousand clients that come back keep Node.js busy for ten seconds, and no fault is about them.
    const except = ["--except", "cable/closing/restart-crowd"];
    const expect = ["--expect", path("expectations/cable-extended.txt"), ...except, "--patience", "20", "--timeout", "60"];
    const { code, stdout, stderr } = await conform("ws://127.0.0.1:0/cable", ...started, ...expect);
    assert.equal(code, 0, `${stdout}\n${stderr}`);
  });

  describe("is caught:", { concurrency: AT_ONCE }, () => {
    for (const [name, { parts, caughtBy, suspectedBy = [] }] of Object.entries(FAULTS)) {
      test(name, async (t) => {
        const { url, application } = await startFaulty(t, parts);
        const only = [...caughtBy, ...suspectedBy].map((id) => `cable/${id}`);
        const flags = ["--only", [RIGHT, ...only].join(), "--patience", "4", "--format", "json"];
        const { stdout, stderr } = await conform(url, "--rpc-listen", application, ...flags);
        const { outcomes } = JSON.parse(stdout || `{"outcomes":${JSON.stringify(stderr)}}`);
        const verdicts = Object.fromEntries(outcomes.map((outcome) => [outcome.id, outcome.verdict]));
        assert.equal(verdicts[RIGHT], "pass", stdout);
        for (const id of caughtBy) assert.equal(verdicts[`cable/${id}`], "fail", `${id}: ${stdout}`);
        // What no clause demands is at worst non-strict.
        for (const id of suspectedBy) assert.equal(verdicts[`cable/${id}`], "non-strict", `${id}: ${stdout}`);
      });
    }
  });
});
