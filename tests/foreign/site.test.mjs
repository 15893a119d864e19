// The documents as a static site: every page is there, every link leads somewhere, and Chromium shows it at two widths.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join, posix, resolve } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { links } from "../../site/.vitepress/links.mjs";
import { PAGES, linkTo, placeOf } from "../../site/.vitepress/pages.mjs";
import { sidebar } from "../../site/.vitepress/sidebar.mjs";
import { plainText } from "../../site/.vitepress/text.mjs";
import { Browser } from "./support/browser.mjs";

const ROOT = resolve(import.meta.dirname, "../..");
const BASE = "/manual/";
const SOURCE = "https://forge.test/files";
const PATIENCE_MS = 300_000;

let site;

before(async () => {
  site = mkdtempSync(join(tmpdir(), "plimsoll-site-"));
  const { stdout, stderr } = await promisify(execFile)("npm", ["run", "build", "--", "--outDir", site], {
    cwd: join(ROOT, "site"),
    env: { ...process.env, SITE_BASE: BASE, SOURCE_URL: SOURCE, NO_COLOR: "1" },
    timeout: PATIENCE_MS,
  });
  // A page whose template fails is reported, and is no reason for VitePress to fail.
  assert.doesNotMatch(stdout + stderr, /error/i);
});
after(() => rmSync(site, { recursive: true, force: true }));

const htmlOf = (page) => placeOf(page).replace(/\.md$/, ".html");
const files = () => readdirSync(site, { recursive: true }).filter((name) => name.endsWith(".html") && name !== "404.html");
const read = (file) => readFileSync(join(site, file), "utf8");
const ids = (html) => new Set([...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id));
const hrefs = (html) => [...html.matchAll(/<a [^>]*href="([^"]+)"/g)].map(([, href]) => href.replaceAll("&amp;", "&"));

/** The file of a path of the site, as any web server for static files finds it. */
function fileAt(path) {
  const file = join(site, path);
  return existsSync(file) && statSync(file).isDirectory() ? join(file, "index.html") : file;
}

test("every document is a page with its own heading", () => {
  assert.deepEqual(files().sort(), PAGES.map(htmlOf).sort());
  for (const page of PAGES) {
    const [, title] = /^# (.+)$/m.exec(readFileSync(join(ROOT, page), "utf8"));
    const [, shown] = /<h1[^>]*>(.*?)<a class="header-anchor"/s.exec(read(htmlOf(page))) ?? assert.fail(page);
    const plain = shown.replace(/<[^>]+>/g, "").replaceAll("&amp;", "&").replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&#39;", "'");
    assert.equal(plain.trim(), title.replaceAll("`", ""), page);
  }
});

test("the sidebar has every document and every record of a benchmark", () => {
  const linked = new Set(sidebar().flatMap(({ items }) => items.map(({ link }) => link)));
  const missing = PAGES.filter((page) => /^(docs|benchmarks)\//.test(page) && page !== "docs/README.md").filter((page) => !linked.has(linkTo(page)));
  assert.deepEqual(missing, []);
});

test("every link leads to a file, and to a heading where it names one", () => {
  let n_links = 0;
  const dead = files().flatMap((file) => {
    const html = read(file);
    return hrefs(html).filter((href) => {
      n_links += 1;
      if (href.startsWith(`${SOURCE}/`)) return !existsSync(join(ROOT, decodeURI(href.slice(SOURCE.length).split("#")[0])));
      if (/^[a-z]+:/.test(href)) return false;
      const [path, anchor] = decodeURI(href).split("#");
      const place = path === "" ? file : path.startsWith("/") ? posix.relative(BASE, path) : posix.join(posix.dirname(file), path);
      const target = fileAt(place);
      if (place.startsWith("..") || !existsSync(target)) return true;
      return anchor && target.endsWith(".html") && !ids(readFileSync(target, "utf8")).has(anchor);
    }).map((href) => `${file}: ${href}`);
  });
  assert.deepEqual(dead, []);
  assert.ok(n_links > 5000, `${n_links} links`);
});

test("links of the repository become links of the site, and what looks like an element stays text", async () => {
  const { createMarkdownRenderer, disposeMdItInstance } = await import("../../site/node_modules/vitepress/dist/node/index.js");
  for (const [markdown, source, expected] of [
    ["[a](../install.md#the-gem)", undefined, '<a href="/docs/install.html#the-gem">a</a>'],
    ["[a](../../README.md)", undefined, '<a href="/">a</a>'],
    ["[a](../../deploy)", undefined, '<a href="/deploy/">a</a>'],
    ["[a](../schema/summary.json)", undefined, '<a href="./../schema/summary.json" target="_self">a</a>'],
    ["[a](../../Cargo.toml)", undefined, "<span>a</span>"],
    ["[a](../../Cargo.toml)", SOURCE, `<a href="${SOURCE}/Cargo.toml" target="_blank" rel="noreferrer">a</a>`],
    ["a <NAME> {{ b }} `{{ c }}`<!-- d -->", undefined, /^a &lt;NAME&gt; &#123;&#123; b }} <code[^>]*>&#123;&#123; c }}<\/code>$/],
  ]) {
    // VitePress keeps the first renderer.
    disposeMdItInstance();
    const config = (md) => md.use(links, source).use(plainText);
    const renderer = await createMarkdownRenderer(ROOT, { cache: false, config }, "/");
    const html = renderer.render(markdown, { relativePath: "docs/how-to/tls.md" });
    const [, inner] = /^<p>(.*)<\/p>$/s.exec(html.trim()) ?? assert.fail(html);
    expected instanceof RegExp ? assert.match(inner, expected) : assert.equal(inner, expected);
  }
});

test("Chromium shows pages at two widths, and the search finds a word", async (t) => {
  const types = { html: "text/html", js: "text/javascript", css: "text/css", png: "image/png", woff2: "font/woff2", json: "application/json" };
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url, "http://site.test");
    const file = fileAt(posix.relative(BASE, decodeURI(pathname)));
    if (!pathname.startsWith(BASE) || !existsSync(file)) return response.writeHead(404).end();
    response.writeHead(200, { "content-type": types[file.split(".").at(-1)] ?? "text/plain" }).end(readFileSync(file));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  const url = `http://127.0.0.1:${server.address().port}${BASE}`;
  const browser = await Browser.launch();
  t.after(() => browser.close());
  for (const width of [1280, 390]) {
    const page = await browser.newPage(t, { viewport: { width, height: 900 } });
    const errors = [];
    page.on("pageerror", ({ message }) => errors.push(message));
    // What the page fetches in advance ends when the browser goes on to another page.
    page.on("requestfailed", (request) => {
      const { errorText } = request.failure();
      if (errorText !== "net::ERR_ABORTED") errors.push(`${errorText} ${request.url()}`);
    });
    page.on("response", (response) => response.status() >= 400 && errors.push(`${response.status()} ${response.url()}`));
    for (const path of ["", "docs/tutorial.html", "docs/reference/compatibility.html", "docs/reference/artillery.html"]) {
      await page.goto(`${url}${path}`, { waitUntil: "networkidle" });
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      assert.equal(overflow, 0, `${path} at ${width} pixels`);
    }
    await page.goto(url, { waitUntil: "networkidle" });
    await page.locator("#local-search button").click();
    await page.locator(".search-input").fill("slowdrain");
    await page.locator(".VPLocalSearchBox .result").first().click();
    await page.waitForURL(/\/docs\/.*\.html/);
    assert.deepEqual(errors, []);
  }
});
