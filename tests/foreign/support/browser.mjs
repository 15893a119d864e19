// Headless Chromium with pages that run the unmodified @rails/actioncable, with the timers that it has by default.

import assert from "node:assert/strict";
import { once } from "node:events";
import { accessSync, constants, createReadStream } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { delimiter, dirname, join } from "node:path";
import { chromium } from "playwright-core";
import { Inbox } from "./inbox.mjs";

/** The same names as in `xtask/src/test/setup.rs`, which installs the first. */
const PROGRAMS = ["chromium", "chromium-browser", "google-chrome"];

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

export class Browser {
  #chromium;
  #pages;

  /** `flags` go to Chromium as they are. */
  static async launch(...flags) {
    const executablePath = PROGRAMS.map(find).find(Boolean);
    assert.ok(executablePath, `none of ${PROGRAMS.join(", ")} is installed; \`cargo xtask test --only setup\` does it`);
    const browser = new Browser();
    browser.#chromium = await chromium.launch({
      executablePath,
      args: [
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        ...flags,
      ],
    });
    browser.#pages = createServer(servePage).listen(0, "127.0.0.1");
    await once(browser.#pages, "listening");
    return browser;
  }

  /** The page's address: another origin than a server's. */
  get url() {
    return `http://127.0.0.1:${this.#pages.address().port}/`;
  }

  /** An empty page of a visitor of its own, who shares no cookie with others; it ends with the test. `look` is what
   *  Playwright's contexts take: the window's size, the colours. */
  async newPage(t, look = {}) {
    const context = await this.#chromium.newContext(look);
    t.after(() => context.close());
    return context.newPage();
  }

  /**
   * Subscribes in a page of its own. `uid` is the user who is signed in, none by default. Callbacks of the subscription
   * and errors of the page become events.
   */
  async subscribe(t, server, params, uid) {
    const page = await this.newPage(t);
    const events = new Inbox(`events of ${uid ?? "a stranger"}`);
    page.on("pageerror", (error) => events.push({ error }));
    await page.exposeFunction("report", (event) => events.push(event));
    const signIn = uid ? `?uid=${encodeURIComponent(uid)}` : "";
    await page.goto(`${this.url}${signIn}`);
    assert.equal(await events.next(), "loaded");
    await page.evaluate(([url, params]) => window.subscribe(url, params), [server.ws("/cable"), params]);
    const perform = (action, data) =>
      page.evaluate(([action, data]) => window.subscription.perform(action, data), [action, data]);
    return { events, perform };
  }

  async close() {
    this.#pages.close();
    await this.#chromium.close();
  }
}

/** The page, the package's own module, and the cookie that a sign-in would have set. */
function servePage(request, response) {
  const url = new URL(request.url, "http://localhost");
  if (url.pathname === "/actioncable.esm.js") {
    response.setHeader("content-type", "text/javascript");
    createReadStream(join(PACKAGE, "app/assets/javascripts/actioncable.esm.js")).pipe(response);
    return;
  }
  response.setHeader("content-type", "text/html");
  // Cookies know hosts, not ports: the page and the cable server share them, as behind one domain name.
  const uid = url.searchParams.get("uid");
  if (uid) response.setHeader("set-cookie", `uid=${uid}; Path=/; HttpOnly; SameSite=Lax`);
  response.end(PAGE);
}

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
