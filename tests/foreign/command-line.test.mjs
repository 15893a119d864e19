// What people mistype on a command line: it is said what is wrong and what was expected, and nothing runs.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { closeSync, openSync, readdirSync } from "node:fs";
import { describe, test } from "node:test";
import { ENVIRONMENT, PROGRAM, plimsollIn } from "./support/plimsoll.mjs";
import { folderOf } from "./support/scripts.mjs";

const FILES = { "empty.yml": "", "empty.json": "", "other.yml": "a: 1\n", "a.js": "export default function () {}\n" };
const SCHEMES = /invalid value .* for '<URL>': expected http, https, ws or wss, for example http:\/\/localhost:8080\//;
const ADDRESS = /invalid value .* for '--address <HOST:PORT>': expected a host and a port, for example localhost:6565/;

describe("mistakes", () => {
  for (const [args, code, expected] of [
    ["run empty.yml", 2, /^error: empty\.yml is empty$/m],
    ["run other.yml", 2, /^error: other\.yml is not a file of Artillery or wsdirector: expected .*; choose the format with --as/],
    ["run none.yml", 255, /^error: cannot read none\.yml: No such file/],
    ["run --as k6 other.yml", 107, /^error: other\.yml: the script exports no function/],
    ["quick localhost:8080", 2, SCHEMES],
    ["quick localhost", 2, SCHEMES],
    ["quick ftp://localhost/", 2, SCHEMES],
    ["quick http:///", 2, SCHEMES],
    ["runs list --kind k7", 2, /invalid value 'k7'[^]*possible values: k6, artillery, wsdirector, demo, bench, line/],
    ["runs list --verdict passed", 2, /invalid value 'passed'[^]*possible values: pass, fail, doubtful, incomplete/],
    ["status --address localhost", 2, ADDRESS],
    ["scale --vus 3 --address :6565", 2, ADDRESS],
    ["pause --address localhost:99999", 2, ADDRESS],
    ["report empty.json", 2, /^error: empty\.json is empty; expected a summary, which `plimsoll run --report FILE\.json`/m],
    ["serve --port x", 2, /invalid value 'x' for '--port <PORT>': expected a whole number from 0 to 65535$/m],
    ["serve --port 70000", 2, /invalid value '70000' for '--port <PORT>': expected a whole number from 0 to 65535$/m],
    ["bench broadcast ws://localhost --concurrent x", 2, /invalid value 'x' for '--concurrent <.*>': expected a number of at least 1$/m],
    ["bench http -c 1.5 http://localhost/", 2, /invalid value '1\.5' for '--concurrency <.*>': expected a number of at least 1$/m],
    ["scale --vus x", 2, /invalid value 'x' for '--vus <.*>': expected a whole number/],
    ["new no/such/x.js", 2, /^error: no\/such\/x\.js: there is no folder no\/such; create it first: mkdir -p no\/such$/m],
    ["new x.yml --template cable", 2, /^error: x\.yml: the template cable is a script; expected a name such as script\.js/],
    ["new x.js --template artillery", 2, /^error: x\.js: the template artillery is a file in YAML; .* such as test\.yml/],
  ]) {
    test(args, async (t) => {
      const cwd = folderOf(t, FILES);
      const run = await plimsollIn({ cwd }, ...args.split(" "));
      assert.equal(run.code, code, run.stderr);
      assert.match(run.stderr, expected);
      assert.equal(run.stdout, "");
      assert.deepEqual(readdirSync(cwd).sort(), Object.keys(FILES).sort());
    });
  }
});

test("a full disk under standard output is named", () => {
  for (const args of [["schema", "summary"], ["conform", "websocket", "--list"], ["completion", "bash"]]) {
    const full = openSync("/dev/full", "w");
    const stdio = ["ignore", full, "pipe"];
    const { status, stderr } = spawnSync(PROGRAM, args, { env: ENVIRONMENT, encoding: "utf8", stdio });
    closeSync(full);
    assert.equal(status, 1, stderr);
    assert.match(stderr, /^error: cannot write to standard output: No space left on device/, args.join(" "));
  }
});

for (const name of ["PLIMSOLL_PORT", "ANYCABLE_PORT"]) {
  test(`${name} that is not a number`, () => {
    const env = { ...ENVIRONMENT, [name]: "x" };
    const { status, stderr } = spawnSync(PROGRAM, ["serve"], { env, encoding: "utf8" });
    assert.equal(status, 2, stderr);
    assert.ok(stderr.includes(`${name}: invalid value 'x' for '--port <PORT>': expected a whole number from 0 to 65535`), stderr);
  });
}

test("a reader that has enough is not an error", () => {
  // This pipe has no reader: `| head -1`, but without a race.
  const script = [
    "import os, subprocess, sys",
    "reader, writer = os.pipe()",
    "os.close(reader)",
    "run = subprocess.run(sys.argv[1:], stdout=writer, stderr=subprocess.PIPE)",
    "sys.stdout.write(run.stderr.decode())",
    "sys.exit(run.returncode)",
  ].join("\n");
  for (const args of [["conform", "websocket", "--list"], ["schema", "summary"], ["completion", "bash"]]) {
    const { status, stdout } = spawnSync("python3", ["-c", script, PROGRAM, ...args], { env: ENVIRONMENT, encoding: "utf8" });
    assert.deepEqual([status, stdout], [1, ""], args.join(" "));
  }
});
