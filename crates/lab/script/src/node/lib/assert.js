// `assert`. Messages of unequal values name both; there are no differences line by line.

const { invalidType } = require("internal/errors");
const { isDeepEqual, isDeepStrictEqual } = require("internal/equality");
const { inspect } = require("internal/inspect");

class AssertionError extends Error {
  constructor({ message, actual, expected, operator } = {}) {
    super(message === undefined ? sentence(actual, expected, operator) : String(message));
    this.generatedMessage = message === undefined;
    this.code = "ERR_ASSERTION";
    this.actual = actual;
    this.expected = expected;
    this.operator = operator;
  }

  get name() {
    return "AssertionError";
  }

  toString() {
    return `${this.name} [${this.code}]: ${this.message}`;
  }
}

const SENTENCES = {
  strictEqual: "Expected values to be strictly equal:",
  deepStrictEqual: "Expected values to be strictly deep-equal:",
  deepEqual: "Expected values to be loosely deep-equal:",
  notDeepStrictEqual: 'Expected "actual" not to be strictly deep-equal to:',
  notStrictEqual: 'Expected "actual" to be strictly unequal to:',
  notDeepEqual: 'Expected "actual" not to be loosely deep-equal to:',
};

function sentence(actual, expected, operator) {
  const [a, b] = [actual, expected].map((value) => inspect(value, { depth: 1000, sorted: true, maxArrayLength: Infinity }));
  switch (operator) {
    case "==": case "!=": return `${a} ${operator} ${b}`;
    case "strictEqual": return `${SENTENCES[operator]}\n\n${a} !== ${b}\n`;
    case "notStrictEqual": return `${SENTENCES[operator]}${a.includes("\n") ? "\n\n" : " "}${a}`.replace(/([^\n])$/, typeof actual === "object" && actual !== null ? "$1\n" : "$1");
    case "deepEqual": return `${SENTENCES[operator]}\n\n${a}\n\nshould loosely deep-equal\n\n${b}`;
    case "deepStrictEqual": return `${SENTENCES[operator]}\n\n${a}\n\nshould strictly deep-equal\n\n${b}`;
    case "notDeepEqual": return `${SENTENCES[operator]}\n\n${a}\n\nshould not loosely deep-equal\n\n${b}`;
    case "notDeepStrictEqual": return `${SENTENCES[operator]}${a.includes("\n") ? `\n\n${a}\n` : ` ${a}`}`;
    default: return "Failed";
  }
}

function fail(message, more) {
  if (message instanceof Error) throw message;
  throw new AssertionError({ message, ...more });
}

/** The same with a sentence of this module for when there is no message. */
function failWith(sentence, message, more) {
  if (message !== undefined) fail(message, more);
  throw Object.assign(new AssertionError({ message: sentence, ...more }), { generatedMessage: true });
}

function truthy(n, value, message) {
  if (value) return;
  if (message instanceof Error) throw message;
  if (n === 0) throw Object.assign(new AssertionError({ message: "No value argument passed to `assert.ok()`", actual: value, expected: true, operator: "==" }), { generatedMessage: true });
  const text = message ?? "The expression evaluated to a falsy value";
  const error = new AssertionError({ message: text, actual: value, expected: true, operator: "==" });
  error.generatedMessage = message === undefined;
  throw error;
}

function assert(...args) {
  truthy(args.length, ...args);
}

const comparison = (operator, holds) => (actual, expected, message) => {
  if (!holds(actual, expected)) fail(message, { actual, expected, operator });
};

/** Whether a thrown value is what was expected; throws why not. */
function matches(error, expected, message) {
  if (expected === undefined) return;
  if (expected instanceof RegExp) {
    if (expected.test(String(error))) return;
    fail(message ?? `The input did not match the regular expression ${inspect(expected)}. Input:\n\n${inspect(String(error))}\n`, { actual: error, expected, operator: "throws" });
  }
  if (typeof expected === "function") {
    if (expected.prototype !== undefined && error instanceof expected) return;
    if (Error.isPrototypeOf(expected) || expected === Error) {
      fail(message ?? `The error is expected to be an instance of "${expected.name}". Received "${error?.constructor?.name}"\n\nError message:\n\n${error?.message}`, { actual: error, expected, operator: "throws" });
    }
    if (Reflect.apply(expected, {}, [error]) === true) return;
    fail(message ?? `The ${expected.name ? `"${expected.name}" ` : ""}validation function is expected to return "true". Received false\n\nCaught error:\n\n${error}`, { actual: error, expected, operator: "throws" });
  }
  const keys = [...Object.keys(expected), ...(expected instanceof Error ? ["name", "message"] : [])];
  for (const key of keys) {
    const own = expected[key];
    const isIt = own instanceof RegExp && typeof error?.[key] === "string" ? own.test(error[key]) : isDeepStrictEqual(error?.[key], own);
    if (!isIt) fail(message, { actual: error, expected, operator: "deepStrictEqual" });
  }
}

function expectation(expected, message) {
  return typeof expected === "string" ? [undefined, expected] : [expected, message];
}

const missing = (what, expected, message) => {
  const kind = typeof expected === "function" && expected.name ? ` (${expected.name})` : "";
  return `Missing expected ${what}${kind}${message ? `: ${message}` : "."}`;
};

Object.assign(assert, {
  AssertionError,
  ok: (...args) => truthy(args.length, ...args),
  equal: comparison("==", (a, b) => a == b || (Number.isNaN(a) && Number.isNaN(b))),
  notEqual: comparison("!=", (a, b) => a != b && !(Number.isNaN(a) && Number.isNaN(b))),
  strictEqual: comparison("strictEqual", Object.is),
  notStrictEqual: comparison("notStrictEqual", (a, b) => !Object.is(a, b)),
  deepEqual: comparison("deepEqual", isDeepEqual),
  notDeepEqual: comparison("notDeepEqual", (a, b) => !isDeepEqual(a, b)),
  deepStrictEqual: comparison("deepStrictEqual", isDeepStrictEqual),
  notDeepStrictEqual: comparison("notDeepStrictEqual", (a, b) => !isDeepStrictEqual(a, b)),
  fail: (message) => fail(message ?? "Failed", { operator: "fail" }),
  match(text, expected, message) {
    if (!(expected instanceof RegExp)) throw invalidType("regexp", "RegExp", expected);
    if (typeof text === "string" && expected.test(text)) return;
    const told = typeof text === "string" ? `The input did not match the regular expression ${inspect(expected)}. Input:\n\n${inspect(text)}\n` : `The "string" argument must be of type string. Received type ${typeof text} (${inspect(text)})`;
    failWith(told, message, { actual: text, expected, operator: "match" });
  },
  doesNotMatch(text, expected, message) {
    if (!(expected instanceof RegExp)) throw invalidType("regexp", "RegExp", expected);
    if (typeof text === "string" && !expected.test(text)) return;
    failWith(`The input was expected to not match the regular expression ${inspect(expected)}. Input:\n\n${inspect(text)}\n`, message, { actual: text, expected, operator: "doesNotMatch" });
  },
  throws(run, ...rest) {
    if (typeof run !== "function") throw invalidType("fn", "Function", run);
    const [expected, message] = expectation(...rest);
    let thrown;
    try {
      run();
    } catch (error) {
      thrown = { error };
    }
    if (!thrown) fail(missing("exception", expected, message), { operator: "throws", expected });
    matches(thrown.error, expected, message);
  },
  async rejects(run, ...rest) {
    const [expected, message] = expectation(...rest);
    let thrown;
    try {
      await (typeof run === "function" ? run() : run);
    } catch (error) {
      thrown = { error };
    }
    if (!thrown) fail(missing("rejection", expected, message), { operator: "rejects", expected });
    matches(thrown.error, expected, message);
  },
  doesNotThrow(run, ...rest) {
    const [, message] = expectation(...rest);
    try {
      run();
    } catch (error) {
      fail(`Got unwanted exception${message ? `: ${message}` : "."}\nActual message: "${error?.message}"`, { actual: error, operator: "doesNotThrow" });
    }
  },
  async doesNotReject(run, ...rest) {
    const [, message] = expectation(...rest);
    try {
      await (typeof run === "function" ? run() : run);
    } catch (error) {
      fail(`Got unwanted rejection${message ? `: ${message}` : "."}\nActual message: "${error?.message}"`, { actual: error, operator: "doesNotReject" });
    }
  },
  ifError(value) {
    if (value === null || value === undefined) return;
    const text = typeof value === "object" && typeof value.message === "string" ? value.message || value.constructor.name : inspect(value);
    fail(`ifError got unwanted exception: ${text}`, { actual: value, expected: null, operator: "ifError" });
  },
});
assert.strict = Object.assign((...args) => truthy(args.length, ...args), assert, {
  equal: assert.strictEqual, deepEqual: assert.deepStrictEqual, notEqual: assert.notStrictEqual, notDeepEqual: assert.notDeepStrictEqual,
});
assert.strict.strict = assert.strict;
module.exports = assert;
