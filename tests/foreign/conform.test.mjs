// What `plimsoll conform` writes is read by those that it is meant for: JUnit's XML by a real parser, pages by a browser.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { plimsollIn } from "./support/plimsoll.mjs";
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
  await check("half.json", /^error: half\.json is truncated: it ends in line 1, column \d+/);
  await check("newer.json", /^error: newer\.json has results of version 7, and this program reads version 1/);
  await check("summary.json", /^error: summary\.json has no results of a conformance suite/);
  await check("none.json", /^error: cannot read none\.json/);
});
