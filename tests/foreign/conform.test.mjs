// What all suites of `plimsoll conform` have in common: selections, results, expectations and exit codes, and that what is
// written is read by those that it is meant for.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { WebSocketServer } from "ws";
import { plimsollIn, startPlimsollIn } from "./support/plimsoll.mjs";
import { folderOf } from "./support/scripts.mjs";

/** Results of one target, in the form that `--report FILE.json` writes. */
function results(name, outcomes) {
  return JSON.stringify({
    conformance: 1,
    suite: "websocket server",
    target: { name, url: "ws://127.0.0.1:9001" },
    tester: "plimsoll",
    started: "2026-11-22T15:00:00Z",
    seconds: 1.5,
    families: { 1: "Framing" },
    outcomes: outcomes.map(([id, verdict]) => ({
      id,
      title: `case ${id}`,
      clause: "RFC 6455 §5.2",
      verdict,
      explanation: `<script>${verdict}</script>`,
      seconds: 0.1,
      wire: { first: [{ at: 0, side: "sent", what: "<b>a frame</b>" }] },
    })),
  });
}

/** Elements of an XML text, as Python's parser sees them: name, attributes, text. */
function parseXml(text) {
  const script =
    "import json, sys, xml.etree.ElementTree as tree\n" +
    "print(json.dumps([[e.tag, e.attrib, e.text] for e in tree.fromstring(sys.stdin.buffer.read()).iter()]))";
  return JSON.parse(execFileSync("python3", ["-c", script], { input: text, encoding: "utf8" }));
}

test("JUnit's XML is what parsers of XML expect", () => {
  // A test of the crate holds that this is what is written.
  const sample = new URL("../../crates/conformance/src/results/tests/sample.xml", import.meta.url);
  const elements = parseXml(readFileSync(sample));
  const ofTag = (tag) => elements.filter(([found]) => found === tag);
  const names = ofTag("testcase").map(([, { name }]) => name);
  assert.deepEqual(
    names,
    ["1.1", "1.2", "1.10", "2.1", "2.2", "2.3", "2.4", "other/a"].map((id) => `${id} does what ${id} says`),
  );
  const [[, total]] = ofTag("testsuites");
  assert.deepEqual([total.tests, total.failures, total.skipped], ["8", "2", "2"]);
  assert.equal(total.name, "conform websocket server: echo <em>");
  const [failure] = ofTag("failure");
  assert.equal(failure[1].message, 'expected the same back, got "<script>" & nothing else');
  assert.match(failure[2], /-> ping\n.*<- <b>\ufffd\[31m\n/);
  assert.deepEqual(
    ofTag("skipped").map(([, { message }]) => message),
    ["unimplemented: the server does not compress", "skipped: there is no TLS here"],
  );
});

test("a matrix has a column for each target", async (t) => {
  const folder = folderOf(t, {
    "ours.json": results("ours", [["1.1", "pass"], ["1.2", "pass"]]),
    "theirs.json": results("theirs", [["1.1", "pass"], ["1.2", "fail"]]),
  });
  const made = await plimsollIn({ cwd: folder }, "conform", "matrix", "ours.json", "theirs.json", "-o", "m.html");
  assert.equal(made.code, 0, made.stderr);
  assert.equal(made.stdout, "m.html\n");
  const page = readFileSync(join(folder, "m.html"), "utf8");
  assert.match(page, /<th>ours<\/th><th>theirs<\/th>/);
  assert.match(page, /&lt;script&gt;fail&lt;\/script&gt;/);
  assert.doesNotMatch(page, /<script|<b>/);
});

test("what holds no results is said clearly", async (t) => {
  const good = results("ours", [["1.1", "pass"]]);
  const folder = folderOf(t, {
    "half.json": good.slice(0, good.length / 2),
    "newer.json": good.replace('"conformance":1', '"conformance":7'),
    "summary.json": '{"version": 2}',
  });
  const check = async (file, expected) => {
    const { code, stderr } = await plimsollIn({ cwd: folder }, "conform", "matrix", file);
    assert.equal(code, 2);
    assert.match(stderr, expected);
  };
  await check("half.json", /^error: half\.json is truncated: it ends at line 1, column \d+/);
  await check("newer.json", /^error: newer\.json has results of version 7, but this program reads version 1/);
  await check("summary.json", /^error: summary\.json has no results of a conformance suite/);
  await check("none.json", /^error: cannot read none\.json/);
});

/** A WebSocket server that sends back `answer(data)`. */
async function echoServer(t, answer = (data) => data) {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  server.on("connection", (client) => {
    // What the tester does wrong on purpose is reported here.
    client.on("error", () => {});
    client.on("message", (data, isBinary) => {
      const back = answer(data);
      if (back !== undefined) client.send(back, { binary: isBinary });
    });
  });
  await once(server, "listening");
  t.after(() => {
    for (const client of server.clients) client.terminate();
    server.close();
  });
  return `ws://127.0.0.1:${server.address().port}`;
}

test("the cases that were selected run, and their results are in all forms the same", async (t) => {
  const url = await echoServer(t);
  const folder = folderOf(t, {});
  const reports = ["r.json", "r.xml", "r.html"].flatMap((file) => ["--report", file]);
  const run = await plimsollIn(
    { cwd: folder },
    ...["conform", "websocket", url, "--only", "1.1,2.2", "--except", "1.1.8", "--name", "echo", "--format", "json"],
    ...reports,
  );
  assert.equal(run.code, 0, run.stderr);
  const read = (file) => readFileSync(join(folder, file), "utf8");
  assert.equal(read("r.json"), run.stdout);
  const { outcomes, target } = JSON.parse(run.stdout);
  const ids = outcomes.map(({ id }) => id);
  assert.deepEqual(ids, [1, 2, 3, 4, 5, 6, 7].map((n) => `1.1.${n}`).concat("2.2"));
  assert.deepEqual([...new Set(outcomes.map(({ verdict }) => verdict))], ["pass"]);
  assert.equal(target.name, "echo");
  const cases = parseXml(read("r.xml")).filter(([tag]) => tag === "testcase");
  assert.deepEqual(
    cases.map(([, { name }]) => name.split(" ")[0]),
    ids,
  );
  assert.match(read("r.html"), /<h1>Conformance, websocket server: echo<\/h1>/);
  assert.equal(run.stderr, "Report: r.json\nReport: r.xml\nReport: r.html\n");

  const listed = await plimsollIn({ cwd: folder }, "conform", "websocket", url, "--only", "1.1", "--list");
  assert.equal(listed.code, 0);
  assert.equal(listed.stdout.trim().split("\n").length, 8);
  assert.match(listed.stdout, /^1\.1\.1 +MUST .* RFC 6455 §/);
});

test("a list needs no target", async () => {
  for (const [suite, only, id] of [
    [["websocket"], "h.1", "h.1.1"],
    [["websocket", "--listen", "127.0.0.1:0"], "r.1", "r.1.1"],
    [["cable"], "streams", "cable/streams/receives"],
    [["cable", "--rpc", "none"], "streams", "cable/streams/receives"],
  ]) {
    const all = await plimsollIn({}, "conform", ...suite, "--list");
    const some = await plimsollIn({}, "conform", ...suite, "--list", "--only", only, "--except", id);
    const lines = ({ code, stdout, stderr }) => {
      assert.equal(code, 0, stderr);
      return stdout.trim().split("\n");
    };
    assert.ok(lines(all).length > lines(some).length);
    const ids = (lines) => lines.map((line) => line.split(" ")[0]);
    // Words of titles select nothing.
    assert.deepEqual(ids(lines(some)), ids(lines(all)).filter((it) => it !== id && it.includes(only)));
  }
  const { code, stderr } = await plimsollIn({}, "conform", "cable");
  assert.equal(code, 2);
  assert.match(stderr, /<URL>/);
});

test("a failure is told in full", async (t) => {
  const url = await echoServer(t, () => "something else");
  const run = await plimsollIn({}, "conform", "websocket", url, "--only", "1.1.2");
  assert.equal(run.code, 3, run.stderr);
  assert.match(run.stdout, /^fail 1\.1\.2 .*\n {2}RFC 6455 §.*\n {2}.*expected.*\n( {4} *\d+\.\d{3} (->|<-|--) .*\n)+/m);
  assert.match(run.stdout, /<- .*something else/);
  assert.doesNotMatch(run.stdout, /\u001b/);
});

test("a verdict that changes is noticed, for better or worse, and sentences stay", async (t) => {
  const right = await echoServer(t);
  const wrong = await echoServer(t, (data) => (data.length > 1_000 ? "too long" : data));
  const folder = folderOf(t, {});
  const conform = (url, ...flags) =>
    plimsollIn({ cwd: folder }, "conform", "websocket", url, "--only", "1.1", ...flags);
  const file = join(folder, "echo.txt");

  const first = await conform(wrong, "--write-expectations", "echo.txt");
  assert.equal(first.code, 0, first.stderr);
  const written = readFileSync(file, "utf8");
  assert.match(written, /^1\.1\.6 +fail +\S.*$/m);
  writeFileSync(file, written.replace(/^(1\.1\.6 +fail +).*$/m, "$1cuts what is long"));

  const same = await conform(wrong, "--expect", "echo.txt");
  assert.equal(same.code, 0, same.stderr);
  assert.match(same.stderr, /^as expected: 8 verdicts$/m);

  const better = await conform(right, "--expect", "echo.txt");
  assert.equal(better.code, 3);
  assert.match(better.stderr, /better {2}1\.1\.6: expected fail \(cuts what is long\), got pass/);

  const again = await conform(wrong, "--write-expectations", "echo.txt");
  assert.equal(again.code, 0, again.stderr);
  assert.match(readFileSync(file, "utf8"), /^1\.1\.6 +fail +cuts what is long$/m);

  const good = await conform(right, "--write-expectations", "echo.txt");
  assert.equal(good.code, 0, good.stderr);
  const worse = await conform(wrong, "--expect", "echo.txt");
  assert.equal(worse.code, 3);
  assert.match(worse.stderr, /worse {3}1\.1\.6: expected pass, got fail: /);
});

test("mistakes are said before anything runs", async (t) => {
  const folder = folderOf(t, { "bad.txt": "1.* okay\n2.1 fail\n" });
  const check = async (flags, expected, expectedCode = 2) => {
    // No program listens on the discard port.
    const run = await plimsollIn({ cwd: folder }, "conform", "websocket", "ws://127.0.0.1:9", ...flags);
    assert.equal(run.code, expectedCode, run.stderr);
    assert.match(run.stderr, expected);
  };
  await check(["--only", "1.1.99"], /there is no case `1\.1\.99`; the nearest is 1\.1\.\d; --list shows all cases/);
  await check(["--only", "zzz"], /there is no case `zzz`; --list shows all cases/);
  await check(["--report", "r.pdf"], /must end in \.html \(a page\), \.json \(data\) or \.xml \(JUnit\)/);
  await check(["--report", "no/r.xml"], /--report no\/r\.xml: there is no folder no; create it first/);
  await check(["--expect", "none.txt"], /--expect none\.txt: there is no such file; --write-expectations none\.txt makes it/);
  await check(["--expect", "bad.txt"], /bad\.txt:1:5: `okay` is not a verdict[^]*bad\.txt:2:5: `fail` needs a sentence/);
  await check(["--timeout", "0"], /expected seconds, more than 0/);
  await check(["--only", "1.1.1"], /ws:\/\/127\.0\.0\.1:9/, 1);
});

test("a signal ends the run, and what there is is printed", async (t) => {
  let ask;
  const asked = new Promise((resolve) => (ask = resolve));
  // From the third case on, nothing comes back.
  let n_messages = 0;
  const url = await echoServer(t, (data) => (++n_messages > 2 ? ask() : data));
  const folder = folderOf(t, {});
  const flags = ["--only", "1.1", "--parallel", "1", "--timeout", "600", "--format", "json", "--report", "r.xml"];
  const child = startPlimsollIn({ cwd: folder }, "conform", "websocket", url, ...flags);
  const said = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"]) child[name].setEncoding("utf8").on("data", (text) => (said[name] += text));
  await asked;
  child.kill("SIGTERM");
  const { code } = await child.exited;
  assert.equal(code, 1);
  assert.match(said.stderr, /^error: a signal ended the run after 2 of 8 cases$/m);
  const verdicts = JSON.parse(said.stdout).outcomes.map(({ verdict }) => verdict);
  assert.deepEqual(verdicts, ["pass", "pass", ...Array(6).fill("skipped")]);
  assert.match(readFileSync(join(folder, "r.xml"), "utf8"), /the run was ended before this case/);
});

test("one line says that a server speaks first", async (t) => {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  server.on("connection", (client) => {
    client.on("error", () => {});
    client.send("Welcome!");
    client.on("message", (data, isBinary) => client.send(data, { binary: isBinary }));
  });
  await once(server, "listening");
  t.after(() => {
    for (const client of server.clients) client.terminate();
    server.close();
  });
  const url = `ws://127.0.0.1:${server.address().port}`;
  const { code, stdout, stderr } = await plimsollIn({}, "conform", "websocket", url, "--parallel", "1", "--format", "json");
  assert.equal(code, 1, stderr);
  assert.match(stderr, /^error: the server sends text of 8 bytes "Welcome!" before anything was sent to it; .*; ended after 1 of \d+ cases$/m);
  const verdicts = JSON.parse(stdout).outcomes.map(({ verdict }) => verdict);
  assert.deepEqual([verdicts[0], ...new Set(verdicts.slice(1))], ["fail", "skipped"]);
});
