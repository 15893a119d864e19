// Records what the real Artillery does with the files of this folder: NAME.yml to NAME.json.
//
//     node tests/foreign/artillery/record.mjs ARTILLERY [NAME…]
//
// ARTILLERY is the command, for example `node_modules/.bin/artillery` after `npm install artillery@2.0.34` in a folder
// of its own; it needs Node 22.18 or later.

import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { FOLDER, observe } from "../support/artillery-parity.mjs";

const [artillery, ...names] = process.argv.slice(2);
const all = readdirSync(FOLDER).filter((file) => file.endsWith(".yml")).map((file) => file.slice(0, -4));
const open = names.length > 0 ? names : all;
const lane = async () => {
  for (let name = open.shift(); name !== undefined; name = open.shift()) {
    const { found, output } = await observe([artillery, "run"], `${name}.yml`, { ARTILLERY_DISABLE_TELEMETRY: "true" });
    writeFileSync(join(FOLDER, `${name}.json`), `${JSON.stringify(found, null, 2)}\n`);
    console.log(`${name}: exit ${found.code}${process.env.VERBOSE ? `\n${output}` : ""}`);
  }
};
await Promise.all([lane(), lane(), lane()]);
