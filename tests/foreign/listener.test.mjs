// Who gets in, and where.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Server } from "./support/plimsoll.mjs";
import { RawSocket, upgradeRequest } from "./support/raw.mjs";

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
