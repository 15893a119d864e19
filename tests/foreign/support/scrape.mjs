// A server's metrics as a test reads them.

import assert from "node:assert/strict";
import { eventually } from "./processes.mjs";

const PREFIX = "anycable_go_";

/** All samples of a scrape, as the text says them: `{ 'clients_num': 2, 'refused_connections_total{reason="origin"}': 0 }`. */
export async function scrape(url) {
  const response = await fetch(url);
  assert.equal(response.status, 200);
  const samples = {};
  for (const line of (await response.text()).split("\n").filter((line) => line && !line.startsWith("#"))) {
    const [, name, value] = /^(\S+(?:\{.*\})?) (\S+)$/.exec(line) ?? assert.fail(`no sample: ${line}`);
    assert.ok(name.startsWith(PREFIX) || name.startsWith("process_"), line);
    samples[name.replace(PREFIX, "")] = Number(value);
  }
  return samples;
}

/** Types by name, from the comments of a scrape. */
export function typesOf(text) {
  const lines = text.matchAll(/^# TYPE (?:anycable_go_)?(\S+) (\S+)$/gm);
  return Object.fromEntries([...lines].map(([, name, type]) => [name, type]));
}

/** Scrapes until all of `expected` are so; counts that belong to another shard may be some milliseconds late. */
export async function eventuallyCounts(url, expected) {
  let last;
  const isSo = async () => {
    last = await scrape(url);
    return Object.entries(expected).every(([name, value]) => last[name] === value);
  };
  try {
    await eventually(isSo, JSON.stringify(expected));
  } catch {
    assert.deepEqual(Object.fromEntries(Object.keys(expected).map((name) => [name, last[name]])), expected);
  }
  return last;
}
