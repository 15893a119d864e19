// Files of Artillery that lie over each other, flags that mark a run, and figures for a collector.

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { join } from "node:path";
import { test } from "node:test";
import { plimsollIn } from "./support/plimsoll.mjs";
import { folderOf } from "./support/scripts.mjs";

const run = (t, file, args = [], files = {}) =>
  plimsollIn({ cwd: folderOf(t, { "test.yml": file, ...files }) }, "run", "test.yml", ...args);

const FILE = "config: { target: ws://h, phases: [{ duration: 1, arrivalCount: 1 }] }\nscenarios: [{ flow: [{ log: hello }] }]\n";

test("a run is kept with its name, its tags and its note", async (t) => {
  const cwd = folderOf(t, { "test.yml": FILE });
  const env = { PLIMSOLL_DATA_DIR: join(cwd, "data") };
  const marks = ["--name", "checkout", "--tags", "team:chat,no tag", "--note", "after the index"];
  const { code, stderr } = await plimsollIn({ cwd, env }, "run", "test.yml", "--save", ...marks);
  assert.equal(code, 0, stderr);
  assert.match(stderr, /--tags no tag: left out: expected key:value/);
  const { stdout } = await plimsollIn({ cwd, env }, "runs", "list", "--format", "json");
  const [{ name, tags, note }] = JSON.parse(stdout);
  assert.deepEqual({ name, tags, note }, { name: "checkout", tags: ["team/chat"], note: "after the index" });
});

test("a mistake names the file of its value, in `run` and in `check`", async (t) => {
  const files = { "over.yaml": "config:\n  phsaes: []\n" };
  const mistake = /^over\.yaml:2:3: config\.phsaes: is not a key here; did you mean `phases`\?/m;
  const ran = await run(t, FILE, ["--config", "over.yaml"], files);
  assert.equal(ran.code, 1);
  assert.match(ran.stderr, /over\.yaml:2:3: config\.phsaes: is not a key here; did you mean `phases`\?/);
  const cwd = folderOf(t, { "test.yml": FILE, ...files });
  const checked = await plimsollIn({ cwd }, "check", "test.yml", "over.yaml", "--format", "json");
  assert.equal(checked.code, 1);
  const { mistakes } = JSON.parse(checked.stdout);
  assert.match(mistakes.map(({ file, line, column, path, problem }) => `${file}:${line}:${column}: ${path}: ${problem}`).join("\n"), mistake);
  const overridden = await plimsollIn({ cwd }, "check", "test.yml", "--overrides", '{"config": {"phases": [{}]}}');
  assert.match(overridden.stderr, /--overrides:1:24: config\.phases\[0\]/);
});

test("figures go to the collector that the file names", async (t) => {
  const bodies = [];
  const server = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    bodies.push([request.url, request.headers["api-key"], Buffer.concat(chunks).toString("latin1")]);
    response.end();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  const endpoint = `http://127.0.0.1:${server.address().port}/v1/metrics`;
  const plugins = `{ publish-metrics: [{ type: open-telemetry, serviceName: shop, metrics: { endpoint: "${endpoint}", headers: { api-key: "a b" } } }] }`;
  const { code, stderr } = await run(t, FILE.replace("phases", `plugins: ${plugins}, phases`));
  assert.equal(code, 0, stderr);
  const [url, key, body] = bodies.at(-1);
  assert.deepEqual([url, key], ["/v1/metrics", "a b"]);
  for (const text of ["shop", "vusers_created"]) assert.ok(body.includes(text), text);
});
