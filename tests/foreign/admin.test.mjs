// The page for operators: who gets it, what it tells, and what many who look cost.

import assert from "node:assert/strict";
import { once } from "node:events";
import https from "node:https";
import { after, before, describe, test } from "node:test";
import { Browser } from "./support/browser.mjs";
import { CableClient } from "./support/cable.mjs";
import { CertificateFiles } from "./support/certificates.mjs";
import { within } from "./support/deadline.mjs";
import { NatsServer, inJetStream } from "./support/nats.mjs";
import { Server, plimsollIn } from "./support/plimsoll.mjs";
import { keptPort } from "./support/ports.mjs";
import { eventually } from "./support/processes.mjs";

const SECRET = "correct horse battery";
const ROOM = JSON.stringify({ channel: "ChatChannel", id: "demo" });

async function start(t, ...args) {
  const server = await Server.start("--app", "chat", "--broadcast_key", "secret", "--admin_secret", SECRET, ...(await keptPort()), ...args);
  t.after(() => server.isRunning && server.stop());
  return server;
}

async function chatter(t, server) {
  const client = await CableClient.subscribed(server.ws("/cable"), ROOM, { headers: { cookie: "uid=kay/1" } });
  t.after(() => client.socket.terminate());
  return client;
}

const signIn = (url, secret) =>
  fetch(`${url}/sign-in`, { method: "POST", body: new URLSearchParams({ secret }), redirect: "manual" });

/** The state as JSON: by default with the secret. */
const look = (url, headers = { authorization: `Bearer ${SECRET}` }) => fetch(`${url}/state.json`, { headers });

/** The cookie of a browser that has signed in, as it sends it. */
async function cookieOf(url, secret = SECRET) {
  const answer = await signIn(url, secret);
  assert.equal(answer.status, 303);
  return answer.headers.get("set-cookie").split(";")[0];
}

describe("without --admin_secret", () => {
  for (const args of [[], ["--admin_secret", ""], ["--secret", "something else that is long"]]) {
    test(`there is no page; ${args.join(" ") || "nothing given"}`, async (t) => {
      const server = await Server.start("--app", "chat", "--broadcast_key", "secret", ...args);
      t.after(() => server.stop());
      for (const path of ["/admin", "/admin/state.json", "/admin/admin.js"]) {
        assert.equal((await fetch(server.http(path))).status, 404, path);
      }
      assert.equal((await signIn(server.http("/admin"), "")).status, 404);
    });
  }

  test("a short one is refused at start, and none is printed", async () => {
    const short = await plimsollIn({ env: { PLIMSOLL_ADMIN_SECRET: "hunter2" } }, "serve", "--print-config");
    assert.equal(short.code, 2);
    assert.match(short.stderr, /PLIMSOLL_ADMIN_SECRET.*at least 16 characters/s);
    assert.doesNotMatch(short.stderr, /hunter2/);
    const long = await plimsollIn({ env: { PLIMSOLL_ADMIN_SECRET: SECRET } }, "serve", "--print-config");
    assert.match(long.stdout, /^\[admin\]\n# secret = "\*\*\*"  # PLIMSOLL_ADMIN_SECRET$/m);
    assert.ok(!long.stdout.includes(SECRET));
  });
});

test("the largest streams, and the sessions that wait for their clients", async (t) => {
  const without = await start(t);
  assert.equal((await (await look(without.http("/admin"))).json()).largest_streams, null);
  const server = await start(t, "--broker", "memory");
  for (const [stream, n] of [["small", 1], ["large", 5]]) {
    for (let i = 0; i < n; i += 1) await server.broadcast({ stream, data: JSON.stringify("x".repeat(100 * n)) });
  }
  const client = await CableClient.connect(server.ws("/cable"), { protocols: ["actioncable-v1-ext-json"], headers: { cookie: "uid=kay/1" } });
  await client.frames.next();
  client.socket.terminate();
  const state = async () => (await look(server.http("/admin"))).json();
  const { largest_streams, metrics } = await eventually(async () => {
    const found = await state();
    return found.metrics.sessions_awaited_num[0].value === 1 && found.largest_streams.length === 2 && found;
  }, "the state");
  assert.deepEqual(largest_streams.map(({ stream, messages, offset }) => [stream, messages, offset]), [["large", 5, 5], ["small", 1, 1]]);
  const sum = largest_streams.reduce((all, { bytes }) => all + bytes, 0);
  assert.equal(sum, metrics.history_bytes[0].value);
});

describe("who does not know the secret", () => {
  test("gets a form, and nothing else", async (t) => {
    const url = (await start(t)).http("/admin");
    const page = await fetch(url);
    assert.equal(page.status, 401);
    assert.match(page.headers.get("content-security-policy"), /default-src 'none'.*frame-ancestors 'none'/);
    assert.deepEqual(
      ["cache-control", "x-content-type-options", "x-frame-options", "referrer-policy"].map((name) => page.headers.get(name)),
      ["no-store", "nosniff", "DENY", "no-referrer"],
    );
    const form = await page.text();
    assert.match(form, /<form method="post" action="\/admin\/sign-in">/);
    assert.doesNotMatch(form, /role="alert"|complaint/);
    const others = [{}, { authorization: "Basic YTpi" }, { cookie: "plimsoll_admin=" }, { cookie: "plimsoll_admin=9999999999.00" }];
    for (const headers of others) assert.equal((await look(url, headers)).status, 401, JSON.stringify(headers));
    assert.equal((await fetch(`${url}/state.json?secret=${encodeURIComponent(SECRET)}`)).status, 401);
  });

  test("is told so, after a second, and gets no cookie", async (t) => {
    const server = await start(t, "--debug");
    const url = server.http("/admin");
    const begin = performance.now();
    for (const secret of ["", "correct horse batterY"]) {
      const answer = await signIn(url, secret);
      assert.equal(answer.status, 401, secret);
      assert.equal(answer.headers.get("set-cookie"), null);
      assert.match(await answer.text(), /role="alert">The secret is wrong/);
    }
    assert.equal((await look(url, { authorization: "Bearer wrong" })).status, 401);
    assert.ok(performance.now() - begin >= 3000);
    await signIn(url, SECRET);
    await server.stop();
    for (const secret of [SECRET, "batterY", "Bearer wrong"]) assert.ok(!server.stderr.includes(secret), server.stderr);
  });

  test("cannot try many, and does not keep out who is in", async (t) => {
    const url = (await start(t)).http("/admin");
    const cookie = await cookieOf(url);
    const begin = performance.now();
    const guesses = Array.from({ length: 40 }, (_, n) => signIn(url, `guess ${n}`));
    const inside = await look(url, { cookie });
    assert.equal(inside.status, 200);
    const answers = await Promise.all(guesses);
    const seconds = (performance.now() - begin) / 1000;
    const wrong = answers.filter(({ status }) => status === 401);
    const refused = answers.filter(({ status }) => status === 429);
    assert.equal(wrong.length + refused.length, 40);
    assert.ok(wrong.length <= 4 * (seconds + 1), `${wrong.length} were looked at in ${seconds} s`);
    assert.equal(refused[0].headers.get("retry-after"), "1");
    // As soon as the last wrong one is answered.
    await eventually(async () => (await signIn(url, SECRET)).status === 303, "the right secret to be looked at");
  });

  test("a form that is too long is not read", async (t) => {
    const url = (await start(t)).http("/admin");
    assert.equal((await signIn(url, "x".repeat(5000))).status, 413);
  });
});

describe("who knows the secret", () => {
  test("is let in with a cookie that other sites do not get, until the secret is another one", async (t) => {
    const server = await start(t);
    const url = server.http("/admin");
    const answer = await signIn(url, SECRET);
    assert.equal(answer.headers.get("location"), "/admin");
    const cookie = answer.headers.get("set-cookie");
    assert.match(cookie, /^plimsoll_admin=\d+\.[0-9a-f]{64}; Path=\/admin; HttpOnly; SameSite=Strict; Max-Age=43200$/);
    const headers = { cookie: `a=b; ${cookie.split(";")[0]}` };
    assert.match(await (await fetch(url, { headers })).text(), /<script type="module" src="\/admin\/admin.js">/);
    assert.equal((await look(url, headers)).status, 200);
    const out = await fetch(`${url}/sign-out`, { method: "POST", headers, redirect: "manual" });
    assert.match(out.headers.get("set-cookie"), /^plimsoll_admin=; .*Max-Age=0$/);

    await server.restart();
    assert.equal((await look(server.http("/admin"), headers)).status, 200, "a restart ends no session");
    const other = await Server.start("--app", "chat", "--broadcast_key", "secret", "--admin_secret", `${SECRET}!`);
    t.after(() => other.stop());
    assert.equal((await look(other.http("/admin"), headers)).status, 401);
  });

  test("learns what the metrics say, and which sessions are slow", async (t) => {
    const flags = ["--stats_refresh_interval", "1", "--ws_max_pending_size", "40000000"];
    const server = await start(t, ...flags);
    const url = server.http("/admin");
    const [slow, quick] = [await chatter(t, server), await chatter(t, server)];
    slow.socket.pause();
    const isBlocked = async () => {
      await server.broadcast({ stream: "chat_demo", data: JSON.stringify("x".repeat(500_000)) });
      await quick.frames.next();
      return (await (await look(url)).json()).metrics.blocked_clients_num[0].value === 1;
    };
    await eventually(isBlocked, "a blocked client");
    const state = await eventually(async () => {
      const state = await (await look(url)).json();
      return state.slow_sessions?.length > 0 && state;
    }, "a list of slow sessions");
    const [session] = state.slow_sessions;
    assert.equal(state.slow_sessions.length, 1);
    assert.match(session.sid, /^[\w-]{21}$/);
    assert.ok(session.pending_bytes > 0 && session.pending_messages > 0 && session.blocked_ms >= 0, JSON.stringify(session));
    assert.equal(session.transport, "websocket");
    assert.deepEqual([state.ready, state.dependencies[0].name], [true, "server"]);
    assert.equal(state.metrics.clients_num[0].value, 2);
    const [{ counts }] = state.metrics.broadcast_duration_seconds;
    assert.equal(counts.length, state.bucket_bounds.length + 1);
    assert.ok(counts.reduce((sum, n) => sum + n) > 0);
  });

  test("finds it where the metrics are, when these have a port of their own", async (t) => {
    const server = await start(t, "--metrics_http", "/metrics", "--metrics_port", "0");
    const [, own] = await server.logged(/The page for operators is on (http:\S+\/admin)\./);
    assert.equal((await fetch(server.http("/admin"))).status, 404);
    assert.equal((await look(server.http("/admin"))).status, 404);
    assert.equal((await look(own)).status, 200);
  });

  test("over TLS the cookie goes over nothing else", async (t) => {
    const files = new CertificateFiles();
    const server = await start(t, ...files.flags);
    const request = https.request(server.http("/admin/sign-in"), { method: "POST", ...files.trust, agent: false });
    request.end(String(new URLSearchParams({ secret: SECRET })));
    const [answer] = await within(once(request, "response"), "an answer");
    answer.resume();
    assert.match(answer.headers["set-cookie"][0], /; Secure$/);
  });

  test("may be many: they get the same, and clients do not notice", async (t) => {
    const server = await start(t);
    const url = server.http("/admin");
    const client = await chatter(t, server);
    const cookie = await cookieOf(url);
    const begin = performance.now();
    const seen = new Set();
    const watch = async () => {
      for (let n = 0; n < 10; n++) {
        const answer = await look(url, { cookie });
        assert.equal(answer.status, 200);
        seen.add((await answer.json()).uptime_ms);
      }
    };
    const watching = Promise.all(Array.from({ length: 100 }, watch));
    for (let n = 0; n < 20; n++) {
      await server.broadcast({ stream: "chat_demo", data: String(n) });
      assert.equal(JSON.parse(await client.frames.next()).message, n);
    }
    await watching;
    const seconds = (performance.now() - begin) / 1000;
    // One a second, and one more for each shard that makes its own at the same moment.
    assert.ok(seen.size <= 2 * (seconds + 1), `${seen.size} descriptions in ${seconds} s for 1,000 looks`);
  });
});

describe("in a browser", () => {
  let browser;
  before(async () => (browser = await Browser.launch()));
  after(() => browser?.close());

  /** A page that has signed in; `requests` and `errors` are what it did. */
  async function open(t, server, width, colorScheme) {
    const page = await browser.newPage(t);
    await page.setViewportSize({ width, height: 800 });
    await page.emulateMedia({ colorScheme });
    const [requests, errors] = [[], []];
    page.on("request", (request) => requests.push(request.url()));
    page.on("pageerror", (error) => errors.push(error));
    await page.goto(server.http("/admin"));
    await page.fill("#secret", "not the one");
    await page.click("button");
    assert.match(await page.textContent("[role=alert]"), /secret is wrong/);
    await page.fill("#secret", SECRET);
    await page.click("button");
    await page.waitForSelector(".tile");
    return { page, requests, errors };
  }

  test("what passes between servers", async (t) => {
    const nats = await NatsServer.start(t, { jetStream: true });
    const flags = inJetStream(nats);
    const [server, other] = [await start(t, ...flags), await start(t, ...flags)];
    const { page, errors } = await open(t, server, 390, "light");
    const cell = (title) => page.textContent(`#servers tr:has(td:text-is("${title}")) .number`);
    await eventually(async () => (await cell("Servers that share the broker")) === "2", "both servers on the page");
    assert.equal(await cell("Losses that clients were told"), "0");
    const answers = async () => /p\(99\) .* in all/.test(await page.textContent('figure:has(b:text-is("Broker, from a question to its answer"))'));
    await eventually(answers, "answers of the broker in the histogram");
    assert.match(await page.textContent("#dependencies"), /nats_broker.*there/);
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390);
    await other.stop();
    await eventually(async () => (await cell("Servers that share the broker")) === "1", "one server on the page");
    assert.deepEqual(errors, []);
  });

  const tile = (page, title) => page.textContent(`.tile:has(h3:text-is("${title}")) output`);

  for (const [width, colorScheme] of [[1280, "light"], [390, "dark"]]) {
    test(`figures come and go, ${width} pixels wide, ${colorScheme}`, async (t) => {
      const server = await start(t, "--stats_refresh_interval", "1");
      const { page, requests, errors } = await open(t, server, width, colorScheme);
      await eventually(async () => (await tile(page, "Clients")) === "0", "no client on the page");
      const client = await chatter(t, server);
      await eventually(async () => (await tile(page, "Clients")) === "1", "a client on the page");
      await eventually(async () => (await tile(page, "Streams")) === "1", "a stream on the page");
      await server.broadcast({ stream: "chat_demo", data: "1" });
      await client.frames.next();
      const latency = async () => /1 in all/.test(await page.textContent("figure:first-of-type figcaption"));
      await eventually(latency, "a broadcast in the histogram");
      assert.match(await page.textContent("#slow"), /None/);
      assert.match(await page.textContent("#dependencies"), /server.*there/);
      assert.ok(await page.isHidden("#shared"));
      assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), width);
      const ground = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
      assert.equal(ground, colorScheme === "dark" ? "rgb(18, 21, 28)" : "rgb(244, 245, 247)");

      await server.restart();
      await eventually(async () => (await tile(page, "Clients")) === "0", "the restarted server on the page");
      await server.stop();
      await eventually(async () => /No figures since/.test(await page.textContent("#trouble")), "the page to miss the server");
      assert.deepEqual(errors, []);
      // A page that was opened asks for nothing that is not of this server.
      assert.deepEqual(requests.filter((url) => !url.startsWith(server.http("/admin")) && url !== "data:,"), []);
    });
  }
});
