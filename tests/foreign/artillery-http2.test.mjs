// Artillery's files over HTTP/2, and where their report goes.

import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync, readdirSync } from "node:fs";
import { createSecureServer } from "node:http2";
import { join } from "node:path";
import { test } from "node:test";
import { WebSocketServer } from "ws";
import { CertificateFiles } from "./support/certificates.mjs";
import { plimsollIn } from "./support/plimsoll.mjs";
import { folderOf } from "./support/scripts.mjs";

test("HTTP/2 is for requests that ask for it", async (t) => {
  const files = new CertificateFiles();
  const versions = [];
  const secure = { key: readFileSync(files.key), cert: readFileSync(files.cert), allowHTTP1: true };
  const server = createSecureServer(secure, (request, response) => {
    versions.push(`${request.url} ${request.httpVersion}`);
    response.end("hello");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  const flow = "[{ get: { url: /a } }, { get: { url: /b, http2: true } }, { get: { url: /c, http2: true } }, { get: { url: /d } }]";
  const file = `config: { target: "https://127.0.0.1:${server.address().port}", tls: { rejectUnauthorized: false }, phases: [{ duration: 1, arrivalCount: 1 }] }
scenarios: [{ flow: ${flow} }]
`;
  const cwd = folderOf(t, { "a.yml": file });
  const { code, stderr } = await plimsollIn({ cwd }, "run", "--no-save", "-o", "a.json", "a.yml");
  assert.equal(code, 0, stderr);
  assert.deepEqual(versions, ["/a 1.1", "/b 2.0", "/c 2.0", "/d 1.1"]);
  assert.equal(JSON.parse(readFileSync(join(cwd, "a.json"), "utf8")).aggregate.counters["http.codes.200"], 4);
});

test("a folder gets the report under Artillery's name", async (t) => {
  const server = new WebSocketServer({ host: "127.0.0.1", port: 0 });
  await once(server, "listening");
  t.after(() => server.close());
  const target = `ws://127.0.0.1:${server.address().port}`;
  const file = `config: { target: "${target}", phases: [{ duration: 1, arrivalCount: 1 }] }
scenarios: [{ engine: ws, flow: [{ think: 0 }] }]
`;
  const cwd = folderOf(t, { "a.yml": file });
  const { code, stderr } = await plimsollIn({ cwd }, "run", "--no-save", "-o", ".", "a.yml");
  assert.equal(code, 0, stderr);
  const [report] = readdirSync(cwd).filter((name) => /^artillery_report_\d{8}_\d{6}\.json$/.test(name));
  assert.ok(JSON.parse(readFileSync(join(cwd, report), "utf8")).aggregate);
  const missing = await plimsollIn({ cwd }, "run", "--no-save", "-o", "absent/a.json", "a.yml");
  assert.equal(missing.code, 1);
  assert.match(missing.stderr, /--output: the folder absent does not exist/);
});
