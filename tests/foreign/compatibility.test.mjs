// The tables that compare this program with k6, Artillery, wsdirector and ab (docs/reference/compatibility.md and
// k6-compat.md): the use of each absent name stops the run with the text of its row, and no name of the real k6 and the real
// ab is missing in them.

import assert from "node:assert/strict";
import { readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { spawnSync } from "node:child_process";
import { ab } from "./support/ab.mjs";
import { buildK6, k6In } from "./support/k6.mjs";
import { ENVIRONMENT, PROGRAM, plimsollIn } from "./support/plimsoll.mjs";
import { folderOf } from "./support/scripts.mjs";

/** The sections of a page, `{ title: [[name, comparison]] }`; a module that is absent as a whole is `[[undefined, …]]`. */
function sectionsOf(page) {
  const text = readFileSync(fileURLToPath(new URL(`../../docs/reference/${page}`, import.meta.url)), "utf8");
  const sections = {};
  for (const part of text.split("\n## ").slice(1)) {
    const title = part.slice(0, part.indexOf("\n")).replaceAll("`", "");
    const rows = [...part.matchAll(/^\| `(.+?)` \| (.*) \|$/gm)].map(([, name, comparison]) => [name, comparison.replaceAll("\\|", "|")]);
    const whole = /^absent: .*$/m.exec(part);
    sections[title] = whole ? [[undefined, whole[0]]] : rows;
  }
  return sections;
}

const MODULES = sectionsOf("k6-compat.md");
const NAMES = sectionsOf("compatibility.md");

/** The absent rows of a section: `[name, text]`. */
const absentOf = (rows) => rows.filter(([, text]) => text.startsWith("absent: ")).map(([name, text]) => [name, text.slice("absent: ".length)]);

/** Scripts get an object of the class, to read the member of. */
const OBJECTS = {
  Element: ["import { parseHTML } from 'k6/html';", "parseHTML('<a href=x>a</a>').find('a').get(0)"],
  Blob: ["import { Blob } from 'k6/websockets';", "new Blob(['a'])"],
};

const DEFAULT = "export default () => {};";

/** A script that uses a name of a module, as it may be used in passing. */
function scriptOf(module, name) {
  if (name === undefined) return `import * as it from ${JSON.stringify(module)}; ${DEFAULT}`;
  const [object, member] = name.split(".");
  if (member === undefined) return `import { ${name} } from ${JSON.stringify(module)}; ${DEFAULT}`;
  assert.ok(OBJECTS[object], `how does a script get one of ${object}? Say it in OBJECTS`);
  const [imports, made] = OBJECTS[object];
  return `${imports} export default () => { try { ${made}.${member}; } catch {} }`;
}

/** Runs something that must be stopped by an error with this text. */
async function isStopped(t, files, args, text) {
  const { code, stdout, stderr } = await plimsollIn({ cwd: folderOf(t, files) }, ...args);
  const said = `${stderr}${stdout}`.replace(/\s+/g, " ");
  assert.notEqual(code, 0, said);
  assert.ok(said.includes(text.replace(/\s+/g, " ")), `${said}\nhas no: ${text}`);
}

/** Flags of k6 that have a value. */
const VALUED = new Set(["--traces-output", "--features"]);

describe("absent names of k6", { concurrency: 4 }, () => {
  for (const [module, rows] of Object.entries(MODULES)) {
    for (const [name, text] of absentOf(rows)) {
      test(name ? `${module}: ${name}` : module, (t) =>
        isStopped(t, { "a.js": scriptOf(module, name) }, ["run", "--no-save", "a.js"], text));
    }
  }
  for (const [flag, text] of absentOf(NAMES["k6: flags of run"])) {
    test(flag, (t) => isStopped(t, { "a.js": DEFAULT }, ["run", "--no-save", ...(VALUED.has(flag) ? [flag, "x"] : [flag]), "a.js"], text));
  }
  for (const [output, text] of absentOf(NAMES["k6: outputs"])) {
    test(`output ${output}`, (t) => isStopped(t, { "a.js": DEFAULT }, ["run", "--no-save", "--out", output, "a.js"], text));
  }
  for (const [kind, text] of absentOf(NAMES["k6: sources of secrets"])) {
    test(`secrets ${kind}`, (t) => isStopped(t, { "a.js": DEFAULT }, ["run", "--no-save", "--secret-source", `${kind}=a`, "a.js"], text));
  }
  for (const [kind, text] of absentOf(NAMES["k6: outputs of the log"])) {
    test(`log ${kind}`, (t) => isStopped(t, { "a.js": DEFAULT }, ["run", "--no-save", "--log-output", kind, "a.js"], text));
  }
  for (const [command, text] of absentOf(NAMES["k6: commands"])) {
    test(`k6 ${command}`, (t) => {
      const program = join(folderOf(t, {}), "k6");
      symlinkSync(PROGRAM, program);
      const { status, stderr } = spawnSync(program, [command], { encoding: "utf8", env: ENVIRONMENT });
      assert.equal(status, 2, stderr);
      assert.ok(stderr.includes(text), stderr);
    });
  }
});

/** A file with `value` at the place of a key's path: `config.phases[].x`, `config.plugins.*.x`. */
function fileWith(path, start) {
  const steps = path.split(".").flatMap((name) => [name.replaceAll("[]", ""), ...Array(name.split("[]").length - 1).fill(0)]);
  let at = start;
  steps.forEach((step, index) => {
    const key = step === "*" ? "any" : step;
    const next = steps[index + 1];
    if (next === undefined) at[key] = "x";
    else at = at[key] = typeof at[key] === "object" ? at[key] : next === 0 ? [] : {};
  });
  return start;
}

/** A file in which steps over a WebSocket and reporters are read as far as the key. */
function artilleryFor(path) {
  const file = artillery();
  if (/\.(connect|send)\./.test(path)) file.scenarios[0].engine = "ws";
  if (path.includes(".send.")) file.scenarios[0].flow[0].send = { payload: "x" };
  if (path.includes(".publish-metrics[].")) {
    file.config.plugins = { "publish-metrics": [{ type: "open-telemetry", metrics: { exporter: "otlp-http" } }] };
  }
  return file;
}

const artillery = () => ({ config: { target: "http://127.0.0.1:1", phases: [{ duration: 1, arrivalRate: 1 }] }, scenarios: [{ flow: [{}] }] });

describe("absent names of Artillery", { concurrency: 4 }, () => {
  const run = (t, file, text, ...flags) => isStopped(t, { "a.yml": JSON.stringify(file) }, ["run", "--no-save", ...flags, "a.yml"], text);
  for (const [path, text] of absentOf(NAMES["Artillery: keys"])) {
    test(path, (t) => run(t, fileWith(path, artilleryFor(path)), text));
  }
  for (const [engine, text] of absentOf(NAMES["Artillery: engines"])) {
    test(`engine ${engine}`, (t) => {
      const file = artillery();
      file.scenarios[0] = { engine, flow: [{ think: 0 }] };
      return run(t, file, text);
    });
  }
  for (const [type, text] of absentOf(NAMES["Artillery: reporters of publish-metrics"])) {
    test(`reporter ${type}`, (t) => {
      const file = artillery();
      file.scenarios[0].flow[0] = { get: { url: "/" } };
      file.config.plugins = { "publish-metrics": [{ type }] };
      return run(t, file, text);
    });
  }
  for (const [flag, text] of absentOf(NAMES["Artillery: flags of run"])) {
    test(flag, (t) => {
      const file = artillery();
      file.scenarios[0].flow[0] = { get: { url: "/" } };
      return run(t, file, text, ...(flag === "--record" ? [flag] : [flag, "x"]));
    });
  }
});

describe("absent names of wsdirector and ab", { concurrency: 4 }, () => {
  for (const [path, text] of absentOf(NAMES["wsdirector: keys"])) {
    test(path, (t) => isStopped(t, { "a.yml": JSON.stringify([fileWith(path, {})]) }, ["run", "--no-save", "a.yml", "-u", "localhost:1"], text));
  }
  for (const [flag, text] of absentOf(NAMES["wsdirector: flags"])) {
    test(flag, (t) => isStopped(t, { "a.yml": "[{sleep: {time: 0}}]" }, ["run", "--no-save", "a.yml", "-u", "localhost:1", flag, "x"], text));
  }
  for (const [flag, text] of absentOf(NAMES["ab: flags"])) {
    test(flag, (t) => isStopped(t, {}, ["ab", flag, ...(flag === "-Q" ? [] : ["1"]), "http://127.0.0.1:1/"], text));
  }
});

/** A script that prints the names of the real k6: modules with their exports, and the members of pages. */
const LISTING = `
import * as k6 from "k6"; import * as hashes from "k6/crypto"; import * as x509 from "k6/crypto/x509"; import * as data from "k6/data";
import * as encoding from "k6/encoding"; import exec from "k6/execution"; import * as html from "k6/html"; import * as http from "k6/http";
import * as grpc from "k6/net/grpc"; import * as metrics from "k6/metrics"; import * as secrets from "k6/secrets"; import * as timers from "k6/timers";
import * as websockets from "k6/websockets"; import * as ws from "k6/ws"; import * as csv from "k6/experimental/csv";
import * as fs from "k6/experimental/fs"; import * as streams from "k6/experimental/streams"; import * as browser from "k6/browser";
const modules = { k6, "k6/crypto": hashes, "k6/crypto/x509": x509, "k6/data": data, "k6/encoding": encoding, "k6/html": html, "k6/http": http,
  "k6/net/grpc": grpc, "k6/metrics": metrics, "k6/secrets": secrets, "k6/timers": timers, "k6/websockets": websockets, "k6/ws": ws,
  "k6/experimental/csv": csv, "k6/experimental/fs": fs, "k6/experimental/streams": streams, "k6/browser": browser };
const own = (of) => Object.getOwnPropertyNames(of);
const all = (of) => { const names = []; for (const name in of) names.push(name); return names; };
const tags = "a area audio base button canvas data datalist del details dialog embed fieldset form iframe img input ins keygen label legend li link \
map meta meter object ol optgroup option output param pre progress q script select source style table tbody td textarea tfoot th thead time title \
tr track ul video".split(" ");
export const options = { iterations: 1 };
export default function () {
  const names = {};
  for (const [id, module] of Object.entries(modules)) names[id] = own(module).filter((name) => name !== "default");
  names["k6/execution"] = ["instance", "scenario", "test", "vu"].flatMap((part) => own(exec[part]).map((name) => part + "." + name));
  names["k6/html"].push(...all(html.parseHTML("<a>a</a>")).map((name) => "Selection." + name));
  const members = new Set();
  for (const tag of tags) {
    const page = html.parseHTML(/^(t[bdfhr].*|table)$/.test(tag) ? "<table><" + tag + ">x" : "<" + tag + ">x</" + tag + ">");
    const element = page.find(tag).get(0);
    if (element) all(element).forEach((name) => members.add("Element." + name));
  }
  names["k6/html"].push(...members);
  names.crypto = [...own(crypto).filter((name) => name !== "subtle"), ...own(crypto.subtle).map((name) => "subtle." + name)];
  console.log("NAMES" + JSON.stringify(names));
}`;

/** Parts of k6's own implementation that scripts see, and no documentation has. */
const INTERNAL = new Set(["Selection.url", "Element.element", "Element.selection"]);

describe("names of the real tools", () => {
  before(() => buildK6());

  /** All OCSP constants share the row of the first, and the members of `instance` and `scenario` that of the object. */
  const isListed = (rows, name) =>
    rows.some(([known]) => known === name || known === undefined || known === name.split(".")[0] || known.startsWith(`${name}.`)) || /^OCSP_/.test(name) || /^Element\.\w+_element$/.test(name) || INTERNAL.has(name);

  test("k6: modules, functions and members", async (t) => {
    const folder = folderOf(t, { "a.js": LISTING });
    const { stderr, stdout } = await k6In({ cwd: folder }, "run", "--quiet", "--summary-mode=disabled", "--log-format", "raw", "a.js");
    const printed = /NAMES(\{.*\})/.exec(stderr + stdout);
    assert.ok(printed, stderr);
    for (const [module, names] of Object.entries(JSON.parse(printed[1]))) {
      assert.ok(MODULES[module], `${module} is not in the table`);
      assert.deepEqual(names.filter((name) => !isListed(MODULES[module], name)), [], module);
    }
  });

  test("k6: flags", async (t) => {
    const { stdout } = await k6In({ cwd: folderOf(t, {}) }, "run", "--help");
    const flags = [...stdout.slice(stdout.indexOf("Flags:")).matchAll(/^ +(?:-\w, )?(--[\w-]+)/gm)].map(([, flag]) => flag);
    assert.ok(flags.length > 40, stdout);
    const known = NAMES["k6: flags of run"].filter(([, text]) => text !== "not in k6").map(([name]) => name);
    assert.deepEqual(flags.filter((flag) => flag !== "--help" && !known.includes(flag)), []);
  });

  test("ab: flags", async () => {
    const { stdout, stderr } = await ab("-h");
    const flags = [...`${stdout}${stderr}`.matchAll(/^ +(-\w) /gm)].map(([, flag]) => flag);
    assert.ok(flags.length > 30, stderr);
    const known = NAMES["ab: flags"].map(([name]) => name);
    assert.deepEqual(flags.filter((flag) => !["-h", "-V"].includes(flag) && !known.includes(flag)), []);
  });
});
