// Values of assertions: whether two are equal, what a path leads to, and how they are shown.

/** Whether two values are equal in depth: by own properties, and by content for dates, patterns, maps, sets and bytes. */
function areEqual(one, other, seen = new Map()) {
  if (Object.is(one, other) || one === other) return true;
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) return false;
  if (seen.get(one) === other) return true;
  seen.set(one, other);
  if (one instanceof Date && other instanceof Date) return Object.is(one.getTime(), other.getTime());
  if (one instanceof RegExp && other instanceof RegExp) return String(one) === String(other);
  if (one instanceof Map && other instanceof Map) return areEqual([...one], [...other], seen);
  if (one instanceof Set && other instanceof Set) return areEqual([...one], [...other], seen);
  if (one instanceof ArrayBuffer && other instanceof ArrayBuffer) {
    return areEqual(new Uint8Array(one), new Uint8Array(other), seen);
  }
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const keys = Object.keys(one);
  return keys.length === Object.keys(other).length
    && keys.every((key) => Object.hasOwn(other, key) && areEqual(one[key], other[key], seen));
}

/** The steps of a path such as `a.b[0].c`; null for a text that is no path. */
function stepsOf(path) {
  const text = String(path);
  const steps = text.match(/[^.[\]]+|\[[^[\]]*\]/g) ?? [];
  const isWhole = text.replace(/[^.[\]]+|\[[^[\]]*\]|\./g, "") === "";
  return isWhole && steps.length > 0 ? steps.map((step) => step.replace(/^\[|\]$/g, "")) : null;
}

/** What a path leads to, as `{ value }`; null if there is nothing. */
function reach(object, path) {
  const steps = stepsOf(path);
  if (steps === null) return null;
  let value = object;
  for (const step of steps) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, step)) return null;
    value = value[step];
  }
  return { value };
}

/** A value as people read it. */
function shown(value) {
  switch (typeof value) {
    case "undefined":
    case "number":
    case "symbol":
    case "boolean":
      return String(value);
    case "bigint":
      return `${value}n`;
    case "function":
      return `[Function: ${value.name || "anonymous"}]`;
    case "string":
      return JSON.stringify(value);
  }
  if (value instanceof Date) return `Date(${Number.isNaN(value.getTime()) ? "<invalid date>" : value.toISOString()})`;
  if (value instanceof RegExp) return String(value);
  if (value instanceof Set || value instanceof Map) return `${value.constructor.name} ${asJson([...value])}`;
  const name = value?.constructor?.name;
  return name && name !== "Object" && name !== "Array" ? `${name} ${asJson(value)}` : asJson(value);
}

function asJson(value) {
  try {
    return JSON.stringify(value, (_, inner) => (typeof inner === "bigint" ? `${inner}n` : inner), 2);
  } catch (error) {
    return `[${error.message}]`;
  }
}

/** The type of a value, or its class. */
function kindOf(value) {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return value instanceof Set ? "set" : typeof value;
}
