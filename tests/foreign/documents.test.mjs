// Every shell block of the README and of docs/, typed in page order into an empty folder, with the program on the PATH.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { partsOf, typePage } from "./support/documents.mjs";
import { isFree } from "./support/ports.mjs";
import { eventually } from "./support/processes.mjs";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** The README searches a load line, and the pages use 25-second scripts. */
const PAGE_PATIENCE_MS = 600_000;

/** The ports that pages name. */
const PORTS = [3000, 8080, 8081, 9001];

/** The blocks that a page excludes. A block that needs nothing else must not be among them. */
const MARKED = {
  "README.md": 3,
  "docs/first-change.md": 4,
  "docs/how-to/behind-a-proxy.md": 2,
  "docs/how-to/comparisons.md": 6,
  "docs/how-to/presence.md": 2,
  "docs/how-to/reliable-streams.md": 3,
  "docs/how-to/several-machines.md": 5,
  "docs/how-to/several-servers.md": 2,
  "docs/install.md": 1,
  "docs/migrate/from-action-cable.md": 1,
  "docs/migrate/from-anycable-go.md": 1,
  "docs/reference/artillery.md": 1,
  "docs/reference/check.md": 2,
  "docs/reference/conform.md": 2,
  "docs/reference/doctor.md": 2,
  "docs/reference/live.md": 2,
  "docs/reference/nats-broker.md": 1,
  "docs/reference/redis-broker.md": 2,
  "docs/reference/report.md": 1,
  "docs/reference/run.md": 1,
  "docs/reference/runs.md": 2,
  "docs/reference/serve.md": 1,
  "docs/reference/watch.md": 1,
  "docs/reference/wsdirector.md": 1,
  "docs/tutorial.md": 1,
};

const names = readdirSync(`${ROOT}docs`, { recursive: true }).filter((name) => name.endsWith(".md"));
const pages = ["README.md", ...names.map((name) => `docs/${name}`).sort()].map((page) => {
  const markdown = readFileSync(ROOT + page, "utf8");
  return { page, markdown, parts: partsOf(markdown) };
});
const count = (parts, wanted) => parts.filter(({ kind }) => kind === wanted).length;

describe("the shell blocks of the documents", () => {
  test("the blocks that are not run are known", () => {
    const marked = pages.map(({ page, parts }) => [page, count(parts, "marked")]).filter(([, n]) => n > 0);
    assert.deepEqual(Object.fromEntries(marked), MARKED);
  });

  test("marks are read", () => {
    const check = (markdown, expected) =>
      assert.deepEqual(partsOf(markdown).map(({ line, kind, text }) => [line, kind, text]), expected);
    check("text\n```sh\na\nb\n```\n", [[2, "run", "a\nb"]]);
    check("```js\na\n```\n", []);
    check("- item\n  ```sh\n  a\n  ```\n", [[2, "run", "a"]]);
    check("<!-- not run: needs x -->\n```sh\na\n```\n```sh\nb\n```\n", [[2, "marked", "a"], [5, "run", "b"]]);
    check("<!-- run first: a & -->\n```sh\nb\n```\n", [[1, "first", "a &"], [2, "run", "b"]]);
    check("<!-- file: a.mjs -->\n`a.mjs`:\n\n```js\na\n```\n", [[4, "file", "a"]]);
    assert.throws(() => partsOf("```sh\na\n"), /line 1: the block has no end/);
    assert.throws(() => partsOf("<!-- not run: x -->\n"), /line 1: no block follows/);
    assert.throws(() => partsOf("<!-- not run: x -->\n```js\na\n```\n"), /line 1: .* no shell block/);
  });

  // A program that still holds its port makes the next block fail.
  test("a block waits for the programs that it ends", () => {
    const impatient = pages.flatMap(({ page, parts }) =>
      parts.flatMap(({ kind, line, text }) => {
        const [ended] = kind === "run" ? (/^(?!.*\bwait\b).*\bkill (?:%|\$).*$/m.exec(text) ?? []) : [];
        return ended ? [`${page}, block at line ${line}: ${ended}`] : [];
      }),
    );
    assert.deepEqual(impatient, []);
  });

  test("the change that docs/first-change.md walks through fits the code", () => {
    const { markdown } = pages.find(({ page }) => page === "docs/first-change.md");
    const diffs = [...markdown.matchAll(/^```diff\n(.+?)^```$/gms)].map(([, diff]) => diff);
    assert.equal(diffs.length, 4);
    for (const diff of diffs) execFileSync("git", ["apply", "--check"], { cwd: ROOT, input: diff });
  });

  test("a command that fails ends its page, and a server in the background is waited for", async () => {
    const failed = await typePage("```sh\nfalse\necho further\n```\n", 60_000);
    assert.notEqual(failed.code, 0);
    assert.doesNotMatch(failed.output, /further/);
    const other = await typePage("<!-- may end with 4: x -->\n```sh\nsh -c 'exit 4'\n```\n```sh\nsh -c 'exit 4'\n```\n", 60_000);
    assert.equal(other.code, 4, other.output);
    assert.match(other.output, /line 5/);
    const waited = await typePage("```sh\nplimsoll serve --app echo --port 9001 &\ncurl -f http://localhost:9001/health\n```\n", 60_000);
    assert.equal(waited.code, 0, waited.output);
  });

  for (const { page, markdown, parts } of pages.filter(({ parts }) => count(parts, "run") > 0)) {
    test(`${page}: ${count(parts, "run")} blocks`, async () => {
      // The programs of the page before may take a moment to end.
      for (const port of PORTS) await eventually(() => isFree(port), `port ${port}, which ${page} needs, to be free`);
      const { code, output } = await typePage(markdown, PAGE_PATIENCE_MS);
      assert.equal(code, 0, output);
    });
  }
});
