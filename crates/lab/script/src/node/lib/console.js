// `console`: lines to the log of the run, formatted as by Node.

const { formatWithOptions, inspect } = require("internal/inspect");

class Console {
  #counts = new Map();
  #times = new Map();
  #indent = "";

  constructor() {
    // So that `const { log } = console` works.
    for (const name of Object.getOwnPropertyNames(Console.prototype)) {
      if (name !== "constructor") this[name] = this[name].bind(this);
    }
  }

  #line(level, args) {
    const text = formatWithOptions({}, ...args);
    native.log(level, this.#indent === "" ? text : text.split("\n").map((line) => this.#indent + line).join("\n"));
  }

  log(...args) { this.#line("info", args); }
  info(...args) { this.#line("info", args); }
  debug(...args) { this.#line("debug", args); }
  warn(...args) { this.#line("warn", args); }
  error(...args) { this.#line("error", args); }
  trace(...args) { this.#line("error", [`Trace${args.length > 0 ? `: ${formatWithOptions({}, ...args)}` : ""}\n${new Error().stack}`.trimEnd()]); }
  dir(value, options) { this.#line("info", [inspect(value, { customInspect: false, ...options })]); }
  dirxml(...args) { this.#line("info", args); }

  assert(isTrue, ...args) {
    if (isTrue) return;
    if (typeof args[0] === "string") args[0] = `Assertion failed: ${args[0]}`;
    else args.unshift("Assertion failed");
    this.#line("warn", args);
  }

  count(label = "default") {
    const n = (this.#counts.get(`${label}`) ?? 0) + 1;
    this.#counts.set(`${label}`, n);
    this.#line("info", [`${label}: ${n}`]);
  }

  countReset(label = "default") { this.#counts.delete(`${label}`); }
  time(label = "default") { this.#times.set(`${label}`, native.now()); }

  #taken(label, args) {
    const begun = this.#times.get(`${label}`);
    if (begun === undefined) return;
    const ms = (native.now() - begun) / 1e6;
    const shown = ms >= 1000 ? `${(ms / 1000).toFixed(3)}s` : `${Number(ms.toFixed(3))}ms`;
    this.#line("info", [`${label}: ${shown}`, ...args]);
  }

  timeLog(label = "default", ...args) { this.#taken(label, args); }

  timeEnd(label = "default") {
    this.#taken(label, []);
    this.#times.delete(`${label}`);
  }

  group(...args) {
    if (args.length > 0) this.#line("info", args);
    this.#indent += "  ";
  }

  groupCollapsed(...args) { this.group(...args); }
  groupEnd() { this.#indent = this.#indent.slice(2); }

  table(data, properties) {
    if (data === null || typeof data !== "object") return this.#line("info", [data]);
    const shown = (value) => inspect(value, { depth: value !== null && typeof value === "object" && !Array.isArray(value) && Object.keys(value).length > 2 ? -1 : 0, maxArrayLength: 3, breakLength: Infinity });
    const columns = [];
    let hasValues = false;
    const rows = Object.entries(data).map(([index, value]) => {
      const cells = {};
      const isPrimitive = value === null || (typeof value !== "object" && typeof value !== "function");
      if (isPrimitive) hasValues = true;
      else {
        for (const key of properties ?? Object.keys(value)) {
          if (!columns.includes(key)) columns.push(key);
          if (Object.hasOwn(value, key)) cells[key] = shown(value[key]);
        }
      }
      return { index, cells, value: isPrimitive ? shown(value) : undefined };
    });
    const heads = ["(index)", ...columns, ...(hasValues ? ["Values"] : [])];
    const lines = rows.map(({ index, cells, value }) => [index, ...columns.map((key) => cells[key] ?? ""), ...(hasValues ? [value ?? ""] : [])]);
    const widths = heads.map((head, i) => Math.max(head.length, ...lines.map((line) => line[i].length)) + 2);
    const rule = (left, middle, right) => left + widths.map((width) => "─".repeat(width)).join(middle) + right;
    const row = (cells) => `│${cells.map((cell, i) => ` ${cell.padEnd(widths[i] - 1)}`).join("│")}│`;
    this.#line("info", [[rule("┌", "┬", "┐"), row(heads), rule("├", "┼", "┤"), ...lines.map(row), rule("└", "┴", "┘")].join("\n")]);
  }
}

const console = new Console();
console.Console = Console;
module.exports = console;
