// Plugins of Artillery's files that tell others of a run: a real Pushgateway keeps the figures, and the URL of a webhook stays
// a secret whatever the server does. What Artillery itself sends is in artillery-parity.test.mjs.

import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync, readdirSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { describe, test } from "node:test";
import { plimsollIn } from "./support/plimsoll.mjs";
import { figuresOf, startPushgateway } from "./support/pushgateway.mjs";
import { folderOf } from "./support/scripts.mjs";

/** Runs a file whose users make one request to a target: `{ code, stdout, stderr, cwd }`. */
async function run(t, plugins, { env = {}, args = [], answer } = {}) {
  const target = await serve(t, answer ?? ((request, response) => response.end("ok")));
  const file = {
    config: { target, phases: [{ duration: 1, arrivalCount: 3 }], plugins },
    scenarios: [{ flow: [{ get: { url: "/" } }] }],
  };
  const cwd = folderOf(t, { "test.yml": JSON.stringify(file) });
  const outcome = await plimsollIn({ cwd, env: { ...env, PLIMSOLL_DATA_DIR: join(cwd, "data") } }, "run", ...args, "test.yml");
  return { ...outcome, cwd };
}

async function serve(t, listener) {
  const server = createServer(listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${server.address().port}`;
}

/** All that a command left: its output, and every file in its folder but the one that it read. */
function traces({ stdout, stderr, cwd }) {
  const files = readdirSync(cwd, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile() && entry.name !== "test.yml");
  return [stdout, stderr, ...files.map((file) => readFileSync(join(file.parentPath, file.name), "latin1"))].join("\n");
}

describe("a Pushgateway", { concurrency: true }, () => {
  test("keeps the figures of a run under Artillery's names", async (t) => {
    const gateway = await startPushgateway(t);
    const reporter = { type: "prometheus", pushgateway: `http://${gateway}`, tags: ["team:chat"], prefix: "load" };
    const { code, stderr } = await run(t, { "publish-metrics": [reporter] }, { env: { WORKER_ID: "run 7" } });
    assert.equal(code, 0, stderr);
    const { load_counters: counters, load_rates: rates, load_summaries: summaries } = await figuresOf(gateway);
    assert.deepEqual(counters.http_codes_200, { value: 3, job: "run 7", instance: "", team: "chat" });
    assert.equal(counters.vusers_completed.value, 3);
    assert.equal(summaries.http_response_time_count.value, 3);
    assert.ok(summaries.http_response_time_p95.value > 0);
    assert.ok(rates.http_request_rate.value > 0);
  });

  test("that is not there costs nothing but a warning without the password", async (t) => {
    const reporter = { type: "prometheus", pushgateway: "http://ada:hidden-word@127.0.0.1:1" };
    const outcome = await run(t, { "publish-metrics": [reporter] });
    assert.equal(outcome.code, 0, outcome.stderr);
    assert.match(outcome.stderr, /The Pushgateway did not take the figures: http:\/\/127\.0\.0\.1:1\/metrics\/job\//);
    assert.ok(!traces(outcome).includes("hidden-word"));
  });
});

describe("a webhook", { concurrency: true }, () => {
  const PLUGINS = { slack: { webhookUrl: "{{ $env.HOOK }}" } };
  const PATH = "/services/T0/B0/hidden-word";
  /** What may show the URL. */
  const ARGS = ["--verbose", "--report", "page.html", "-o", "report.json"];

  test("gets one message", async (t) => {
    const bodies = [];
    const hook = await serve(t, async (request, response) => {
      let body = "";
      for await (const chunk of request) body += chunk;
      bodies.push([request.url, body]);
      response.end("ok");
    });
    const outcome = await run(t, PLUGINS, { env: { HOOK: hook + PATH }, args: ARGS });
    assert.equal(outcome.code, 0, outcome.stderr);
    const [[url, body], ...more] = bodies;
    assert.deepEqual([url, more.length, JSON.parse(body).text], [PATH, 0, "🟢 Load test passed (test.yml)"]);
    assert.ok(!traces(outcome).includes("hidden-word"));
  });

  test("tells of a run in which everything failed with its exit code", async (t) => {
    const bodies = [];
    const hook = await serve(t, (request, response) => {
      request.on("data", (chunk) => bodies.push(JSON.parse(chunk)));
      response.end("ok");
    });
    const answer = (request) => request.socket.destroy();
    const { code } = await run(t, PLUGINS, { env: { HOOK: hook + PATH }, answer });
    assert.deepEqual([code, bodies.map(({ text }) => text)], [3, ["🔴 Load test failed (test.yml)"]]);
  });

  test("that answers with its own URL, or not at all, is a warning that hides it", async (t) => {
    const echoing = await serve(t, (request, response) => response.writeHead(404).end(`Cannot POST ${request.url}`));
    for (const [hook, said] of [
      [echoing, /The message to Slack was not delivered: the webhook answered 404 Not Found\./],
      ["http://127.0.0.1:1", /The message to Slack was not delivered: the webhook: .*refused/],
    ]) {
      const outcome = await run(t, PLUGINS, { env: { HOOK: hook + PATH }, args: ARGS });
      assert.equal(outcome.code, 0, outcome.stderr);
      assert.match(outcome.stderr.replace(/\s+/g, " "), said);
      assert.ok(!traces(outcome).includes("hidden-word"));
    }
  });

  test("without a URL is a mistake before the run", async (t) => {
    const outcome = await run(t, PLUGINS, { env: { HOOK: "hidden-word" } });
    assert.equal(outcome.code, 1, outcome.stderr);
    assert.match(outcome.stderr, /config\.plugins\.slack\.webhookUrl: expected the URL of an incoming webhook/);
    assert.ok(!traces(outcome).includes("hidden-word"));
  });
});
