// Secrets of a run on agents: over TLS only, unless all is on one machine, and nowhere but in the script.

import assert from "node:assert/strict";
import { readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { makeAuthority } from "./support/certificates.mjs";
import { Fleet } from "./support/fleet.mjs";
import { serveAsked } from "./support/http-server.mjs";
import { plimsollIn } from "./support/plimsoll.mjs";
import { folderOf } from "./support/scripts.mjs";

const WORDS = /tea-4711|cup-0815/;
const FLAGS = ["--secret-source", "file=default,filename=secrets.txt", "--secret-source", "mock=name=other,token=cup-0815", "--fleet-secrets"];
const KEY = { PLIMSOLL_FLEET_KEY: "0123456789abcdef" };

/** The files of a script that tells its secrets to a target, and the paths that the target was asked for. */
async function telling(t) {
  const { asked, url } = await serveAsked(t);
  const script = `
import http from "k6/http";
import secrets from "k6/secrets";
export const options = { scenarios: { a: { executor: "per-vu-iterations", vus: 4, iterations: 1 } } };
export default async function () {
  const word = await secrets.get("token");
  const other = await secrets.source("other").get("token");
  console.log("has " + word);
  http.get("${url}/" + word + "/" + other);
  throw new Error("so " + other);
}`;
  return { files: { "script.js": script, "secrets.txt": "token=tea-4711\n" }, asked };
}

/** A fleet at a NATS server that takes connections with and without TLS, both as `load`. */
async function guarded(t) {
  const { ca, server } = makeAuthority();
  const tls = `tls { cert_file: "${server.cert}", key_file: "${server.key}" }\nallow_non_tls: true`;
  const fleet = await Fleet.start(t, 0, { settings: `${tls}\nauthorization { user: load, password: word }` });
  const port = fleet.nats.address.split(":")[1];
  const env = { ...KEY, SSL_CERT_FILE: ca.cert };
  return {
    env,
    encrypted: `tls://load:word@127.0.0.1:${port}`,
    // To the program, only `localhost` and addresses in full are of this machine.
    open: `nats://load:word@127.1:${port}`,
    add: (name, url) => fleet.add(name, { env, flags: ["--fleet", url] }),
  };
}

/** All files below a folder. */
const filesIn = (folder) =>
  readdirSync(folder, { recursive: true })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile());

test("agents read secrets, which are in no log, summary, report or kept run", async (t) => {
  const { files, asked } = await telling(t);
  const fleet = await Fleet.start(t, 2);
  const cwd = folderOf(t, files);
  const kept = folderOf(t, {});
  const args = ["--format", "json", "--report", "report.html", ...FLAGS, "script.js"];
  const { stdout, stderr } = await plimsollIn({ cwd, env: { PLIMSOLL_DATA_DIR: kept } }, "run", ...fleet.flags, ...args);
  assert.deepEqual(asked, Array(4).fill("/tea-4711/cup-0815"), stderr);
  await fleet.free();
  const logs = fleet.agents.map((agent) => agent.stderr + agent.stdout);
  for (const log of logs) assert.match(log, /has \*\*\*SECRET_REDACTED\*\*\*/);
  assert.match(stdout, /so \*\*\*SECRET_REDACTED\*\*\*/);
  const runs = filesIn(kept);
  assert.ok(runs.length > 0, "the run is kept");
  const told = Object.fromEntries([...runs, join(cwd, "report.html")].map((path) => [path, readFileSync(path, "latin1")]));
  for (const [where, text] of Object.entries({ ...told, stderr, stdout, logs: logs.join() })) assert.doesNotMatch(text, WORDS, where);
});

test("over TLS agents read secrets; one whose connection is another one gets none", async (t) => {
  const { files, asked } = await telling(t);
  const { env, encrypted, open, add } = await guarded(t);
  const cwd = folderOf(t, files);
  const run = (url) => plimsollIn({ cwd, env }, "run", "--quiet", "--fleet", url, "--agents", "2", ...FLAGS, "script.js");
  await add("a1", encrypted);
  const clear = await add("clear", open);
  const mixed = await run(encrypted);
  assert.equal(mixed.code, 111, mixed.stderr);
  assert.match(mixed.stderr, /agent clear: its connection to NATS is not encrypted, so others could read the secrets of --fleet-secrets/);
  const unencrypted = await run(open);
  assert.equal(unencrypted.code, 2, unencrypted.stderr);
  assert.match(unencrypted.stderr, /the connection to \S+ is not encrypted/);
  assert.deepEqual(asked, []);
  clear.signal("SIGTERM");
  await clear.ended();
  await add("a2", encrypted);
  const { stderr } = await run(encrypted);
  assert.deepEqual(asked, Array(4).fill("/tea-4711/cup-0815"), stderr);
  assert.doesNotMatch(stderr, WORDS);
});
