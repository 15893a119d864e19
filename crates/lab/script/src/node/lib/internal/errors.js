// Errors with a code, as Node has them.

/** Makes a class of errors whose name in texts has the code: `TypeError [ERR_X]: …`. */
function coded(Base, code, message, more) {
  const error = new Base(message);
  Object.defineProperty(error, "code", { value: code, enumerable: true, writable: true, configurable: true });
  return Object.assign(error, more);
}

const KINDS = { string: 1, number: 1, boolean: 1, function: 1, bigint: 1, symbol: 1 };

/** The end of a sentence about a wrong value: `Received type number (1)`. */
function received(value) {
  if (value === null || value === undefined) return ` Received ${value}`;
  if (typeof value === "function") return ` Received function ${value.name}`;
  if (typeof value === "object") {
    if (value.constructor?.name) return ` Received an instance of ${value.constructor.name}`;
    return ` Received ${require("util").inspect(value, { depth: -1 })}`;
  }
  let shown = typeof value === "string" ? require("util").inspect(value) : String(value);
  if (typeof value === "bigint") shown += "n";
  if (shown.length > 28) shown = `${shown.slice(0, 25)}...`;
  return ` Received type ${typeof value} (${shown})`;
}

/** `string` is a type, `Buffer` a class. */
function described(expected) {
  const list = Array.isArray(expected) ? expected : [expected];
  const join = (words) => (words.length < 3 ? words.join(" or ") : `${words.slice(0, -1).join(", ")}, or ${words.at(-1)}`);
  const types = list.filter((word) => word in KINDS || word === "Function" || word === "object");
  const others = list.filter((word) => word.startsWith("a"));
  const classes = list.filter((word) => !types.includes(word) && !others.includes(word));
  const parts = [];
  if (types.length > 0) parts.push(`${types.length > 1 ? "one of type" : "of type"} ${join(types).replace("Function", "function")}`);
  if (classes.length > 0) parts.push(`an instance of ${join(classes)}`);
  return [...parts, ...others].join(" or ");
}

exports.coded = coded;
exports.invalidType = (name, expected, value) => {
  const what = name.endsWith(" argument") ? `The ${name}` : name.includes(".") ? `The "${name}" property` : `The "${name}" argument`;
  return coded(TypeError, "ERR_INVALID_ARG_TYPE", `${what} must be ${described(expected)}.${received(value)}`);
};
exports.invalidValue = (name, value, reason = "is invalid") =>
  coded(TypeError, "ERR_INVALID_ARG_VALUE", `The ${name.includes(".") ? "property" : "argument"} '${name}' ${reason}. Received ${require("util").inspect(value)}`);
exports.outOfRange = (name, range, value) => {
  let shown = typeof value === "bigint" ? `${value}n` : typeof value === "number" ? String(value) : require("util").inspect(value);
  // Large numbers have separators, so that people can count the digits.
  if (/^-?\d{4,}n?$/.test(shown) && Math.abs(Number(value)) > 2 ** 32) shown = shown.replace(/(?<=\d)(?=(\d{3})+n?$)/g, "_");
  return coded(RangeError, "ERR_OUT_OF_RANGE", `The value of "${name}" is out of range. It must be ${range}. Received ${shown}`);
};
exports.needFunction = (value, name) => {
  if (typeof value !== "function") throw exports.invalidType(name, "Function", value);
};
exports.absent = (what, instead) => coded(Error, "ERR_FEATURE_UNAVAILABLE_ON_PLATFORM", `${what} does not exist here; ${instead}`);
