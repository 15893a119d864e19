// Checks whose functions may be asynchronous.

import { check as checkNow } from "k6";

/** As `check` of k6; a promise of its result when a value or a function's result is a promise. */
export function check(value, conditions, tags = {}) {
  if (isPromise(value)) {
    return value.then((settled) => check(settled, conditions, tags));
  }
  const results = Object.entries(conditions).map(([name, condition]) => checkOne(value, name, condition, tags));
  return results.some(isPromise)
    ? Promise.all(results).then((settled) => settled.every(Boolean))
    : results.every(Boolean);
}

function checkOne(value, name, condition, tags) {
  const report = (result) => checkNow(value, { [name]: Boolean(result) }, tags);
  const fail = (error) => {
    report(false);
    throw error;
  };
  let result;
  try {
    result = typeof condition === "function" ? condition(value) : condition;
  } catch (error) {
    fail(error);
  }
  return isPromise(result) ? result.then(report, fail) : report(result);
}

function isPromise(value) {
  return typeof value?.then === "function";
}
