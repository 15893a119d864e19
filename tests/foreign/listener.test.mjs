// Who gets in, and where.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { CableClient } from "./support/cable.mjs";
import { within } from "./support/deadline.mjs";
import { Server, plimsoll } from "./support/plimsoll.mjs";
import { eventually } from "./support/processes.mjs";
import { RawSocket, frame, upgradeRequest } from "./support/raw.mjs";

/** Opens a WebSocket on /echo and leaves it open; the status of the answer and the connection. */
async function openEcho(t, server) {
  const raw = await RawSocket.connect(server.port);
  t.after(() => raw.destroy());
  raw.write(upgradeRequest("/echo"));
  return { raw, status: Number((await raw.head()).split(" ")[1]) };
}

/** The status of an upgrade request with these header lines. */
async function upgradeStatus(server, path, ...headers) {
  const raw = await RawSocket.connect(server.port);
  try {
    raw.write(upgradeRequest(path, headers));
    return Number((await raw.head()).split(" ")[1]);
  } finally {
    raw.destroy();
  }
}

describe("--allowed_origins", () => {
  let server;
  before(async () => (server = await Server.start("--allowed_origins", "app.example:3000,*.pages.example")));
  after(() => server.stop());

  for (const [headers, status] of [
    [["Origin: http://app.example:3000"], 101],
    [["Origin: https://my.pages.example"], 101],
    [["Origin: http://app.example"], 403],
    [["Origin: https://pages.example"], 403],
    [["Origin: null"], 403],
    [[], 403],
  ]) {
    for (const path of ["/cable", "/echo"]) {
      test(`${headers[0] ?? "no origin"} on ${path}: ${status}`, async () => {
        assert.equal(await upgradeStatus(server, path, ...headers), status);
      });
    }
  }

  test("plain HTTP needs no origin", async () => {
    assert.equal((await fetch(server.http("/health"))).status, 200);
  });
});

describe("--max_conn_per_ip", () => {
  test("one connection more than the limit is told so, and one that ends makes room", async (t) => {
    const server = await Server.start("--max_conn_per_ip", "3");
    t.after(() => server.stop());
    const open = [];
    while (open.length < 3) open.push(await openEcho(t, server));
    assert.deepEqual(open.map(({ status }) => status), [101, 101, 101]);
    assert.equal((await openEcho(t, server)).status, 429);
    // HTTP has no way around it.
    const health = await fetch(server.http("/health"));
    assert.equal(health.status, 429);
    assert.match(await health.text(), /too many connections from this address/);
    open[0].raw.write(frame(0x88, ""));
    await within(open[0].raw.closed, "the server to hang up");
    assert.equal((await openEcho(t, server)).status, 101);
  });

  test("broadcasts on their own port are not counted", async (t) => {
    const server = await Server.start("--max_conn_per_ip", "1", "--app", "benchmark", "--http_broadcast_port", "0");
    t.after(() => server.stop());
    assert.equal((await openEcho(t, server)).status, 101);
    const [url] = await server.logged(/http:\/\/[^ ]+\/_broadcast/);
    const body = JSON.stringify({ stream: "all", data: "7" });
    assert.equal((await fetch(url, { method: "POST", body })).status, 201);
  });

  test("a flood beyond it does not keep anything open", async (t) => {
    const server = await Server.start("--max_conn_per_ip", "5", "--handshake_timeout_ms", "60000");
    t.after(() => server.stop());
    const crowd = await Promise.all(Array.from({ length: 200 }, () => RawSocket.connect(server.port)));
    t.after(() => crowd.forEach((raw) => raw.destroy()));
    const n_ended = () => crowd.filter((raw) => raw.socket.closed).length;
    await eventually(() => n_ended() >= 200 - 5 - 32, "the server to hang up");
    assert.equal(n_ended(), 200 - 5 - 32);
  });
});

describe("--path with placeholders", () => {
  let server;
  before(async () => (server = await Server.start("--path", "/cable,/{tenant}/cable,/ws/*")));
  after(() => server.stop());

  for (const [path, status] of [
    ["/cable", 101],
    ["/acme/cable", 101],
    ["/acme/cable?a=/b", 101],
    ["/ws/", 101],
    ["/ws/a/b", 101],
    ["/echo", 101],
    ["/ws", 404],
    ["//cable", 404],
    ["/a/b/cable", 404],
  ]) {
    test(`${path}: ${status}`, async () => {
      assert.equal(await upgradeStatus(server, path), status);
    });
  }

  test("a plain request is told to upgrade", async () => {
    assert.equal((await fetch(server.http("/acme/cable"))).status, 426);
  });

  test("a star in the middle is a mistake", async () => {
    const { code, stderr } = await plimsoll("serve", "--path", "/a/*/b");
    assert.equal(code, 2, stderr);
    assert.match(stderr, /\/\{tenant\}\/cable/);
  });
});

describe("pings", () => {
  let server;
  before(async () => (server = await Server.start("--ping_interval", "3600", "--ping_timestamp_precision", "ms")));
  after(() => server.stop());

  for (const [query, perSecond] of [
    ["?pi=1", 1000],
    ["?pi=1&ptp=s", 1],
    ["?ptp=ns&pi=1", 1e9],
  ]) {
    test(`/cable${query}: every second, and ${perSecond} counts as one`, async () => {
      const client = await CableClient.connect(server.ws(`/cable${query}`));
      const [first, second] = (await client.pings.take(2)).map((ping) => JSON.parse(ping).message / perSecond);
      assert.ok(Math.abs(first - Date.now() / 1000) < 60, `${first} is not now`);
      assert.ok(second - first >= 0.9 && second - first < 20, `${second - first} s between two pings`);
      await client.close();
    });
  }
});
