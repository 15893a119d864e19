// The demo's chat room for people: a browser among the users of the load test, whose books it must not spoil.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Browser } from "./support/browser.mjs";
import { within } from "./support/deadline.mjs";
import { plimsoll, Server, startPlimsoll } from "./support/plimsoll.mjs";
import { eventually, isAlive } from "./support/processes.mjs";

/** Longer than the demo of this test. */
const DEMO_PATIENCE_MS = 90_000;

describe("the page of plimsoll demo", () => {
  let browser;
  before(async () => (browser = await Browser.launch()));
  after(() => browser?.close());

  test("lets people join, who hear the crowd and are heard, and the server stays with --keep", async (t) => {
    const demo = startPlimsoll("demo", "--users", "5", "--time", "20", "--keep", "--format", "json");
    let [said, result] = ["", ""];
    demo.stderr.setEncoding("utf8").on("data", (chunk) => (said += chunk));
    demo.stdout.setEncoding("utf8").on("data", (chunk) => (result += chunk));
    const [, url] = await eventually(() => /in a browser: (http:\S+)/.exec(said), "the page's address");
    const pid = Number(/\(process (\d+)\)/.exec(said)[1]);
    t.after(() => isAlive(pid) && process.kill(pid));

    const page = await browser.newPage(t);
    await page.setViewportSize({ width: 390, height: 800 });
    const [errors, requests] = [[], []];
    page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
    page.on("pageerror", (error) => errors.push(error));
    page.on("request", (request) => requests.push(request.url()));
    await page.goto(url);
    await page.fill("#name", "Visitor");
    await page.click("#join button");
    await page.waitForSelector("#speak:not([hidden])");
    const room = () => page.textContent("#messages");
    await eventually(async () => /Kay100\d+: hello from Kay100\d+(?! #)/.test(await room()), "the crowd");

    await page.check("#people");
    const say = async (words) => {
      await page.fill("#message", words);
      await page.press("#message", "Enter");
      await eventually(async () => (await room()).includes(`Visitor: ${words}there and back in`), `${words} on the page`);
    };
    await say("<b>hello</b>");
    // What looks as if a user of the run had said it must not end up in the run's books.
    for (const words of ["hello from Kay1001 #0@1", "hello from Kay1001 #18446744073709551615@1"]) await say(words);
    const clients = async () => Number(await page.textContent('.tile:has(h3:text-is("Clients")) output'));
    await eventually(async () => (await clients()) > 1, "the crowd in the figures");
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390);

    const { code } = await within(demo.exited, "the demo", DEMO_PATIENCE_MS);
    assert.equal(code, 0, said);
    const { losses } = JSON.parse(result);
    assert.deepEqual([losses.lost, losses.duplicated, losses.out_of_order], [0, 0, 0]);
    assert.match(said, new RegExp(`keeps running.*kill ${pid}`));
    await say("still here");
    process.kill(pid);
    await eventually(() => page.isVisible("#trouble"), "the page to miss the server");
    // Only what the browser says of a server that is gone.
    assert.deepEqual(errors.filter((error) => !/ERR_CONNECTION_REFUSED|ERR_EMPTY_RESPONSE|ERR_CONNECTION_RESET/.test(error)), []);
    assert.deepEqual(requests.filter((request) => !request.startsWith(url) && request !== "data:,"), []);
  });

  test("is not there in a plain server", async (t) => {
    const server = await Server.start("--app", "chat", "--broadcast_key", "secret");
    t.after(() => server.stop());
    assert.match(await (await fetch(server.http("/"))).text(), /^Hello from Plimsoll/);
    assert.equal((await fetch(server.http("/demo/demo.js"))).status, 404);
  });
});

test("the demo ends with the meaning of its figures and with what to do next", async () => {
  const { code, stderr } = await plimsoll("demo", "--users", "2", "--time", "1");
  assert.equal(code, 0, stderr);
  assert.match(stderr, /\nWhat it means: rtt is [^\n]+\n[^\n]+ not the server's limit\.\n\nNext:\n {2}plimsoll demo --users 10 --ui +more users/);
  const quiet = await plimsoll("demo", "--users", "2", "--time", "1", "--quiet");
  assert.doesNotMatch(quiet.stderr, /Next:/);
});
