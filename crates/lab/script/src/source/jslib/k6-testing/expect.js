// Assertions that end the test, or mark it as failed.

import exec from "k6/execution";

class AssertionFailedError extends Error {
  name = "AssertionFailedError";
}

/** The choices of settings that have few values. */
const CHOICES = { display: ["pretty", "inline"], softMode: ["fail", "throw"] };

/** Settings of the environment that `K6_TESTING_*` overrides. */
function ofEnvironment() {
  const settings = {};
  const { K6_TESTING_COLORIZE: colorize, K6_TESTING_DISPLAY: display, K6_TESTING_SOFT_MODE: softMode } = __ENV;
  if (colorize !== undefined) settings.colorize = colorize.toLowerCase() !== "false";
  if (display !== undefined) settings.display = chosen("K6_TESTING_DISPLAY", display.toLowerCase(), CHOICES.display);
  if (softMode !== undefined) settings.softMode = chosen("K6_TESTING_SOFT_MODE", softMode.toLowerCase(), CHOICES.softMode);
  for (const name of ["timeout", "interval"]) {
    const variable = `K6_TESTING_${name.toUpperCase()}`;
    if (__ENV[variable] !== undefined) settings[name] = milliseconds(variable, __ENV[variable]);
  }
  return settings;
}

function chosen(name, value, choices) {
  if (!choices.includes(value)) throw new Error(`${name} is ${JSON.stringify(value)}; expected ${choices.join(" or ")}`);
  return value;
}

function milliseconds(name, value) {
  const number = Number(value);
  if (value === "" || !Number.isFinite(number) || number < 0) {
    throw new Error(`${name} is ${JSON.stringify(value)}; expected a number of milliseconds, for example 5000`);
  }
  return number;
}

function makeExpect(given = {}) {
  const defaults = { soft: false, softMode: SOFT_MODE, colorize: true, display: "pretty", timeout: 5000, interval: 100 };
  const wanted = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  const settings = { ...defaults, ...ofEnvironment(), ...wanted };
  for (const [name, choices] of Object.entries(CHOICES)) chosen(name, settings[name], choices);
  const made = (value, message) => expectation(value, message, settings, false);
  made.soft = (value, message) => expectation(value, message, { ...settings, soft: true }, false);
  made.configure = (changes = {}) => makeExpect({ ...changes });
  Object.defineProperty(made, "config", { get: () => ({ ...settings }), enumerable: true });
  return made;
}

function expectation(received, message, settings, isNegated) {
  const made = {
    get not() {
      return expectation(received, message, settings, !isNegated);
    },
  };
  for (const [name, { parameters, match }] of Object.entries(MATCHERS)) {
    made[name] = (...args) => {
      const { holds, lines } = match(received, args, isNegated);
      if (holds === isNegated) fail(messageOf({ name, parameters, args, isNegated, message }, lines, settings), settings);
    };
  }
  for (const name of OF_LOCATORS) {
    made[name] = () => {
      throw new TypeError(`${name}() is for elements of a page in a browser (k6/browser), which is not supported`);
    };
  }
  return made;
}

function fail(text, { soft, softMode }) {
  if (!soft) exec.test.abort(text);
  if (softMode === "throw") throw new AssertionFailedError(text);
  exec.test.fail(text);
}

const standard = makeExpect();

/** An assertion about a value: `expect(response.status).toBe(200)`. */
export function expect(value, message) {
  return standard(value, message);
}
Object.defineProperties(expect, Object.getOwnPropertyDescriptors({ soft: standard.soft, configure: standard.configure }));
Object.defineProperty(expect, "config", Object.getOwnPropertyDescriptor(standard, "config"));
