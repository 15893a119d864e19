// Files that pages link to and that are no pages: schemas, the settings file, the REST API.

import { cpSync, readdirSync } from "node:fs";
import { posix, resolve } from "node:path";
import { REPOSITORY } from "./pages.mjs";

const FOLDERS = ["docs/reference", "docs/schema"];

/** Their paths, relative to the repository. */
export const FILES = FOLDERS.flatMap((folder) =>
  readdirSync(resolve(REPOSITORY, folder))
    .filter((name) => !name.endsWith(".md"))
    .map((name) => posix.join(folder, name)),
);

/** Copies them to the same places of the site. */
export function copyFiles(site) {
  for (const file of FILES) cpSync(resolve(REPOSITORY, file), resolve(site, file));
}
