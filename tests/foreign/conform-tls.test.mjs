// `plimsoll conform` over TLS: both suites as clients, broadcasts, and the WebSocket suite as a server.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { CertificateFiles, makeAuthority } from "./support/certificates.mjs";
import { within } from "./support/deadline.mjs";
import { ENVIRONMENT, PROGRAM, Server, plimsoll, plimsollIn, startPlimsoll } from "./support/plimsoll.mjs";
import { freePort } from "./support/ports.mjs";
import { RedisServer } from "./support/redis.mjs";

const pathOf = (name) => fileURLToPath(new URL(name, import.meta.url));
const expectations = (name) => pathOf(`expectations/${name}.txt`);

const files = new CertificateFiles();
const others = new CertificateFiles();

/** The environment of a program that believes the certificate of `files`. */
const TRUST = { SSL_CERT_FILE: files.cert };

/** Of each kind of case some: whole messages, small writes, faults, large messages, compression. */
const SOME = "1.1,2,3,5,6.4,7.1,9.1.3,9.7.1,12.1.1,f";

/** What `conform` with these arguments ends with. */
async function check(surroundings, args, code, ...patterns) {
  const run = await plimsollIn(surroundings, "conform", ...args);
  assert.equal(run.code, code, `${run.stdout}\n${run.stderr}`);
  for (const pattern of patterns) assert.match(run.stderr, pattern);
}

describe("a WebSocket server over wss", () => {
  async function echoServer(t, ...flags) {
    const server = await Server.start("--app", "echo", "--max_message_size", String(16 << 20), ...flags);
    t.after(() => server.stop());
    return server;
  }

  test("gets the verdicts that it gets without TLS", async (t) => {
    const server = await echoServer(t, ...files.flags);
    const known = ["--expect", expectations("websocket-plimsoll-server")];
    await check({ env: TRUST }, ["websocket", server.ws("/"), "--messages", "3", "--only", `${SOME},h`, ...known], 0);
  });

  test("is believed with --cacert, SSL_CERT_FILE or --insecure", async (t) => {
    const server = await echoServer(t, ...files.flags);
    const args = ["websocket", server.ws("/"), "--only", "1.1.1"];
    const advice = /cannot connect to wss:.*: TLS fails: invalid peer certificate.*--cacert FILE.*--insecure/;
    await check({}, args, 1, advice);
    await check({}, [...args, "--cacert", files.cert], 0);
    await check({ env: TRUST }, args, 0);
    // No others than those of the file, whatever the system believes.
    await check({ env: TRUST }, [...args, "--cacert", others.cert], 1, advice);
    await check({}, [...args, "--insecure"], 0);
  });

  for (const [what, file, expected] of [
    ["is not there", "none.pem", /^error: --cacert none\.pem: cannot read it: .*; expected a PEM file/],
    ["is a folder", "/", /^error: --cacert \/: cannot read it: .*directory/],
    ["has no certificate", files.key, /^error: --cacert .*: it holds no usable certificate \(there is none in it\)/],
  ]) {
    test(`it is said that a file of authorities ${what}`, () =>
      check({}, ["websocket", "wss://localhost/", "--cacert", file], 2, expected));
  }

  test("is believed with --cacert or --insecure, not both", () =>
    check({}, ["websocket", "wss://localhost/", "--cacert", files.cert, "--insecure"], 2, /cannot be used with/));

  test("speaks TLS", async (t) => {
    const server = await echoServer(t);
    await check({}, ["websocket", server.ws("/").replace("ws:", "WSS:"), "--insecure"], 1, /TLS fails: /);
  });
});

describe("WebSocket clients over wss", () => {
  /** Starts the suite; `base` is where clients go. */
  async function startSuite(...args) {
    const child = startPlimsoll("conform", "websocket", "--listen", "127.0.0.1:0", ...files.flags, "--messages", "3", ...args);
    child.stdout.resume();
    let stderr = "";
    child.stderr.setEncoding("utf8").on("data", (text) => (stderr += text));
    const [line] = await within(once(createInterface({ input: child.stderr }), "line"), "the suite's address");
    const ended = within(child.exited, "the suite for clients", 120_000).then(({ code }) => ({ code, stderr }));
    return { base: /wss:\/\/[^/]+/.exec(line)[0], ended };
  }

  async function checkClient(t, args, start) {
    const { base, ended } = await startSuite(...args);
    const client = start(base);
    t.after(() => client.kill());
    const { code, stderr } = await ended;
    assert.equal(code, 0, stderr);
  }

  test("npm ws gets the verdicts that it gets without TLS", (t) =>
    checkClient(t, ["--only", `${SOME},r`, "--expect", expectations("websocket-ws-client")], (base) =>
      spawn(process.execPath, [pathOf("conform/ws-client.mjs"), base, "deflate"], {
        stdio: "ignore",
        env: { ...ENVIRONMENT, NODE_EXTRA_CA_CERTS: files.cert },
      })));

  test("plimsoll run passes", (t) =>
    checkClient(t, ["--only", "1.1,2,5.3", "--name", "run"], (base) => {
      const flags = ["--quiet", "--no-save", "--insecure-skip-tls-verify", "-e", `BASE=${base}`];
      return spawn(PROGRAM, ["run", ...flags, pathOf("conform/k6-ws.js")], { stdio: "ignore", env: ENVIRONMENT });
    }));

  test("a client that speaks no TLS is let go, and others are served", async (t) => {
    const { base, ended } = await startSuite("--only", "1.1.1");
    const plain = await fetch(base.replace("wss:", "http:")).then(String, () => "refused");
    assert.equal(plain, "refused");
    const options = { stdio: "ignore", env: { ...ENVIRONMENT, NODE_EXTRA_CA_CERTS: files.cert } };
    const client = spawn(process.execPath, [pathOf("conform/ws-client.mjs"), base], options);
    t.after(() => client.kill());
    assert.equal((await ended).code, 0);
  });

  for (const [what, flags, expected] of [
    ["there is no such file", ["--ssl_cert", "none.pem", "--ssl_key", files.key], /^error: cannot read none\.pem: .*--ssl_cert/],
    ["there is no certificate in it", ["--ssl_cert", files.key, "--ssl_key", files.key], /has no certificate/],
    ["there is no key in it", ["--ssl_cert", files.cert, "--ssl_key", files.cert], /has no private key/],
    ["the key is another's", ["--ssl_cert", files.cert, "--ssl_key", others.key], /cannot be used with the key/],
    ["the key is missing", ["--ssl_cert", files.cert], /--ssl[-_]key <FILE>/],
  ]) {
    test(`it is said that ${what}`, () => check({}, ["websocket", "--listen", "127.0.0.1:0", ...flags], 2, expected));
  }

  test("whom to believe is for a URL", () =>
    check({}, ["websocket", "--listen", "127.0.0.1:0", "--cacert", files.cert], 2, /cannot be used with/));

  test("a certificate is for --listen", () =>
    check({}, ["websocket", "wss://localhost/", ...files.flags], 2, /cannot be used with/));
});

describe("a cable server over wss", () => {
  const cable = (command, ...flags) => [
    ...["cable", "wss://127.0.0.1:0/cable", "--rpc-listen", "127.0.0.1:0", "--patience", "20", "--timeout", "60"],
    ...["--expect", expectations("cable-plimsoll"), "--command", command, ...flags],
  ];
  const serve = (...flags) =>
    [
      `"${PROGRAM}" serve --host 127.0.0.1 --port {port} --rpc_host {rpc} --headers cookie,x-api-token`,
      `--ping_interval 1 --ping_timestamp_precision ms --ssl_cert "${files.cert}" --ssl_key "${files.key}"`,
      ...flags,
    ].join(" ");
  const some = ["--only", "cable/connection,cable/subscriptions,cable/streams,cable/order,cable/size,cable/closing"];

  test("gets the verdicts that it gets without TLS, with broadcasts to its https:// address", async () => {
    const flags = ["--cacert", files.cert, "--broadcast-key", "secret", ...some];
    await check({}, cable(serve("--broadcast_key", "secret"), ...flags), 0);
  });

  test("hears of broadcasts by way of https:// and rediss://", async (t) => {
    const { ca, server: identity } = makeAuthority();
    const port = await freePort();
    const tls = ["--tls-cert-file", identity.cert, "--tls-key-file", identity.key, "--tls-ca-cert-file", ca.cert];
    const options = ["--port", "0", "--tls-port", String(port), "--tls-auth-clients", "no", ...tls];
    const redis = await RedisServer.start(t, { port, options });
    const url = `rediss://${redis.address}`;
    const few = ["--insecure", "--only", "cable/streams"];
    for (const adapter of ["redis", "redisx"]) {
      const command = serve("--broadcast_adapter", adapter, "--redis_url", url);
      await check({}, cable(command, "--broadcast", adapter, "--broadcast-url", url, ...few), 0);
    }
    const http = ["--broadcast-key", "secret", "--broadcast-url", "https://localhost:{port}/_broadcast"];
    await check({}, cable(serve("--broadcast_key", "secret"), ...http, ...few), 0);
  });

  test("is believed by its certificate only", async () => {
    const { code, stderr } = await plimsoll("conform", ...cable(serve("--broadcast_key", "secret")));
    assert.equal(code, 1, stderr);
    assert.match(stderr, /cannot connect to wss:.*\/cable: TLS fails: invalid peer certificate/);
  });
});
