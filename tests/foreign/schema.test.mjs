// The schemas for editors, judged by ajv: they take what `plimsoll check` takes, and both refuse the same mistakes. That
// the committed schemas are those of the program, and that its readers go by the same tables, its own tests say.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { plimsollIn } from "./support/plimsoll.mjs";
import { assertValid, complaints } from "./support/schema.mjs";
import { folderOf } from "./support/scripts.mjs";

const COMPLETE = new URL("../../crates/lab/scenario/src/schema/tests/", import.meta.url);
const complete = (tool) => readFileSync(new URL(`${tool}.yml`, COMPLETE), "utf8");

/** What `plimsoll check` makes of a file that stands beside what it names. */
async function check(t, text, ...args) {
  const beside = { "users.csv": "Ada,36\n", "functions.js": "export function one() {}\n" };
  const cwd = folderOf(t, { "file.yml": text, ...beside });
  return await plimsollIn({ cwd }, "check", "file.yml", ...args);
}

for (const tool of ["artillery", "wsdirector"]) {
  test(`${tool}: the program prints the schema that is in the repository`, async () => {
    const { stdout } = await plimsollIn({}, "schema", tool);
    const committed = new URL(`../../docs/schema/${tool}.json`, import.meta.url);
    assert.equal(stdout, readFileSync(committed, "utf8"));
  });

  test(`${tool}: a file with every key is right`, async (t) => {
    assertValid(tool, complete(tool));
    const { code, stderr } = await check(t, complete(tool));
    assert.equal(code, 0, stderr);
  });
}

describe("artillery", () => {
  /** A file with this flow, in an engine. */
  const flow = (engine, step) => `config: {target: "ws://h"}\nscenarios: [{engine: ${engine}, flow: [${step}]}]\n`;
  /** One with this configuration. */
  const config = (entries) => `config: {target: "ws://h", ${entries}}\nscenarios: [{engine: ws, flow: [send: hi]}]\n`;

  for (const [name, text] of [
    ["steps within steps", flow("ws", "[{send: a}, [{think: 0.5s}]], {loop: [{send: [1]}], count: 3}")],
    ["another order", "scenarios: [{flow: [get: {url: /}]}]\nconfig: {target: http://h, phases: [{duration: 2m, arrivalRate: 0.5}]}\n"],
    ["templates", config('variables: {n: 2}, phases: [{duration: "{{ n }}", arrivalRate: "{{ n }}"}]')],
    ["nothing where nothing is needed", config("ws:, http:, tls:, ensure:, plugins: {expect: {}, fake-data:}")],
    ["what Artillery has in two places", config("plugins: {ensure: {}, apdex: {}}, ensure: {p95: 100}, apdex: {threshold: 50}")],
  ]) {
    test(`right: ${name}`, async (t) => {
      assertValid("artillery", text);
      const { code, stderr } = await check(t, text);
      assert.equal(code, 0, stderr);
    });
  }

  for (const [name, text] of [
    ["no scenarios", "config: {target: ws://h}\n"],
    ["an unknown key of the file", `${flow("ws", "send: hi")}setup: {}\n`],
    ["an unknown key of the configuration", config("targett: ws://h")],
    ["an unknown key of a phase", config("phases: [{duration: 1, arrivalRate: 1, maxUsers: 1}]")],
    ["an unknown step", flow("ws", "sned: hi")],
    ["a step of another engine", flow("http", "send: hi")],
    ["two steps in one", flow("ws", "{send: hi, log: hi}")],
    ["what belongs to another step", flow("ws", "{send: hi, count: 3}")],
    ["an unknown key of a request", flow("http", "get: {url: /, querystring: {a: 1}}")],
    ["a request without a URL", flow("http", "get: {json: {a: 1}}")],
    ["two bodies", flow("http", "post: {url: /, json: {a: 1}, body: a}")],
    ["what is not supported", flow("http", "post: {url: /, expect: {xpath: a}}")],
    ["a form part with an unknown key", flow("http", "post: {url: /, formData: {a: {file: x}}}")],
    ["a plugin that is not supported", config("plugins: {memory-inspector: {}}")],
    ["a plugin without what it needs", config("plugins: {slack: {}}")],
    ["a capture of nothing", flow("ws", "send: {payload: a, capture: {as: id}}")],
    ["a capture without a name", flow("ws", "send: {payload: a, capture: {json: $.id}}")],
    ["a duration that is none", flow("ws", "think: soon")],
    ["a rate below zero", config("phases: [{duration: 1, arrivalRate: -1}]")],
    ["a phase with nobody", config("phases: [{duration: 1}, {duration: 1, arrivalRate: 1}]")],
    ["a phase with too much", config("phases: [{duration: 1, arrivalRate: 1, arrivalCount: 1}]")],
    ["a number that is a list", config("timeout: [1]")],
    ["a switch that is a text", config("tls: {rejectUnauthorized: 'no'}")],
    ["an unknown mode", config("mode: linear")],
    ["an environment within another", config("environments: {a: {environments: {}}}")],
    ["a check of nothing", config("ensure: {conditions: [{strict: true}]}")],
    ["nothing to send", flow("ws", "send:")],
  ]) {
    test(`wrong: ${name}`, async (t) => {
      assert.notDeepEqual(complaints("artillery", text), [], "the schema says nothing");
      const { code, stderr } = await check(t, text);
      assert.equal(code, 1, stderr);
    });
  }
});

describe("wsdirector", () => {
  for (const [name, text] of [
    ["steps alone", "- wait_all\n- receive\n- send: {data: hi}\n"],
    ["nothing where nothing is needed", "- client: {name:, actions: [wait_all:, receive:]}\n"],
    ["any data", "- send: {data: [1, {a: null}]}\n- receive: {data: null}\n- receive: {data: 1.5}\n"],
    ["Ruby's regular expressions", "- client: {ignore: !ruby/regexp '/ping/'}\n"],
    ["merged maps", "- client:\n    protocol: action_cable\n    actions:\n      - subscribe: &a {channel: X}\n      - receive: {<<: *a, data: 1}\n"],
  ]) {
    test(`right: ${name}`, async (t) => {
      assertValid("wsdirector", text);
      const { code, stderr } = await check(t, text);
      assert.equal(code, 0, stderr);
    });
  }

  for (const [name, text] of [
    ["no list", "send: {data: hi}\n"],
    ["an unknown step", "- sned: {data: hi}\n"],
    ["two steps in one", "- {send: {data: a}, receive: {data: b}}\n"],
    ["an unknown key of a step", "- receive: {dta: hi}\n"],
    ["an unknown key of a client", "- client: {nmae: a}\n"],
    ["a key beside the client", "- client: {name: a}\n  actions: []\n"],
    ["a step of another protocol", "- client: {protocol: phoenix, actions: [subscribe: {channel: A}]}\n"],
    ["a key of another protocol", "- client: {actions: [receive: {channel: A, data: 1}]}\n"],
    ["a key without the one that it belongs to", "- client: {protocol: action_cable, actions: [receive: {offset: 1}]}\n"],
    ["an unknown protocol", "- client: {protocol: stomp}\n"],
    ["a number that is a text", "- sleep: {time: soon}\n"],
    ["a time below zero", "- sleep: {time: -1}\n"],
    ["an expression that is none", "- send: {data: hi, multiplier: ':scales'}\n"],
    ["a fraction of a client", "- client: {multiplier: 1.5}\n"],
    ["a boolean that is a text", "- receive: {data: a, ordered: 'yes'}\n"],
    ["nothing where something is needed", "- send:\n"],
    ["a name where something is needed", "- send\n"],
    ["whole and part", "- receive: {data: a, 'data>': b}\n"],
    ["actions and a loop", "- client: {actions: [wait_all], loop: {multiplier: 1, actions: []}}\n"],
    ["a sample of all", "- wait_all: {sample: 1}\n"],
    ["a loop without its steps", "- loop: {multiplier: 2}\n"],
  ]) {
    test(`wrong: ${name}`, async (t) => {
      assert.notDeepEqual(complaints("wsdirector", text), [], "the schema says nothing");
      const { code, stderr } = await check(t, text, "--as", "wsdirector");
      assert.equal(code, 104, stderr);
    });
  }
});
