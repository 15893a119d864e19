// Values as texts for people: `util.inspect` and `util.format`, in the layout that Node's users know.

const custom = Symbol.for("nodejs.util.inspect.custom");
const DEFAULTS = {
  showHidden: false, depth: 2, colors: false, customInspect: true, showProxy: false, maxArrayLength: 100, maxStringLength: 10_000,
  breakLength: 128, compact: 3, sorted: false, getters: false, numericSeparator: false,
};
const STYLES = {
  special: [36, 39], number: [33, 39], bigint: [33, 39], boolean: [33, 39], undefined: [90, 39], null: [1, 22], string: [32, 39],
  symbol: [32, 39], date: [35, 39], regexp: [31, 39], module: [4, 24],
};
const NAME = /^[a-zA-Z_][a-zA-Z_0-9]*$/;
// eslint-disable-next-line no-control-regex
const ESCAPES = /\u001b\[[\d;]*m/g;

const widthOf = (text) => text.replace(ESCAPES, "").length;

function quoted(text) {
  const quote = !text.includes("'") ? "'" : !text.includes('"') ? '"' : !text.includes("`") && !text.includes("${") ? "`" : "'";
  const short = { "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r", "\\": "\\\\" };
  let shown = "";
  for (const c of text) {
    const code = c.codePointAt(0);
    if (c === quote) shown += `\\${c}`;
    else if (short[c]) shown += short[c];
    else if (code < 32 || (code > 126 && code < 160)) shown += `\\x${code.toString(16).toUpperCase().padStart(2, "0")}`;
    else if (code >= 0xd800 && code <= 0xdfff) shown += `\\u${code.toString(16).toUpperCase()}`;
    else shown += c;
  }
  return quote + shown + quote;
}

const numberOf = (value) => (Object.is(value, -0) ? "-0" : `${value}`);

function primitive(value, ctx) {
  switch (typeof value) {
    case "string": {
      let rest = "";
      if (value.length > ctx.maxStringLength) {
        const n = value.length - ctx.maxStringLength;
        value = value.slice(0, ctx.maxStringLength);
        rest = `... ${n} more character${n > 1 ? "s" : ""}`;
      }
      if (ctx.compact !== true && value.length > 16 && value.length > ctx.breakLength - ctx.indentation - 4) {
        const lines = value.split(/(?<=\n)/).map((line) => ctx.paint(quoted(line), "string"));
        return lines.join(` +\n${" ".repeat(ctx.indentation + 2)}`) + rest;
      }
      return ctx.paint(quoted(value), "string") + rest;
    }
    case "number": return ctx.paint(numberOf(value), "number");
    case "bigint": return ctx.paint(`${value}n`, "bigint");
    case "boolean": return ctx.paint(`${value}`, "boolean");
    case "undefined": return ctx.paint("undefined", "undefined");
    default: return ctx.paint(Symbol.prototype.toString.call(value), "symbol");
  }
}

/** The name of the class; null for an object without a prototype. */
function classOf(value) {
  for (let at = value; at; at = Object.getPrototypeOf(at)) {
    const own = Object.getOwnPropertyDescriptor(at, "constructor");
    if (typeof own?.value === "function" && own.value.name !== "" && isInstance(value, own.value)) return own.value.name;
  }
  return null;
}

function isInstance(value, of) {
  try {
    return value instanceof of;
  } catch {
    return false;
  }
}

function tagOf(value, name) {
  const tag = value[Symbol.toStringTag];
  return typeof tag === "string" && tag !== "" && tag !== name ? ` [${tag}]` : "";
}

/** `Name(size) [tag] ` before the braces. */
function prefix(name, value, fallback, size = "") {
  const tag = tagOf(value, name ?? fallback);
  if (name === null) return `[${fallback}${size}: null prototype]${tag} `;
  return `${name}${size}${tag} `;
}

function keysOf(value, showHidden) {
  const symbols = Object.getOwnPropertySymbols(value);
  if (showHidden) return [...Object.getOwnPropertyNames(value), ...symbols];
  let names;
  try {
    names = Object.keys(value);
  } catch {
    // A module that is not evaluated yet.
    names = Object.getOwnPropertyNames(value);
  }
  return [...names, ...symbols.filter((key) => Object.prototype.propertyIsEnumerable.call(value, key))];
}

function nameOfKey(key, ctx) {
  if (typeof key === "symbol") return ctx.paint(`[${Symbol.prototype.toString.call(key)}]`, "symbol");
  if (key === "__proto__") return "['__proto__']";
  return NAME.test(key) ? key : ctx.paint(quoted(key), "string");
}

function property(ctx, value, key, levels, isItem) {
  const own = Object.getOwnPropertyDescriptor(value, key) ?? { value: value[key], enumerable: true };
  let shown;
  if (own.value !== undefined || !(own.get || own.set)) {
    const diff = ctx.compact !== true || isItem ? 2 : 3;
    ctx.indentation += diff;
    shown = format(ctx, own.value, levels);
    ctx.indentation -= diff;
  } else if (own.get) {
    shown = ctx.paint(own.set ? "[Getter/Setter]" : "[Getter]", "special");
  } else shown = ctx.paint("[Setter]", "special");
  if (isItem) return shown;
  const name = nameOfKey(key, ctx);
  return `${own.enumerable === false ? `[${String(key)}]` : name}: ${shown}`;
}

function functionBase(value, name, tag) {
  const text = Function.prototype.toString.call(value);
  if (text.startsWith("class") && text.endsWith("}")) {
    const parent = Object.getPrototypeOf(value);
    const own = Object.hasOwn(value, "name") && value.name !== "" ? value.name : "(anonymous)";
    return `[class ${own}${parent?.name ? ` extends ${parent.name}` : parent === null ? " extends [null prototype]" : ""}]`;
  }
  const kind = Object.prototype.toString.call(value).slice(8, -1);
  const own = value.name === "" ? " (anonymous)" : `: ${value.name}`;
  let base = `[${kind}${own}]`;
  if (name === null) base += " [null prototype]";
  return tag !== "" && tag !== ` [${kind}]` ? `${base}${tag}` : base;
}

/** The text of an error; the engine's stack has no first line. */
function errorText(error) {
  const name = error.name === undefined || error.name === null ? "Error" : String(error.name);
  const message = error.message === undefined ? "" : String(error.message);
  let own = name;
  const isBuiltIn = error.constructor?.name !== undefined && Object.hasOwn(error, "code") && error.code && /^ERR_/.test(error.code);
  if (isBuiltIn && !Object.hasOwn(error, "name")) own = `${name} [${error.code}]`;
  const head = message === "" ? own : `${own}: ${message}`;
  const stack = typeof error.stack === "string" ? error.stack.trimEnd() : "";
  if (stack.startsWith(head)) return stack;
  return stack === "" ? `[${head}]` : `${head}\n${stack}`;
}

const mapsAndSets = (value) => (value instanceof Map ? "Map" : value instanceof Set ? "Set" : null);

function raw(ctx, value, levels) {
  const name = classOf(value);
  const keys = keysOf(value, ctx.showHidden);
  let braces = ["{", "}"];
  let base = "";
  let items = () => [];
  let isArrayLike = false;
  let own = keys;
  const isIndex = (key) => typeof key === "string" && /^(0|[1-9]\d*)$/.test(key) && Number(key) < 2 ** 32 - 1;
  if (Array.isArray(value)) {
    own = keys.filter((key) => !isIndex(key));
    braces = [`${name === "Array" && tagOf(value, "Array") === "" ? "" : prefix(name, value, "Array", `(${value.length})`)}[`, "]"];
    if (value.length === 0 && own.length === 0) return `${braces[0]}]`;
    isArrayLike = true;
    items = () => arrayItems(ctx, value, levels);
  } else if (mapsAndSets(value)) {
    const kind = mapsAndSets(value);
    braces = [`${prefix(name, value, kind, `(${value.size})`)}{`, "}"];
    if (value.size === 0 && own.length === 0) return `${braces[0]}}`;
    items = () => collectionItems(ctx, value, levels, kind);
  } else if (ArrayBuffer.isView(value) && !(value instanceof DataView)) {
    own = keys.filter((key) => !isIndex(key));
    braces = [`${prefix(name, value, "TypedArray", `(${value.length})`)}[`, "]"];
    if (value.length === 0 && own.length === 0 && !ctx.showHidden) return `${braces[0]}]`;
    isArrayLike = true;
    items = () => {
      const shown = [];
      const most = Math.min(Math.max(0, ctx.maxArrayLength), value.length);
      for (let i = 0; i < most; i++) shown.push(typeof value[i] === "bigint" ? ctx.paint(`${value[i]}n`, "bigint") : ctx.paint(numberOf(value[i]), "number"));
      if (value.length > most) shown.push(more(value.length - most, "item"));
      return shown;
    };
  } else if (typeof value === "function") {
    base = functionBase(value, name, tagOf(value, name));
    if (own.length === 0) return ctx.paint(base, "special");
  } else if (Object.prototype.toString.call(value) === "[object Arguments]") {
    braces = ["[Arguments] {", "}"];
    if (own.length === 0) return "[Arguments] {}";
  } else if (value instanceof RegExp) {
    base = RegExp.prototype.toString.call(value);
    if (own.length === 0) return ctx.paint(base, "regexp");
  } else if (value instanceof Date) {
    base = Number.isNaN(value.getTime()) ? "Invalid Date" : value.toISOString();
    if (own.length === 0) return ctx.paint(base, "date");
  } else if (value instanceof Error) {
    own = keys.filter((key) => !["stack", "message"].includes(key) && !(key === "name" && String(value.stack).includes(value.name)));
    if (Object.hasOwn(value, "cause") && !own.includes("cause")) own.push("cause");
    if (Array.isArray(value.errors) && !own.includes("errors")) own.push("errors");
    base = errorText(value);
    if (ctx.indentation > 0) base = base.split("\n").join(`\n${" ".repeat(ctx.indentation)}`);
    if (own.length === 0) return base;
  } else if (value instanceof ArrayBuffer) {
    braces = [`${prefix(name, value, "ArrayBuffer")}{`, "}"];
    items = () => {
      const bytes = [...new Uint8Array(value).subarray(0, Math.min(50, ctx.maxArrayLength))];
      let hex = bytes.map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
      if (value.byteLength > bytes.length) hex += ` ... ${value.byteLength - bytes.length} more byte${value.byteLength - bytes.length > 1 ? "s" : ""}`;
      return [`${ctx.paint("[Uint8Contents]", "special")}: <${hex}>`, `byteLength: ${ctx.paint(`${value.byteLength}`, "number")}`];
    };
  } else if (value instanceof DataView) {
    braces = [`${prefix(name, value, "DataView")}{`, "}"];
    items = () => ["byteLength", "byteOffset", "buffer"].map((key) => {
      ctx.indentation += 2;
      const shown = `${key}: ${format(ctx, value[key], levels)}`;
      ctx.indentation -= 2;
      return shown;
    });
  } else if (value instanceof Promise) {
    braces = [`${prefix(name, value, "Promise")}{`, "}"];
    items = () => {
      const [state, result] = native.promiseState(value);
      if (state === "pending") return [ctx.paint("<pending>", "special")];
      ctx.indentation += 2;
      const shown = format(ctx, result, levels);
      ctx.indentation -= 2;
      return [state === "rejected" ? `${ctx.paint("<rejected>", "special")} ${shown}` : shown];
    };
  } else if (value instanceof WeakSet || value instanceof WeakMap) {
    braces = [`${prefix(name, value, value instanceof WeakSet ? "WeakSet" : "WeakMap")}{`, "}"];
    items = () => [ctx.paint("<items unknown>", "special")];
  } else if (value instanceof Number || value instanceof String || value instanceof Boolean || value instanceof Symbol || value instanceof BigInt) {
    const kind = ["Number", "String", "Boolean", "Symbol", "BigInt"].find((kind) => value instanceof globalThis[kind]);
    if (kind === "String") own = keys.filter((key) => !isIndex(key));
    const plain = { ...ctx, paint: (text) => text };
    base = `[${kind}${name === kind ? "" : name === null ? " (null prototype)" : ` (${name})`}: ${primitive(value.valueOf(), plain)}]`;
    if (own.length === 0) return ctx.paint(base, kind.toLowerCase());
  } else if (Object.prototype.toString.call(value) === "[object Module]") {
    braces = ["[Module: null prototype] {", "}"];
  } else if (/^\[object (Map|Set) Iterator\]$/.test(Object.prototype.toString.call(value))) {
    braces = [`[${value[Symbol.toStringTag]}] {`, "}"];
  } else {
    if (own.length === 0) return `${name === "Object" && tagOf(value, "Object") === "" ? "" : prefix(name, value, "Object")}{}`;
    braces = [`${name === "Object" && tagOf(value, "Object") === "" ? "" : prefix(name, value, "Object")}{`, "}"];
  }
  if (levels > ctx.depth) {
    const shown = Array.isArray(value) ? "Array" : prefix(name, value, "Object").trimEnd();
    return ctx.paint(`[${shown}]`, "special");
  }
  ctx.seen.push(value);
  ctx.level = levels;
  const output = items();
  for (const key of own) output.push(property(ctx, value, key, levels + 1, false));
  ctx.seen.pop();
  if (ctx.circular?.has(value)) {
    const mark = ctx.paint(`<ref *${ctx.circular.get(value)}>`, "special");
    if (ctx.compact !== true) base = base === "" ? mark : `${mark} ${base}`;
    else braces[0] = `${mark} ${braces[0]}`;
  }
  if (ctx.sorted) {
    const compare = ctx.sorted === true ? undefined : ctx.sorted;
    const n = output.length - own.length;
    output.push(...output.splice(n).sort(compare));
  }
  return joined(ctx, output, base, braces, isArrayLike, levels, value);
}

const more = (n, what) => `... ${n} more ${what}${n > 1 ? "s" : ""}`;

function arrayItems(ctx, value, levels) {
  const most = Math.min(Math.max(0, ctx.maxArrayLength), value.length);
  const shown = [];
  let at = 0;
  while (at < value.length && shown.length < most) {
    if (Object.hasOwn(value, at)) {
      shown.push(property(ctx, value, String(at), levels + 1, true));
      at++;
      continue;
    }
    const begin = at;
    while (at < value.length && !Object.hasOwn(value, at)) at++;
    shown.push(ctx.paint(`<${at - begin} empty item${at - begin > 1 ? "s" : ""}>`, "undefined"));
  }
  if (at < value.length) shown.push(more(value.length - at, "item"));
  return shown;
}

function collectionItems(ctx, value, levels, kind) {
  const shown = [];
  const most = Math.min(Math.max(0, ctx.maxArrayLength), value.size);
  ctx.indentation += 2;
  const entries = kind === "Map" ? Map.prototype.entries.call(value) : Set.prototype.values.call(value);
  for (const entry of entries) {
    if (shown.length >= most) break;
    shown.push(kind === "Map" ? `${format(ctx, entry[0], levels + 1)} => ${format(ctx, entry[1], levels + 1)}` : format(ctx, entry, levels + 1));
  }
  if (value.size > most) shown.push(more(value.size - most, "item"));
  ctx.indentation -= 2;
  return shown;
}

/** Puts short items of a long list into columns. */
function columns(ctx, output, value) {
  const n = ctx.maxArrayLength < output.length ? output.length - 1 : output.length;
  const separator = 2;
  const widths = output.slice(0, n).map((item) => (ctx.colors ? widthOf(item) : item.length));
  const longest = Math.max(0, ...widths);
  const total = widths.reduce((sum, width) => sum + width + separator, 0);
  const widest = longest + separator;
  if (!(widest * 3 + ctx.indentation < ctx.breakLength && (total / widest > 5 || longest <= 6))) return output;
  const bias = Math.sqrt(widest - total / output.length);
  const biased = Math.max(widest - 3 - bias, 1);
  const count = Math.min(
    Math.round(Math.sqrt(2.5 * biased * n) / biased),
    Math.floor((ctx.breakLength - ctx.indentation) / widest),
    ctx.compact * 4,
    15,
  );
  if (count <= 1) return output;
  const lines = [];
  const columnWidths = [];
  for (let column = 0; column < count; column++) {
    let width = 0;
    for (let i = column; i < n; i += count) width = Math.max(width, widths[i]);
    columnWidths.push(width + separator);
  }
  const isRight = value !== undefined && value.length > 0 && Array.prototype.every.call(value, (item) => typeof item === "number" || typeof item === "bigint");
  const pad = (text, width) => (isRight ? " ".repeat(Math.max(0, width - widthOf(text))) + text : text + " ".repeat(Math.max(0, width - widthOf(text))));
  for (let i = 0; i < n; i += count) {
    const end = Math.min(i + count, n);
    let line = "";
    for (let j = i; j < end - 1; j++) line += pad(`${output[j]}, `, columnWidths[j - i]);
    line += isRight ? pad(output[end - 1], columnWidths[end - 1 - i] - separator) : output[end - 1];
    lines.push(line);
  }
  if (n < output.length) lines.push(output[n]);
  return lines;
}

function joined(ctx, output, base, braces, isArrayLike, levels, value) {
  if (ctx.compact !== true) {
    if (typeof ctx.compact === "number" && ctx.compact >= 1) {
      const n = output.length;
      if (isArrayLike && n > 6) output = columns(ctx, output, value);
      if (ctx.level - levels < ctx.compact && n === output.length) {
        const start = output.length + ctx.indentation + braces[0].length + base.length + 10;
        const length = output.reduce((sum, item) => sum + widthOf(item), output.length + start);
        if (length <= ctx.breakLength && !base.includes("\n")) {
          const line = output.join(", ");
          if (!line.includes("\n")) return `${base ? `${base} ` : ""}${braces[0]} ${line} ${braces[1]}`;
        }
      }
    }
    const indent = `\n${" ".repeat(ctx.indentation)}`;
    return `${base ? `${base} ` : ""}${braces[0]}${indent}  ${output.join(`,${indent}  `)}${indent}${braces[1]}`;
  }
  const length = output.reduce((sum, item) => sum + widthOf(item), output.length + braces[0].length);
  if (length <= ctx.breakLength && !base.includes("\n")) return `${braces[0]}${base ? ` ${base}` : ""} ${output.join(", ")} ${braces[1]}`;
  const indent = `\n${" ".repeat(ctx.indentation)}`;
  return `${base ? `${base} ` : ""}${braces[0]}${base === "" && braces[0].length === 1 ? " " : `${indent}  `}${output.join(`,${indent}  `)} ${braces[1]}`;
}

function format(ctx, value, levels) {
  if (value === null) return ctx.paint("null", "null");
  if (typeof value !== "object" && typeof value !== "function") return primitive(value, ctx);
  const own = ctx.customInspect ? value[custom] : undefined;
  if (typeof own === "function" && own !== inspect && !(value.constructor?.prototype === value)) {
    const depth = ctx.depth === Infinity || ctx.depth === null ? ctx.depth : ctx.depth - levels;
    const options = { ...ctx.options, depth, stylize: ctx.paint };
    const shown = own.call(value, depth, options, inspect);
    if (shown !== value) {
      return typeof shown === "object" || typeof shown === "function" || typeof shown !== "string"
        ? format(ctx, shown, levels)
        : shown.replaceAll("\n", `\n${" ".repeat(ctx.indentation)}`);
    }
  }
  if (ctx.seen.includes(value)) {
    ctx.circular ??= new Map();
    if (!ctx.circular.has(value)) ctx.circular.set(value, ctx.circular.size + 1);
    return ctx.paint(`[Circular *${ctx.circular.get(value)}]`, "special");
  }
  return raw(ctx, value, levels);
}

function contextOf(options) {
  const all = { ...DEFAULTS, ...options };
  if (all.depth === null) all.depth = Infinity;
  if (all.maxArrayLength === null) all.maxArrayLength = Infinity;
  if (all.maxStringLength === null) all.maxStringLength = Infinity;
  const paint = (text, style) => {
    const codes = all.colors ? STYLES[style] : undefined;
    return codes ? `\u001b[${codes[0]}m${text}\u001b[${codes[1]}m` : text;
  };
  return { ...all, options: all, paint, seen: [], indentation: 0, level: 0, circular: undefined };
}

function inspect(value, options, ...rest) {
  let given = { breakLength: 80 };
  if (typeof options === "boolean") {
    given = { ...given, showHidden: options };
    if (rest[0] !== undefined) given.depth = rest[0];
    if (rest[1] !== undefined) given.colors = rest[1];
  } else given = { ...given, ...options };
  return format(contextOf(given), value, 0);
}
inspect.custom = custom;
inspect.defaultOptions = DEFAULTS;
inspect.colors = Object.assign(Object.create(null), {
  reset: [0, 0], bold: [1, 22], dim: [2, 22], italic: [3, 23], underline: [4, 24], inverse: [7, 27], black: [30, 39], red: [31, 39],
  green: [32, 39], yellow: [33, 39], blue: [34, 39], magenta: [35, 39], cyan: [36, 39], white: [37, 39], gray: [90, 39], grey: [90, 39],
});
inspect.styles = Object.assign(Object.create(null), {
  special: "cyan", number: "yellow", bigint: "yellow", boolean: "yellow", undefined: "grey", null: "bold", string: "green",
  symbol: "green", date: "magenta", regexp: "red", module: "underline",
});

/** Whether an object has a text of its own, so that `%s` uses it. */
function hasOwnText(value) {
  if (typeof value[Symbol.toPrimitive] === "function" && Object.prototype.toString.call(value) !== "[object Date]") return true;
  if (typeof value.toString !== "function" || value.toString === Object.prototype.toString || value.toString === Array.prototype.toString) return false;
  if (value instanceof Error || value instanceof Date) return Object.hasOwn(value, "toString");
  if (Object.hasOwn(value, "toString")) return true;
  const builtIn = ["RegExp", "Map", "Set", "Promise", "Function", "ArrayBuffer"];
  let at = value;
  while (at && !Object.hasOwn(at, "toString")) at = Object.getPrototypeOf(at);
  return at !== null && !builtIn.includes(at.constructor?.name);
}

function percent(kind, value, options) {
  switch (kind) {
    case "s":
      if (typeof value === "number") return numberOf(value);
      if (typeof value === "bigint") return `${value}n`;
      if (typeof value === "object" && value !== null && !hasOwnText(value)) return inspect(value, { ...options, depth: 0, colors: false, compact: 3 });
      return String(value);
    case "d":
      if (typeof value === "bigint") return `${value}n`;
      return typeof value === "symbol" ? "NaN" : numberOf(Number(value));
    case "i":
      if (typeof value === "bigint") return `${value}n`;
      return typeof value === "symbol" ? "NaN" : numberOf(Number.parseInt(value));
    case "f":
      return typeof value === "symbol" ? "NaN" : numberOf(Number.parseFloat(value));
    case "j":
      try {
        return JSON.stringify(value);
      } catch (error) {
        if (/circular|cyclic/i.test(error.message)) return "[Circular]";
        throw error;
      }
    case "O": return inspect(value, options);
    case "o": return inspect(value, { ...options, showHidden: true, showProxy: true, depth: 4 });
    default: return "";
  }
}

function formatWithOptions(options, ...args) {
  let text = "";
  let used = 0;
  if (typeof args[0] === "string") {
    if (args.length === 1) return args[0];
    used = 1;
    text = args[0].replace(/%[sdifjoOc%]/g, (mark) => {
      if (mark === "%%") return "%";
      return used < args.length ? percent(mark[1], args[used++], options) : mark;
    });
  }
  const rest = args.slice(used).map((value) => (typeof value === "string" ? value : inspect(value, { ...options, compact: 3, colors: options.colors ?? false, depth: options.depth ?? 2 })));
  return used > 0 ? [text, ...rest].join(" ") : rest.join(" ");
}

module.exports = { inspect, format: (...args) => formatWithOptions({}, ...args), formatWithOptions, ESCAPES };
