// Applications of both kinds over TLS, with certificates of an authority of our own.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { CableClient } from "./support/cable.mjs";
import { makeAuthority } from "./support/certificates.mjs";
import { within } from "./support/deadline.mjs";
import { GrpcApp } from "./support/grpc-app.mjs";
import { HttpApp } from "./support/http-app.mjs";
import { Server, plimsoll } from "./support/plimsoll.mjs";
import { welcomed } from "./support/rpc-contract.mjs";

const read = (path) => readFileSync(path, "utf8");
const { ca, server: files } = makeAuthority();
const other = makeAuthority().ca;
const [key, cert] = [files.key, files.cert].map(read);

/** A server for an application; both end with the test. */
async function serve(t, app, ...flags) {
  const server = await Server.start("--rpc_host", app.host, "--rpc_command_timeout", "500", ...flags);
  t.after(() => server.isRunning && server.stop());
  t.after(() => app.kill());
  return server;
}

for (const [App, ...enable] of [[GrpcApp, "--rpc_enable_tls"], [HttpApp]]) {
  describe(`TLS over ${App.kind}`, () => {
    for (const [name, flags] of [
      ["the application's authority as a file", ["--rpc_tls_root_ca", ca.cert]],
      ["the application's authority as text", ["--rpc_tls_root_ca", read(ca.cert)]],
      ["--rpc_tls_verify=false", ["--rpc_tls_verify=false"]],
      ["--rpc_tls_verify false and another authority", ["--rpc_tls_verify", "false", "--rpc_tls_root_ca", other.cert]],
    ]) {
      test(`works with ${name}`, async (t) => {
        const app = await App.start({}, { tls: { key, cert } });
        const server = await serve(t, app, ...enable, ...flags);
        await welcomed(server.ws("/cable"));
        assert.equal(app.calls.Connect.size, 1);
      });
    }

    for (const [name, tls, flags, expected] of [
      ["the system's authorities only", { key, cert }, enable, /UnknownIssuer.*--rpc_tls_root_ca/],
      ["another authority", { key, cert }, [...enable, "--rpc_tls_root_ca", other.cert], /certificate.*Hint: name the certif/],
    ]) {
      test(`fails with ${name}`, async (t) => {
        const app = await App.start({}, { tls });
        const server = await serve(t, app, ...flags);
        const client = await CableClient.connect(server.ws("/cable"));
        assert.deepEqual(await within(client.closed, "the close"), { code: 1011, reason: "Auth Error" });
        await server.stop();
        await server.logged(expected);
        await server.logged(/The application at .* is away/);
        assert.equal(app.calls.Connect.size, 0);
      });
    }
  });
}

describe("one side without TLS", () => {
  for (const [name, app, flags, expected] of [
    ["a gRPC application without", () => GrpcApp.start(), ["--rpc_enable_tls"], /does not speak TLS.*remove --rpc_enable_tls/],
    ["a gRPC application with", () => GrpcApp.start({}, { tls: { key, cert } }), [], /--rpc_enable_tls/],
    ["an HTTP application without", () => secure(HttpApp.start()), [], /does not speak TLS.*use http:\/\//],
    ["an HTTP application with", () => insecure(HttpApp.start({}, { tls: { key, cert } })), [], /https:\/\//],
  ]) {
    test(name, async (t) => {
      const server = await serve(t, await app(), ...flags);
      const client = await CableClient.connect(server.ws("/cable"));
      assert.deepEqual(await within(client.closed, "the close"), { code: 1011, reason: "Auth Error" });
      await server.stop();
      await server.logged(expected);
    });
  }
});

/** The application at the URL of the other scheme. */
const secure = async (app) => renamed(await app, "https");
const insecure = async (app) => renamed(await app, "http");
const renamed = (app, scheme) => ({ host: `${scheme}://127.0.0.1:${app.port}/_anycable`, kill: () => app.kill() });

test("an authority that cannot be read is a usage error", async () => {
  const flags = ["--rpc_host", "https://localhost/", "--rpc_tls_root_ca", "/nonexistent/ca.pem"];
  const { code, stderr } = await plimsoll("serve", "--port", "0", "--http_broadcast_port", "0", ...flags);
  assert.equal(code, 2, stderr);
  assert.match(stderr, /cannot read "\/nonexistent\/ca.pem".*expected a PEM file/);
});
