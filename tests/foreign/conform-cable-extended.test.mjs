// History, resumed sessions and presence: `plimsoll conform cable` against a small server that has them, without a fault and
// with one at a time. Neither `plimsoll serve` nor Rails has these.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { FAULTS } from "./faults/extended.mjs";
import { plimsoll } from "./support/plimsoll.mjs";

const path = (name) => fileURLToPath(new URL(name, import.meta.url));

/** Who loses the connection leaves after three seconds: a case comes back in less, and others wait for it. */
const SETTINGS = "--presence_ttl 3 --ping_interval 1";

/** What every fault leaves right: a server that does not work at all fails, too. */
const RIGHT = "cable/streams/receives";

/** Runs the suite against the server that these words of a command start. */
function conform(words, ...flags) {
  const command = `"${process.execPath}" ${words} --port {port} --rpc_host {rpc} ${SETTINGS}`;
  const suite = ["conform", "cable", "ws://127.0.0.1:0/cable", "--rpc", "http", "--rpc-listen", "127.0.0.1:0"];
  return plimsoll(...suite, "--command", command, ...flags);
}

test("a server without faults conforms", async () => {
  const expect = ["--expect", path("expectations/cable-extended.txt"), "--patience", "20", "--timeout", "60"];
  const { code, stdout, stderr } = await conform(`"${path("extended/main.mjs")}"`, ...expect);
  assert.equal(code, 0, `${stdout}\n${stderr}`);
});

describe("is caught:", { concurrency: 4 }, () => {
  for (const [name, { caughtBy }] of Object.entries(FAULTS)) {
    test(name, async () => {
      const only = caughtBy.map((id) => `cable/${id}`);
      const flags = ["--only", [RIGHT, ...only].join(), "--patience", "4", "--format", "json"];
      const { stdout, stderr } = await conform(`"${path("faults/extended-server.mjs")}" "${name}"`, ...flags);
      const { outcomes } = JSON.parse(stdout || `{"outcomes":${JSON.stringify(stderr)}}`);
      const verdicts = Object.fromEntries(outcomes.map((outcome) => [outcome.id, outcome.verdict]));
      assert.equal(verdicts[RIGHT], "pass", stdout);
      for (const id of only) assert.equal(verdicts[id], "fail", `${id}: ${stdout}`);
    });
  }
});
