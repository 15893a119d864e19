// The schemas for editors, judged by ajv: they take what `plimsoll check` takes, and both refuse the same mistakes. That
// the committed schemas are those of the program, and that its readers go by the same tables, its own tests say.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { plimsollIn } from "./support/plimsoll.mjs";
import { assertValid, complaints } from "./support/schema.mjs";
import { folderOf } from "./support/scripts.mjs";

const COMPLETE = new URL("../../crates/scenario/src/schema/tests/", import.meta.url);
const complete = (tool) => readFileSync(new URL(`${tool}.yml`, COMPLETE), "utf8");

/** What `plimsoll check` makes of a file. */
async function check(t, text, ...args) {
  const cwd = folderOf(t, { "file.yml": text });
  return await plimsollIn({ cwd }, "check", "file.yml", ...args);
}

describe("wsdirector", () => {
  test("the program prints the schema that is in the repository", async () => {
    const { stdout } = await plimsollIn({}, "schema", "wsdirector");
    const committed = new URL("../../docs/schema/wsdirector.json", import.meta.url);
    assert.equal(stdout, readFileSync(committed, "utf8"));
  });

  test("a file with every key is right", async (t) => {
    assertValid("wsdirector", complete("wsdirector"));
    const { code, stderr } = await check(t, complete("wsdirector"));
    assert.equal(code, 0, stderr);
  });

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
