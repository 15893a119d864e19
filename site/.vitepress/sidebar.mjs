// The sidebar: the chapters of the index, each with the pages that its tables and paragraphs link to.

import { readFileSync } from "node:fs";
import { posix, resolve } from "node:path";
import { PAGES, REPOSITORY, linkTo, pageAt } from "./pages.mjs";

const INDEX = "docs/README.md";

/** The first heading of a page, without its markup. */
function titleOf(page) {
  const [, title] = /^# (.+)$/m.exec(readFileSync(resolve(REPOSITORY, page), "utf8")) ?? [];
  if (title === undefined) throw new Error(`${page} has no heading`);
  return title.replaceAll("`", "");
}

/** The chapters of the index. */
export function sidebar() {
  const [, ...chapters] = readFileSync(resolve(REPOSITORY, INDEX), "utf8").split(/^## /m);
  const listed = new Set();
  const groups = chapters.map((chapter) => {
    const links = [...chapter.matchAll(/\]\(([^)#]+)\)/g)].map(([, target]) => pageAt(posix.join("docs", target)));
    const pages = links.filter((page) => page !== undefined && !listed.has(page));
    for (const page of pages) listed.add(page);
    return {
      text: chapter.slice(0, chapter.indexOf("\n")),
      collapsed: false,
      items: pages.map((page) => ({ text: titleOf(page), link: linkTo(page) })),
    };
  });
  const records = PAGES.filter((page) => page.startsWith("benchmarks/") && !listed.has(page));
  groups.push({
    text: "Measurements",
    collapsed: true,
    items: records.map((page) => ({ text: titleOf(page), link: linkTo(page) })),
  });
  return groups.filter(({ items }) => items.length > 0);
}
