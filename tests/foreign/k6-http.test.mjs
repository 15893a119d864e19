// `k6/http` in scripts, against Node.js's own servers for HTTP/1.1 and HTTP/2.

import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createSecureServer } from "node:http2";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import * as zlib from "node:zlib";
import { CertificateFiles } from "./support/certificates.mjs";
import { startNtlmServer } from "./support/ntlm-server.mjs";
import { plimsollIn } from "./support/plimsoll.mjs";
import { folderOf } from "./support/scripts.mjs";

const COMPRESSED = {
  gzip: zlib.gzipSync("hello"),
  deflate: zlib.deflateSync("hello"),
  br: zlib.brotliCompressSync("hello"),
  // By the `zstd` program: Node.js 20 has no such coder.
  zstd: Buffer.from("28b52ffd045829000068656c6c6fa36d9f88", "hex"),
};

/** What it got, as JSON; and a few other routes. */
function answer(request, response) {
  const [, route, detail] = request.url.split("/");
  if (route === "redirect") {
    response.writeHead(302, { location: "/echo", "set-cookie": "sid=1; Path=/" });
    return response.end();
  }
  if (route === "coded") {
    response.writeHead(200, { "content-encoding": detail });
    return response.end(COMPRESSED[detail]);
  }
  const body = [];
  request.on("data", (chunk) => body.push(chunk));
  request.on("end", () => {
    const { method, url, httpVersion, headers } = request;
    response.end(JSON.stringify({ method, url, httpVersion, headers, body: Buffer.concat(body).toString() }));
  });
}

/** Runs a script in which `BASE` is a server's URL; all its checks and thresholds must hold. */
async function passes(t, base, script, args = []) {
  const cwd = folderOf(t, { "script.js": script.replaceAll("BASE", base) });
  const outcome = await plimsollIn({ cwd }, "run", "--fail-on-errors=never", "--summary-export", "summary.json", ...args, "script.js");
  assert.equal(outcome.code, 0, outcome.stderr + outcome.stdout);
  return { ...outcome, ...JSON.parse(readFileSync(join(cwd, "summary.json"), "utf8")) };
}

const CHECKED = 'export const options = { thresholds: { checks: ["rate==1"] } };';

describe("HTTP/1.1", () => {
  let server, base, n_connections;
  before(async () => {
    server = createServer(answer).listen(0, "127.0.0.1");
    await once(server, "listening");
    base = `http://127.0.0.1:${server.address().port}`;
    n_connections = 0;
    server.on("connection", () => n_connections++);
  });
  after(() => server.close());

  test("requests, forms, redirects and cookies reach a foreign server as they should", async (t) => {
    const { metrics } = await passes(
      t,
      base,
      `import http from "k6/http";
       import { check } from "k6";
       ${CHECKED}
       export default function () {
         const form = http.post("BASE/echo", { a: "x y", b: "ä" }).json();
         const followed = http.get("BASE/redirect");
         check(null, {
           form: form.body === "a=x+y&b=%C3%A4" && form.headers["content-length"] === "14",
           type: form.headers["content-type"] === "application/x-www-form-urlencoded",
           cookie: followed.url === "BASE/echo" && followed.json("headers.cookie") === "sid=1",
           version: form.httpVersion === "1.1" && followed.proto === "HTTP/1.1",
         });
       }`,
      ["--iterations", "5"],
    );
    assert.equal(metrics.http_reqs.count, 15);
    assert.equal(metrics.http_req_failed.value, 0);
    assert.ok(metrics.data_sent.count > 15 * 50 && metrics.data_received.count > 15 * 50);
    assert.equal(n_connections, 1);
  });

  test("bodies come in every coding", async (t) => {
    await passes(
      t,
      base,
      `import http from "k6/http";
       import { check } from "k6";
       ${CHECKED}
       export default function () {
         for (const coding of ${JSON.stringify(Object.keys(COMPRESSED))}) {
           check(http.get("BASE/coded/" + coding), { [coding]: (r) => r.body === "hello" });
         }
       }`,
    );
  });

  for (const [how, option, n_later] of [
    ["requests of a batch sign their own connections in", "", 6],
    ["a negotiation keeps its connection where none is kept", "noConnectionReuse: true,", 18],
  ]) {
    test(`NTLM: ${how}`, async (t) => {
      const { metrics } = await passes(
        t,
        `http://DOMAIN%5Cjohn:secret%20word@${await startNtlmServer(t)}`,
        `import http from "k6/http";
         import { check } from "k6";
         export const options = { batchPerHost: 6, ${option} thresholds: { checks: ["rate==1"] } };
         export default function () {
           const ask = () => http.batch(Array(6).fill(["GET", "BASE/ntlm", null, { auth: "ntlm" }]));
           check([...ask(), ...ask()], { all: (answers) => answers.every((r) => r.status === 200 && r.body === "GET DOMAIN\\\\john ") });
         }`,
      );
      // Each of the first six needs three requests.
      assert.equal(metrics.http_reqs.count, 18 + n_later);
    });
  }

  test("NTLM: a challenge that cannot be answered is an error", async (t) => {
    const { stderr } = await passes(
      t,
      `http://john:secret@${await startNtlmServer(t)}`,
      `import http from "k6/http";
       import { check } from "k6";
       ${CHECKED}
       export default function () {
         check(http.get("BASE/broken", { auth: "ntlm" }), { fails: (r) => r.status === 0 && r.error_code === 1000 });
       }`,
    );
    assert.match(stderr.replaceAll(/\s+/g, " "), /NTLM: the server's challenge is not a message of NTLM/);
    assert.doesNotMatch(stderr, /secret/);
  });

  test("--http-debug shows what went over the wire, failures are warnings", async (t) => {
    const script = `import http from "k6/http";
      export default function () {
        http.post("BASE/echo", "the body");
        http.get("http://127.0.0.1:1/");
      }`;
    const { stderr, metrics } = await passes(t, base, script, ["--http-debug=full"]);
    assert.match(stderr, /POST \/echo HTTP\/1\.1/);
    assert.match(stderr, /the body/);
    assert.match(stderr, /HTTP\/1\.1 200 OK/);
    assert.match(stderr, /WARN.*Request Failed.*127\.0\.0\.1:1/);
    assert.equal(metrics.http_req_failed.value, 0.5);
  });
});

describe("HTTP/2", () => {
  let server, base, n_sessions;
  before(async () => {
    const files = new CertificateFiles();
    const options = { key: readFileSync(files.key), cert: readFileSync(files.cert), allowHTTP1: true };
    server = createSecureServer(options, answer).listen(0, "127.0.0.1");
    await once(server, "listening");
    base = `https://127.0.0.1:${server.address().port}`;
    n_sessions = 0;
    server.on("session", () => n_sessions++);
  });
  after(() => server.close());

  test("is spoken where the server has it, and requests of a batch share a connection", async (t) => {
    await passes(
      t,
      base,
      `import http from "k6/http";
       import { check } from "k6";
       ${CHECKED}
       export default function () {
         const first = http.get("BASE/echo");
         const posts = http.batch(Array(5).fill(["POST", "BASE/echo", "x".repeat(200000)]));
         check(first, {
           version: first.proto === "HTTP/2.0" && first.json("httpVersion") === "2.0" && first.tls_version === "tls1.3",
           status: first.status_text === "200 OK" && first.timings.tls_handshaking > 0,
           bodies: posts.every((r) => r.json("body").length === 200000),
         });
       }`,
      ["--insecure-skip-tls-verify"],
    );
    assert.equal(n_sessions, 1);
  });

  test("NTLM goes over HTTP/1.1 although the server has HTTP/2", async (t) => {
    await passes(
      t,
      base.replace("//", "//user:secret@"),
      `import http from "k6/http";
       import { check } from "k6";
       ${CHECKED}
       export default function () {
         const versions = ["basic", "ntlm", "basic"].map((auth) => http.get("BASE/echo", { auth }).proto);
         check(versions, { versions: (versions) => versions.join() === "HTTP/2.0,HTTP/1.1,HTTP/2.0" });
       }`,
      ["--insecure-skip-tls-verify"],
    );
  });

  test("a certificate that nobody vouches for is refused", async (t) => {
    await passes(
      t,
      base,
      `import http from "k6/http";
       import { check } from "k6";
       ${CHECKED}
       export default function () {
         check(http.get("BASE/echo"), { refused: (r) => r.status === 0 && r.error_code === 1310 });
       }`,
    );
  });
});
