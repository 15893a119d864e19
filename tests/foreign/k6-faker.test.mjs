// `k6/x/faker` next to gofakeit, the library behind xk6-faker: the same functions with the same parameters, whose results have
// the same types, and objects with the same properties; only the values differ. And its seeds, and what `check` knows of it.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { promisify } from "node:util";
import { built } from "./support/go.mjs";
import { plimsollIn } from "./support/plimsoll.mjs";
import { folderOf } from "./support/scripts.mjs";

const DECLARATIONS = new URL("../../crates/lab/script/src/modules/types/faker.d.ts", import.meta.url);

/** Arguments for parameters without a default, by type. */
const SAMPLES = { number: "3", string: "'a-##-??'", "string[]": "['one', 'two', 'three']", "number[]": "[14, 8, 13]" };

/** Functions that xk6-faker adds to those of the library; those of Brazil since its version for k6 2. */
const ADDED = /^(br[A-Z]\w+|creditCard(ExpMonth|ExpYear|NumberFormatted))$/;

/** Functions of the library that xk6-faker leaves out. */
const LEFT_OUT = ["csv", "email_text", "fixed_width", "flipacoin", "generate", "imagejpeg", "imagepng", "json", "map", "markdown", "regex", "sql", "svg", "template", "vowel", "weighted", "xml"];

/** Functions whose results have the type that xk6-faker declares, and another one there. */
const AS_DECLARED = /^(niceColors|\w*Error|error|errorObjectWord)$/;

/** `{ firstName: { category: "person", parameters: [], call: "person.firstName()" } }`: the functions of the declarations. */
function declaredFunctions() {
  const declarations = readFileSync(DECLARATIONS, "utf8");
  const functions = {};
  for (const [, first, rest, body] of declarations.matchAll(/interface (\w)(\w*)Functions \{\n([^]*?)\n {2}\}/g)) {
    for (const [, name, list] of body.matchAll(/^ {4}(\w+)\((.*)\): .*;$/gm)) {
      const parameters = list.split(", ").filter(Boolean);
      const required = parameters.filter((parameter) => !parameter.includes("?:"));
      const samples = required.map((parameter) => SAMPLES[parameter.split(": ")[1]]);
      functions[name] = {
        parameters: parameters.map((parameter) => parameter.split(/\??:/)[0]),
        call: `${first.toLowerCase()}${rest}.${name}(${samples.join(", ")})`,
      };
    }
  }
  return functions;
}

/** The type of a value, and of its parts. */
function shapeOf(value) {
  if (Array.isArray(value)) return value.length > 0 ? [shapeOf(value[0])] : [];
  if (typeof value !== "object" || value === null) return typeof value;
  return Object.fromEntries(Object.keys(value).sort().map((key) => [key, shapeOf(value[key])]));
}

/** A value of each function, from a script. */
async function valuesOf(t, functions) {
  const calls = Object.entries(functions).map(([name, { call }]) => `${name}: faker.${call},`);
  const text = `import faker from "k6/x/faker";
export const setup = () => ({ ${calls.join("\n")} });
export default function () {}
export const handleSummary = (data) => ({ "values.json": JSON.stringify(data.setup_data) });
`;
  const cwd = folderOf(t, { "values.js": text });
  const { code, stderr } = await plimsollIn({ cwd }, "run", "--quiet", "values.js");
  assert.equal(code, 0, stderr);
  return JSON.parse(readFileSync(join(cwd, "values.json"), "utf8"));
}

/** The functions of the library by our names. Its names are other ones, and xk6-faker makes its own from its titles. */
async function libraryFunctions(names) {
  const { stdout } = await promisify(execFile)(await built("gofakeit"), { maxBuffer: 2 ** 26 });
  const ours = new Map(names.map((name) => [name.toLowerCase(), name]));
  const nameOf = ([key, { display }]) => ours.get(key) ?? ours.get(display.replaceAll(" ", "").toLowerCase()) ?? key;
  return new Map(Object.entries(JSON.parse(stdout)).map((entry) => [nameOf(entry), entry[1]]));
}

describe("next to gofakeit", () => {
  test("there are the same functions with the same parameters", async () => {
    const functions = declaredFunctions();
    const library = await libraryFunctions(Object.keys(functions));
    const common = Object.keys(functions).filter((name) => !ADDED.test(name));
    assert.deepEqual([...library.keys()].sort(), [...common, ...LEFT_OUT].sort());
    for (const name of common) assert.deepEqual(functions[name].parameters, library.get(name).params, name);
  });

  test("results have the same types", async (t) => {
    const functions = declaredFunctions();
    const values = await valuesOf(t, functions);
    const library = await libraryFunctions(Object.keys(functions));
    assert.equal(Object.keys(values).length, 312);
    for (const [name, { value, error }] of library) {
      if (LEFT_OUT.includes(name) || AS_DECLARED.test(name)) continue;
      assert.equal(error, "", name);
      assert.deepEqual(shapeOf(values[name]), shapeOf(value), name);
    }
  });
});

/** The lines that a script writes to the console. */
async function linesOf(t, text, ...flags) {
  const cwd = folderOf(t, { "script.js": text });
  const { code, stderr } = await plimsollIn({ cwd }, "run", "--quiet", "--log-format", "json", ...flags, "script.js");
  assert.equal(code, 0, stderr);
  const lines = stderr.split("\n").filter((line) => line.startsWith("{")).map((line) => JSON.parse(line));
  return lines.filter(({ source }) => source === "console").map(({ msg }) => msg);
}

describe("seeds", () => {
  const text = `import faker, { Faker } from "k6/x/faker";
const own = new Faker(11);
export const options = { scenarios: { all: { executor: "per-vu-iterations", vus: 2, iterations: 1 } } };
export default function () { console.log(faker.strings.uuid() + " " + own.strings.uuid()) }
`;

  test("all users and runs have the values of the seed", async (t) => {
    const seeded = () => linesOf(t, text, "-e", "XK6_FAKER_SEED=11");
    const lines = [...(await seeded()), ...(await seeded())];
    const [ofDefault, own] = lines[0].split(" ");
    assert.deepEqual(lines, Array(4).fill(lines[0]));
    assert.equal(ofDefault, own);
  });

  test("without a seed all values differ", async (t) => {
    const [first, second] = (await linesOf(t, text)).map((line) => line.split(" "));
    assert.notEqual(first[0], second[0]);
    assert.equal(first[1], second[1]);
  });
});

test("check names functions that do not exist", async (t) => {
  const text = `import { Faker } from "k6/x/faker";
const faker = new Faker(11);
export default function () { faker.person.firstNam(); }
`;
  const cwd = folderOf(t, { "script.js": text });
  const { code, stdout, stderr } = await plimsollIn({ cwd }, "check", "script.js");
  assert.notEqual(code, 0);
  assert.match(stdout + stderr, /`person` of k6\/x\/faker has no `firstNam`; did you mean `firstName`\?/);
});
