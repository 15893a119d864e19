// Plain HTTP on the server's port, as Node.js's own client sees it.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Server } from "./support/plimsoll.mjs";
import { RawSocket, upgradeRequest } from "./support/raw.mjs";

describe("plain HTTP", () => {
  let server;
  before(async () => (server = await Server.start("--app", "benchmark", "--path", "/cable,/other")));
  after(() => server.stop());

  for (const [method, path, status, body] of [
    ["GET", "/", 200, /Hello from Plimsoll/],
    ["HEAD", "/", 200, /^$/],
    ["POST", "/", 405, /./],
    ["GET", "/health", 200, /^OK\n$/],
    ["GET", "/health?verbose=1", 200, /^OK\n$/],
    ["GET", "/cable", 426, /WebSocket/],
    ["GET", "/other", 426, /WebSocket/],
    ["GET", "/echo", 426, /WebSocket/],
    ["GET", "/cable/", 404, /./],
    ["GET", "/nowhere", 404, /./],
  ]) {
    test(`${method} ${path}: ${status}`, async () => {
      const response = await fetch(server.http(path), { method });
      assert.equal(response.status, status);
      assert.match(await response.text(), body);
    });
  }
});

describe("paths for load tests, which ask nobody who a client is", () => {
  for (const flags of [["--norpc"], ["--rpc_host", "localhost:1"], ["--rpc_host", "http://localhost:1"], ["--rpc_impl", "none"]]) {
    test(`are not there with ${flags.join(" ")}`, async (t) => {
      const server = await Server.start(...flags);
      t.after(() => server.stop());
      for (const path of ["/echo", "/json", "/binary"]) {
        const raw = await RawSocket.connect(server.port);
        raw.write(upgradeRequest(path));
        assert.match(await raw.head(), /^HTTP\/1\.1 404 /, path);
        raw.destroy();
      }
    });
  }
});
