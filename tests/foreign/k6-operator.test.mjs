// The calls of the k6 operator for Kubernetes, played against four plain processes: the initializer's `archive` and `inspect`,
// four runners that wait, a starter, and the questions until all have stopped.
//
// https://github.com/grafana/k6-operator: pkg/resources/jobs (commands), pkg/resources/containers/curl_start.go (starter)

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { symlinkSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { test } from "node:test";
import { readYaml } from "./support/deployment.mjs";
import { serveAsked } from "./support/http-server.mjs";
import { ENVIRONMENT, PROGRAM } from "./support/plimsoll.mjs";
import { freePort } from "./support/ports.mjs";
import { eventually } from "./support/processes.mjs";
import { folderOf } from "./support/scripts.mjs";

/** The sample for users. */
const { metadata, spec } = readYaml("kubernetes", "k6-operator", "testrun.yaml");
const N = spec.parallelism;
const SEQUENCE = Array.from({ length: N + 1 }, (_, at) => (at === 0 ? "0" : at === N ? "1" : `${at}/${N}`));

/** What came of a call of `k6`: `{ code, stdout, stderr }`. */
function k6(cwd, ...args) {
  const child = execFile(join(cwd, "k6"), args, { cwd, env: ENVIRONMENT, timeout: 60_000 });
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (text) => (stdout += text));
  child.stderr.on("data", (text) => (stderr += text));
  return { child, ended: once(child, "close").then(([code]) => ({ code, stdout, stderr })) };
}

/** A request to a runner under the name of its service, as curl sends it: `{ status, body }`. */
async function ask(port, host, method, body) {
  const headers = { host: `${host}:6565`, "content-type": "application/json" };
  const asked = request({ host: "127.0.0.1", port, path: "/v1/status", method, headers });
  asked.end(body && JSON.stringify(body));
  const [response] = await once(asked, "response");
  const chunks = [];
  for await (const chunk of response) chunks.push(chunk);
  return { status: response.statusCode, body: JSON.parse(Buffer.concat(chunks).toString()) };
}

test("four runners make one test, start together and say when they have stopped", async (t) => {
  const { asked, url } = await serveAsked(t);
  const script = `
import http from "k6/http";
import exec from "k6/execution";
export const options = { scenarios: { a: { executor: "shared-iterations", vus: 8, iterations: 50, maxDuration: "30s" } } };
export default function () { http.get("${url}/" + exec.scenario.iterationInTest); }
`;
  const cwd = folderOf(t, { "script.js": script });
  symlinkSync(PROGRAM, join(cwd, "k6"));

  const archived = await k6(cwd, "archive", "script.js", "-O", "sample.archived.tar").ended;
  assert.equal(archived.code, 0, archived.stderr);
  const inspected = await k6(cwd, "inspect", "--execution-requirements", "sample.archived.tar").ended;
  assert.equal(inspected.code, 0, inspected.stderr);
  // The operator looks for errors in the lines of the log, and takes all of standard output for JSON.
  assert.doesNotMatch(archived.stderr + inspected.stderr, /level.*error/);
  assert.equal(JSON.parse(inspected.stdout).maxVUs, 8);

  const runners = [];
  for (let at = 1; at <= N; at += 1) {
    const port = await freePort();
    const { child, ended } = k6(
      cwd,
      ...["run", "--quiet", `--execution-segment=${SEQUENCE[at - 1]}:${SEQUENCE[at]}`],
      ...[`--execution-segment-sequence=${SEQUENCE.join(",")}`, ...spec.arguments.split(" "), "sample.archived.tar"],
      ...[`--address=0.0.0.0:${port}`, "--paused", "--tag", `instance_id=${at}`, "--tag", "testrun_name=sample"],
    );
    t.after(() => child.kill("SIGKILL"));
    runners.push({ port, ended, host: `${metadata.name}-service-${at}` });
  }
  const status = async ({ port, host }) => (await ask(port, host, "GET").catch(() => null))?.body.data.attributes;
  for (const runner of runners) await eventually(async () => (await status(runner))?.paused, `a runner on port ${runner.port}`);
  assert.equal(asked.length, 0);
  // A page of another name cannot start it.
  const start = { data: { attributes: { paused: false }, id: "default", type: "status" } };
  assert.equal((await ask(runners[0].port, "evil.test", "PATCH", start)).status, 403);
  for (const { port, host } of runners) assert.equal((await ask(port, host, "PATCH", start)).status, 200);
  for (const { ended } of runners) {
    const { code, stderr } = await ended;
    assert.equal(code, 0, stderr);
  }
  const numbers = asked.map((path) => Number(path.slice(1))).sort((a, b) => a - b);
  assert.deepEqual(numbers, Array.from({ length: 50 }, (_, at) => at));
});

test("the stopper ends a runner that waits for a signal", async (t) => {
  const cwd = folderOf(t, { "script.js": `import { sleep } from "k6"; export const options = { vus: 1, duration: "10m" }; export default () => sleep(1);` });
  symlinkSync(PROGRAM, join(cwd, "k6"));
  const port = await freePort();
  const { child, ended } = k6(cwd, "run", "--quiet", "--address-hosts=sample-service-1", "script.js", `--address=0.0.0.0:${port}`, "--linger");
  t.after(() => child.kill("SIGKILL"));
  const status = async () => (await ask(port, "sample-service-1", "GET").catch(() => null))?.body.data.attributes;
  await eventually(async () => (await status())?.running, "a running runner");
  const stop = { data: { attributes: { stopped: true }, id: "default", type: "status" } };
  assert.equal((await ask(port, "sample-service-1", "PATCH", stop)).status, 200);
  await eventually(async () => (await status())?.stopped && !(await status())?.running, "a stopped runner");
  child.kill("SIGTERM");
  const { code, stderr } = await ended;
  assert.equal(code, 103, stderr);
});

test("an address that others can reach needs the names of this machine", async (t) => {
  const cwd = folderOf(t, { "script.js": "export default () => {}" });
  symlinkSync(PROGRAM, join(cwd, "k6"));
  const { code, stderr } = await k6(cwd, "run", "--address=0.0.0.0:0", "script.js").ended;
  assert.equal(code, 106, stderr);
  assert.match(stderr, /or the names of this machine in --address-hosts/);
  const wrong = await k6(cwd, "run", "--address=0.0.0.0:0", "--address-hosts", "a:1", "script.js").ended;
  assert.equal(wrong.code, 2);
  assert.match(wrong.stderr, /expected a host name without a port/);
});
