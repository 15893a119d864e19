// Settings from a file, the environment and the command line, as people and AnyCable's recipes give them.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { BENCHMARK, CableClient } from "./support/cable.mjs";
import { HttpApp } from "./support/http-app.mjs";
import { Server, plimsollIn } from "./support/plimsoll.mjs";
import { CHAT } from "./support/rpc-app.mjs";

/** A folder with one file in it, gone after the test. */
function folderWith(t, name, text) {
  const folder = mkdtempSync(join(tmpdir(), "plimsoll-settings-"));
  t.after(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, name), text);
  return folder;
}

/** What `serve --print-config` prints. */
async function configuration(surroundings, ...args) {
  const { code, stdout, stderr } = await plimsollIn(surroundings, "serve", "--print-config", ...args);
  assert.equal(code, 0, stderr);
  return { stdout, stderr };
}

describe("layers", () => {
  test("the environment wins over the file, and the command line over both", async (t) => {
    const cwd = folderWith(
      t,
      "anycable.toml",
      '[server]\nhost = "a"\nport = 1\nmax_conn = 7\n[app]\nping_interval = 9\n',
    );
    const env = { ANYCABLE_PORT: "2", ANYCABLE_HOST: "b", PLIMSOLL_HOST: "c", PORT: "3" };
    const { stdout } = await configuration({ cwd, env }, "--ping_interval", "4");
    for (const line of [
      'host = "c"  # PLIMSOLL_HOST',
      "port = 2  # ANYCABLE_PORT",
      "max_conn = 7  # anycable.toml:4",
      "ping_interval = 4  # command line",
      "max_message_size = 65536  # default",
    ]) {
      assert.ok(stdout.includes(`\n${line}\n`), `${line} in ${stdout}`);
    }
  });

  test("what is printed is a settings file that says the same", async (t) => {
    const env = { ANYCABLE_HEADERS: "cookie,x-api-token", ANYCABLE_ENABLE_WS_COMPRESSION: "1", PORT: "3" };
    const values = (text) => text.replaceAll(/ {2}# .*/g, "");
    const first = await configuration({ env });
    const cwd = folderWith(t, "printed.toml", first.stdout);
    const second = await configuration({ cwd }, "--config-path", "printed.toml");
    assert.equal(values(second.stdout), values(first.stdout));
    assert.match(second.stdout, /printed\.toml:\d+/);
  });

  test("secrets are not printed", async () => {
    const env = { ANYCABLE_BROADCAST_KEY: "hidden", REDIS_URL: "redis://user:hidden@localhost:6379" };
    const { stdout, stderr } = await configuration({ env });
    assert.doesNotMatch(stdout + stderr, /hidden/);
    assert.match(stdout, /^# broadcast_key = "\*\*\*"/m);
  });

  test("a server runs with a file and the environment", async (t) => {
    const cwd = folderWith(t, "plimsoll.toml", '[ws]\npaths = ["/chat"]\n[server]\nhealth_path = "/alive"\n');
    const server = await Server.startIn({ cwd, env: { ANYCABLE_BROADCAST_KEY: "secret" } });
    t.after(() => server.stop());
    const client = await CableClient.subscribed(server.ws("/chat"), BENCHMARK);
    assert.equal((await fetch(server.http("/alive"))).status, 200);
    assert.equal((await server.broadcast({ stream: "all", data: "1" })).status, 201);
    assert.match(await client.frames.next(), /"message":1/);
    await client.close();
  });
});

describe("mistakes", () => {
  for (const [toml, expected] of [
    ["[server]\nprot = 8080\n", "anycable.toml:2:1: server.prot: there is no such key. Did you mean server.port?"],
    ["[redis_steam_broadcast]\n", "there is no section [redis_steam_broadcast]. Did you mean [redis_stream_broadcast]?"],
    ["[server]\n\n  port = 99999\n", "anycable.toml:3:3: server.port: invalid value '99999'"],
    ["[server]\nport = 8080\n[server\n", "anycable.toml:3:8: [server: unclosed table"],
  ]) {
    test(`${JSON.stringify(toml)}: exit code 2, with the place and what was probably meant`, async (t) => {
      const { code, stderr, stdout } = await plimsollIn({ cwd: folderWith(t, "anycable.toml", toml) }, "serve");
      assert.equal(code, 2);
      assert.ok(stderr.includes(expected), stderr);
      assert.equal(stdout, "");
    });
  }

  for (const [env, args, expected] of [
    [{ ANYCABLE_SSL_CERT: "chain.pem" }, [], /--ssl_cert needs --ssl_key: /],
    [{ ANYCABLE_SSL_KEY: "key.pem" }, [], /--ssl_key needs --ssl_cert: /],
    [{ ANYCABLE_REDIS_TLS_CLIENT_CERT_PATH: "c.pem" }, ["--broadcast_adapter", "redis"], /cert_path needs --redis_tls_client_key_path: /],
  ]) {
    test(`${Object.keys(env)} alone is refused: without its other half nothing would be encrypted`, async () => {
      const { code, stderr } = await plimsollIn({ env }, "serve", "--port", "0", "--http_broadcast_port", "0", ...args);
      assert.equal(code, 2);
      assert.match(stderr, expected);
    });
  }

  test("all of them at once, and no file that is named and not there", async (t) => {
    const cwd = folderWith(t, "anycable.toml", "[server]\nprot = 1\nhots = 2\n");
    const { code, stderr } = await plimsollIn({ cwd, env: { ANYCABLE_PING_INTERVAL: "often" } }, "serve");
    assert.equal(code, 2);
    for (const name of ["server.port", "server.host", "ANYCABLE_PING_INTERVAL"]) assert.ok(stderr.includes(name), stderr);

    const missing = await plimsollIn({ cwd }, "serve", "--config-path", "nowhere.toml");
    assert.equal(missing.code, 2);
    assert.match(missing.stderr, /cannot read the settings file nowhere\.toml/);
  });
});

describe("a server that came from AnyCable", () => {
  test("names what is not supported and starts", async (t) => {
    const cwd = folderWith(t, "anycable.toml", 'presets = ["broker"]\n[pusher]\napp_id = "1"\n');
    const env = { ANYCABLE_EMBED_NATS: "true", ANYCABLE_BROADCAST_KYE: "k" };
    const server = await Server.startIn({ cwd, env }, "--hub_gopool_size", "64", "--netpoll_enabled=false");
    t.after(() => server.stop());
    assert.equal((await fetch(server.http("/health"))).status, 200);
    for (const expected of [
      /anycable\.toml:3:1: pusher\.app_id is not supported: /,
      /ANYCABLE_EMBED_NATS is not supported: /,
      /--hub-gopool-size is not supported: /,
      /ANYCABLE_BROADCAST_KYE is unknown and has no effect\. Did you mean ANYCABLE_BROADCAST_KEY\?/,
    ]) {
      await server.logged(expected);
    }
    assert.doesNotMatch(server.stderr, /netpoll/);
  });

  test("runs in the environment of AnyCable's recipe for HTTP", async (t) => {
    // The application's process and the server share these, so each sees the other's.
    const env = {
      ANYCABLE_BROADCAST_ADAPTER: "http",
      ANYCABLE_HTTP_BROADCAST_SECRET: "any_secret",
      ANYCABLE_HTTP_RPC_SECRET: "rpc_secret",
      ANYCABLE_HTTP_RPC_MOUNT_PATH: "/_anycable",
      ANYCABLE_HTTP_BROADCAST_URL: "http://localhost:8080/_broadcast",
    };
    const app = await HttpApp.start();
    const server = await Server.startIn({ env }, `--rpc_host=${app.host}`);
    t.after(() => server.stop());
    t.after(() => app.kill());
    const client = await CableClient.subscribed(server.ws("/cable"), CHAT);
    assert.equal(app.headers.authorization, "Bearer rpc_secret");
    const payload = { stream: "room", data: '"hello"' };
    assert.equal((await server.broadcast(payload, "wrong")).status, 401);
    assert.equal((await server.broadcast(payload, "any_secret")).status, 201);
    assert.match(await client.frames.next(), /"message":"hello"/);
    await server.logged(/ANYCABLE_HTTP_BROADCAST_SECRET is an old name; use ANYCABLE_BROADCAST_KEY\./);
    assert.doesNotMatch(server.stderr, /MOUNT_PATH|BROADCAST_URL/);
    await client.close();
  });
});
