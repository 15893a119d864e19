// The site of the documents: the same Markdown files that the repository shows, with the index `docs/README.md` as sidebar.
// `cargo xtask site` builds it.
//
// SITE_BASE is the path that it is served below. SOURCE_URL is where the files of the repository can be read; without it,
// links to them are text.

import { defineConfig } from "vitepress";
import { copyFiles } from "./files.mjs";
import { links } from "./links.mjs";
import { PAGES, REPOSITORY, others, placeOf } from "./pages.mjs";
import { sidebar } from "./sidebar.mjs";
import { plainText } from "./text.mjs";
import { anchorOf } from "./anchors.mjs";

/** The pages lie outside the folder of the packages, where they would not be found. */
const packagesOfPages = {
  name: "packages-of-pages",
  resolveId(source, importer) {
    const isOfPage = importer?.endsWith(".md") && /^vue(\/|$)/.test(source);
    return isOfPage ? this.resolve(source, import.meta.filename, { skipSelf: true }) : null;
  },
};

export default defineConfig({
  title: "Plimsoll",
  description: "A real-time WebSocket server, and the load laboratory that finds its limit.",
  lang: "en",
  base: process.env.SITE_BASE ?? "/",
  srcDir: REPOSITORY,
  srcExclude: others(),
  rewrites: Object.fromEntries(PAGES.map((page) => [page, placeOf(page)])),
  markdown: {
    anchor: { slugify: anchorOf },
    config: (md) => md.use(links, process.env.SOURCE_URL).use(plainText),
  },
  vite: {
    plugins: [packagesOfPages],
    // The search index is one file.
    build: { chunkSizeWarningLimit: 2000 },
  },
  buildEnd: ({ outDir }) => copyFiles(outDir),
  themeConfig: {
    nav: [
      { text: "Tutorial", link: "/docs/tutorial" },
      { text: "Install", link: "/docs/install" },
      { text: "Reference", link: "/docs/reference/serve" },
      { text: "Benchmarks", link: "/benchmarks/" },
    ],
    sidebar: sidebar(),
    outline: [2, 3],
    search: { provider: "local" },
  },
});
