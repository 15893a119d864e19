// Links of the repository become links of the site.

import { posix } from "node:path";
import { FILES } from "./files.mjs";
import { pageAt, placeOf } from "./pages.mjs";

/** A plugin of markdown-it. `source` is the URL of the repository's files; without it, links to them are text. */
export function links(md, source) {
  md.core.ruler.push("links", ({ tokens, env }) => {
    for (const { children } of tokens) {
      if (children) convert(children, posix.dirname(env.relativePath), source);
    }
  });
}

function convert(tokens, folder, source) {
  for (const [place, token] of tokens.entries()) {
    if (token.type !== "link_open") continue;
    const target = targetOf(token.attrGet("href"), folder, source);
    if (target !== null) {
      token.attrSet("href", target);
      // Otherwise a file would be taken for a page whose name has a dot.
      if (target.startsWith("./")) token.attrSet("target", "_self");
      continue;
    }
    const end = tokens.slice(place).find(({ type }) => type === "link_close");
    token.attrs = [];
    token.type = "text_open";
    token.tag = end.tag = "span";
    end.type = "text_close";
  }
}

/** Where a link leads on the site; null: nowhere. */
function targetOf(href, folder, source) {
  if (/^([a-z]+:|#)/.test(href)) return href;
  const [path, anchor] = href.split("#");
  const file = posix.join(folder, decodeURI(path)).replace(/\/$/, "");
  const page = pageAt(file);
  if (page !== undefined) return `/${placeOf(page)}${anchor === undefined ? "" : `#${anchor}`}`;
  if (FILES.includes(file)) return `./${posix.relative(folder, file)}`;
  return source === undefined ? null : `${source}/${file}`;
}
