// A failed assertion in words: one line per fact, in columns or as `key=value`.

const COLORS = { red: 31, green: 32, white: 37, gray: 90 };

/** The message of a failed assertion. `call` is `{ name, parameters, args, isNegated, message }`. */
function messageOf(call, lines, settings) {
  const paint = settings.colorize ? (text, color) => `\u001b[${COLORS[color]}m${text}\u001b[0m` : (text) => text;
  const place = placeOfCall();
  const groups = [
    { Error: call.message ?? written(call, paint), At: place.at },
    mapOf(lines, (name, value) => (value === "" ? "" : paint(value, colorOf(name)))),
    { Filename: place.file, Line: place.line },
  ];
  return settings.display === "inline" ? inline(groups) : pretty(groups);
}

function mapOf(lines, change) {
  return Object.fromEntries(Object.entries(lines).map(([name, value]) => [name, change(name, value)]));
}

function colorOf(name) {
  if (name === "Property path") return "white";
  return name.startsWith("Received") ? "red" : "green";
}

/** The call as the script wrote it: `expect(received).not.toBe(expected)`. */
function written({ name, parameters, args, isNegated }, paint) {
  const given = parameters.slice(0, args.length).map((parameter) => paint(parameter, "green"));
  const [open, dot, close] = ["expect(", ").", ")"].map((text) => paint(text, "gray"));
  const method = paint(isNegated ? `not.${name}` : name, "white");
  return `${open}${paint("received", "red")}${dot}${method}${paint("(", "gray")}${given.join(paint(", ", "gray"))}${close}`;
}

/** Where the script stands that called the matcher: the innermost place outside of this library. */
function placeOfCall() {
  const frames = (new Error().stack ?? "").split("\n").map((frame) => /\(?([^\s()]+):(\d+):(\d+)\)?$/.exec(frame.trim()));
  const frame = frames.find((found) => found !== null && !found[1].includes("/k6-testing/"));
  if (!frame) return { at: "unknown", file: "unknown", line: "unknown" };
  const path = decodeURI(frame[1].replace(/^file:\/\//, ""));
  return { at: `${path}:${frame[2]}:${frame[3]}`, file: path.split("/").at(-1), line: frame[2] };
}

function pretty(groups) {
  const width = Math.max(...groups.flatMap((group) => Object.keys(group).map((name) => name.length)));
  const lineOf = ([name, value]) => `${name.padStart(width)}: ${value.replaceAll("\n", `\n${" ".repeat(width + 2)}`)}`;
  return `\n${groups.map((group) => Object.entries(group).map(lineOf).join("\n")).join("\n\n")}\n`;
}

function inline(groups) {
  const quoted = (value) => (/[\s"]/.test(value) ? JSON.stringify(value) : value);
  const pairs = groups.flatMap((group) => Object.entries(group));
  return pairs.map(([name, value]) => `${name.toLowerCase().replace(/\s+/g, "_")}=${quoted(value)}`).join(" ");
}
