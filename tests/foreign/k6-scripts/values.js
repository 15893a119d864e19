// What expressions come to, as data that a test can compare: setup returns it.

/** `{ name: what the function gives }`; an exception is one, whatever it says. */
export function valuesOf(functions) {
  const values = {};
  for (const [name, value] of Object.entries(functions)) {
    try {
      values[name] = shown(value());
    } catch {
      values[name] = "an exception";
    }
  }
  return values;
}

function shown(value) {
  if (value === undefined) return "undefined";
  if (value instanceof ArrayBuffer) return `bytes ${Array.from(new Uint8Array(value))}`;
  if (Array.isArray(value)) return value.map(shown);
  if (value && typeof value.nodeName === "function") return `<${value.nodeName()}> ${value.textContent()}`;
  if (value && typeof value.size === "function") return `${value.size()} nodes: ${value.text()}`;
  return value;
}

/** The same of async functions, one after the other; an exception is its name. */
export async function settledValuesOf(functions) {
  const values = {};
  for (const [name, value] of Object.entries(functions)) {
    try {
      values[name] = shown(await value());
    } catch (error) {
      values[name] = `an exception: ${error.name}`;
    }
  }
  return values;
}
