// `plimsoll run` does with Artillery's files what Artillery 2.0.34 does: the same requests and messages on the wire, the
// same counters, exit codes and numbers of samples. NAME.json was recorded from Artillery by artillery/record.mjs; where we
// differ on purpose, NAME.differs.json has what we do instead, and `why`.

import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { FOLDER, observe } from "./support/artillery-parity.mjs";
import { ENVIRONMENT, PROGRAM } from "./support/plimsoll.mjs";

/** Artillery ends with 0 whatever failed. */
const FLAGS = ["--no-save", "--fail-on-errors=never"];

const names = readdirSync(FOLDER)
  .filter((file) => file.endsWith(".yml"))
  .map((file) => file.slice(0, -4));
const read = (file) => JSON.parse(readFileSync(join(FOLDER, file), "utf8"));

describe("files of Artillery", { concurrency: 4 }, () => {
  for (const name of names) {
    const differs = `${name}.differs.json`;
    const { why, ...own } = existsSync(join(FOLDER, differs)) ? read(differs) : {};
    test(why ? `${name} (differs: ${why})` : name, async () => {
      const { found, output } = await observe([PROGRAM, "run", ...FLAGS], `${name}.yml`, ENVIRONMENT);
      assert.deepEqual(found, { ...read(`${name}.json`), ...own }, output);
    });
  }
});
