// The unmodified @rails/actioncable in a page in headless Chromium, with the timers that it has by default.

import assert from "node:assert/strict";
import { accessSync, constants, createReadStream } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { delimiter, dirname, join } from "node:path";
import { after, before, describe, test } from "node:test";
import { chromium } from "playwright-core";
import { Inbox } from "./support/inbox.mjs";
import { Server } from "./support/plimsoll.mjs";

/** The same names as in `xtask/src/test/setup.rs`, which installs the first. */
const BROWSERS = ["chromium", "chromium-browser", "google-chrome"];

/** The package looks after its connection every 6 to 12 seconds, and passes over one that was lost recently. */
const RECONNECT_PATIENCE_MS = 45_000;

const PACKAGE = dirname(createRequire(import.meta.url).resolve("@rails/actioncable/package.json"));

const PAGE = `<!doctype html>
<meta charset="utf-8">
<title>Plimsoll</title>
<script type="module">
  import { createConsumer } from "/actioncable.esm.js";
  window.subscribe = (url, params) => {
    window.subscription = createConsumer(url).subscriptions.create(params, {
      connected: ({ reconnected }) => report({ connected: { reconnected } }),
      disconnected: ({ willAttemptReconnect }) => report({ disconnected: { willAttemptReconnect } }),
      rejected: () => report("rejected"),
      received: (message) => report({ received: message }),
    });
  };
  report("loaded");
</script>`;

/** Where a program of this name is, in the folders of PATH. */
function find(program) {
  return process.env.PATH.split(delimiter)
    .map((folder) => join(folder, program))
    .find((path) => {
      try {
        accessSync(path, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}

/** Serves the page, the package's own module, and the cookie that a sign-in would have set. */
function servePage() {
  const pages = createServer((request, response) => {
    if (request.url === "/actioncable.esm.js") {
      response.setHeader("content-type", "text/javascript");
      createReadStream(join(PACKAGE, "app/assets/javascripts/actioncable.esm.js")).pipe(response);
      return;
    }
    response.setHeader("content-type", "text/html");
    // Cookies know hosts, not ports: the page and the cable server share them, as behind one domain name.
    if (request.url === "/signed-in") response.setHeader("set-cookie", "uid=kay/1; Path=/; HttpOnly; SameSite=Lax");
    response.end(PAGE);
  });
  return new Promise((resolve) => pages.listen(0, "127.0.0.1", () => resolve(pages)));
}

describe("@rails/actioncable in Chromium", () => {
  let browser;
  let pages;
  before(async () => {
    const executablePath = BROWSERS.map(find).find(Boolean);
    assert.ok(executablePath, `none of ${BROWSERS.join(", ")} is installed; \`cargo xtask test --only setup\` does it`);
    browser = await chromium.launch({
      executablePath,
      args: [
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
      ],
    });
    pages = await servePage();
  });
  after(async () => {
    await browser?.close();
    pages?.close();
  });

  /** Opens the page and subscribes; callbacks and errors of the page become events. */
  async function subscribe(t, path, server, params) {
    const context = await browser.newContext();
    t.after(() => context.close());
    const page = await context.newPage();
    const events = new Inbox("events of the page");
    page.on("pageerror", (error) => events.push({ error }));
    await page.exposeFunction("report", (event) => events.push(event));
    await page.goto(`http://127.0.0.1:${pages.address().port}${path}`);
    assert.equal(await events.next(), "loaded");
    await page.evaluate(([url, params]) => window.subscribe(url, params), [server.ws("/cable"), params]);
    const perform = (action, data) =>
      page.evaluate(([action, data]) => window.subscription.perform(action, data), [action, data]);
    return { events, perform };
  }

  test("subscribes, performs, receives, and survives a restart of the server", async (t) => {
    const server = await Server.start("--app", "benchmark");
    t.after(() => server.stop());
    const { events, perform } = await subscribe(t, "/", server, { channel: "BenchmarkChannel" });
    assert.deepEqual(await events.next(), { connected: { reconnected: false } });
    await perform("broadcast", { payload: { text: "<&> 💬" } });
    assert.deepEqual(await events.next(), { received: { action: "broadcast", payload: { text: "<&> 💬" } } });
    assert.deepEqual(await events.next(), { received: { action: "broadcastResult", payload: { text: "<&> 💬" } } });

    await server.restart();
    assert.deepEqual(await events.next(), { disconnected: { willAttemptReconnect: true } });
    assert.deepEqual(await events.next(RECONNECT_PATIENCE_MS), { connected: { reconnected: true } });
    await perform("echo", { payload: "still here" });
    assert.deepEqual(await events.next(), { received: { action: "echo", payload: "still here" } });
  });

  test("is told that an unknown channel is rejected", async (t) => {
    const server = await Server.start("--app", "benchmark");
    t.after(() => server.stop());
    const { events } = await subscribe(t, "/", server, { channel: "NoSuchChannel" });
    assert.equal(await events.next(), "rejected");
  });

  test("a signed-in user chats, and a stranger is turned away", async (t) => {
    const server = await Server.start("--app", "chat");
    t.after(() => server.stop());
    const params = { channel: "ChatChannel", id: "demo" };
    const kay = await subscribe(t, "/signed-in", server, params);
    assert.deepEqual(await kay.events.next(), { connected: { reconnected: false } });
    await kay.perform("speak", { message: "Hello" });
    const message = { action: "newMessage", author_id: "1", author: "kay", message: "Hello" };
    assert.deepEqual(await kay.events.next(), { received: message });

    const stranger = await subscribe(t, "/", server, params);
    assert.deepEqual(await stranger.events.next(), { disconnected: { willAttemptReconnect: false } });
  });
});
