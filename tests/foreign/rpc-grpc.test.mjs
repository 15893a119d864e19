// An application over gRPC, made with gRPC's own JavaScript library.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Server, plimsoll } from "./support/plimsoll.mjs";
import { CableClient } from "./support/cable.mjs";
import { within } from "./support/deadline.mjs";
import { Code, GrpcApp, failure } from "./support/grpc-app.mjs";
import { HttpApp } from "./support/http-app.mjs";
import { CHAT, confirm, transmission } from "./support/rpc-app.mjs";
import { describeContract, start, welcomed } from "./support/rpc-contract.mjs";

describeContract(GrpcApp);

describe("connections", () => {
  test("an application that renews its connections fails no call", async (t) => {
    const Command = ({ command, identifier }) => ({
      status: "SUCCESS",
      transmissions: [command === "subscribe" ? confirm(identifier) : transmission(identifier, "done")],
    });
    const app = await GrpcApp.start({ Command }, { "grpc.max_connection_age_ms": 100 });
    const server = await Server.start("--rpc_host", app.host);
    t.after(async () => {
      await server.stop();
      app.kill();
    });
    const clients = await Promise.all(Array.from({ length: 10 }, () => welcomed(server.ws("/cable"))));
    const work = async (client) => {
      assert.equal(await client.subscribe(CHAT), confirm(CHAT));
      while (app.peers.size < 5) {
        client.perform(CHAT, {});
        assert.equal(await client.frames.next(), transmission(CHAT, "done"));
      }
    };
    await Promise.all(clients.map(work));
    assert.doesNotMatch(server.stderr, /failed/);
  });

  test("calls take turns over a list of hosts, and one that is down does not fail them", async (t) => {
    const apps = [await GrpcApp.start(), await GrpcApp.start()];
    const server = await Server.start("--rpc_host", `grpc-list://${apps.map((app) => app.host).join(",")}`);
    t.after(async () => {
      await server.stop();
      apps.forEach((app) => app.kill());
    });
    for (let n = 0; n < 4; n++) await welcomed(server.ws("/cable"));
    assert.deepEqual(apps.map((app) => app.calls.Connect.size), [2, 2]);
    apps[0].kill();
    for (let n = 0; n < 4; n++) await welcomed(server.ws("/cable"));
    assert.equal(apps[1].calls.Connect.size, 6);
    assert.doesNotMatch(server.stderr, /failed|is away/);
    await apps[0].listen();
    while (apps[0].calls.Connect.size === 2) await welcomed(server.ws("/cable"));
  });
});

describe("an application that is something else", () => {
  for (const [name, host, expected] of [
    ["without the service", async () => GrpcApp.start({ Connect: () => Promise.reject(failure(Code.UNIMPLEMENTED)) }), /anycable\.RPC, protocol version v1/],
    ["over HTTP", async () => HttpApp.start(), /the answer is not gRPC.*http:\/\//],
  ]) {
    test(name, async (t) => {
      const app = await host();
      t.after(() => app.kill());
      const { server, url } = await start({ start: async () => ({ host: `127.0.0.1:${app.port}`, kill() {} }) }, t);
      const client = await CableClient.connect(url);
      assert.deepEqual(await within(client.closed, "the close"), { code: 1011, reason: "Auth Error" });
      await server.stop();
      await server.logged(expected);
    });
  }
});

describe("wrong use", () => {
  for (const [flags, expected] of [
    [["--rpc_host", "localhost"], /localhost:50051/],
    [["--port", "0", "--http_broadcast_port", "0", "--rpc_host", "localhost:1", "--rpc_concurrency_min", "30"], /25 is not between .* 30 and .* 100/],
    [["--port", "0", "--http_broadcast_port", "0", "--rpc_host", "localhost:1", "--rpc_impl", "http"], /needs a URL/],
    [["--rpc_host", "localhost:1", "--app", "chat"], /cannot be used with/],
  ]) {
    test(`serve ${flags.join(" ")}`, async () => {
      const { code, stderr } = await plimsoll("serve", ...flags);
      assert.equal(code, 2, stderr);
      assert.match(stderr, expected);
    });
  }
});
