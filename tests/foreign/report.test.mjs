// Reports of runs: the page in Chromium as people open it, from disk; and the files around it.

import assert from "node:assert/strict";
import { existsSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { Browser } from "./support/browser.mjs";
import { Server, plimsollIn } from "./support/plimsoll.mjs";
import { assertWhole, LOOKS, open } from "./support/report-page.mjs";
import { folderOf } from "./support/scripts.mjs";

/** What a message of a test may say without becoming part of a page. */
const HOSTILE = "</script><script>window.pwned = 1</script><img src=x onerror='window.pwned = 2'>\u2028";

/** Users who come one after the other, say things, and fail now and then. */
const SCRIPT = `
import { check, group, sleep } from "k6";
import { Counter, Trend } from "k6/metrics";
const rtt = new Trend("rtt", true);
const said = new Counter("ws_msgs_received");
export const options = {
  stages: [{ duration: "1s", target: 3 }, { duration: "2s", target: 6 }],
  gracefulRampDown: "0s",
  thresholds: { rtt: ["p(95)<1000"], checks: ["rate>0.1"] },
};
export default function () {
  group("speak", () => {
    rtt.add(1 + (__ITER % 7) * 3);
    said.add(2);
    check(null, { "is heard": () => true, [${JSON.stringify(HOSTILE)}]: () => __ITER % 2 === 0 });
  });
  sleep(0.1);
  if (__VU === 1 && __ITER === 3) throw new Error(${JSON.stringify(HOSTILE)});
}`;

/** On a machine that is busy with other things, the generator says so first. */
const DOUBT = "(The load generator was the bottleneck|P95 latencies may be up to [\\d.]+ ms too high)";
const HEADLINE = new RegExp(
  `^1 failed iteration; (?:${DOUBT.toLowerCase()}; )?(held|reached) \\d users?.* p95 of rtt [\\d.]+ ms \\([\\d,]+ samples\\)$`,
);
const HEADLINE_OF_DEMO = new RegExp(
  `^(Held|Reached|${DOUBT}; (held|reached)) \\d+ users.* p95 of rtt .* samples\\).*; in the whole run 0 lost of [\\d,]+$`,
);

describe("the page of a run", () => {
  let browser, folder, summary;
  const cleanups = [];
  before(async () => {
    browser = await Browser.launch();
    folder = folderOf({ after: (cleanup) => cleanups.push(cleanup) }, { "chat.js": SCRIPT });
    const flags = ["--report", "chat.html", "--report", "chat.json", "--report", "chat.md"];
    const outcome = await plimsollIn({ cwd: folder }, "run", "--quiet", ...flags, "chat.js");
    assert.equal(outcome.code, 0, outcome.stderr);
    assert.match(outcome.stderr, /^Report: chat\.html\nReport: chat\.json\nReport: chat\.md$/m);
    summary = JSON.parse(readFileSync(join(folder, "chat.json"), "utf8"));
  });
  after(async () => {
    await browser?.close();
    cleanups.forEach((cleanup) => cleanup());
  });

  for (const look of LOOKS) {
    test(`is whole at ${look.viewport.width} pixels in ${look.colorScheme} colours`, async (t) => {
      const { page, said, asked } = await open(t, browser, join(folder, "chat.html"), look);
      assert.deepEqual(said, []);
      assert.deepEqual(asked, [pathToFileURL(join(folder, "chat.html")).href]);
      await assertWhole(page, look);
      assert.equal(await page.evaluate(() => window.pwned), undefined);
    });
  }

  test("names a reason why the generator was the bottleneck, and the others on demand", async (t) => {
    const reasons = Array.from({ length: 9 }, (_, n) => `with ${n} clients: <b>late</b>`);
    writeFileSync(join(folder, "late.json"), JSON.stringify({ ...summary, generator: { ...summary.generator, doubtful: true, reasons } }));
    const { code, stderr } = await plimsollIn({ cwd: folder }, "report", "late.json");
    assert.equal(code, 0, stderr);
    const { page } = await open(t, browser, join(folder, "late.html"), LOOKS[0]);
    const shown = async () => (await page.locator("[role=alert] li").all()).length;
    const visible = async () => (await page.locator("[role=alert] li:visible").allTextContents()).join("\n");
    assert.equal(await shown(), reasons.length);
    assert.equal(await visible(), reasons.slice(0, 1).join("\n"));
    await page.click("[role=alert] summary:text-is('8 more')");
    assert.equal(await visible(), reasons.join("\n"));
  });

  test("has the run's data in its charts and in the tables below them", async (t) => {
    const { page } = await open(t, browser, join(folder, "chat.html"), LOOKS[0]);
    const charts = await page.evaluate(() =>
      Object.fromEntries(
        [...document.querySelectorAll("figure.chart")].map((figure) => {
          const { title, x, lines, heat } = figure.chart.data();
          const values = Object.fromEntries(lines.map((line) => [line.label, line.values]));
          return [title, { x, values, n_in_heat: (heat?.cells ?? []).reduce((sum, cell) => sum + cell.count, 0) }];
        }),
      ),
    );
    const { timeline, metrics } = summary;
    assert.ok(timeline.n_intervals >= 3, `${timeline.n_intervals} intervals`);
    assert.deepEqual(charts.Users.values["active users"], timeline.vus);
    const latency = charts["rtt over time"];
    for (const [label, key] of [["median", "p50"], ["p95", "p95"], ["p99", "p99"], ["max", "max"]]) {
      assert.deepEqual(latency.values[label], timeline.metrics.rtt[key], label);
    }
    assert.equal(latency.n_in_heat, metrics.rtt.values.count);
    const [curve] = Object.entries(charts).find(([title]) => title.startsWith("rtt, all "));
    assert.equal(curve, `rtt, all ${metrics.rtt.values.count} samples`);
    assert.equal(charts[curve].values["all samples"][0], metrics.rtt.values.min);
    const received = charts["Messages per second"].values.received;
    const counts = timeline.metrics.ws_msgs_received.counts;
    assert.equal(received[1], counts[1] / timeline.interval_seconds);

    // The table has what the chart has.
    const users = page.locator("figure.chart", { has: page.getByText("Users", { exact: true }) });
    await users.locator("summary").click();
    // The page fills the table at an event of its own, after the click.
    await users.locator("tbody tr").first().waitFor();
    const cells = await users.locator("tbody tr").evaluateAll((rows) => rows.map((row) => row.cells[1].textContent));
    assert.deepEqual(cells, timeline.vus.map(String));
  });

  test("says what the run came to, and shows what went wrong without believing it", async (t) => {
    const { page } = await open(t, browser, join(folder, "chat.html"), LOOKS[0]);
    const words = await page.locator("main").innerText();
    assert.match(await page.locator("h1").innerText(), HEADLINE);
    for (const part of ["Thresholds", "All 2 thresholds passed", "Latency", "Load", "Errors", "Checks", "is heard",
      "By group", "speak", "Load generator", "Environment", "Run it again", "ramping-vus"]) {
      assert.ok(words.includes(part), `${part} is missing`);
    }
    const cause = await page.locator(".error-cause").innerText();
    assert.ok(cause.includes("<script>window.pwned = 1</script>"), cause);
    const command = await page.locator(".command code").innerText();
    assert.equal(command, "plimsoll run --quiet --report chat.html --report chat.json --report chat.md chat.js");
  });

  test("can be read with the keyboard, switched to other colours, and printed", async (t) => {
    const { page, said } = await open(t, browser, join(folder, "chat.html"), LOOKS[0]);
    const users = page.locator("figure.chart", { has: page.getByText("Users", { exact: true }) });
    await users.locator(".canvas").focus();
    await page.keyboard.press("End");
    await users.locator(".legend-where").filter({ hasText: / s$/ }).waitFor();
    assert.equal(await users.locator(".legend-value").innerText(), String(summary.timeline.vus.at(-1)));

    await page.getByRole("button", { name: "Switch to dark colours" }).click();
    assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "dark");
    await page.getByRole("button", { name: "Switch to light colours" }).waitFor();
    const pdf = await page.pdf({ format: "A4" });
    assert.ok(pdf.length > 20_000, `${pdf.length} bytes`);
    assert.deepEqual(said, []);
  });

  test("a run in which nothing succeeded shows failures and their causes first, and no load that was held", async (t) => {
    const script = 'import http from "k6/http"; export const options = { iterations: 3 }; export default () => http.get("http://127.0.0.1:1/");';
    writeFileSync(join(folder, "refused.js"), script);
    const { code } = await plimsollIn({ cwd: folder }, "run", "--quiet", "refused.js", "--report", "refused.html");
    assert.equal(code, 3);
    const { page } = await open(t, browser, join(folder, "refused.html"), LOOKS[0]);
    assert.equal(await page.textContent("h1"), "All 3 requests failed");
    const tiles = await page.locator(".tile").allTextContents();
    assert.deepEqual(tiles.map((tile) => tile.replace(/not held.*/, "not held")), ["Users at the peak1not held", "Requests failed3of 3", "Iterations failed0of 3"]);
    assert.equal(await page.locator("section h2").first().textContent(), "Errors");
  });

  test("another metric can be chosen", async (t) => {
    const { page, said } = await open(t, browser, join(folder, "chat.html"), LOOKS[1]);
    await page.getByLabel("Metric", { exact: true }).selectOption("iteration_duration");
    await page.getByText("iteration_duration over time").waitFor();
    const values = await page.evaluate(
      () => document.querySelector("#latency figure.chart").chart.data().lines.find((line) => line.label === "p95").values,
    );
    assert.deepEqual(values, summary.timeline.metrics.iteration_duration.p95);
    assert.deepEqual(said, []);
  });

  test("two runs lie beside each other", async (t) => {
    const outcome = await plimsollIn({ cwd: folder }, "report", "chat.json", "chat.json", "-o", "both.html");
    assert.equal(outcome.stdout, "both.html\n", outcome.stderr);
    // Three seconds are too short for any verdict, so the advice is a longer run.
    assert.equal(outcome.code, 4, outcome.stderr);
    assert.match(outcome.stderr, /^chat\.json \(2\): inconclusive/m);
    assert.match(outcome.stderr, /one run of 15 s on each side, in turn, would decide/);
    for (const look of LOOKS) {
      const { page, said, asked } = await open(t, browser, join(folder, "both.html"), look);
      assert.deepEqual([said, asked.length], [[], 1]);
      assert.match(await page.locator("h1").innerText(), /^Inconclusive/);
      assert.match(await page.locator("#differences").innerText(), /chat\.json \(1\)[^]*cannot tell/i);
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
      assert.ok(overflow <= 0, `${overflow} pixels stand out`);
      const lines = await page.evaluate(() => document.querySelector("#latency figure.chart").chart.data().lines);
      assert.deepEqual(
        lines.map(({ label, values }) => [label, values]),
        ["chat.json (1)", "chat.json (2)"].map((label) => [label, summary.timeline.metrics.rtt.p95]),
      );
    }
  });

  test("a page is made of a summary again, and is the same", async () => {
    const outcome = await plimsollIn({ cwd: folder }, "report", "chat.json", "-o", "again.html");
    assert.equal(outcome.code, 0, outcome.stderr);
    assert.equal(readFileSync(join(folder, "again.html"), "utf8"), readFileSync(join(folder, "chat.html"), "utf8"));
    const printed = await plimsollIn({ cwd: folder }, "report", "chat.json", "--md");
    assert.equal(printed.stdout, readFileSync(join(folder, "chat.md"), "utf8"));
    assert.match(printed.stdout, /^### (✅ chat\.js: pass|⚠️ chat\.js: doubtful)$/m);
    const named = await plimsollIn({ cwd: folder }, "report", "chat.json");
    assert.equal(named.stdout, "chat.html\n");
  });
});

describe("what cannot be a report is said", () => {
  const script = "export default function () {}";

  for (const [name, args, ...said] of [
    ["a form that does not exist", ["--report", "report.pdf"], "must end in .html (a page), .json (data) or .md (a table)"],
    ["no form", ["--report", "report"], "for example report.html"],
    ["a folder that is not there", ["--report", "no/such/report.html"], "there is no folder no/such", "mkdir -p no/such"],
  ]) {
    test(`${name}, before the run`, async (t) => {
      const cwd = folderOf(t, { "script.js": `${script}\nconsole.log("it ran");` });
      const { code, stdout, stderr } = await plimsollIn({ cwd }, "run", ...args, "script.js");
      assert.equal(code, 2, stderr);
      for (const words of said) assert.ok(stderr.includes(words), stderr);
      assert.ok(!(stdout + stderr).includes("it ran"), stderr);
    });
  }

  test("a full disk takes neither the results nor the report", async (t) => {
    const cwd = folderOf(t, { "script.js": script });
    symlinkSync("/dev/full", join(cwd, "full.html"));
    const { code, stdout, stderr } = await plimsollIn(
      { cwd, env: { TMPDIR: cwd } },
      "run", "--quiet", "--report", "full.html", "script.js",
    );
    assert.equal(code, 0, stderr);
    assert.match(stdout, /iterations\.*: 1 /);
    const [, place] = stderr.match(/error: cannot write full\.html: No space left on device.*; the report is in (.*) instead/);
    assert.ok(place.startsWith(cwd) && readFileSync(place, "utf8").startsWith("<!doctype html>"));
  });

  test("summaries that are damaged, of another version, or none at all", async (t) => {
    const cwd = folderOf(t, { "script.js": script, "package.json": '{"name": "package"}', "page.json": "<html>" });
    await plimsollIn({ cwd }, "run", "--quiet", "--report", "run.json", "script.js");
    const text = readFileSync(join(cwd, "run.json"), "utf8");
    writeFileSync(join(cwd, "half.json"), text.slice(0, text.length / 2));
    writeFileSync(join(cwd, "newer.json"), text.replace('"version": 2', '"version": 9'));
    for (const [file, words] of [
      ["half.json", "is truncated"],
      ["newer.json", "version 9"],
      ["package.json", "is not a summary of a run"],
      ["page.json", "is not JSON"],
      ["absent.json", "cannot read absent.json"],
    ]) {
      const { code, stdout, stderr } = await plimsollIn({ cwd }, "report", file);
      assert.deepEqual([code, stdout], [2, ""], file);
      assert.ok(stderr.includes(file) && stderr.includes(words), stderr);
    }
    const many = await plimsollIn({ cwd }, "report", ...Array.from({ length: 13 }, () => "run.json"));
    assert.equal(many.code, 2);
    assert.match(many.stderr, /13 runs are too many/);
  });
});

describe("other commands", () => {
  let server;
  before(async () => (server = await Server.start("--app", "benchmark")));
  after(() => server.stop());

  test("demo says the path of a page that shows its server", async (t) => {
    const browser = await Browser.launch();
    t.after(() => browser.close());
    const cwd = folderOf(t, {});
    const { code, stderr } = await plimsollIn({ cwd, env: { TMPDIR: cwd } }, "demo", "--users", "6", "--time", "3");
    assert.equal(code, 0, stderr);
    const [, path] = stderr.match(/^Report: (.*\.html)$/m);
    const { page, said, asked } = await open(t, browser, path, LOOKS[0]);
    assert.deepEqual([said, asked.length], [[], 1]);
    assert.match(await page.locator("h1").innerText(), HEADLINE_OF_DEMO);
    assert.match(await page.locator("main").innerText(), /Resources of server/);
  });

  test("quick, Artillery files and wsdirector scenarios write reports", async (t) => {
    const cwd = folderOf(t, {
      "artillery.yml": `config: {target: "${server.ws("/echo")}", phases: [{duration: 1, arrivalCount: 2}]}\nscenarios: [{engine: ws, flow: [{send: hi}]}]\n`,
      "director.yml": "- send: {data: hi}\n- receive: {data: hi}\n",
    });
    for (const [kind, ...args] of [
      ["artillery", "quick", server.ws("/echo"), "-c", "1", "-n", "1"],
      ["artillery", "run", "artillery.yml"],
      ["wsdirector", "run", "director.yml", "--url", server.ws("/echo")],
    ]) {
      const { code, stderr } = await plimsollIn({ cwd }, ...args, "--report", "out.json", "--report", "out.html");
      assert.equal(code, 0, `${args.join(" ")}: ${stderr}`);
      assert.equal(JSON.parse(readFileSync(join(cwd, "out.json"), "utf8")).metadata.kind, kind);
      assert.ok(existsSync(join(cwd, "out.html")));
    }
  });
});
