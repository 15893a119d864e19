// Runs are kept, found again and compared; and whatever becomes of the place where they are kept, no run suffers.

import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { before, after, describe, test } from "node:test";
import { text } from "node:stream/consumers";
import { buildK6, k6In } from "./support/k6.mjs";
import { Server, plimsollIn, startPlimsollIn, withoutBottleneck } from "./support/plimsoll.mjs";
import { folderOf } from "./support/scripts.mjs";

/** A script that needs no server and takes no time. */
const NOTHING = "export default function () {}";

/** A test's own folder for runs, with a script in it; `plimsoll` runs in it. */
function place(t, script = NOTHING) {
  const folder = folderOf(t, { "nothing.js": script });
  const env = { PLIMSOLL_DATA_DIR: join(folder, "data") };
  return {
    folder,
    database: join(folder, "data", "runs.db"),
    plimsoll: (...args) => plimsollIn({ cwd: folder, env }, ...args),
    plimsollWith: (more, ...args) => plimsollIn({ cwd: folder, env: { ...env, ...more } }, ...args),
  };
}

async function list(plimsoll, ...args) {
  const { code, stdout, stderr } = await plimsoll("runs", "list", "--format", "json", ...args);
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout);
}

/** `saved as …`, and that nothing went wrong. */
function savedId({ code, stderr }) {
  assert.equal(code, 0, stderr);
  const found = /^saved as (\S+); plimsoll runs show latest$/m.exec(stderr);
  assert.ok(found, stderr);
  return found[1];
}

test("a run is kept with all that is known of it", async (t) => {
  const { plimsoll, folder } = place(t);
  assert.deepEqual(await list(plimsoll), []);
  const run = await plimsoll("run", "-i", "7", "--format", "json", "nothing.js");
  const id = savedId(run);
  const summary = JSON.parse(run.stdout);
  assert.equal(summary.metadata.id, id);

  const [listed, ...others] = await list(plimsoll);
  assert.deepEqual(others, []);
  assert.equal(listed.id, id);
  assert.equal(listed.kind, "k6");
  assert.equal(listed.verdict, "pass");
  assert.deepEqual(summary.conclusion, { verdict: "pass", exit_code: 0 });
  assert.match(run.stderr, /^pass: /m);
  assert.match(listed.name, /nothing\.js$/);
  assert.equal(listed.command, "plimsoll run -i 7 --format json nothing.js");

  const exported = await plimsoll("runs", "export", "latest");
  assert.deepEqual(JSON.parse(exported.stdout), summary);
  await plimsoll("runs", "export", id, "-o", "summary.json");
  assert.equal(readFileSync(join(folder, "summary.json"), "utf8"), exported.stdout);
  const shown = await plimsoll("runs", "show", id.slice(0, 22), "--format", "json");
  assert.deepEqual(JSON.parse(shown.stdout), summary);

  // The summary as the run printed it.
  const again = await plimsoll("run", "-i", "7", "--quiet", "nothing.js");
  assert.equal(withoutBottleneck(again.stderr), "");
  const text = await plimsoll("runs", "show");
  assert.equal(text.code, 0, text.stderr);
  assert.ok(text.stdout.endsWith(again.stdout.trimStart()), `${text.stdout}\n--- and not\n${again.stdout}`);
});

test("every load command keeps its run", async (t) => {
  const server = await Server.start("--app", "benchmark");
  t.after(() => server.stop());
  const { plimsoll } = place(t);
  savedId(await plimsoll("run", "--include", '[{"send": {"data": "hi"}}]', "-u", server.ws("/echo")));
  savedId(await plimsoll("demo", "--users", "2", "--time", "1"));
  savedId(await plimsoll("quick", server.ws("/echo"), "-c", "1", "-n", "1"));
  const kinds = (await list(plimsoll)).map(({ kind }) => kind);
  assert.deepEqual(kinds, ["artillery", "demo", "wsdirector"]);
  assert.equal((await list(plimsoll, "--kind", "demo")).length, 1);
});

test("who wants it otherwise gets it", async (t) => {
  const { plimsoll, plimsollWith, database } = place(t);
  for (const { code, stderr } of [
    await plimsoll("run", "--quiet", "--no-save", "nothing.js"),
    await plimsollWith({ PLIMSOLL_NO_SAVE: "1" }, "run", "--quiet", "nothing.js"),
  ]) {
    assert.equal(code, 0);
    assert.equal(withoutBottleneck(stderr), "");
  }
  assert.ok(!existsSync(database));
  savedId(await plimsollWith({ PLIMSOLL_NO_SAVE: "1" }, "run", "--save", "nothing.js"));
});

test("several terminals save at the same time", async (t) => {
  const { plimsoll } = place(t);
  const runs = await Promise.all(Array.from({ length: 6 }, () => plimsoll("run", "nothing.js")));
  const ids = runs.map(savedId);
  const listed = (await list(plimsoll)).map(({ id }) => id);
  assert.deepEqual(listed.toSorted(), ids.toSorted());
});

describe("a place that cannot take a run", () => {
  for (const [name, prepare, expected] of [
    ["a file that is no database", ({ database }) => writeFileSync(database, "my notes\n".repeat(1000)), /is damaged or is not/],
    ["a full disk", ({ database }) => symlinkSync("/dev/full", database), /cannot use/],
    ["a folder in place of the file", ({ database }) => mkdirSync(database), /cannot use/],
  ]) {
    test(`${name}: one warning, and the result is there`, async (t) => {
      const here = place(t);
      mkdirSync(join(here.folder, "data"));
      prepare(here);
      const { code, stdout, stderr } = await here.plimsoll("run", "--quiet", "nothing.js");
      assert.equal(code, 0, stderr);
      assert.match(stdout, /iterations/);
      assert.match(withoutBottleneck(stderr), /^warning: the run is not saved: [^\n]*\n$/);
      assert.match(stderr, expected);
      const shown = await here.plimsoll("runs", "list");
      assert.equal(shown.code, 1);
    });
  }

  test("a folder that is a file", async (t) => {
    const { plimsollWith } = place(t);
    const { code, stdout, stderr } = await plimsollWith({ PLIMSOLL_DATA_DIR: "nothing.js" }, "run", "--quiet", "nothing.js");
    assert.equal(code, 0);
    assert.match(stdout, /iterations/);
    assert.match(withoutBottleneck(stderr), /^warning: the run is not saved: cannot create the folder nothing\.js: [^\n]*\n$/);
  });

  test("no home at all", async (t) => {
    const { plimsollWith } = place(t);
    const nowhere = { PLIMSOLL_DATA_DIR: "", XDG_DATA_HOME: "", HOME: "" };
    const { code, stderr } = await plimsollWith(nowhere, "run", "--quiet", "nothing.js");
    assert.equal(code, 0);
    assert.equal(
      withoutBottleneck(stderr),
      "warning: the run is not saved: no folder for runs is known: set PLIMSOLL_DATA_DIR to a folder, or set HOME\n",
    );
  });

  test("a run with a bad result keeps its exit code", async (t) => {
    const { plimsollWith } = place(
      t,
      'export const options = { thresholds: { iterations: ["count>5"] } }; export default function () {}',
    );
    const { code } = await plimsollWith({ PLIMSOLL_DATA_DIR: "nothing.js" }, "run", "--quiet", "nothing.js");
    assert.equal(code, 99);
  });
});

test("without a place in the environment it is below the home", async (t) => {
  const { plimsollWith, folder } = place(t);
  const home = { PLIMSOLL_DATA_DIR: "", XDG_DATA_HOME: "", HOME: folder };
  savedId(await plimsollWith(home, "run", "nothing.js"));
  assert.ok(existsSync(join(folder, ".local/share/plimsoll/runs.db")));
});

test("tags name runs, and runs are forgotten when somebody says so", async (t) => {
  const { plimsoll } = place(t);
  const ids = [];
  for (let n = 0; n < 3; n++) ids.push(savedId(await plimsoll("run", "nothing.js")));
  assert.equal((await plimsoll("runs", "tag", "latest~1", "main", "--note", "before the change")).code, 0);
  const [, tagged] = await list(plimsoll);
  assert.deepEqual(tagged.tags, ["main"]);
  assert.equal(tagged.note, "before the change");
  assert.deepEqual((await list(plimsoll, "--tag", "main")).map(({ id }) => id), [ids[1]]);
  const wrong = await plimsoll("runs", "tag", "latest", "latest");
  assert.equal(wrong.code, 2);
  assert.match(wrong.stderr, /is not a tag/);

  const unasked = await plimsoll("runs", "rm", "latest");
  assert.equal(unasked.code, 2);
  assert.match(unasked.stderr, /1 run would be deleted, but there is no terminal to ask for confirmation: add --yes/);
  assert.equal((await list(plimsoll)).length, 3);
  // Those with tags stay.
  assert.equal((await plimsoll("runs", "rm", "--keep", "1", "--yes")).code, 0);
  assert.deepEqual((await list(plimsoll)).map(({ id }) => id), [ids[2], ids[1]]);
  assert.match((await plimsoll("runs", "rm", "--older-than", "1h", "--yes")).stderr, /No runs to delete/);
  assert.equal((await plimsoll("runs", "rm", "main", "--yes")).code, 0);
  const gone = await plimsoll("runs", "show", "main");
  assert.equal(gone.code, 1);
  assert.match(gone.stderr, /there is no run `main`/);
});

describe("compared", () => {
  let server;
  let delayMs;
  before(async () => {
    server = createServer((_, response) => setTimeout(() => response.end("hello"), delayMs)).listen(0, "127.0.0.1");
    await once(server, "listening");
  });
  after(() => server.close());

  const SCRIPT = `
    import http from "k6/http";
    export const options = { vus: 5, duration: __ENV.TIME };
    export default function () { http.get(__ENV.URL); }
  `;

  /** A run against a server that takes so long. */
  async function run(plimsoll, ms, time = "10s") {
    delayMs = ms;
    const url = `http://127.0.0.1:${server.address().port}/`;
    return savedId(await plimsoll("run", "-e", `URL=${url}`, "-e", `TIME=${time}`, "nothing.js"));
  }

  /**
   * The latest but `n` as a file, of a machine on which nothing else ran: where that is not so, a comparison cannot tell,
   * and what else runs beside the tests is not their business.
   */
  async function calmed({ plimsoll, folder }, n, file) {
    const summary = JSON.parse((await plimsoll("runs", "export", `latest~${n}`)).stdout);
    Object.assign(summary.generator, { doubtful: false, reasons: [], machine_idle_share: 0.8 });
    writeFileSync(join(folder, file), JSON.stringify(summary));
  }

  test("a server that got slower is worse, the other way round better, and beside itself equal or open", async (t) => {
    const here = place(t, SCRIPT);
    const { plimsoll } = here;
    await run(plimsoll, 50);
    await run(plimsoll, 150);
    const faster = await plimsoll("runs", "compare", "--baseline", "latest", "latest~1", "--format", "json");
    const [{ verdict, differences }] = JSON.parse(faster.stdout);
    assert.equal(faster.code, { better: 5, inconclusive: 4 }[verdict], faster.stdout);
    const p50 = differences.find(({ metric, figure }) => metric === "http_req_duration" && figure === "p50");
    assert.ok(p50.change < -0.5, JSON.stringify(p50));

    await calmed(here, 1, "fast.json");
    await calmed(here, 0, "slow.json");
    const slower = await plimsoll("report", "fast.json", "slow.json", "--md");
    assert.equal(slower.code, 3, slower.stdout);
    assert.match(slower.stdout, /^\| http\\_req\\_duration p50 \|.*🔴 worse \|$/m);
    assert.match(slower.stdout, /^\| figure \| fast\.json \| slow\.json \|/m);
    const better = await plimsoll("report", "slow.json", "fast.json", "--md");
    assert.equal(better.code, 5, better.stdout);
    assert.match(better.stdout, /^\*\*better: http/m);
    const same = await plimsoll("report", "slow.json", "slow.json", "--md");
    assert.equal(same.code, 4, same.stdout);
    assert.match(same.stdout, /^\*\*inconclusive: .*\*\*\n\n- \d+ runs of \d+ s on each side, in turn, would decide/m);
    const alike = await plimsoll("report", "slow.json", "slow.json", "--md", "--margin", "100");
    assert.equal(alike.code, 0, alike.stdout);
    assert.match(alike.stdout, /^\*\*equal within 100 %: http/m);
    const gap = await plimsoll("report", "slow.json", "slow.json", "--tolerance", "15");
    assert.equal(gap.code, 2, gap.stdout);
    assert.match(gap.stderr, /--margin: the margin of 10\.0 % is below the tolerance of 15\.0 %/);
  });

  test("runs that do not say are not verdict", async (t) => {
    const { plimsoll } = place(t, SCRIPT);
    await run(plimsoll, 1, "1s");
    await run(plimsoll, 1, "1s");
    const short = await plimsoll("runs", "compare", "latest~1", "latest");
    assert.equal(short.code, 4, short.stdout);
    assert.match(short.stdout, /^ {2}inconclusive: http_req_duration p50/m);
    assert.match(short.stdout, /^ {2}figure +latest~1 +latest +change/m);
    assert.match(short.stdout, /run longer/);
    await run(plimsoll, 1, "2s");
    const other = await plimsoll("runs", "compare", "latest~1", "latest");
    assert.equal(other.code, 4, other.stdout);
    assert.match(other.stdout, /had a different plan/);
    const alone = await plimsoll("runs", "compare", "latest");
    assert.equal(alone.code, 2);
  });
});

describe("a series", () => {
  /** Two servers that write down in which order their runs came. */
  const hits = [];
  const servers = {};
  before(async () => {
    for (const name of ["old", "new"]) {
      const server = createServer((_, response) => {
        hits.push(name);
        response.end("hello");
      }).listen(0, "127.0.0.1");
      await once(server, "listening");
      servers[name] = server;
    }
  });
  after(() => Object.values(servers).forEach((server) => server.close()));

  const url = (name) => `http://127.0.0.1:${servers[name].address().port}/`;
  const FILES = {
    "one.js": `import http from "k6/http"; export default function () { http.get(__ENV.URL); }`,
    "one.yml": `
config: { target: "http://127.0.0.1:1", phases: [{ duration: 1, arrivalCount: 1 }] }
scenarios: [{ flow: [{ get: { url: "/" } }] }]`,
  };

  /** A folder with these files and a history. */
  function around(t) {
    const folder = folderOf(t, FILES);
    const env = { PLIMSOLL_DATA_DIR: join(folder, "data") };
    return { folder, plimsoll: (...args) => plimsollIn({ cwd: folder, env }, ...args) };
  }

  for (const [name, args] of [
    ["a script", () => ["run", "one.js", "-e", `URL=${url("new")}`]],
    ["an Artillery file", () => ["run", "one.yml", "--target", url("new")]],
    ["quick", () => ["quick", "--count", "1", "--num", "1", url("new")]],
    ["bench http", () => ["bench", "http", "-n", "1", "-c", "1", url("new")]],
    ["ab", () => ["ab", "-n", "1", "-c", "1", url("new")]],
  ]) {
    test(`of ${name} alternates between two targets and compares them`, async (t) => {
      const { folder, plimsoll } = around(t);
      hits.length = 0;
      const found = await plimsoll(...args(), "--repeat", "2", "--against", url("old"), "--report", "both.html");
      // One request shows nothing.
      assert.equal(found.code, 4, found.stdout + found.stderr);
      assert.deepEqual(hits, ["old", "new", "new", "old"]);
      assert.match(found.stderr, /^Run 1 of 4: http.*\n[^]*^Run 4 of 4: http/m);
      assert.ok(found.stdout.startsWith(`\n  baseline   ${url("old")}: 2 runs of `), found.stdout);
      assert.ok(found.stdout.includes(`\n  candidate  ${url("new")}: 2 runs of `), found.stdout);
      assert.match(found.stdout, /^ {2}inconclusive/m);
      assert.ok(existsSync(join(folder, "both.html")));
      assert.equal((await list(plimsoll)).length, 4);
    });
  }

  test("of one target names its runs for a comparison", async (t) => {
    const { folder, plimsoll } = around(t);
    const args = ["quick", "--count", "1", "--num", "1", url("new"), "--repeat", "2", "--report", "run.json"];
    const found = await plimsoll(...args);
    assert.equal(found.code, 0, found.stderr);
    assert.equal(found.stdout, "");
    const ids = (await list(plimsoll)).map(({ id }) => id).reverse();
    assert.ok(found.stderr.includes(`plimsoll runs compare BASELINE ${ids.join(",")}`), found.stderr);
    assert.deepEqual([1, 2].map((n) => existsSync(join(folder, `run-${n}.json`))), [true, true]);
  });

  test("prints JSON alone, and passes on the code of a run without a result", async (t) => {
    const { plimsoll } = around(t);
    const args = ["bench", "http", "-n", "1", url("new"), "--against", url("old"), "--format", "json", "--quiet"];
    const { stdout } = await plimsoll(...args);
    const [{ verdict, baseline, candidate, advice }] = JSON.parse(stdout);
    assert.deepEqual([verdict, baseline.label, candidate.label], ["inconclusive", url("old"), url("new")]);
    assert.ok(advice.length > 0);
    const broken = await plimsoll("run", "absent.js", "--repeat", "3");
    assert.equal(broken.code, 255, broken.stderr);
    assert.match(broken.stderr, /run 1 of 3 has no result, so the series ends/);
  });

  test("prints the verdict alone with --quiet", async (t) => {
    const { plimsoll } = around(t);
    for (const command of [["bench", "http", "-n", "1", url("new")], ["run", "one.js", "-e", `URL=${url("new")}`]]) {
      const found = await plimsoll(...command, "--against", url("old"), "--quiet", "--no-color");
      assert.equal(found.code, 4, found.stderr);
      assert.match(found.stdout, /^inconclusive: .*\n$/);
      assert.equal(withoutBottleneck(found.stderr), "");
    }
  });

  test("that cannot be is refused before its first run", async (t) => {
    const { plimsoll } = around(t);
    hits.length = 0;
    for (const [args, expected] of [
      [["run", "one.js", "--against", url("old")], /no variable has one; pass the target as a variable, for example -e URL=/],
      [["run", "one.js", "-e", "A=ws://a/", "-e", "B=ws://b/", "--against", url("old")], /but A and B both have one/],
      [["demo", "--against", url("old")], /the demo starts its own server/],
      [["demo", "--repeat", "2", "--keep"], /--keep would leave a server behind/],
      [["quick", url("new"), "--repeat", "2", "--linger"], /--linger would wait for a signal after each run/],
      [["quick", url("new"), "--against", "nothing"], /--against: expected http, https, ws or wss/],
      [["run", "-", "--repeat", "2"], /only one run can read the script from standard input/],
      [["quick", url("new"), "--repeat", "13"], /13 is not in 1\.\.=12|1 to 12/],
    ]) {
      const { code, stderr } = await plimsoll(...args);
      assert.equal(code, 2, stderr);
      assert.match(stderr, expected);
    }
    assert.deepEqual(hits, []);
  });

  test("ends with a signal, after the run in progress has ended in good order", async (t) => {
    const { folder } = around(t);
    const args = ["bench", "http", "-c", "1", "--duration", "60s", url("new"), "--repeat", "3"];
    const arrived = once(servers.new, "request");
    const command = startPlimsollIn({ cwd: folder, env: { PLIMSOLL_NO_SAVE: "1" } }, ...args);
    const said = text(command.stderr);
    await arrived;
    command.kill("SIGTERM");
    const { code } = await command.exited;
    const stderr = await said;
    assert.equal(code, 105, stderr);
    assert.match(stderr, /the series was interrupted in run 1 of 3, so nothing is compared/);
  });
});


describe("imported", () => {
  const SCRIPT = `
import { Trend } from "k6/metrics";
const rtt = new Trend("rtt", true);
export const options = { iterations: 20, thresholds: { rtt: ["p(95)<100", "avg<1"] } };
export default function () { for (let ms = 1; ms <= 5; ms += 1) rtt.add(ms); }
export function handleSummary(data) { return { "data.json": JSON.stringify(data) }; }`;
  const ARTILLERY = `{ "config": { "target": "http://localhost:1", "phases": [{ "duration": 1, "arrivalCount": 3 }] },
  "scenarios": [{ "flow": [{ "think": 0.01 }] }] }`;
  before(buildK6);

  test("results of k6, of Artillery's format, and of another machine", async (t) => {
    const { folder: cwd, plimsoll } = place(t, SCRIPT);
    writeFileSync(join(cwd, "a.json"), ARTILLERY);
    const files = ["data.json", "old.json", "samples.json", "report.json", "own.json"];
    await k6In({ cwd }, "run", "--quiet", "--summary-export", "old.json", "--out", "json=samples.json", "nothing.js");
    await plimsoll("run", "--no-save", "-o", "report.json", "a.json");
    await plimsoll("run", "--no-save", "--quiet", "--report", "own.json", "nothing.js");
    const imported = await plimsoll("runs", "import", "--tag", "ci", ...files);
    assert.equal(imported.code, 0, imported.stderr);
    const runs = JSON.parse((await plimsoll("runs", "list", "--format", "json")).stdout);
    const of = Object.fromEntries(runs.map((run) => [run.name, run]));
    assert.deepEqual(
      ["data.json", "old.json", "samples.json", "report.json", "nothing.js"].map((name) => [of[name].kind, of[name].verdict, of[name].tags]),
      [["imported", "fail"], ["imported", "fail"], ["imported", "unjudged"], ["imported", "unjudged"], ["k6", "fail"]].map((run) => [...run, ["ci"]]),
    );
    // k6 and we find the same in the same samples.
    assert.equal(of["data.json"].figures, "rtt p95=5ms");
    assert.equal(of["samples.json"].figures, "rtt p95=5ms");
    const shown = await plimsoll("runs", "show", of["samples.json"].id);
    assert.match(shown.stdout, /figures of all samples that k6 wrote/);
    assert.match(shown.stdout, /rtt\.+: avg=3ms count=100 max=5ms med=3ms min=1ms p\(90\)=5ms p\(95\)=5ms p\(99\)=5ms/);
    assert.match((await plimsoll("runs", "show", of["report.json"].id)).stdout, /vusers\.created\.+: count=3/);
    const compared = await plimsoll("runs", "compare", of["data.json"].id, of["samples.json"].id);
    assert.notEqual(compared.code, 0);
    assert.match(compared.stderr, /was imported and has figures without samples, which cannot be compared/);
    const again = await plimsoll("runs", "import", "own.json");
    assert.equal(again.stderr, `error: own.json: the history has the run ${of["nothing.js"].id} already\n`);
    assert.equal(again.code, 2);
  });

  test("a file of another kind leaves nothing half done", async (t) => {
    const { folder, plimsoll } = place(t, SCRIPT);
    writeFileSync(join(folder, "other.json"), "{}");
    await plimsoll("run", "--no-save", "--quiet", "--report", "own.json", "nothing.js");
    for (const [file, expected] of [["other.json", /other\.json: is JSON of another kind\. Expected k6's/], ["nothing.js", /nothing\.js: is not JSON/], ["no.json", /no\.json: cannot be read/]]) {
      const { code, stderr } = await plimsoll("runs", "import", "own.json", file);
      assert.equal(code, 2);
      assert.match(stderr, expected);
    }
    assert.match((await plimsoll("runs", "list")).stderr, /No runs/);
  });
});
