// Plain HTTP on the server's port, as Node.js's own client sees it.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { within } from "./support/deadline.mjs";
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

describe("requests that a proxy in front may read in another way (RFC 9112 §2.2, §3.2)", () => {
  const good = "GET /health HTTP/1.1\r\nHost: a\r\n\r\n";
  const body = "[]\n\n";
  const sized = `POST /nowhere HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  const chunked = `POST /nowhere HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n${body}\r\n0\r\n\r\n`;
  let server;
  before(async () => (server = await Server.start("--app", "chat")));
  after(() => server.stop());

  for (const [name, bad] of [
    ["no Host", "GET /health HTTP/1.1\r\nA: b\r\n\r\n"],
    ["two Hosts", "GET /health HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n"],
    ["a Host that is none", "GET /health HTTP/1.1\r\nHost: a/b\r\n\r\n"],
    ["a bare LF", "GET /health HTTP/1.1\r\nHost: a\nA: b\r\n\r\n"],
    ["a bare LF for a WebSocket", upgradeRequest("/cable").replace("\r\nUpgrade", "\nUpgrade")],
  ]) {
    for (const [place, before, statuses] of [
      ["first", "", []],
      ["behind others", good + sized + chunked, [200, 404, 404]],
    ]) {
      test(`${name}, ${place}: 400, and the connection ends`, async (t) => {
        const raw = await RawSocket.connect(server.port);
        t.after(() => raw.destroy());
        raw.write(`${before}${bad}${good}`);
        await within(raw.closed, "the server to hang up");
        const answers = (await raw.until(/$/)).match(/HTTP\/1\.1 \d+/g).map((line) => Number(line.split(" ")[1]));
        assert.deepEqual(answers, [...statuses, 400]);
      });
    }
  }

  test("HTTP/1.0 needs no Host", async (t) => {
    const raw = await RawSocket.connect(server.port);
    t.after(() => raw.destroy());
    raw.write("GET /health HTTP/1.0\r\n\r\n");
    assert.match(await raw.head(), / 200 /);
  });
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
