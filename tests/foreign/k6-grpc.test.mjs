// `k6/net/grpc` under `plimsoll run` and the real k6, against gRPC's own libraries for Node, Go and Ruby: same exit codes, values,
// checks, counts and tags. And the RPC application of a cable server as a target, in Node and in Ruby.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { makeAuthority } from "./support/certificates.mjs";
import { within } from "./support/deadline.mjs";
import { ExampleApp } from "./support/example-app.mjs";
import { built } from "./support/go.mjs";
import { GrpcApp } from "./support/grpc-app.mjs";
import { buildK6, k6In } from "./support/k6.mjs";
import { PROTOS, startLaboratory } from "./support/laboratory.mjs";
import { plimsollIn } from "./support/plimsoll.mjs";
import { freePort } from "./support/ports.mjs";
import { folderOf } from "./support/scripts.mjs";

const SCRIPTS = fileURLToPath(new URL("k6-scripts/", import.meta.url));
const RUBY_LABORATORY = fileURLToPath(new URL("support/laboratory.rb", import.meta.url));
const EXAMPLE = fileURLToPath(new URL("../../examples/load/rpc.js", import.meta.url));

/** The chat in Ruby knows its users by a cookie. */
const HEADERS = JSON.stringify({ cookie: "uid=kay/1" });

const PEER_PATIENCE_MS = 20_000;

before(async () => {
  await buildK6();
  await built("grpc-peer");
});

/** A server in another language: its address, which it writes in its first line. */
async function startProgram(t, ...command) {
  const [program, ...args] = command;
  const peer = spawn(program, args, { stdio: ["ignore", "pipe", "inherit"] });
  t.after(() => peer.kill());
  const [address] = await within(once(createInterface(peer.stdout), "line"), "the gRPC peer's address", PEER_PATIENCE_MS);
  return address;
}

/** The Go server, with this version of reflection. `files` are an authority, a certificate and its key, for TLS. */
const startPeer = async (t, reflection, files = []) => startProgram(t, await built("grpc-peer"), PROTOS, reflection, ...files);

/** The same service in three languages. */
const SERVERS = {
  Node: async (t, [ca, cert, key] = []) => {
    const tls = ca && { ca: readFileSync(ca, "utf8"), cert: readFileSync(cert, "utf8"), key: readFileSync(key, "utf8") };
    return (await startLaboratory(t, { tls })).address;
  },
  Go: (t, files) => startPeer(t, "both", files),
  Ruby: (t, files = []) => startProgram(t, "ruby", RUBY_LABORATORY, ...files),
};

/** Runs a script under both programs: `[plimsoll, k6]`, each `{ code, stderr, data }`. */
function runBoth(t, script, env, args = []) {
  return Promise.all(
    [plimsollIn, k6In].map(async (runIn, index) => {
      const cwd = folderOf(t, {});
      const words = ["run", "--quiet", "--no-color", "-e", "DATA=data.json", ...args];
      for (const [name, value] of Object.entries(env)) words.push("-e", `${name}=${value}`);
      if (index === 0) words.push("--fail-on-errors=never");
      const outcome = await runIn({ cwd }, ...words, resolve(SCRIPTS, script));
      return { ...outcome, data: dataIn(cwd) };
    }),
  );
}

/** What `handleSummary` has written; null where a run ended before it. */
function dataIn(cwd) {
  try {
    return JSON.parse(readFileSync(join(cwd, "data.json"), "utf8"));
  } catch (error) {
    if (error.code === "ENOENT") return null;
    throw error;
  }
}

/** All that does not depend on the clock: the values of setup, checks, counts, verdicts, and which metrics there are. */
function shapeOf({ code, data }) {
  if (!data) return { code };
  const { vus, vus_max, ...metrics } = data.metrics;
  const shape = Object.entries(metrics).map(([name, { type, contains, values, thresholds }]) => {
    const counts = type === "trend" ? values.count : contains === "data" ? undefined : [values.count, values.passes, values.fails];
    return [name, { type, counts, thresholds }];
  });
  const checks = (group) => [...group.checks.map(({ path, passes, fails }) => [path, passes, fails]), ...group.groups.flatMap(checks)];
  return { code, setup: data.setup_data, metrics: Object.fromEntries(shape), checks: checks(data.root_group).sort() };
}

async function assertAlike(t, script, env, code = 0) {
  const [ours, theirs] = await runBoth(t, script, env);
  assert.deepEqual(shapeOf(ours), shapeOf(theirs), ours.stderr);
  assert.equal(ours.code, code, ours.stderr);
  return ours;
}

/** As [`assertAlike`], and no check fails. */
async function assertAlikeAndRight(t, script, env) {
  const { data } = await assertAlike(t, script, env);
  assert.equal(data.metrics.checks.values.fails, 0);
}

describe("plimsoll run and k6 agree about gRPC:", () => {
  test("messages as JSON, metadata, failures", async (t) => {
    const { address } = await startLaboratory(t);
    await assertAlike(t, "grpc-values.js", { ADDRESS: address });
  });

  test("messages as JSON, metadata, failures with details, of a server in Go", async (t) => {
    await assertAlike(t, "grpc-values.js", { ADDRESS: await startPeer(t, "both") });
  });

  test("definitions, parameters and the words of errors", async (t) => {
    const { address } = await startLaboratory(t);
    await assertAlike(t, "grpc-faults.js", { ADDRESS: address, CLOSED: `127.0.0.1:${await freePort()}` });
  });

  test("many calls at once", async (t) => {
    const { address } = await startLaboratory(t);
    await assertAlikeAndRight(t, "grpc-async.js", { ADDRESS: address });
  });

  for (const [peer, start] of Object.entries(SERVERS)) {
    test(`unary calls with tags to a server in ${peer}`, async (t) => {
      await assertAlikeAndRight(t, "grpc-unary.js", { ADDRESS: await start(t) });
    });

    test(`streams of a server in ${peer}`, async (t) => {
      await assertAlikeAndRight(t, "grpc-streams.js", { ADDRESS: await start(t) });
    });

    test(`TLS with certificates on both sides, to a server in ${peer}`, async (t) => {
      const { ca, server, client } = makeAuthority();
      const address = await start(t, [ca.cert, server.cert, server.key]);
      const [authority, cert, key] = [ca.cert, client.cert, client.key].map((file) => readFileSync(file, "utf8"));
      await assertAlikeAndRight(t, "grpc-tls.js", { ADDRESS: address, TLS: JSON.stringify({ ca: authority, cert, key }) });
    });
  }

  test("the log of --http-debug", async (t) => {
    const { address } = await startLaboratory(t);
    const both = await runBoth(t, "grpc-debug.js", { ADDRESS: address }, ["--http-debug=full"]);
    const [ours, theirs] = both.map(({ stderr }) => stderr.match(/(Out|In) (Header|Payload|Trailer):|Full Method: [\w./]+|x-mine: yes|"?name"?: ?\\?"[\w ]+|x-reason: as told/g));
    const plain = (lines) => lines.map((line) => line.replaceAll(/[\s"\\]/g, ""));
    // Go logs a trailer when it arrives and a payload when it is read, so either may come first.
    const alike = (lines) => plain(lines).join("\n").replace(/(InTrailer:(?:\n(?!In|Out).*)*)\n(InPayload:(?:\n(?!In|Out).*)*)/g, "$2\n$1").split("\n");
    assert.ok(ours?.length > 10, both[0].stderr);
    assert.deepEqual(alike(ours), alike(theirs));
    const heads = await runBoth(t, "grpc-debug.js", { ADDRESS: address }, ["--http-debug"]);
    for (const { stderr } of heads) {
      assert.match(stderr, /Out Header/);
      assert.doesNotMatch(stderr, /Payload/);
    }
  });

  test("streams that end badly", async (t) => {
    const { address } = await startLaboratory(t);
    await assertAlikeAndRight(t, "grpc-stream-faults.js", { ADDRESS: address });
  });

  for (const version of ["v1", "v1alpha", "both"]) {
    test(`health, and definitions by reflection in version ${version}`, async (t) => {
      await assertAlikeAndRight(t, "grpc-reflection.js", { ADDRESS: await startPeer(t, version) });
    });
  }

  for (const [ending, code] of [
    ["of its own", 0],
    ["refused", 0],
    ["unknown method", 0],
    ["too slow", 99],
    ["no definitions", 107],
    ["connecting in init", 107],
  ]) {
    test(`the end when ${ending}: ${code}`, async (t) => {
      const { address } = await startLaboratory(t);
      await assertAlike(t, "grpc-endings.js", { ADDRESS: address, CLOSED: `127.0.0.1:${await freePort()}`, ENDING: ending }, code);
    });
  }
});

describe("the example examples/load/rpc.js", () => {
  test("loads an application in Node", async (t) => {
    const app = await GrpcApp.start();
    t.after(() => app.kill());
    const run = await plimsollIn({ cwd: folderOf(t, {}) }, "run", "--quiet", "-u", "2", "-i", "6", "-e", `RPC=${app.host}`, EXAMPLE);
    assert.equal(run.code, 0, run.stderr);
    const { sid, protov } = await app.calls.Connect.next();
    assert.match(sid, /^load-\d+-0$/);
    assert.equal(protov, "v1");
    assert.equal((await app.calls.Command.next()).command, "subscribe");
  });

  test("loads an application in Ruby", async (t) => {
    const app = await ExampleApp.create(t, "ruby");
    await app.listen({});
    const run = await plimsollIn({ cwd: folderOf(t, {}) }, "run", "--quiet", "-u", "2", "-i", "6", "-e", `RPC=${app.rpcHost}`, "-e", `HEADERS=${HEADERS}`, EXAMPLE);
    assert.equal(run.code, 0, run.stdout + run.stderr);
  });
});
