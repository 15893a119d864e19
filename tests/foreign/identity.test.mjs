// Who clients are and which streams they may hear without the application: tokens made by npm's `jose`, stream names
// signed by Rails, and clients that are not ours.

import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import * as core from "@anycable/core";
import * as web from "@anycable/web";
import WebSocket from "ws";
import { BENCHMARK, CableClient } from "./support/cable.mjs";
import { CertificateFiles } from "./support/certificates.mjs";
import { within } from "./support/deadline.mjs";
import { GrpcApp } from "./support/grpc-app.mjs";
import { IdentityProvider, KAY, inSeconds, keyPair, secretToken } from "./support/identity-provider.mjs";
import { Server, plimsoll } from "./support/plimsoll.mjs";
import { signNames } from "./support/rails-signing.mjs";
import { CHAT, confirm, json, reject, transmission } from "./support/rpc-app.mjs";

const SECRET = "an application secret that is long enough for HS512 ones: 64 bytes and more";
const UNAUTHORIZED = '{"type":"disconnect","reason":"unauthorized","reconnect":false}';
const EXPIRED = '{"type":"disconnect","reason":"token_expired","reconnect":false}';
const AUTH_FAILED = { code: 1000, reason: "Auth Failed" };
const AUTH_ERROR = { code: 1011, reason: "Auth Error" };

/** A server that ends with the test. */
async function serve(t, ...flags) {
  const server = await Server.start(...flags);
  t.after(() => server.isRunning && server.stop());
  return server;
}

/** An application over gRPC, and a server that asks it. */
async function serveWithApplication(t, ...flags) {
  const app = await GrpcApp.start();
  const server = await serve(t, "--rpc_host", app.host, ...flags);
  t.after(() => app.kill());
  return { app, server };
}

const withQuery = (token) => [`?jid=${token}`, {}];
const withHeader = (token) => ["", { headers: { "X-JID": token } }];
const withProtocol = (token) => ["", { protocols: ["actioncable-v1-json", `anycable-token.${token}`] }];

function connect(server, [query, options]) {
  return CableClient.connect(server.ws(`/cable${query}`), options);
}

async function checkWelcome(server, way) {
  const client = await connect(server, way);
  const { type, sid } = JSON.parse(await client.frames.next());
  assert.equal(type, "welcome");
  assert.match(sid, /^[\w-]{21}$/);
  return client;
}

/** The last words, if any, and the close. */
async function checkRefusal(server, way, words, close = AUTH_FAILED) {
  const client = await connect(server, way);
  if (words) assert.equal(await client.frames.next(), words);
  assert.deepEqual(await within(client.closed, "the close"), close);
  assert.equal(client.frames.size, 0);
}

describe("a token signed with the secret", () => {
  for (const [name, way] of Object.entries({ withQuery, withHeader, withProtocol })) {
    test(`is taken ${name}, and the application gets its identifiers without having been asked to connect`, async (t) => {
      const { app, server } = await serveWithApplication(t, "--jwt_secret", SECRET);
      const token = await secretToken(SECRET);
      const client = await checkWelcome(server, way(token));
      assert.equal(client.socket.protocol, "actioncable-v1-json", "the token is never echoed");
      assert.equal(await client.subscribe(CHAT), confirm(CHAT));
      const command = await app.calls.Command.next();
      assert.equal(command.connection_identifiers, KAY);
      if (way !== withQuery) assert.equal(command.env.headers["x-jid"], token);
      assert.equal(app.calls.Connect.size, 0);
    });
  }

  test("the header wins over the sub-protocol, and that over the query", async (t) => {
    const server = await serve(t, "--norpc", "--secret", SECRET);
    const good = await secretToken(SECRET);
    const protocols = (token) => ["actioncable-v1-json", `anycable-token.${token}`];
    await checkWelcome(server, ["?jid=bad", { headers: { "X-JID": good }, protocols: protocols("bad") }]);
    await checkWelcome(server, ["?jid=bad", { protocols: protocols(good) }]);
    await checkRefusal(server, [`?jid=${good}`, { headers: { "X-JID": "bad" } }], UNAUTHORIZED);
    await checkRefusal(server, [`?jid=${good}`, { protocols: protocols("bad") }], UNAUTHORIZED);
  });

  test("may be called something else", async (t) => {
    const server = await serve(t, "--norpc", "--jwt_secret", SECRET, "--jwt_param", "Token");
    const token = await secretToken(SECRET);
    await checkWelcome(server, [`?Token=${token}`, {}]);
    await checkWelcome(server, ["", { headers: { "x-token": token } }]);
    await checkRefusal(server, withQuery(token), UNAUTHORIZED);
  });

  test("is good or bad for a reason", async (t) => {
    const server = await serve(t, "--norpc", "--jwt_secret", SECRET);
    for (const algorithm of ["HS256", "HS384", "HS512"]) {
      await checkWelcome(server, withQuery(await secretToken(SECRET, { algorithm })));
    }
    await checkWelcome(server, withQuery(await secretToken(SECRET, { exp: undefined })));
    const good = await secretToken(SECRET);
    const encode = (value) => Buffer.from(json(value)).toString("base64url");
    const [, claims] = good.split(".");
    for (const [token, words, close] of [
      [await secretToken(SECRET, { exp: inSeconds(-1) }), EXPIRED],
      [await secretToken(`${SECRET}!`), UNAUTHORIZED],
      [await secretToken(SECRET, { nbf: inSeconds(3600) }), UNAUTHORIZED],
      [`${encode({ alg: "none" })}.${claims}.`, UNAUTHORIZED],
      [`${good.slice(0, 40)}x${good.slice(41)}`, UNAUTHORIZED],
      ["garbage", UNAUTHORIZED],
      [await (await keyPair("ES256")).token(), UNAUTHORIZED],
      [await secretToken(SECRET, { ext: undefined }), null, AUTH_ERROR],
      [await secretToken(SECRET, { ext: { user: "kay" } }), null, AUTH_ERROR],
    ]) {
      await checkRefusal(server, withQuery(token), words, close);
    }
  });

  test("is optional: without one the application decides, unless --enforce_jwt says otherwise", async (t) => {
    const { app, server } = await serveWithApplication(t, "--jwt_secret", SECRET);
    await checkWelcome(server, ["", {}]);
    await app.calls.Connect.next();
    await checkRefusal(server, withQuery("bad"), UNAUTHORIZED);

    const strict = await serveWithApplication(t, "--jwt_secret", SECRET, "--enforce_jwt");
    await checkRefusal(strict.server, ["", {}], UNAUTHORIZED);
    await checkRefusal(strict.server, ["?jid=", {}], UNAUTHORIZED);
    await checkWelcome(strict.server, withQuery(await secretToken(SECRET)));
    assert.equal(strict.app.calls.Connect.size, 0);
  });

  test("--enforce_jwt without anything to check tokens with is a mistake", async () => {
    const { code, stderr } = await plimsoll("serve", "--enforce_jwt");
    assert.equal(code, 2);
    assert.match(stderr, /--enforce_jwt would refuse every client: give .*--jwt_secret, --jwt_jwks or --secret/);
  });
});

for (const [name, { createCable }] of Object.entries({ "@anycable/core": core, "@anycable/web": web })) {
  describe(`${name} with a token`, () => {
    for (const websocketAuthStrategy of ["param", "header", "sub-protocol"]) {
      test(`${websocketAuthStrategy}: connects, subscribes, and refreshes a token that has expired`, async (t) => {
        const server = await serve(t, "--enforce_jwt", "--jwt_secret", SECRET);
        let n_refreshed = 0;
        const cable = createCable(server.ws("/cable"), {
          websocketImplementation: WebSocket,
          websocketAuthStrategy,
          auth: { token: await secretToken(SECRET, { exp: inSeconds(-1) }) },
          tokenRefresher: async (transport) => {
            n_refreshed += 1;
            transport.setToken(await secretToken(SECRET), "jid");
          },
          logLevel: "error",
        });
        t.after(() => cable.disconnect());
        const channel = cable.subscribeTo("BenchmarkChannel");
        await within(channel.ensureSubscribed(), "a subscription");
        assert.equal(n_refreshed, 1);
      });
    }
  });
}

describe("a token signed with a private key", () => {
  test("is checked with a key set in a file, which may change", async (t) => {
    const directory = mkdtempSync(join(tmpdir(), "plimsoll-jwks-"));
    t.after(() => rmSync(directory, { recursive: true }));
    const file = join(directory, "jwks.json");
    const algorithms = ["RS256", "RS512", "PS256", "ES256", "ES384", "EdDSA"];
    const pairs = await Promise.all(algorithms.map((algorithm) => keyPair(algorithm, algorithm)));
    writeFileSync(file, json({ keys: pairs.map(({ jwk }) => jwk) }));
    const server = await serve(t, "--norpc", "--jwt_jwks", file);
    for (const { token } of pairs) await checkWelcome(server, withHeader(await token()));

    // A public key is not a secret: a signature made with it proves nothing.
    const publicKey = Buffer.from(pairs[0].jwk.n, "base64url");
    const { SignJWT } = await import("jose");
    const forged = new SignJWT({ ext: KAY }).setProtectedHeader({ alg: "HS256", kid: "RS256" }).sign(publicKey);
    await checkRefusal(server, withHeader(await forged), UNAUTHORIZED);
    const stranger = await keyPair("RS256", "RS256");
    await checkRefusal(server, withHeader(await stranger.token()), UNAUTHORIZED);

    const next = await keyPair("ES256", "next");
    writeFileSync(file, json({ keys: [next.jwk] }));
    await checkWelcome(server, withHeader(await next.token()));
    await checkRefusal(server, withHeader(await pairs[3].token()), UNAUTHORIZED);
  });

  test("is checked with a key set from a URL, which is asked again for a key that nobody knows, but not in a flood", async (t) => {
    const [first, second] = [await keyPair("RS256", "first"), await keyPair("ES256", "second")];
    const provider = await IdentityProvider.start(first);
    t.after(() => provider.stop());
    const server = await serve(t, "--enforce_jwt", "--secret", SECRET, "--jwt_jwks", provider.url);
    await checkWelcome(server, withQuery(await first.token()));
    await checkWelcome(server, withQuery(await secretToken(SECRET)));

    provider.keys = [second.jwk];
    const { n_requests } = provider;
    await checkWelcome(server, withQuery(await second.token()));
    assert.equal(provider.n_requests, n_requests + 1);
    for (let n = 0; n < 20; n += 1) {
      await checkRefusal(server, withQuery(await second.token({ kid: `made up ${n}` })), UNAUTHORIZED);
    }
    assert.equal(provider.n_requests, n_requests + 1, "made-up keys do not lead to requests");
  });

  test("the keys that are known stay when the provider goes away, and only unknown ones cannot be decided about", async (t) => {
    const known = await keyPair("EdDSA", "known");
    const provider = await IdentityProvider.start(known);
    t.after(() => provider.stop());
    const server = await serve(t, "--norpc", "--jwt_jwks", provider.url);
    await checkWelcome(server, withQuery(await known.token()));
    provider.status = 503;
    await checkRefusal(server, withQuery(await known.token({ kid: "new" })), null, AUTH_ERROR);
    await checkWelcome(server, withQuery(await known.token()));
    await server.stop();
    await server.logged(/the answer is 503 Service Unavailable instead of 200/);
  });

  test("a provider that is away from the start: nobody can be identified, and the log says why", async (t) => {
    const pair = await keyPair("ES256", "k");
    const provider = await IdentityProvider.start(pair);
    provider.stop();
    const server = await serve(t, "--norpc", "--jwt_jwks", provider.url);
    await checkRefusal(server, withQuery(await pair.token()), null, AUTH_ERROR);
    await server.stop();
    await server.logged(/cannot read the key set http:.*Connection refused/);
  });

  test("over https the provider has to be known to the system's authorities", async (t) => {
    const files = new CertificateFiles();
    const pair = await keyPair("ES256", "k");
    const tls = { cert: readFileSync(files.cert), key: readFileSync(files.key) };
    const provider = await IdentityProvider.startTls(tls, pair);
    t.after(() => provider.stop());
    const start = async (env) => {
      const server = await Server.startIn({ env }, "--norpc", "--jwt_jwks", provider.url);
      t.after(() => server.isRunning && server.stop());
      return server;
    };
    await checkWelcome(await start({ SSL_CERT_FILE: files.cert }), withQuery(await pair.token()));
    const suspicious = await start({ SSL_CERT_FILE: new CertificateFiles().cert });
    await checkRefusal(suspicious, withQuery(await pair.token()), null, AUTH_ERROR);
    await suspicious.stop();
    assert.match(suspicious.stderr, /cannot read the key set https:.*certificate/);
  });

  test("a file that is not a key set is a mistake", async () => {
    const { code, stderr } = await plimsoll("serve", "--port", "0", "--jwt_jwks", "/dev/null");
    assert.equal(code, 1);
    assert.match(stderr, /error: \/dev\/null is not a key set: decode the key set as JSON with a list `keys`/);
  });
});

describe("stream names", () => {
  const KEY = "stream names are signed with this";
  const names = ["chat/2023", "a?b>c~~~", "ÿþ 🚢", "xxsﾾ"];
  const broadcast = (server, stream, data) => server.broadcast({ stream, data: json(data) });
  const signedIdentifier = (name) => json({ channel: "$pubsub", signed_stream_name: name });

  /** Subscribed without the application, and heard. */
  async function checkStream(server, client, identifier, stream) {
    assert.equal(await client.subscribe(identifier), confirm(identifier));
    await broadcast(server, stream, { hello: stream });
    assert.equal(await client.frames.next(), transmission(identifier, { hello: stream }));
  }

  for (const way of ["rails", "anycable"]) {
    test(`signed by Ruby in the way of ${way}: heard; with a flipped bit or another key: rejected`, async (t) => {
      const flags = ["--noauth", "--norpc", "--streams_secret", KEY, "--broadcast_key", "secret"];
      const server = await serve(t, ...flags);
      const client = await checkWelcome(server, ["", {}]);
      const signed = signNames(KEY, way, ...names);
      for (const [n, name] of names.entries()) await checkStream(server, client, signedIdentifier(signed[n]), name);

      const [good] = signed;
      for (let position = 0; position < good.length; position += 7) {
        const flipped = String.fromCharCode(good.charCodeAt(position) ^ 1);
        const identifier = signedIdentifier(good.slice(0, position) + flipped + good.slice(position + 1));
        assert.equal(await client.subscribe(identifier), reject(identifier));
      }
      const [other] = signNames("another key", way, "chat/2023");
      for (const identifier of [signedIdentifier(other), json({ channel: "$pubsub", stream_name: "chat/2023" })]) {
        assert.equal(await client.subscribe(identifier), reject(identifier));
      }
    });
  }

  test("public ones need no signature, and no other channel is open", async (t) => {
    const server = await serve(t, "--noauth", "--norpc", "--public_streams", "--broadcast_key", "secret");
    const client = await checkWelcome(server, ["", {}]);
    await checkStream(server, client, json({ channel: "$pubsub", stream_name: "chat" }), "chat");
    for (const identifier of [
      json({ channel: "$pubsub" }),
      json({ channel: "$pubsub", stream_name: "" }),
      json({ channel: "$pubsub", signed_stream_name: signNames(KEY, "rails", "chat")[0] }),
      json({ channel: "$pubsubs", stream_name: "chat" }),
      "not JSON",
      CHAT,
    ]) {
      assert.equal(await client.subscribe(identifier), reject(identifier));
    }
  });

  for (const [name, flags, identifierOf, isHeard] of [
    ["public streams: always", ["--public_streams"], () => json({ channel: "$pubsub", stream_name: "chat" }), true],
    ["signed streams: not by default", [], signedIdentifier, false],
    ["signed streams: with --streams_whisper", ["--streams_whisper"], signedIdentifier, true],
  ]) {
    test(`subscribers whisper to each other, ${name}`, async (t) => {
      const server = await serve(t, "--noauth", "--norpc", "--secret", KEY, "--broadcast_key", "secret", ...flags);
      const identifier = identifierOf(signNames(KEY, "rails", "chat")[0]);
      const [talker, listener] = [await checkWelcome(server, ["", {}]), await checkWelcome(server, ["", {}])];
      for (const client of [talker, listener]) assert.equal(await client.subscribe(identifier), confirm(identifier));
      talker.send({ command: "whisper", identifier, data: { typing: true } });
      // A command that is answered: what came before it is done.
      talker.send({ command: "ping" });
      assert.equal(await talker.frames.next(), '{"type":"pong"}');
      await broadcast(server, "chat", "the end");
      const heard = [isHeard && { typing: true }, "the end"].filter(Boolean);
      for (const message of heard) assert.deepEqual(JSON.parse(await listener.frames.next()).message, message);
      assert.equal(await talker.frames.next(), transmission(identifier, "the end"));
    });
  }

  test("Turbo Streams and CableReady are answered without the application when that is wanted", async (t) => {
    const own = ["--turbo_streams", "--turbo_streams_secret", "turbo", "--cable_ready", "--cable_ready_secret", "ready"];
    const { app, server } = await serveWithApplication(t, ...own, "--noauth", "--broadcast_key", "secret");
    const client = await checkWelcome(server, ["", {}]);
    const [turbo] = signNames("turbo", "rails", "Z2lkOi8vY2hhdC9Sb29tLzE:messages");
    const [ready] = signNames("ready", "rails", "gid://chat/Room/1");
    const turboIdentifier = json({ channel: "Turbo::StreamsChannel", signed_stream_name: turbo });
    await checkStream(server, client, turboIdentifier, "Z2lkOi8vY2hhdC9Sb29tLzE:messages");
    await checkStream(server, client, json({ channel: "CableReady::Stream", identifier: ready }), "gid://chat/Room/1");
    for (const identifier of [
      json({ channel: "Turbo::StreamsChannel", signed_stream_name: ready }),
      json({ channel: "Turbo::StreamsChannel", stream_name: "room" }),
      json({ channel: "CableReady::Stream", identifier: turbo }),
    ]) {
      assert.equal(await client.subscribe(identifier), reject(identifier));
    }
    assert.equal(app.calls.Command.size, 0);
    assert.equal(await client.subscribe(CHAT), confirm(CHAT));
    assert.equal(app.calls.Command.size, 1, "anything else is the application's business");
  });

  test("Turbo Streams are the application's business otherwise, and need a secret", async (t) => {
    const { app, server } = await serveWithApplication(t, "--noauth", "--secret", KEY);
    const client = await checkWelcome(server, ["", {}]);
    const identifier = json({ channel: "Turbo::StreamsChannel", signed_stream_name: "x" });
    assert.equal(await client.subscribe(identifier), confirm(identifier));
    assert.equal(app.calls.Command.size, 1);
    const { code, stderr } = await plimsoll("serve", "--turbo_streams");
    assert.equal(code, 2);
    assert.match(stderr, /--turbo_streams needs .*: give --turbo_streams_secret, --streams_secret or --secret/);
  });
});

describe("Disconnect calls", () => {
  /** A session that was let in by its token and heard a public stream; then `more` happens, and it ends. */
  async function n_disconnects(t, mode, more = () => {}) {
    const flags = ["--jwt_secret", SECRET, "--public_streams", "--disconnect_mode", mode];
    const { app, server } = await serveWithApplication(t, ...flags);
    const client = await checkWelcome(server, withQuery(await secretToken(SECRET)));
    const identifier = json({ channel: "$pubsub", stream_name: "room" });
    assert.equal(await client.subscribe(identifier), confirm(identifier));
    await more(client);
    await client.close();
    await server.stop();
    return app;
  }

  const chats = async (client) => assert.equal(await client.subscribe(CHAT), confirm(CHAT));

  test("auto: none for a session that the application never dealt with", async (t) => {
    assert.equal((await n_disconnects(t, "auto")).calls.Disconnect.size, 0);
  });

  test("auto: one for a session that it dealt with, about the application's own subscriptions", async (t) => {
    const app = await n_disconnects(t, "auto", chats);
    const { identifiers, subscriptions } = await app.calls.Disconnect.next();
    assert.deepEqual({ identifiers, subscriptions }, { identifiers: KAY, subscriptions: [CHAT] });
    assert.equal(app.calls.Disconnect.size, 0);
  });

  test("always: one for every session", async (t) => {
    assert.equal((await n_disconnects(t, "always")).calls.Disconnect.size, 1);
  });

  test("never: none", async (t) => {
    assert.equal((await n_disconnects(t, "never", chats)).calls.Disconnect.size, 0);
  });
});

describe("without an application", () => {
  test("--norpc accepts no client", async (t) => {
    await checkRefusal(await serve(t, "--norpc"), ["", {}], UNAUTHORIZED);
  });

  test("--noauth accepts all clients, identified by the session id", async (t) => {
    const { app, server } = await serveWithApplication(t, "--noauth");
    const client = await connect(server, ["", {}]);
    const { sid } = JSON.parse(await client.frames.next());
    assert.equal(await client.subscribe(CHAT), confirm(CHAT));
    const command = await app.calls.Command.next();
    assert.equal(command.connection_identifiers, json({ sid }));
    assert.equal(app.calls.Connect.size, 0);
  });

  test("--public opens connecting and streams", async (t) => {
    const server = await serve(t, "--public", "--app", "benchmark", "--broadcast_key", "secret");
    const client = await checkWelcome(server, ["", {}]);
    const identifier = json({ channel: "$pubsub", stream_name: "room" });
    assert.equal(await client.subscribe(identifier), confirm(identifier));
    assert.equal((await server.broadcast({ stream: "room", data: '"all"' })).status, 201);
    assert.equal(await client.frames.next(), transmission(identifier, "all"));
    assert.equal(await client.subscribe(BENCHMARK), confirm(BENCHMARK), "the application is still there");
  });
});

test("--secret alone moves broadcasts to the main port, with the derived key", async (t) => {
  const server = await serve(t, "--secret", SECRET);
  const key = createHmac("sha256", SECRET).update("broadcast-cable").digest("hex");
  const body = { stream: "all", data: '"x"' };
  assert.equal((await server.broadcast(body, key)).status, 201);
  assert.equal((await server.broadcast(body, SECRET)).status, 401);
});
