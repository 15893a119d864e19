// `plimsoll check`: any input file, whatever is wrong with it, is told of at once and never run.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { plimsollIn } from "./support/plimsoll.mjs";
import { folderOf } from "./support/scripts.mjs";

const LOAD = `config:
  target: ws://localhost
  phases: [{duration: 1, arrivalRate: 1}]
scenarios: [{engine: ws, flow: [{send: hi}]}]
`;

/** What the command says of a file among these: `[code, stdout, stderr]`. */
async function check(t, files, ...args) {
  const { code, stdout, stderr } = await plimsollIn({ cwd: folderOf(t, files) }, "check", ...args);
  return [code, stdout, stderr];
}

describe("what is right", () => {
  for (const [name, text, args, kind] of [
    ["steps.yml", "- client: {multiplier: ':scale / 10', actions: [wait_all]}\n", ["--scale", "10"], "wsdirector file"],
    ["load.yml", LOAD, [], "artillery file"],
    ["load.json", '{"config": {"target": "ws://localhost"}, "scenarios": [{"engine": "ws", "flow": [{"send": "hi"}]}]}', [], "artillery file"],
    ["untold.yml", LOAD.replace(/ {2}target.*\n/, ""), ["-t", "ws://localhost"], "artillery file"],
    ["marked.yml", `\uFEFF${LOAD}`, [], "artillery file"],
    ["windows.yml", LOAD.replaceAll("\n", "\r\n"), [], "artillery file"],
    ["chat.js", "export const options = { vus: 2 };\nexport default () => {};\n", [], "k6 script"],
    ["chat.ts", "const n: number = 1;\nexport default () => n;\n", [], "k6 script"],
  ]) {
    test(name, async (t) => {
      assert.deepEqual(await check(t, { [name]: text }, name, ...args), [0, `${name}: no mistakes in this ${kind}\n`, ""]);
    });
  }

  test("what has no effect is told", async (t) => {
    const [code, , stderr] = await check(t, { "load.yml": LOAD.replace("config:", "config:\n  statsInterval: 5") }, "load.yml");
    assert.deepEqual([code, /^warning: load\.yml:2:18: config\.statsInterval: has no effect/.test(stderr)], [0, true], stderr);
  });
});

describe("what is wrong", () => {
  for (const [name, text, code, ...words] of [
    ["typos", "- wait_al\n- sned: {}\n- receive: {dta: 1}\n", 104, "1:3: [0]: `wait_al` is not a step; did you mean `wait_all`?", "2:9: [1].sned: `sned` is not a step; did you mean `send`?", "3:13: [2].receive.dta: is not a key here; did you mean `data`?"],
    ["a number of clients", "- client: {multiplier: ':scale / 10', actions: [wait_all]}\n", 104, "no group has a client at this scale"],
    ["a tab", "config:\n\ttarget: ws://x\n", 1, "2:2: this is not valid YAML or JSON", "; indent with spaces"],
    ["a quote without an end", 'config:\n  target: "ws://x\nscenarios: []\n', 1, "is a quote before this place not closed"],
    ["a bracket without an end", "- receive: {data: [1, 2}\n", 104, "mismatched bracket '[' closed by '}'"],
    ["columns", "config:\n  target: ws://x\n phases: []\nscenarios: []\n", 1, "3:2: ", "begin in the same column?"],
    ["a key twice", `${LOAD}config: {}\n`, 1, "5:1: config: this key is a duplicate of the one at 1:1"],
    ["an alias of nothing", "- send: *hello\n", 104, "1:9: "],
    ["levels without end", `- ${"[".repeat(100_000)}`, 104, "1:"],
    ["nothing", "", 2, "file.yml is empty"],
    ["comments alone", "# later\n", 2, "file.yml is not a file of Artillery or wsdirector"],
    ["another file", "services: {}\n", 2, "file.yml is not a file of Artillery or wsdirector"],
    ["a zero byte", "config:\0 a\n", 1, "1:8: this is not valid YAML or JSON"],
  ]) {
    test(name, async (t) => {
      const [found, stdout, stderr] = await check(t, { "file.yml": text }, "file.yml");
      assert.deepEqual([found, stdout], [code, ""], stderr);
      for (const part of words) assert.ok(stderr.includes(part), stderr);
    });
  }

  test("aliases that stand for a thousand million values", async (t) => {
    const names = [..."abcdefghi"];
    const lines = names.map((name, level) => {
      const below = level === 0 ? "x" : `*${names[level - 1]}`;
      return `${name}: &${name} [${Array(10).fill(below).join(", ")}]`;
    });
    const [code, , stderr] = await check(t, { "file.yml": `${lines.join("\n")}\n${LOAD}` }, "file.yml");
    assert.deepEqual([code, /more than 200000 values with aliases expanded/.test(stderr)], [1, true], stderr);
  });

  test("a table with ragged rows, and variables that nothing sets", async (t) => {
    const load = LOAD.replace("scenarios", "  payload: {path: users.csv, fields: [user, password]}\nscenarios").replace("hi", "'{{ usr }}'");
    const ragged = await check(t, { "load.yml": load, "users.csv": "a,1\nb\n" }, "load.yml");
    assert.equal(ragged[0], 1);
    assert.match(ragged[2], /load\.yml:4:19: config\.payload\.path: users\.csv: line 2 has 1 fields, expected 2: user, password/);
    // Artillery runs such files, so this is a warning.
    const [code, stdout, stderr] = await check(t, { "load.yml": load, "users.csv": "a,1\nb,2\n" }, "load.yml");
    assert.equal(code, 0, stderr);
    assert.match(stdout + stderr, /load\.yml:5:40: scenarios\[0\]\.flow\[0\]\.send: nothing sets the variable `usr`; did you mean `user`\?/);
  });

  for (const [name, bytes, words] of [
    ["a picture", Buffer.from([0x89, 0x50, 0x4e, 0x47, 0xff]), "it is not text in UTF-8: byte 1 belongs to no character"],
    ["UTF-16", Buffer.from("\uFEFFconfig: {}", "utf16le"), "it is UTF-16; save it as UTF-8"],
  ]) {
    test(name, async (t) => {
      assert.deepEqual(await check(t, { "file.yml": bytes }, "file.yml"), [255, "", `error: cannot read file.yml: ${words}\n`]);
    });
  }

  test("what is not a file", async (t) => {
    const cwd = folderOf(t, {});
    mkdirSync(join(cwd, "folder.yml"));
    for (const [name, words] of [["absent.yml", /No such file/], ["folder.yml", /Is a directory/], ["/dev/zero", /longer than 256 MiB/]]) {
      const { code, stderr } = await plimsollIn({ cwd }, "check", name);
      assert.deepEqual([code, words.test(stderr)], [255, true], stderr);
    }
  });

  test("scripts", async (t) => {
    for (const [name, text, code, words] of [
      ["syntax", "export default function( {}\n", 107, /file\.js:/],
      ["an option", "export const options = { vus: 'x' };\nexport default () => {};\n", 104, /vus/],
      ["no function", "const a = 1;\n", 107, /exports no function/],
      ["a module", "import x from './absent.js';\nexport default () => {};\n", 107, /absent\.js/],
    ]) {
      const [found, , stderr] = await check(t, { "file.js": text }, "file.js");
      assert.deepEqual([found, words.test(stderr)], [code, true], `${name}: ${stderr}`);
    }
  });
});

describe("scripts", () => {
  const SCRIPT = `import cable from "k6/x/cable";
import { chek } from "k6";
import { login } from "./user.js";
export const options = {
  vuss: 1,
  scenarios: { chat: { executor: "constant-vus", duration: "1s", exec: "speek" } },
};
export function speak() { cable.conect("ws://x"); slep(1); }
`;

  test("all mistakes have a place, a suggestion and a next step", async (t) => {
    const files = { "chat.js": SCRIPT.replace("chek", "check"), "user.js": "export const login = () => absent;\n" };
    const [code, stdout, stderr] = await check(t, files, "chat.js");
    assert.deepEqual([code, stdout], [107, ""]);
    for (const line of [
      "chat.js:8:33: cable.conect: k6/x/cable has no `conect`; did you mean `connect`?",
      "chat.js:8:51: slep: is not defined; declare or import it",
      "user.js:1:28: absent: is not defined; declare or import it",
      "chat.js:6:66: scenario `chat` calls the function `speek`, which is not exported; did you mean `speak`?",
      "warning: chat.js:5:3: unknown option `vuss`, which has no effect; did you mean `vus`?",
      "warning: chat.js:8:17: speak: no scenario calls this function",
    ]) {
      assert.ok(stderr.includes(line), `${line}\n${stderr}`);
    }
  });

  test("a wrong import does not hide other mistakes", async (t) => {
    const [code, , stderr] = await check(t, { "chat.js": SCRIPT, "user.js": "export const login = 1;\n" }, "chat.js");
    assert.equal(code, 107);
    assert.match(stderr, /chat\.js:2:10: chek: k6 has no `chek`; did you mean `check`\?/);
    assert.match(stderr, /chat\.js:8:33: cable\.conect/);
  });

  test("as JSON", async (t) => {
    const files = { "chat.js": "export const options = {\n  vus: 'x',\n};\nexport default () => { absent(); };\n" };
    const [code, stdout, stderr] = await check(t, files, "chat.js", "--format", "json");
    assert.deepEqual([code, stderr], [107, "error: chat.js has 2 mistakes\n"]);
    assert.deepEqual(
      JSON.parse(stdout).mistakes.map(({ file, line, column, path }) => [file, line, column, path]),
      [["chat.js", 4, 24, "absent"], ["chat.js", 2, 3, ""]],
    );
  });

  test("working scripts have no mistakes", async () => {
    for (const folder of ["k6-scripts", "scripts", "scripts/chat"]) {
      const cwd = new URL(`${folder}/`, import.meta.url).pathname;
      for (const name of readdirSync(cwd).filter((name) => /\.[jt]s$/.test(name))) {
        const { stdout, stderr } = await plimsollIn({ cwd }, "check", name);
        assert.ok(!/is not defined|has no `|of at least/.test(stdout + stderr), `${folder}/${name}: ${stderr}`);
      }
    }
  });
});

describe("standard input", () => {
  const piped = (input, ...args) => {
    const { status, stdout, stderr } = spawnSync(process.env.PLIMSOLL_BIN, ["check", ...args, "-"], { input, encoding: "utf8" });
    return [status, stdout, stderr];
  };

  test("is a file like others", () => {
    assert.deepEqual(piped(LOAD), [0, "-: no mistakes in this artillery file\n", ""]);
    assert.deepEqual(piped("- wait_al\n"), [104, "", "error: -:1:3: [0]: `wait_al` is not a step; did you mean `wait_all`?\n"]);
    assert.deepEqual(piped("export default () => {};\n", "--as", "k6"), [0, "-: no mistakes in this k6 script\n", ""]);
    assert.deepEqual(piped(""), [2, "", "error: - is empty\n"]);
  });
});

describe("for programs", () => {
  test("mistakes are values", async (t) => {
    const [code, stdout, stderr] = await check(t, { "file.yml": "- wait_al\n- receive: {dta: 1}\n" }, "file.yml", "--format", "json");
    assert.deepEqual([code, stderr], [104, "error: file.yml has 2 mistakes\n"]);
    assert.deepEqual(JSON.parse(stdout), {
      file: "file.yml",
      tool: "wsdirector",
      mistakes: [
        { file: "file.yml", line: 1, column: 3, path: "[0]", problem: "`wait_al` is not a step; did you mean `wait_all`?" },
        { file: "file.yml", line: 2, column: 13, path: "[1].receive.dta", problem: "is not a key here; did you mean `data`?" },
      ],
      warnings: [],
    });
  });

  test("so are those of Artillery's files, and what has no place", async (t) => {
    const [code, stdout] = await check(t, { "load.yml": LOAD.replace("send", "sned") }, "load.yml", "--format", "json");
    const { tool, mistakes } = JSON.parse(stdout);
    assert.deepEqual([code, tool, mistakes.length, mistakes[0].line, mistakes[0].column], [1, "artillery", 1, 4, 33]);
    const [, ofScript] = await check(t, { "a.js": "const a = 1;\n" }, "a.js", "--format", "json");
    assert.deepEqual(Object.keys(JSON.parse(ofScript).mistakes[0]), ["problem"]);
  });

  test("without mistakes there are none", async (t) => {
    const [code, stdout] = await check(t, { "load.yml": LOAD }, "load.yml", "--format", "json");
    assert.deepEqual([code, JSON.parse(stdout)], [0, { file: "load.yml", tool: "artillery", mistakes: [], warnings: [] }]);
  });
});
