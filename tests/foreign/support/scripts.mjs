// Scripts for `plimsoll run`, each in a folder of its own.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** A folder with these files, `{ name: text }`, gone after the test. */
export function folderOf(t, files) {
  const folder = mkdtempSync(join(tmpdir(), "plimsoll-script-"));
  t.after(() => rmSync(folder, { recursive: true }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}
