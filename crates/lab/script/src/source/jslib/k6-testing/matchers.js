// The matchers: each says whether a value is as expected, and what of it is shown when it is not.

/** A matcher whose failure shows the expected and the received value. */
function compares(parameters, holds, expectedOf = (expected) => shown(expected)) {
  return {
    parameters,
    match: (received, [expected]) => ({
      holds: holds(received, expected),
      lines: { Expected: expectedOf(expected), Received: shown(received) },
    }),
  };
}

/** A matcher whose failure shows the received value only. */
function describes(holds) {
  return { parameters: [], match: (received) => ({ holds: holds(received), lines: { Received: shown(received) } }) };
}

/** A matcher of numbers. */
function orders(sign, holds) {
  const isNumber = (value) => ["number", "bigint"].includes(typeof value);
  return {
    parameters: ["expected"],
    match: (received, [expected]) =>
      isNumber(received) && isNumber(expected)
        ? { holds: holds(received, expected), lines: { Expected: `${sign} ${shown(expected)}`, Received: shown(received) } }
        : mismatch("number | bigint", isNumber(received) ? expected : received),
  };
}

/** The failure of a matcher that cannot look at such a value. */
function mismatch(expected, received) {
  return { holds: false, lines: { Expected: expected, Received: kindOf(received) } };
}

/** A matcher of an item in a collection. `of` says which collections it looks into. */
function contains(of, isIn) {
  return {
    parameters: ["expected"],
    match: (received, [expected], isNegated) =>
      of.includes(kindOf(received))
        ? {
            holds: isIn(received, expected),
            lines: {
              [isNegated ? "Expected not to contain" : "Expected to contain"]: shown(expected),
              [`Received ${kindOf(received)}`]: shown(received),
            },
          }
        : mismatch(of.join(" | "), received),
  };
}

function isInside(collection, expected) {
  if (typeof collection === "string") return typeof expected === "string" && collection.includes(expected);
  return [...collection].includes(expected);
}

function closeTo(received, [expected, precision = 2]) {
  if (typeof received !== "number") return mismatch("number", received);
  const [limit, difference] = [10 ** -precision / 2, Math.abs(expected - received)];
  return {
    // Two infinities of one sign have no difference that is a number.
    holds: received === expected || difference < limit,
    lines: {
      "Expected precision": String(precision),
      "Expected difference": `< ${limit}`,
      "Received difference": String(difference),
    },
  };
}

function instanceOf(received, [expected]) {
  if (typeof expected !== "function") throw new TypeError(`toBeInstanceOf() needs a class, not ${shown(expected)}`);
  return {
    holds: received instanceof expected,
    lines: { Expected: expected.name, Received: received?.constructor?.name ?? shown(received) },
  };
}

function lengthOf(received, [expected]) {
  const length = typeof received === "string" || kindOf(received) === "array" || typeof received === "object" ? received?.length : undefined;
  if (typeof length !== "number") return mismatch("string | array | object", received);
  return {
    holds: length === expected,
    lines: { "Expected length": shown(expected), "Received length": String(length), "Received value": shown(received) },
  };
}

function property(received, args, isNegated) {
  const [path, expected] = args;
  if (typeof received !== "object" || received === null) return mismatch("object", received);
  const found = reach(received, path);
  const verb = isNegated ? "not to" : "to";
  const lines = { "Property path": String(path) };
  lines[`Expected property ${verb} ${expected === undefined ? "exist" : "equal"}`] = expected === undefined ? "" : shown(expected);
  return {
    holds: found !== null && (expected === undefined || areEqual(found.value, expected)),
    lines: { ...lines, "Received object": shown(received) },
  };
}

const MATCHERS = {
  toBe: compares(["expected"], Object.is),
  toBeCloseTo: { parameters: ["expected", "precision"], match: closeTo },
  toBeDefined: describes((received) => received !== undefined),
  toBeFalsy: describes((received) => !received),
  toBeGreaterThan: orders(">", (received, expected) => received > expected),
  toBeGreaterThanOrEqual: orders(">=", (received, expected) => received >= expected),
  toBeInstanceOf: { parameters: ["expected"], match: instanceOf },
  toBeLessThan: orders("<", (received, expected) => received < expected),
  toBeLessThanOrEqual: orders("<=", (received, expected) => received <= expected),
  toBeNaN: describes(Number.isNaN),
  toBeNull: describes((received) => received === null),
  toBeTruthy: describes(Boolean),
  toBeUndefined: describes((received) => received === undefined),
  toContain: contains(["string", "array", "set"], isInside),
  toContainEqual: contains(["array", "set"], (received, expected) => [...received].some((item) => areEqual(item, expected))),
  toEqual: compares(["expected"], (received, expected) => areEqual(received, expected)),
  toHaveLength: { parameters: ["expected"], match: lengthOf },
  toHaveProperty: { parameters: ["keyPath", "expected"], match: property },
};

/** Matchers of elements in a browser, which wait for them. */
const OF_LOCATORS = [
  "toBeChecked", "toBeDisabled", "toBeEditable", "toBeEmpty", "toBeEnabled", "toBeHidden", "toBeInViewport", "toBeVisible",
  "toContainText", "toHaveAttribute", "toHaveText", "toHaveTitle", "toHaveValue",
];
