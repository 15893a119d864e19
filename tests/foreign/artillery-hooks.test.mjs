// `plimsoll run` with Artillery's files that have a `processor`: functions in JavaScript, called where Artillery calls
// them, against servers of node and npm `ws`.

import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { WebSocketServer } from "ws";
import { serveHttp } from "./support/http-server.mjs";
import { plimsollIn } from "./support/plimsoll.mjs";
import { folderOf } from "./support/scripts.mjs";

/** Runs a file to its end beside its modules: `{ code, stdout, stderr, counters, rates, summaries }`. */
async function run(t, file, modules, args = []) {
  const cwd = folderOf(t, { "test.yml": file, ...modules });
  const env = { FROM_SYSTEM: "s" };
  const outcome = await plimsollIn({ cwd, env }, "run", "test.yml", "-o", "report.json", ...args);
  try {
    return { ...outcome, ...JSON.parse(readFileSync(join(cwd, "report.json"), "utf8")).aggregate };
  } catch (error) {
    assert.equal(error.code, "ENOENT");
    return outcome;
  }
}

/** An HTTP server that remembers what it was asked; `answer(request, response)` may answer. */
async function serve(t, answer = (_, response) => response.end("{}")) {
  const asked = [];
  const target = await serveHttp(t, async (request, response) => {
    const chunks = await request.toArray();
    const body = Buffer.concat(chunks).toString();
    asked.push({ method: request.method, url: request.url, headers: request.headers, body });
    answer(request, response, body);
  });
  return { asked, target };
}

/** So many users, one after another. */
const file = (target, scenario, { n = 1, config = "", more = "", processor = "functions.js" } = {}) => `
config:
  target: "${target}"
  processor: ./${processor}
  phases: [{ duration: 1, arrivalCount: ${n} }]
${config}${more}scenarios:
- ${scenario.trim().replaceAll("\n", "\n  ")}
`;

describe("functions around requests", () => {
  test("change them, see the answers, and share variables with the file", async (t) => {
    const { asked, target } = await serve(t, (request, response) => {
      response.setHeader("set-cookie", ["a=1", "b=2"]);
      response.statusCode = request.url.startsWith("/login") ? 201 : 200;
      response.end(JSON.stringify({ token: "t-1" }));
    });
    const functions = `
      let n = 0;
      module.exports = { start, sign, note, look, add };
      function start(context, ee, next) {
        context.vars.user = context.vars.$processEnvironment.FROM_SYSTEM + process.env.FROM_SYSTEM + context.scenario.name;
        context.startedAt = 1;
        setTimeout(next, 1);
      }
      function sign(request, context, events, next) {
        request.headers = { ...request.headers, "x-n": String(++n) };
        context.vars.late = "set-" + n;
        next();
      }
      async function note(request, response, context, events) {
        await null;
        context.vars.seen = [request.url.slice(-6), response.statusCode, response.headers["set-cookie"].length,
          JSON.parse(response.body).token, context.startedAt, context._uid === context.vars.$uuid];
      }
      function look(request, response, context, events, next) {
        request.json.extra = true;
        events.emit("counter", "looks", 1);
        next();
      }
      async function add(request) { request.json = { ...request.json, added: "{{ late }}" } }
    `;
    const scenario = `
name: shop
beforeScenario: start
beforeRequest: [sign]
flow:
- post: { url: "/login", json: { user: "{{ user }}" }, headers: { x-late: "{{ late }}" }, beforeRequest: add,
          capture: { json: $.token, as: token }, afterResponse: [note, look] }
- post: { url: "/after", qs: { token: "{{ token }}" }, json: { seen: "{{ seen }}" } }`;
    const { code, stderr, counters } = await run(t, file(target, scenario), { "functions.js": functions });
    assert.equal(code, 0, stderr);
    assert.equal(counters.looks, 1);
    assert.equal(counters["vusers.completed"], 1);
    const [login, after] = asked;
    assert.deepEqual(JSON.parse(login.body), { user: "ssshop", added: "set-1" });
    assert.deepEqual([login.headers["x-n"], login.headers["x-late"]], ["1", "set-1"]);
    assert.equal(after.url, "/after?token=t-1");
    assert.deepEqual(JSON.parse(after.body), { seen: ["/login", 201, 2, "t-1", 1, true] });
  });

  test("hear of failures, and end the user with errors of their own", async (t) => {
    const functions = `
      export const failed = (error, request, context, ee, next) => { ee.emit("counter", "heard." + error.code, 1); next() };
      export const refuse = (request, response, context, ee, next) => next(new Error("not what I wanted"));
      export const later = (context, ee, next) => setTimeout(() => next(Object.assign(new Error("x"), { code: "ELATE" })), 5);
      export async function wrong(context) { context.vars.none.x = 1 }
      export function forgetful() {}
    `;
    const { target } = await serve(t);
    const outcomes = {
      "onError: failed\nflow:\n- get: { url: 'http://127.0.0.1:1/' }": { "errors.ECONNREFUSED": 1, "heard.ECONNREFUSED": 1 },
      "flow:\n- get: { url: /, afterResponse: refuse }\n- get: { url: /never }": { "errors.not what I wanted": 1 },
      "flow:\n- function: later": { "errors.ELATE": 1 },
      "afterScenario: wrong\nflow:\n- log: x": { "errors.cannot set property 'x' of undefined": 1 },
      "flow:\n- function: forgetful": { "errors.forgetful never calls next()": 1 },
    };
    const runs = Object.entries(outcomes).map(async ([scenario, expected]) => {
      const modules = { "functions.mjs": functions };
      const { counters, stderr } = await run(t, file(target, scenario, { processor: "functions.mjs" }), modules);
      for (const [name, n] of Object.entries({ ...expected, "vusers.failed": 1 })) assert.equal(counters[name], n, `${name}: ${stderr}`);
      assert.equal(counters["vusers.completed"], undefined);
      if (scenario.includes("wrong")) assert.match(stderr, /functions\.mjs:5:\d+/);
    });
    await Promise.all(runs);
  });
});

test("functions decide about requests and loops, in TypeScript with modules of its own", async (t) => {
  const { asked, target } = await serve(t);
  const modules = {
    "functions.ts": `
      import { most } from "./lib.ts";
      interface Context { vars: Record<string, unknown> }
      export const isEven = (vars: Record<string, number>): boolean => vars.$loopCount % 2 === 0;
      export function more(context: Context, next: (goOn: boolean) => void): void { next((context.vars.$loopCount as number) < most) }
    `,
    "lib.ts": "export const most: number = 4;",
  };
  const scenario = `
flow:
- loop:
  - get: { url: "/{{ $loopCount }}", ifTrue: isEven }
  whileTrue: more`;
  const { code, stderr } = await run(t, file(target, scenario, { processor: "functions.ts" }), modules);
  assert.equal(code, 0, stderr);
  assert.deepEqual(asked.map(({ url }) => url), ["/0", "/2"]);
});

test("before and after share a module, and their variables reach all users", async (t) => {
  const { asked, target } = await serve(t);
  const functions = `
    let n = 0;
    exports.prepare = (context, ee, next) => { context.vars.room = "r" + ++n; next() };
    exports.visit = (context, ee, next) => { context.vars.path = "/" + context.vars.room + n; next() };
    exports.end = (context, ee, next) => { context.vars.last = "/end" + ++n; next() };
  `;
  const more = "before: { flow: [{ function: prepare }] }\nafter: { afterScenario: end, flow: [{ function: end }, { get: { url: '{{ last }}' } }] }\n";
  const { code, stderr } = await run(t, file(target, "flow:\n- function: visit\n- get: { url: '{{ path }}' }", { n: 3, more }), { "functions.js": functions });
  assert.equal(code, 0, stderr);
  assert.deepEqual(asked.map(({ url }) => url), ["/r10", "/r10", "/r10", "/end2"]);
});

test("figures of functions are in the report, and checks may be about them", async (t) => {
  const { target } = await serve(t);
  const functions = `
    exports.count = (context, ee, next) => {
      ee.emit("counter", "orders.placed", 2);
      ee.emit("histogram", "orders.size", 10 * ee.emit("rate", "orders.rate") + 5);
      ee.emit("customStat", { stat: "old.stat", value: 7 });
      next();
    };
  `;
  const config = "  ensure: { thresholds: [{ orders.size.max: 16 }], conditions: [{ expression: orders.placed == 6 }, { expression: old.stat.p95 < 7 }] }\n";
  const outcome = await run(t, file(target, "flow:\n- function: count", { n: 3, config }), { "functions.js": functions });
  assert.equal(outcome.code, 1, outcome.stderr);
  assert.equal(outcome.counters["orders.placed"], 6);
  assert.deepEqual([outcome.summaries["orders.size"].count, outcome.summaries["orders.size"].max], [3, 15]);
  assert.equal(outcome.summaries["old.stat"].median, 7);
  assert.ok(outcome.rates["orders.rate"] > 0);
  assert.match(outcome.stdout, /^orders\.placed: \.+ 6$/m);
  assert.match(outcome.stdout, /ok: orders\.size\.max < 16\nok: orders\.placed == 6\nfail: old\.stat\.p95 < 7/);
});

test("WebSockets are opened as a function says, and functions stand among their steps", async (t) => {
  const heard = [];
  const server = new WebSocketServer({ host: "127.0.0.1", port: 0 });
  server.on("connection", (socket, request) => {
    heard.push([request.url, request.headers["x-user"], socket.protocol]);
    socket.on("message", (data) => heard.push(data.toString()));
  });
  await once(server, "listening");
  t.after(() => server.close());
  const functions = `
    module.exports.who = async ({ vars }) => { vars.user = "ann" };
    module.exports.open = (ws, context, next) => {
      ws.target += "/cable?u=" + context.vars.user;
      ws.options.headers["x-user"] += context.vars.user;
      ws.subprotocols.push("chat");
      next();
    };
    module.exports.make = (context, ee, next) => { context.vars.message = { n: context.vars.$loopCount }; next() };
  `;
  const scenario = `
engine: ws
beforeScenario: who
flow:
- connect: { function: open }
- loop:
  - function: make
  - send: "{{ message }}"
  count: 2`;
  const config = "  ws: { headers: { x-user: 'u-' } }\n";
  const { code, stderr } = await run(t, file(`ws://127.0.0.1:${server.address().port}`, scenario, { config }), { "functions.js": functions });
  assert.equal(code, 0, stderr);
  assert.deepEqual(heard, [["/cable?u=ann", "u-ann", "chat"], '{"n":0}', '{"n":1}']);
});

test("requests can be made at the same time, with their functions", async (t) => {
  // Each is answered once all are there.
  const waiting = [];
  const { asked, target } = await serve(t, (request, response, body) => {
    waiting.push(() => response.end(JSON.stringify({ said: body })));
    if (waiting.length === 3) waiting.splice(0).forEach((answer) => answer());
  });
  const functions = "exports.mark = (request, context, ee, next) => { request.body = request.url.slice(-1); next() };";
  const scenario = `
flow:
- parallel:
  - post: { url: /a, beforeRequest: mark, capture: { json: $.said, as: a } }
  - post: { url: /b, beforeRequest: mark, capture: { json: $.said, as: b } }
  - post: { url: /c, body: x, capture: { json: $.said, as: c } }
- log: "said {{ a }}{{ b }}{{ c }}"`;
  const { code, stderr, counters } = await run(t, file(target, scenario), { "functions.js": functions });
  assert.equal(code, 0, stderr);
  assert.match(stderr, /said abx/);
  assert.equal(counters["http.requests"], 3);
  assert.equal(asked.length, 3);
});

test("forms in several parts carry files, and functions before them", async (t) => {
  const { asked, target } = await serve(t);
  const functions = "exports.name = (request, context, ee, next) => { context.vars.name = 'Ann'; next() };";
  const scenario = `
flow:
- post: { url: /up, beforeRequest: name, formData: { who: "{{ name }}", file: { fromFile: ./up.txt, contentType: text/plain } } }`;
  const { code, stderr } = await run(t, file(target, scenario), { "functions.js": functions, "up.txt": "content" });
  assert.equal(code, 0, stderr);
  const [{ headers, body }] = asked;
  const form = await new Response(body, { headers: { "content-type": headers["content-type"] } }).formData();
  assert.equal(form.get("who"), "Ann");
  const sent = form.get("file");
  assert.deepEqual([sent.name, sent.type, await sent.text()], ["up.txt", "text/plain", "content"]);
});

test("missing modules and functions are reported before the first user arrives", async (t) => {
  const { asked, target } = await serve(t);
  const check = async (functions, scenario, pattern) => {
    const { code, stderr } = await run(t, file(target, scenario), { "functions.js": functions });
    assert.equal(code, 1, stderr);
    assert.match(stderr, pattern);
  };
  const flow = "flow: [{ get: { url: / } }]";
  await check("exports.login = () => {}", "beforeRequest: logn\nflow: [{ get: { url: / } }]",
    /test\.yml:\d+:\d+: scenarios\[0\]\.beforeRequest: the processor exports no function `logn`; did you mean `login`\?/);
  await check("const net = require('net');\nexports.f = () => net;", flow, /config\.processor: cannot use \.\/functions\.js: cannot import: Node's module `net` does not exist here[^]*functions\.js:1:\d+/);
  await check("const faker = require('faker');", flow, /there is no package `faker` in [^]* or above; install it there with npm install faker[^]*functions\.js:1:23/);
  await check("exports.f = (", flow, /syntax error[^]*functions\.js:1:/);
  await check("exports.a = 1", flow, /the module exports no function/);
  assert.equal(asked.length, 0);
});
