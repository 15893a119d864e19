// The defaults of a server: it expects an application, and lets no program publish by accident
// (issue 14, item 7).

import assert from "node:assert/strict";
import { request } from "node:http";
import { describe, test } from "node:test";
import { Browser } from "./support/browser.mjs";
import { CableClient } from "./support/cable.mjs";
import { Server, plimsoll } from "./support/plimsoll.mjs";
import { freePort } from "./support/ports.mjs";
import { confirm, json, transmission } from "./support/rpc-app.mjs";

const ROOM = json({ channel: "$pubsub", stream_name: "room" });
const TO_ROOM = json({ stream: "room", data: '"hello"' });

/** The same flags as in a shell, with nothing but a free port, and no application where none is named. */
async function serve(t, ...flags) {
  const server = await Server.startIn({ app: null }, ...flags);
  t.after(() => server.isRunning && server.stop());
  return server;
}

/** Posts a broadcast with these headers, which `fetch` would not send; the status of the answer. */
function post(url, headers = {}) {
  return new Promise((resolve, reject) => {
    const asked = request(url, { method: "POST", headers }, (answer) => {
      answer.resume().on("end", () => resolve(answer.statusCode));
    });
    asked.on("error", reject).end(TO_ROOM);
  });
}

/** Where a server without a key takes broadcasts, by its log. */
const broadcastUrl = async (server) => (await server.logged(/Broadcasts are accepted on (http:\S+), without a key/))[1];

async function listener(t, server) {
  const client = await CableClient.connect(server.ws("/cable"));
  t.after(() => client.close());
  await client.frames.next();
  assert.equal(await client.subscribe(ROOM), confirm(ROOM));
  return client;
}

describe("the application", () => {
  test("is expected at localhost:50051 when none is named, and the log says how to start without one", async (t) => {
    const server = await serve(t, "--http_broadcast_port", "0");
    await server.logged(/RPC at localhost:50051 .*--rpc_host.*use --app benchmark.*--norpc/);
    const { dependencies } = await (await fetch(server.http("/ready"))).json();
    assert.ok(dependencies.some(({ name }) => name === "rpc"), "the server waits for it");
    assert.equal((await fetch(server.http("/echo"))).status, 404, "no path for load tests");
  });

  for (const [flags, expected] of [
    [["--app", "chat", "--rpc_host", "localhost:1"], /--app.*--rpc-host|--rpc-host.*--app/],
    [["--app", "chat", "--norpc"], /--app.*--norpc|--norpc.*--app/],
  ]) {
    test(`${flags.join(" ")}: exit code 2`, async () => {
      const { code, stderr } = await plimsoll("serve", ...flags);
      assert.equal(code, 2, stderr);
      assert.match(stderr, expected);
    });
  }

  test("an embedded one takes no broadcasts over HTTP, so that a second server finds its port free", async (t) => {
    for (const app of ["benchmark", "chat"]) {
      const server = await serve(t, "--app", app);
      assert.equal(await post(server.http("/_broadcast")), 404);
      assert.doesNotMatch(server.stderr, /Broadcasts are accepted/);
    }
  });

  for (const flags of [["--http_broadcast_port", "0"], ["--broadcast_adapter", "http", "--http_broadcast_port", "0"]]) {
    test(`an embedded one with ${flags.join(" ")} takes them`, async (t) => {
      const server = await serve(t, "--app", "benchmark", ...flags);
      assert.equal(await post(await broadcastUrl(server)), 201);
    });
  }

  test("that gets cookies, without a list of origins: one warning names the attack and the flag", async (t) => {
    const remote = ["--rpc_host", "localhost:1", "--http_broadcast_port", "0"];
    const warned = await serve(t, ...remote);
    await warned.logged(/WARN.*cross-site WebSocket hijacking.*--allowed_origins/);
    for (const flags of [["--allowed_origins", "app.example"], ["--headers", "x-api-token"]]) {
      const server = await serve(t, ...remote, ...flags);
      assert.equal((await fetch(server.http("/health"))).status, 200);
      assert.doesNotMatch(server.stderr, /hijacking/, flags.join(" "));
    }
    assert.equal(warned.stderr.match(/hijacking/g).length, 1);
  });
});

describe("broadcasts without a key", () => {
  const OPEN = ["--norpc", "--noauth", "--public_streams", "--http_broadcast_port", "0"];

  test("are refused at start where other machines could send them: exit code 2, and what to do", async () => {
    const { code, stderr } = await plimsoll("serve", "--host", "0.0.0.0", "--port", "0", ...OPEN);
    assert.equal(code, 2, stderr);
    assert.match(stderr, /broadcasts on 0\.0\.0\.0 .*--broadcast_key.*--host localhost.*--http_broadcast_insecure/s);
  });

  for (const [flags, expected] of [
    [["--http_broadcast_insecure"], /WARN.*Every program that reaches the port for broadcasts/],
    [["--public"], /WARN.*Every program that reaches the port for broadcasts/],
    [["--broadcast_key", "secret"], /Action Cable clients are served/],
    [["--broadcast_adapter", "redis", "--redis_url", "redis://127.0.0.1:1"], /Action Cable clients are served/],
  ]) {
    test(`the server starts with ${flags.join(" ")}`, async (t) => {
      const server = await serve(t, "--norpc", "--host", "0.0.0.0", "--http_broadcast_port", "0", ...flags);
      await server.logged(expected);
      await server.stop();
      assert.equal(/Every program that reaches/.test(server.stderr), expected.source.includes("reaches"));
    });
  }

  test("come from programs on this machine, and from no page of another site", async (t) => {
    const server = await serve(t, ...OPEN);
    const url = await broadcastUrl(server);
    const { host, port } = new URL(url);
    const client = await listener(t, server);
    for (const [headers, expected] of [
      [{}, 201],
      [{ host: `localhost:${port}` }, 201],
      [{ origin: "https://evil.example" }, 403],
      [{ origin: "null" }, 403],
      [{ origin: `http://${host}`, "sec-fetch-site": "same-origin" }, 201],
      [{ "sec-fetch-site": "cross-site" }, 403],
      [{ "sec-fetch-site": "same-site" }, 403],
      [{ host: `evil.example:${port}` }, 403],
      [{ host: `evil.example:${port}`, origin: `http://evil.example:${port}`, "sec-fetch-site": "same-origin" }, 403],
    ]) {
      assert.equal(await post(url, headers), expected, json(headers));
      if (expected === 201) assert.equal(await client.frames.next(), transmission(ROOM, "hello"));
    }
    assert.deepEqual(await client.settle(), [], "nothing else was published");
  });

  test("come from no page in Chromium: not of another origin, and not of a name that points to this machine", async (t) => {
    const server = await serve(t, ...OPEN);
    const url = await broadcastUrl(server);
    const client = await listener(t, server);
    const browser = await Browser.launch("--host-resolver-rules=MAP evil.example 127.0.0.1");
    t.after(() => browser.close());
    const foreign = await browser.newPage(t);
    await foreign.goto(browser.url);
    const send = (url, mode) => fetch(url, { method: "POST", mode, body: '{"stream":"room","data":"1"}' }).then(({ type, status }) => [type, status]);
    const inPage = (page, url, mode) => page.evaluate(`(${send})(${json(url)}, ${json(mode)})`);
    // What a page may do without asking: send, and not see the answer.
    assert.deepEqual(await inPage(foreign, url, "no-cors"), ["opaque", 0]);
    const rebound = await browser.newPage(t);
    await rebound.goto(`http://evil.example:${new URL(url).port}/`);
    assert.deepEqual(await inPage(rebound, "/_broadcast", "same-origin"), ["basic", 403]);
    assert.deepEqual(await client.settle(), []);
  });

  test("come from pages that --http_broadcast_cors and --allowed_origins let in", async (t) => {
    const cors = [...OPEN, "--http_broadcast_cors"];
    const page = (name) => ({ origin: `https://${name}`, "sec-fetch-site": "cross-site" });
    const listed = await broadcastUrl(await serve(t, ...cors, "--allowed_origins", "app.example"));
    assert.equal(await post(listed, page("app.example")), 201);
    assert.equal(await post(listed, page("evil.example")), 403);
    const unlisted = await broadcastUrl(await serve(t, ...cors));
    assert.equal(await post(unlisted, page("app.example")), 403);
  });
});

describe("--public", () => {
  test("keeps broadcasts off the port where clients are", async (t) => {
    const port = await freePort();
    const server = await serve(t, "--norpc", "--public", "--http_broadcast_port", String(port));
    const client = await listener(t, server);
    assert.equal(await post(server.http("/_broadcast")), 404);
    assert.equal(await post(`http://127.0.0.1:${port}/_broadcast`), 201);
    assert.equal(await client.frames.next(), transmission(ROOM, "hello"));
  });

  test("takes them on the main port where that is named", async (t) => {
    const port = await freePort();
    const server = await serve(t, "--norpc", "--public", "--port", String(port), "--http_broadcast_port", String(port));
    assert.equal(server.port, port);
    assert.equal(await post(server.http("/_broadcast")), 201);
  });

  test("drops the key that --secret stands for, and keeps one that is given", async (t) => {
    const open = await serve(t, "--norpc", "--public", "--secret", "s", "--http_broadcast_port", "0");
    assert.equal(await post(await broadcastUrl(open)), 201);
    const keyed = await serve(t, "--norpc", "--public", "--broadcast_key", "k");
    assert.equal(await post(keyed.http("/_broadcast")), 401);
    assert.equal(await post(keyed.http("/_broadcast"), { authorization: "Bearer k" }), 201);
  });
});
