// The page for operators: what they look for, and what they do.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Browser } from "./support/browser.mjs";
import { CableClient } from "./support/cable.mjs";
import { Server } from "./support/plimsoll.mjs";
import { keptPort } from "./support/ports.mjs";
import { eventually } from "./support/processes.mjs";

const SECRET = "correct horse battery";
const room = (id) => JSON.stringify({ channel: "ChatChannel", id });

async function start(t, ...args) {
  const server = await Server.start("--app", "chat", "--broadcast_key", "secret", "--admin_secret", SECRET, ...(await keptPort()), ...args);
  t.after(() => server.isRunning && server.stop());
  return server;
}

/** A client of the user `uid`, in these rooms. */
async function chatter(t, server, uid, ...ids) {
  const client = await CableClient.connect(server.ws("/cable"), { headers: { cookie: `uid=${uid}` } });
  t.after(() => client.socket.terminate());
  await client.frames.next();
  for (const id of ids) {
    client.socket.send(JSON.stringify({ command: "subscribe", identifier: room(id) }));
    assert.equal(JSON.parse(await client.frames.next()).type, "confirm_subscription");
  }
  return client;
}

/** A path of the page's data: by default with the secret. */
const ask = (server, path, options = {}) =>
  fetch(server.http(`/admin/${path}`), { ...options, headers: { authorization: `Bearer ${SECRET}`, ...options.headers } });

const json = async (server, path) => {
  const answer = await ask(server, path);
  assert.equal(answer.status, 200, await answer.clone().text());
  return answer.json();
};

const order = (server, path, body, headers = { "content-type": "application/json" }) =>
  ask(server, path, { method: "POST", body: typeof body === "string" ? body : JSON.stringify(body), headers });

describe("sessions", () => {
  test("are found by id, identifiers and stream, on all shards", async (t) => {
    const server = await start(t, "--shards", "3");
    const clients = [];
    for (let n = 0; n < 7; n += 1) clients.push(await chatter(t, server, `kay/${n}`, "a", `own-${n}`));
    await chatter(t, server, "zoe/1");
    const find = async (text) => json(server, `sessions.json?${new URLSearchParams({ text })}`);
    const all = await find("");
    assert.equal(all.total, 8);
    assert.equal(new Set(all.sessions.map(({ shard }) => shard)).size > 1, true, "several shards have some");
    const { total, sessions: [kay] } = await find("chat_own-3");
    assert.equal(total, 1);
    assert.match(kay.sid, /^[\w-]{21}$/);
    assert.match(kay.identifiers, /kay/);
    assert.deepEqual(
      [kay.transport, kay.n_subscriptions, kay.pending_bytes, kay.subscriptions.map(({ stream }) => stream).sort()],
      ["websocket", 2, 0, ["chat_a", "chat_own-3"]],
    );
    assert.equal(kay.subscriptions.find(({ stream }) => stream === "chat_a").identifier, room("a"));
    assert.deepEqual((await find(kay.sid)).sessions.map(({ sid }) => sid), [kay.sid]);
    assert.equal((await find("zoe")).total, 1);
    assert.equal((await find("nowhere")).total, 0);
    assert.equal((await find("x".repeat(1024))).total, 0);
    assert.equal((await ask(server, `sessions.json?text=${"x".repeat(1025)}`)).status, 400);
    assert.equal((await ask(server, "sessions.json?name=x")).status, 400);
  });

  test("of many, fifty are listed and all counted", async (t) => {
    const server = await start(t);
    await Promise.all(Array.from({ length: 60 }, (_, n) => chatter(t, server, `kay/${n}`)));
    const { total, sessions } = await json(server, "sessions.json");
    assert.deepEqual([total, sessions.length], [60, 50]);
  });

  test("are disconnected one at a time, and the client may come back or not", async (t) => {
    const server = await start(t, "--shards", "2");
    const [one, other] = [await chatter(t, server, "kay/1", "a"), await chatter(t, server, "kay/1", "a")];
    const { sessions } = await json(server, "sessions.json?text=kay");
    assert.equal(sessions.length, 2);
    const answer = await order(server, "disconnect", { sid: sessions[0].sid, reconnect: false });
    assert.deepEqual([answer.status, await answer.text()], [200, "The session ends.\n"]);
    const rest = await eventually(async () => {
      const { sessions } = await json(server, "sessions.json?text=kay");
      return sessions.length === 1 && sessions;
    }, "one session to be left");
    assert.equal(rest[0].sid, sessions[1].sid);
    const gone = await eventually(() => [one, other].find(({ socket }) => socket.readyState > 1), "a closed client");
    assert.deepEqual(JSON.parse(await gone.frames.next()), { type: "disconnect", reason: "remote", reconnect: false });
    const again = await order(server, "disconnect", { sid: sessions[0].sid });
    assert.equal(again.status, 404);
    assert.match(await again.text(), /No session with the id/);
    await order(server, "disconnect", { sid: sessions[1].sid });
    const left = gone === one ? other : one;
    assert.deepEqual(JSON.parse(await left.frames.next()), { type: "disconnect", reason: "remote", reconnect: true });
    await server.logged(/An operator has ended a session\..*reconnect=true/);
  });
});

test("streams and channels are listed with their listeners, those with most first", async (t) => {
  const server = await start(t, "--shards", "2");
  for (let n = 0; n < 4; n += 1) await chatter(t, server, `kay/${n}`, "all", ...(n === 0 ? ["rare"] : []));
  assert.deepEqual(await json(server, "streams.json"), {
    streams: [{ name: "chat_all", listeners: 4 }, { name: "chat_rare", listeners: 1 }],
    channels: [{ name: "ChatChannel", listeners: 5 }],
  });
  assert.deepEqual(await json(server, "streams.json?text=rare"), { streams: [{ name: "chat_rare", listeners: 1 }], channels: [] });
});

test("settings come with their origins, and secrets are hidden", async (t) => {
  const server = await start(t, "--ping_interval", "7", "--api_secret", "not to be seen");
  const answer = await ask(server, "settings.json");
  const text = await answer.text();
  assert.ok(!text.includes(SECRET) && !text.includes("not to be seen"), text);
  const of = Object.fromEntries(JSON.parse(text).settings.map(({ name, ...rest }) => [name, rest]));
  assert.deepEqual(of["admin.secret"], { value: '"***"', origin: "command line" });
  const ping = Object.entries(of).find(([name]) => /ping_interval$/.test(name));
  assert.deepEqual(ping[1], { value: "7", origin: "command line" });
  assert.deepEqual(of["health_path"] ?? of["server.health_path"], { value: '"/health"', origin: "default" });
});

describe("the log", () => {
  test("its last warnings are shown, whatever its level", async (t) => {
    const server = await start(t, "--log_level", "error", "--metrics_log_filter", "clients_num");
    const { warnings, log_level, time_ms } = await json(server, "state.json");
    assert.equal(log_level, "error");
    const warning = warnings.find(({ text }) => /metrics_log_filter has no effect/.test(text));
    assert.deepEqual([warning.level, warning.times], ["warn", 1]);
    assert.ok(warning.at_ms <= time_ms && warning.at_ms > time_ms - 60_000);
    assert.ok(!server.stderr.includes("has no effect"), server.stderr);
  });

  test("its level changes while the server runs", async (t) => {
    const server = await start(t);
    const violate = async () => {
      const client = await chatter(t, server, "kay/1");
      client.socket.send("no JSON");
      await eventually(() => client.socket.readyState > 1, "the end of the client");
    };
    await violate();
    const louder = await order(server, "log-level", { level: "debug" });
    assert.deepEqual([louder.status, await louder.text()], [200, "The level of the log is debug.\n"]);
    assert.equal((await json(server, "state.json")).log_level, "debug");
    await violate();
    await server.logged(/DEBUG/);
    assert.equal(server.stderr.match(/DEBUG/).index > server.stderr.indexOf("An operator changes the level"), true);
    await order(server, "log-level", { level: "error" });
    for (const [body, status] of [[{ level: "loud" }, 400], [{}, 400], ["x", 400], [{ level: "warn", more: 1 }, 400]]) {
      assert.equal((await order(server, "log-level", body)).status, status, JSON.stringify(body));
    }
    assert.match(await (await order(server, "log-level", { level: "loud" })).text(), /error, warn, info, debug, trace/);
  });
});

test("a server is drained once, as by a signal", async (t) => {
  const server = await start(t, "--shutdown_slowdrain_period", "2");
  const client = await chatter(t, server, "kay/1", "a");
  const answer = await order(server, "drain", {});
  assert.deepEqual([answer.status, await answer.text()], [202, "The server stops.\n"]);
  const again = await order(server, "drain", {});
  assert.equal(again.status, 409);
  assert.deepEqual(JSON.parse(await client.frames.next()), { type: "disconnect", reason: "server_restart", reconnect: true });
  assert.equal(await server.ended(), 0);
  assert.match(server.stderr, /Stopping because of an operator's order\./);
});

test("who does not know the secret sees and does nothing, and pages of other sites give no orders", async (t) => {
  const server = await start(t);
  await chatter(t, server, "kay/1", "a");
  const paths = ["history.json", "sessions.json", "streams.json", "settings.json"];
  for (const path of paths) assert.equal((await fetch(server.http(`/admin/${path}`))).status, 401, path);
  for (const path of ["disconnect", "log-level", "drain"]) {
    const nothing = await fetch(server.http(`/admin/${path}`), { method: "POST", body: "{}", headers: { "content-type": "application/json" } });
    assert.equal(nothing.status, 401, path);
    // What a form of another site could send.
    assert.equal((await order(server, path, "{}", { "content-type": "text/plain" })).status, 415, path);
    assert.equal((await ask(server, path)).status, 404, path);
  }
  assert.equal((await fetch(server.http("/health"))).status, 200);
});

describe("in a browser", () => {
  let browser;
  before(async () => (browser = await Browser.launch()));
  after(() => browser?.close());

  async function open(t, server, width) {
    const page = await browser.newPage(t);
    await page.setViewportSize({ width, height: 800 });
    const errors = [];
    page.on("pageerror", (error) => errors.push(error));
    await page.goto(server.http("/admin"));
    await page.fill("#secret", SECRET);
    await page.click("button");
    await page.waitForSelector(".tile");
    return { page, errors };
  }

  for (const width of [1280, 390]) {
    test(`an operator finds a session and ends it, and drains the server, ${width} pixels wide`, async (t) => {
      const server = await start(t, "--ping_interval", "7", "--metrics_log_filter", "clients_num");
      await chatter(t, server, "kay/1", "a");
      const { page, errors } = await open(t, server, width);
      await page.fill("#find-sessions input", "kay");
      await page.click("#find-sessions button");
      await page.waitForSelector("#sessions button");
      assert.match(await page.textContent("#sessions"), /kay.*chat_a/s);
      await page.click("#find-streams button");
      await page.waitForSelector("#channels td");
      assert.match(await page.textContent("#listened"), /chat_a1/);
      assert.match(await page.textContent("#channels"), /ChatChannel1/);
      assert.match(await page.textContent("#warnings"), /ago.*warn.*metrics_log_filter has no effect/s);
      assert.match(await page.textContent("#settings"), /ping_interval7command line/);
      assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), width);

      await page.click("#sessions button");
      await page.click("#sure button[value=no]");
      assert.equal((await json(server, "sessions.json")).total, 1, "nothing happens without a yes");
      await page.click("#sessions button");
      await page.click("#sure-yes");
      const ended = async () => /The session ends/.test(await page.textContent("#sessions-found"));
      await eventually(ended, "the page to say that the session ends");

      await page.selectOption("#level", "debug");
      await eventually(async () => /The level of the log is debug/.test(await page.textContent("#done")), "the new level");

      await page.click("#drain");
      await page.click("#sure-yes");
      assert.equal(await server.ended(), 0);
      assert.deepEqual(errors, []);
    });
  }

  test("the lines show hours, which a later visitor sees, too", async (t) => {
    const server = await start(t);
    await chatter(t, server, "kay/1", "a");
    const later = async () => (await json(server, "history.json")).at_ms.length > 1;
    const patience = 60_000;
    await eventually(later, "two points of the history", patience);
    const { page, errors } = await open(t, server, 1280);
    await page.click('#span button[data-hours="6"]');
    await page.waitForSelector(".tile .axis");
    assert.match(await page.textContent("#kept-since"), /one point every 15 s, kept since/);
    const clients = '.tile:has(h3:text-is("Clients"))';
    assert.match(await page.textContent(clients), /at most 1/);
    assert.equal(await page.locator(`${clients} polyline`).count(), 1);
    const { figures, at_ms } = await json(server, "history.json");
    assert.equal(figures.clients_num.at(-1), 1);
    const newer = await json(server, `history.json?after_ms=${at_ms[0]}`);
    assert.deepEqual(newer.at_ms.slice(0, at_ms.length - 1), at_ms.slice(1));
    assert.equal((await ask(server, "history.json?after_ms=yesterday")).status, 400);
    await page.click('#span button[data-hours="0"]');
    assert.equal(await page.locator(".tile .axis").count(), 0);
    assert.deepEqual(errors, []);
  });
});
