// Which files of the repository are pages of the site, and where.

import { readdirSync } from "node:fs";
import { posix, resolve } from "node:path";

export const REPOSITORY = resolve(import.meta.dirname, "../..");

const below = (folder) =>
  readdirSync(resolve(REPOSITORY, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".md") && !entry.parentPath.includes("node_modules"))
    .map((entry) => posix.join(posix.relative(REPOSITORY, entry.parentPath), entry.name));

/** The pages, relative to the repository. */
export const PAGES = [
  ...["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "deploy/README.md"],
  ...["docs", "benchmarks", "examples/apps", "crates/lab/report/docs"].flatMap(below),
].sort();

const known = new Set(PAGES);

/** The page that a path of the repository leads to: itself, or the README of a folder. */
export const pageAt = (path) => [path, posix.join(path, "README.md")].find((candidate) => known.has(candidate));

/** Where a page lies on the site: the README of a folder is its index. */
export const placeOf = (page) => page.replace(/(^|\/)README\.md$/, "$1index.md");

/** The link to a page. */
export const linkTo = (page) => `/${placeOf(page)}`.replace(/(index)?\.md$/, "");

/** Patterns of everything else below a folder of the repository, so that only the pages are looked at. */
export function others(folder = "") {
  return readdirSync(resolve(REPOSITORY, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = posix.join(folder, entry.name);
    if (!entry.isDirectory()) return known.has(path) ? [] : [path];
    return PAGES.some((page) => page.startsWith(`${path}/`)) ? others(path) : [`${path}/**`];
  });
}
