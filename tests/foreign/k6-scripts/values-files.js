// Files that are read in parts, records of files, and streams.
import csv from "k6/experimental/csv";
import { open, SeekMode } from "k6/experimental/fs";
import { CountQueuingStrategy, ReadableStream } from "k6/experimental/streams";
import { settledValuesOf } from "./values.js";

export { handleSummary } from "./data.js";

export const options = { iterations: 1 };

const opened = async (path) => {
  try {
    return await open(path);
  } catch (error) {
    return error.name;
  }
};

const file = await open("records.csv");
const other = await open("./records.csv");
const refused = [await opened("missing.csv"), await opened("modules"), await opened(""), await opened(null)];
const parsed = await csv.parse(await open("records.csv"));
const objects = await csv.parse(await open("records.csv"), { asObjects: true });
const skipped = await csv.parse(await open("records.csv"), { skipFirstLine: true });
const lines = await csv.parse(await open("records.csv"), { fromLine: 2, toLine: 3 });
const semicolons = await csv.parse(await open("semicolons.csv"), { delimiter: ";" });
const parser = new csv.Parser(await open("records.csv"), { skipFirstLine: true, toLine: 2 });
const failures = [];
for (const [path, more] of [
  ["semicolons.csv", { delimiter: ";;" }],
  ["records.csv", { asObjects: true, skipFirstLine: true }],
  ["records.csv", { asObjects: true, fromLine: 1 }],
  ["records.csv", { fromLine: 3, toLine: 2 }],
  ["records.csv", { fromLine: 100 }],
]) {
  try {
    new csv.Parser(await open(path), more);
    failures.push("none");
  } catch {
    failures.push("an exception");
  }
}
const broken = [];
for (const path of ["ragged.csv", "quotes.csv"]) {
  const records = new csv.Parser(await open(path));
  try {
    for (;;) {
      const { done, value } = await records.next();
      if (done) break;
      broken.push(value);
    }
  } catch {
    broken.push("an exception");
  }
}

async function readAll(from, size) {
  const parts = [];
  const buffer = new Uint8Array(size);
  for (;;) {
    const n = await from.read(buffer);
    if (n === null) return parts;
    parts.push(n, String.fromCharCode(...buffer.subarray(0, n)));
  }
}

const seeks = [
  [2, SeekMode.Start], [3, SeekMode.Current], [-4, SeekMode.Current], [0, SeekMode.End], [-5, SeekMode.End],
  [-1, SeekMode.Start], [1, SeekMode.End], [100000, SeekMode.Current], [-100000, SeekMode.Current], [0, 7], ["a", 0], [1], [null, 0],
];

async function drained(stream) {
  const reader = stream.getReader();
  const values = [];
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return [values, await reader.closed];
    values.push(value);
  }
}

/** Counts down from `n`, one number per call of `pull`. */
const counting = (n, strategy) =>
  new ReadableStream({ start(controller) { controller.enqueue(n + 1); }, pull(controller) { controller.enqueue(n); if (n-- === 0) controller.close(); } }, strategy);

const functions = {
  "a file": async () => [file.path.split("/").pop(), await file.stat(), await readAll(file, 7), await file.read(new Uint8Array(4))],
  "its other position": async () => [await other.read(new Uint8Array(3)), await other.seek(0, SeekMode.Current)],
  modes: () => SeekMode,
  refused: () => refused,
  "open in a function": () => open("records.csv"),
  "nothing to read into": () => file.read(),
  "no bytes to read into": () => file.read([1, 2]),
  parsed: () => [parsed.length, ...parsed],
  objects: () => [objects.length, ...objects],
  skipped: () => [skipped.length, ...skipped],
  lines: () => [lines.length, ...lines],
  semicolons: () => [semicolons.length, ...semicolons],
  parser: async () => {
    const results = [];
    for (let n = 0; n < 4; n++) {
      const { done, value } = await parser.next();
      results.push(done, value);
    }
    return results;
  },
  failures: () => failures,
  broken: () => broken,
  "a stream": () => drained(counting(3)),
  "a stream with a queue": () => drained(counting(5, new CountQueuingStrategy({ highWaterMark: 3 }))),
  "a stream that fails": () => drained(new ReadableStream({ pull() { throw new RangeError("no"); } })),
  "a stream that was closed": () => drained(new ReadableStream({ start(controller) { controller.enqueue("x"); controller.close(); } })),
  "a locked stream": async () => {
    const stream = counting(2);
    const reader = stream.getReader();
    const first = await reader.read();
    const locked = stream.locked;
    reader.releaseLock();
    return [first, locked, stream.locked, await stream.getReader().read()];
  },
  "two readers": () => {
    const stream = counting(2);
    stream.getReader();
    return stream.getReader();
  },
  "a cancelled stream": async () => {
    const reasons = [];
    const stream = new ReadableStream({ pull(controller) { controller.enqueue(1); }, cancel(reason) { reasons.push(reason); } });
    await stream.cancel("enough");
    const { done } = await stream.getReader().read();
    return [reasons, done];
  },
  "sizes": async () => {
    const sizes = [];
    const stream = new ReadableStream({ start(controller) { for (const text of ["a", "bcd"]) { controller.enqueue(text); sizes.push(controller.desiredSize); } controller.close(); } }, { highWaterMark: 10, size: (text) => text.length });
    return [sizes, await drained(stream)];
  },
};
for (const [offset, whence] of seeks) functions[`seek ${offset} ${whence}`] = () => other.seek(offset, whence);

export const setup = () => settledValuesOf(functions);

export default function () {}
