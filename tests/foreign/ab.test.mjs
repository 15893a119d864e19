// `plimsoll ab` beside ab 2.3, flag by flag.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { connect as connectTcp } from "node:net";
import { join } from "node:path";
import { describe, test } from "node:test";
import { ab, counting, field, listen } from "./support/ab.mjs";
import { CertificateFiles } from "./support/certificates.mjs";
import { plimsoll } from "./support/plimsoll.mjs";
import { folderOf } from "./support/scripts.mjs";

describe("beside ab", () => {
  /** A proxy that records what it is asked, and passes tunnels on to `port`. */
  async function proxy(t, port) {
    const seen = [];
    const server = createServer((request, response) => {
      seen.push([request.method, request.url, request.headers["proxy-authorization"], request.headers.host]);
      response.end("from the proxy");
    });
    server.on("connect", (request, socket) => {
      seen.push([request.method, request.url, request.headers["proxy-authorization"], request.headers.host]);
      if (port === undefined) return socket.end("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n");
      socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
      const through = connectTcp(port, "127.0.0.1");
      socket.on("error", () => through.destroy());
      through.on("error", () => socket.destroy());
      socket.pipe(through).pipe(socket);
    });
    const url = new URL(await listen(t, server));
    return { at: url.host, seen };
  }

  test("-X and -P ask the proxy for the same URL", async (t) => {
    const { at, seen } = await proxy(t);
    const flags = ["-X", at, "-P", "u:p", "-n", "1", "http://app.test:81/x?y"];
    const [own, real] = [await plimsoll("ab", ...flags), await ab(...flags)];
    assert.deepEqual([own.code, real.code], [0, 0], own.stderr + real.stderr);
    const expected = ["GET", "http://app.test:81/x?y", "Basic dTpw", "app.test:81"];
    assert.deepEqual(seen, [expected, expected]);
    assert.equal(field(own.stdout, "Document Length"), "14 bytes");
  });

  test("-X takes https through a tunnel", async (t) => {
    const files = new CertificateFiles();
    const secure = { key: readFileSync(files.key), cert: readFileSync(files.cert) };
    const server = createHttpsServer(secure, (_request, response) => response.end("hello"));
    const { port } = new URL(await listen(t, server, "https"));
    const { at, seen } = await proxy(t, port);
    const run = (...flags) => plimsoll("ab", "--insecure", "-X", at, "-n", "3", ...flags, "https://app.test/");
    const plain = await run("-P", "u:p");
    assert.equal(plain.code, 0, plain.stderr);
    assert.equal(field(plain.stdout, "Document Length"), "5 bytes");
    const http2 = await run("-k");
    assert.equal(http2.code, 0, http2.stderr);
    const connect = (password) => ["CONNECT", "app.test:443", password, "app.test:443"];
    // A tunnel for each connection; with -k for the only one.
    assert.deepEqual(seen, [...Array(3).fill(connect("Basic dTpw")), connect(undefined)]);
    const strict = await proxy(t);
    const refused = await plimsoll("ab", "-X", strict.at, "https://app.test/");
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /proxy 127\.0\.0\.1:\d+: it answered 407 Proxy Authentication Required; check the proxy \(-X\)/);
    const gone = await plimsoll("ab", "--http2", "-X", strict.at, "http://app.test/");
    assert.equal(gone.code, 1);
    assert.match(gone.stderr, /HTTP\/2 without TLS cannot go through a proxy/);
  });

  test("-v shows the request, the heads and the statuses", async (t) => {
    const { url } = await counting(t, (_request, response, n) => {
      response.statusCode = n % 2 ? 200 : 503;
      response.setHeader("x-number", String(n));
      response.end("hello");
    });
    // Whether mean and median differ much depends on the times of the run.
    const spoken = (line) => /^(INFO|LOG|WARNING: Response|x-number)/.test(line.replace(/^.*\.\.\.(?=INFO)/, ""));
    const words = (stdout) => stdout.split(/\r?\n/).filter(spoken);
    const cut = (lines) => lines.map((line) => line.replace(/^.*\.\.\.(?=INFO)/, "").replace(/\d+$/, "N"));
    for (const level of ["1", "2", "3", "4"]) {
      const [own, real] = [await plimsoll("ab", "-v", level, "-n", "4", url), await ab("-v", level, "-n", "4", url)];
      assert.deepEqual([own.code, real.code], [0, 0], own.stderr);
      assert.deepEqual(cut(words(own.stdout)), cut(words(real.stdout)), `-v ${level}`);
    }
    const json = await plimsoll("ab", "-v", "2", "-n", "1", "-f", "json", url);
    assert.equal(JSON.parse(json.stdout).complete, 1);
    assert.match(json.stderr, /LOG: header received:\nHTTP\/1\.1 200\n/);
  });

  test("-w, -x, -y and -z print ab's tables", async (t) => {
    const { url } = await counting(t);
    const flags = ["-x", "border=1", "-y", "align=left", "-z", "bgcolor=red"];
    for (const these of [["-w"], flags]) {
      const args = ["-n", "4", "-k", ...these, url];
      const [own, real] = [await plimsoll("ab", ...args), await ab(...args)];
      assert.deepEqual([own.code, real.code], [0, 0], own.stderr);
      // Figures differ; tags, attributes and labels do not.
      const frame = (text) =>
        text
          .slice(text.indexOf("<table"))
          .split("\n")
          .map((row) => row.replace(/<td([^>]*)>[^<]*<\/td>/g, "<td$1></td>").replace(/> +</g, "><").trim())
          .filter((row) => row !== "" && !row.startsWith("..done"));
      assert.deepEqual(frame(own.stdout), frame(real.stdout), these.join(" "));
    }
  });

  test("-b sets the sockets' buffers, as ab does", async (t) => {
    // A client with small buffers takes little of an answer before it reads; the kernel doubles the size.
    const { url } = await counting(t, (_request, response) => response.end("x".repeat(200_000)));
    const [own, real] = [await plimsoll("ab", "-b", "4096", "-n", "2", url), await ab("-b", "4096", "-n", "2", url)];
    assert.deepEqual([own.code, real.code], [0, 0], own.stderr);
    assert.equal(field(own.stdout, "HTML transferred"), field(real.stdout, "HTML transferred"));
  });

  test("-t raises -n to 50,000 when it comes later", async (t) => {
    const { url, seen } = await counting(t);
    const flags = ["-k", "-n", "20", "-t", "1"];
    const [own, real] = [await plimsoll("ab", ...flags, url), await ab(...flags, url)];
    assert.deepEqual([own.code, real.code], [0, 0], own.stderr);
    for (const { stdout } of [own, real]) {
      assert.ok(Number(field(stdout, "Complete requests")) > 20, stdout);
    }
    assert.ok(seen.requests > 40, `${seen.requests}`);
  });

  describe("TLS", () => {
    const files = new CertificateFiles();
    const secure = (more) => ({ key: readFileSync(files.key), cert: readFileSync(files.cert), ...more });

    for (const [flags, options, protocol] of [
      [["-f", "TLS1.2"], {}, /^TLSv1\.2,/],
      [["-f", "TLS1.3"], {}, /^TLSv1\.3,/],
      [["-f", "ALL"], { maxVersion: "TLSv1.2" }, /^TLSv1\.2,/],
      [["-f", "TLS1.2", "-Z", "ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-AES256-GCM-SHA384"], {}, /AES.?256.GCM/],
      [["-f", "TLS1.2", "-Z", "ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES128-GCM-SHA256"], {}, /AES.?128.GCM/],
    ]) {
      test(`${flags.join(" ")} agrees on what ab agrees on`, async (t) => {
        const seen = [];
        const server = createHttpsServer(secure(options), (_request, response) => response.end("hello"));
        server.on("secureConnection", (socket) => seen.push([socket.getProtocol(), socket.getCipher().standardName]));
        const url = (await listen(t, server, "https")).replace("127.0.0.1", "localhost");
        const [own, real] = [await plimsoll("ab", "--insecure", ...flags, url), await ab(...flags, url)];
        assert.deepEqual([own.code, real.code], [0, 0], own.stderr + real.stderr);
        assert.match(field(own.stdout, "SSL/TLS Protocol"), protocol);
        assert.equal(seen.length, 2);
        assert.equal(seen[0][0], seen[1][0]);
        if (flags.includes("-Z")) assert.deepEqual(seen[0], seen[1]);
      });
    }

    test("-I hides the server's name", async (t) => {
      const names = [];
      const server = createHttpsServer(secure(), (_request, response) => response.end("hello"));
      server.on("secureConnection", (socket) => names.push(socket.servername || false));
      const url = (await listen(t, server, "https")).replace("127.0.0.1", "localhost");
      for (const flags of [[], ["-I"]]) {
        const [own, real] = [await plimsoll("ab", "--insecure", ...flags, url), await ab(...flags, url)];
        assert.deepEqual([own.code, real.code], [0, 0], own.stderr + real.stderr);
      }
      assert.deepEqual(names, ["localhost", "localhost", false, false]);
    });

    test("-E shows a certificate", async (t) => {
      const shown = [];
      const server = createHttpsServer(secure({ requestCert: true, rejectUnauthorized: false }), (request, response) => {
        shown.push(request.socket.getPeerCertificate().subject !== undefined);
        response.end("hello");
      });
      const url = await listen(t, server, "https");
      const cwd = folderOf(t, { "pair.pem": readFileSync(files.cert, "utf8") + readFileSync(files.key, "utf8") });
      for (const flags of [[], ["-E", join(cwd, "pair.pem")]]) {
        const [own, real] = [await plimsoll("ab", "--insecure", ...flags, url), await ab(...flags, url)];
        assert.deepEqual([own.code, real.code], [0, 0], own.stderr + real.stderr);
      }
      assert.deepEqual(shown, [false, false, true, true]);
    });
  });
});
