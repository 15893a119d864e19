// One script per feature of k6 (`k6-scripts/features`) under `plimsoll run` and the real k6: same exit codes, values, checks,
// counts, verdicts, samples with their tags, and lines of the console. The comment at the beginning of a script says what it is
// about, how it ends and with which flags.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { before, describe, test } from "node:test";
import { buildK6 } from "./support/k6.mjs";
import { startScriptServer } from "./support/script-server.mjs";
import { SCRIPTS, assertAlike, consoleOf, runBoth, samplesOf } from "./support/side-by-side.mjs";

const FEATURES = join(SCRIPTS, "features");

before(() => buildK6());

describe("plimsoll run and k6 agree about", { concurrency: 2 }, () => {
  const files = readdirSync(FEATURES).filter((name) => name.endsWith(".js"));

  for (const file of files) {
    const text = readFileSync(join(FEATURES, file), "utf8");
    const [, title] = /^\/\/ (.*)\n/.exec(text);
    const [, code = "0"] = /^\/\/ exit code (\d+)$/m.exec(text) ?? [];
    const [, flags] = /^\/\/ flags (.*)$/m.exec(text) ?? [];
    test(`${file}: ${title}`, async (t) => {
      const server = await startScriptServer(t);
      const args = ["--out", "json=samples.json", "--log-format", "json", ...(flags?.split(" ") ?? [])];
      const both = await runBoth(t, `features/${file}`, { BASE: server.http, WS_BASE: server.ws }, args);
      assert.equal(both[0].code, Number(code), both[0].stderr);
      assertAlike(both);
      assert.deepEqual(...both.map(samplesOf));
      assert.deepEqual(...both.map(consoleOf));
    });
  }

  test("at least 60 of them", () => assert.ok(files.length >= 60));
});
