// An application over HTTP.

import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { describe, test } from "node:test";
import { CableClient } from "./support/cable.mjs";
import { within } from "./support/deadline.mjs";
import { plimsoll } from "./support/plimsoll.mjs";
import { GrpcApp } from "./support/grpc-app.mjs";
import { HttpApp, httpAnswer } from "./support/http-app.mjs";
import { CHAT, confirm, json, transmission } from "./support/rpc-app.mjs";
import { describeContract, start, welcomed } from "./support/rpc-contract.mjs";

describeContract(HttpApp);

describe("requests", () => {
  for (const [name, flags, expected] of [
    ["no secret", [], undefined],
    ["--http_rpc_secret", ["--http_rpc_secret", "qwerty"], "Bearer qwerty"],
    [
      "--secret, from which it is derived",
      ["--secret", "s3Krit"],
      `Bearer ${createHmac("sha256", "s3Krit").update("rpc-cable").digest("hex")}`,
    ],
  ]) {
    test(`carry JSON, the contract's headers, and ${name}`, async (t) => {
      const { app, url } = await start(HttpApp, t, {}, ...flags);
      await welcomed(url);
      const { sid } = await app.calls.Connect.next();
      assert.equal(app.headers["content-type"], "application/json");
      assert.equal(app.headers["x-anycable-meta-sid"], sid);
      assert.equal(app.headers["x-anycable-meta-protov"], "v1");
      assert.equal(app.headers.authorization, expected);
    });
  }

  test("use connections again, and have no more of them than --rpc_concurrency", async (t) => {
    const Command = ({ command, identifier }) => ({
      status: "SUCCESS",
      transmissions: [command === "subscribe" ? confirm(identifier) : transmission(identifier, "done")],
    });
    const { app, url } = await start(HttpApp, t, { Command }, "--rpc_concurrency", "2");
    const clients = await Promise.all(Array.from({ length: 20 }, () => welcomed(url)));
    await Promise.all(clients.map((client) => client.subscribe(CHAT)));
    assert.ok(app.peers.size <= 2, `${app.peers.size} connections`);
  });
});

describe("answers that are not replies", () => {
  for (const [name, answer, n_calls, expected] of [
    ["401", httpAnswer(401, "who are you?"), 1, /answered 401: "who are you\?".*--http_rpc_secret/],
    ["400", httpAnswer(400, "no"), 1, /answered 400 Bad Request: "no"/],
    ["422", httpAnswer(422, "no"), 1, /answered 422/],
    ["500, which is tried again", httpAnswer(500, "oops"), 3, /answered 500 Internal Server Error: "oops"/],
    ["404, which is tried again", httpAnswer(404, "oops"), 3, /answered 404.*path of --rpc_host/],
    ["a redirect", httpAnswer(301, "", { location: "https://x/" }), 3, /with a redirect to "https:\/\/x\/".*redirects are not followed/],
    ["a web page", httpAnswer(200, "<!doctype html>"), 1, /not the JSON of a Connect reply.*expected something like.*doctype/],
    ["JSON without a status", httpAnswer(200, "{}"), 1, /missing field `status`/],
    ["nothing", httpAnswer(200), 1, /an empty body/],
    ["too much", httpAnswer(200, `"${"x".repeat(5000)}"`), 1, /more than 4096 bytes.*--rpc_max_call_recv_size/],
  ]) {
    test(name, async (t) => {
      const habits = { Connect: () => Promise.reject(answer) };
      const flags = ["--rpc_command_timeout", "500", "--rpc_max_call_recv_size", "4096"];
      const { app, server, url } = await start(HttpApp, t, habits, ...flags);
      const client = await CableClient.connect(url);
      assert.deepEqual(await within(client.closed, "the close"), { code: 1011, reason: "Auth Error" });
      assert.equal(app.calls.Connect.size, n_calls);
      await server.stop();
      await server.logged(expected);
    });
  }

  test("an attempt without an answer within --rpc_request_timeout is not repeated", async (t) => {
    const habits = { Connect: () => new Promise(() => {}) };
    const { app, server, url } = await start(HttpApp, t, habits, "--rpc_request_timeout", "100");
    const client = await CableClient.connect(url);
    await within(client.closed, "the close");
    assert.equal(app.calls.Connect.size, 1);
    await server.stop();
    await server.logged(/no answer within 100 ms/);
  });
});

test("names of statuses and nulls are understood", async (t) => {
  const reply = { status: "SUCCESS", identifiers: null, transmissions: [json({ type: "welcome" })], env: null };
  const { url } = await start(HttpApp, t, { Connect: () => Promise.reject(httpAnswer(200, json(reply))) });
  await welcomed(url);
});

test("an application over gRPC is recognised", async (t) => {
  const app = await GrpcApp.start();
  t.after(() => app.kill());
  const { server, url } = await start({ start: async () => ({ host: `http://${app.host}/`, kill() {} }) }, t);
  const client = await CableClient.connect(url);
  await within(client.closed, "the close");
  await server.stop();
  await server.logged(/not HTTP\/1\.1.*without http:\/\//);
});

describe("wrong use", () => {
  for (const [flags, expected] of [
    [["--rpc_host", "http://localhost:3000/?a=1"], /http:\/\/localhost:3000\/_anycable/],
    [["--port", "0", "--http_broadcast_port", "0", "--rpc_host", "http://localhost", "--rpc_impl", "grpc"], /needs host:port/],
    [["--port", "0", "--http_broadcast_port", "0", "--rpc_host", "http://localhost", "--http_rpc_secret", "a\nb"], /HTTP headers cannot have/],
  ]) {
    test(`serve ${flags.join(" ")}`, async () => {
      const { code, stderr } = await plimsoll("serve", ...flags);
      assert.equal(code, 2, stderr);
      assert.match(stderr, expected);
    });
  }
});
