// The schemas for editors, as a validator reads them that is not ours.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import Ajv from "ajv";
import { parse } from "yaml";

const ajv = new Ajv({ allowUnionTypes: true, allErrors: true });
const validators = new Map();

function validatorOf(tool) {
  if (!validators.has(tool)) {
    const schema = readFileSync(new URL(`../../../docs/schema/${tool}.json`, import.meta.url), "utf8");
    validators.set(tool, ajv.compile(JSON.parse(schema)));
  }
  return validators.get(tool);
}

/** What the schema says against a file; variables of the environment stand for ones. */
export function complaints(tool, text) {
  const validate = validatorOf(tool);
  const value = parse(text.replace(/<%=.*?%>/g, "1"), { merge: true, customTags: [RUBY_REGEXP] });
  return validate(value) ? [] : validate.errors.map(({ instancePath, message }) => `${instancePath} ${message}`);
}

const RUBY_REGEXP = { tag: "!ruby/regexp", resolve: (text) => text };

/** The schema has nothing against a value. */
export function assertOfShape(name, value) {
  const validate = validatorOf(name);
  assert.ok(validate(value), JSON.stringify(validate.errors, null, 2));
}

/** The schema has nothing against a file. */
export function assertValid(tool, text) {
  assert.deepEqual(complaints(tool, text), [], text);
}
