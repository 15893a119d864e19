// Headless Chromium with pages that run the unmodified @rails/actioncable, @anycable/core and @anycable/web, with the timers
// that they have by default.

import assert from "node:assert/strict";
import { once } from "node:events";
import { accessSync, constants, createReadStream } from "node:fs";
import { createServer } from "node:http";
import { delimiter, dirname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { Inbox } from "./inbox.mjs";

/** The same names as in `xtask/src/test/setup.rs`, which installs the first. */
const PROGRAMS = ["chromium", "chromium-browser", "google-chrome"];

const PACKAGES = join(dirname(fileURLToPath(import.meta.url)), "../node_modules");

/** Modules that pages import, by their path. */
const MODULES = "/node_modules/";

const PAGE = `<!doctype html>
<meta charset="utf-8">
<title>Plimsoll</title>
<script type="module">
  import { createConsumer } from "/node_modules/@rails/actioncable/app/assets/javascripts/actioncable.esm.js";
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

const ANYCABLE_PAGE = `<!doctype html>
<meta charset="utf-8">
<title>Plimsoll</title>
<script type="importmap">
  { "imports": {
    "@anycable/core": "/node_modules/@anycable/core/index.js",
    "@anycable/web": "/node_modules/@anycable/web/index.js",
    "@msgpack/msgpack": "/node_modules/@msgpack/msgpack/dist.esm/index.mjs",
    "nanoevents": "/node_modules/nanoevents/index.js"
  } }
</script>
<script src="/node_modules/protobufjs/dist/protobuf.js"></script>
<script type="module">
  import * as core from "@anycable/core";
  import * as web from "@anycable/web";
  import * as msgpack from "@msgpack/msgpack";
  import { encoders } from "/encoders.mjs";
  const packages = { "@anycable/core": core, "@anycable/web": web };
  const encoder = encoders(msgpack, protobuf);
  window.listen = (name, url, protocol, stream) => {
    const cable = packages[name].createCable(url, { protocol, encoder: encoder[protocol], logLevel: "error" });
    const channel = (window.channel = cable.streamFrom(stream));
    channel.on("connect", ({ restored }) => report(restored ? "restored" : "connected"));
    // A channel does not hear of a connection that can be resumed.
    cable.on("disconnect", () => report("disconnected"));
    channel.on("message", (message) => report({ message }));
    channel.on("info", ({ type }) => report(type));
    channel.on("presence", (presence) => report({ presence }));
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
    return { page, events, perform };
  }

  /**
   * Hears a stream in a page of its own, with one of AnyCable's packages. Events of the channel and errors of the page become
   * events; `page.evaluate` reaches the channel as `window.channel`.
   */
  async listen(t, name, url, protocol, stream) {
    const page = await this.newPage(t);
    const events = new Inbox(`events of ${name}`);
    page.on("pageerror", (error) => events.push({ error }));
    await page.exposeFunction("report", (event) => events.push(event));
    await page.goto(`${this.url}anycable`);
    assert.equal(await events.next(), "loaded");
    await page.evaluate((args) => window.listen(...args), [name, url, protocol, stream]);
    return { page, events };
  }

  async close() {
    this.#pages.close();
    await this.#chromium.close();
  }
}

/** The pages, the packages' own modules, and the cookie that a sign-in would have set. */
function servePage(request, response) {
  const url = new URL(request.url, "http://localhost");
  const file = moduleAt(normalize(url.pathname));
  if (file) {
    response.setHeader("content-type", "text/javascript");
    createReadStream(file).on("error", () => response.writeHead(404).end()).pipe(response);
    return;
  }
  response.setHeader("content-type", "text/html");
  // Cookies know hosts, not ports: the page and the cable server share them, as behind one domain name.
  const uid = url.searchParams.get("uid");
  if (uid) response.setHeader("set-cookie", `uid=${uid}; Path=/; HttpOnly; SameSite=Lax`);
  response.end(url.pathname === "/anycable" ? ANYCABLE_PAGE : PAGE);
}

/** The file of a module. */
function moduleAt(path) {
  if (path === "/encoders.mjs") return fileURLToPath(new URL("encoders.mjs", import.meta.url));
  return path.startsWith(MODULES) ? join(PACKAGES, path.slice(MODULES.length)) : undefined;
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
