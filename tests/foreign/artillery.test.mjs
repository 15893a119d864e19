// `plimsoll run` with Artillery's files, against our echo server and against servers of npm `ws`: what users do over the
// wire, and whether every figure is exact.

import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { WebSocketServer } from "ws";
import { within } from "./support/deadline.mjs";
import { eventually } from "./support/processes.mjs";
import { Server, plimsollIn, startPlimsollIn } from "./support/plimsoll.mjs";
import { assertValid } from "./support/schema.mjs";
import { folderOf } from "./support/scripts.mjs";

/** Runs a file to its end, with its JSON report: `{ code, stdout, stderr, counters, summaries, report }`. */
async function run(t, file, args = [], { files = {}, env = {} } = {}) {
  const cwd = folderOf(t, { "test.yml": file, ...files });
  const outcome = await plimsollIn({ cwd, env }, "run", "test.yml", "-o", "report.json", ...args);
  let report = { aggregate: {}, intermediate: [] };
  try {
    report = JSON.parse(readFileSync(join(cwd, "report.json"), "utf8"));
  } catch (error) {
    assert.equal(error.code, "ENOENT");
    return { ...outcome, report, ...report.aggregate };
  }
  // What runs is right by the schema, too.
  assertValid("artillery", file);
  return { ...outcome, report, ...report.aggregate };
}

/** A server of npm `ws`; `onClient(socket, request)` is called for each client. */
async function serve(t, onClient, options = {}) {
  const server = new WebSocketServer({ host: "127.0.0.1", port: 0, ...options });
  server.on("connection", onClient);
  await once(server, "listening");
  t.after(() => {
    server.clients.forEach((client) => client.terminate());
    server.close();
  });
  return `ws://127.0.0.1:${server.address().port}`;
}

/** One user who does this. */
const single = (target, flow, more = "") =>
  `config: { target: "${target}", phases: [{ duration: 1, arrivalCount: 1 }] }\n${more}scenarios:\n- engine: ws\n  flow:\n${flow}`;

// As in "Load Testing Nim WebSockets with Artillery" (August 2021).
const FIRST = `scenarios:
  - name: Nim WebSocket load test
    engine: ws
    flow:
      - send: "Stress test"

config:
  target: "ws://localhost:9001/ws"
  phases:
    - duration: 30
      arrivalRate: 10
`;

const SECOND = `scenarios:
  - name: Nim WebSocket load test
    engine: ws
    flow:
      - loop:
        - send: "Stress test"
        - think: 0.01

config:
  target: "ws://localhost:9001/ws"
  phases:
    - duration: 10
      arrivalRate: 1000
`;

describe("files with a single message and with a loop", () => {
  let server;
  before(async () => (server = await Server.start()));
  after(() => server.stop());

  test("the first: 300 users arrive, and all of them are answered", async (t) => {
    const args = ["-t", server.ws("/echo"), "--summary-mode", "artillery-v1"];
    const faster = FIRST.replace("duration: 30", "duration: 3").replace("arrivalRate: 10", "arrivalRate: 100");
    const { code, stdout, stderr, counters, summaries } = await run(t, faster, args);
    assert.equal(code, 0, stderr);
    assert.deepEqual(counters, {
      "vusers.completed": 300,
      "vusers.created": 300,
      "vusers.created_by_name.Nim WebSocket load test": 300,
      "vusers.failed": 0,
      // Each user also gets a welcome.
      "websocket.messages_received": 600,
      "websocket.messages_sent": 300,
    });
    assert.equal(summaries["websocket.response_time"].count, 300);
    assert.match(stdout, /^Started phase 0, duration: 3s @ \d\d:\d\d:\d\d\(\+0000\) \d{4}-\d\d-\d\d$/m);
    const summary = stdout.slice(stdout.indexOf("All virtual users finished"));
    assert.match(
      summary,
      /^All virtual users finished\nSummary report @ .*\n {2}Scenarios launched: {2}300\n {2}Scenarios completed: 300\n {2}Requests completed: {2}300\n/,
    );
    assert.match(summary, /Scenario counts:\n {4}Nim WebSocket load test: 300 \(100%\)\n {2}Codes:\n {4}0: 300\n/);
    assert.match(summary, /300 of 300 users that were due arrived/);
  });

  test("the second, smaller: users without an end are held until the run's limit", async (t) => {
    const smaller = SECOND.replace("duration: 10", "duration: 1").replace("1000", "100");
    const { code, stdout, counters } = await run(t, smaller, ["-t", server.ws("/echo"), "--max-duration", "4s"]);
    assert.equal(code, 0);
    assert.equal(counters["vusers.created"], 100);
    assert.equal(counters["vusers.interrupted"], 100);
    assert.equal(counters["vusers.completed"], undefined);
    assert.ok(counters["websocket.messages_sent"] >= 100);
    assert.match(stdout, /100 of 100 users that were due arrived; at most 100 were active at once/);
    assert.match(stdout, /100 were interrupted by the end of the run/);
  });

  test("a limit cuts phases off", async (t) => {
    const file = `config: { target: "${server.ws("/echo")}", phases: [{ duration: 600, arrivalRate: 20 }, { duration: 600, users: 5 }] }
scenarios: [{ engine: ws, flow: [{ think: 600 }] }]
`;
    const { code, stdout, counters } = await run(t, file, ["--max-duration", "1s"]);
    assert.equal(code, 0);
    assert.equal(counters["vusers.created"], 20);
    assert.equal(counters["vusers.interrupted"], 20);
    assert.match(stdout, /20 of 20 users that were due arrived/);
  });

  test("a signal ends users without an end, with their report", async (t) => {
    const cwd = folderOf(t, { "test.yml": SECOND.replace("1000", "5") });
    const child = startPlimsollIn({ cwd }, "run", "test.yml", "-t", server.ws("/echo"));
    let [stdout, stderr] = ["", ""];
    child.stdout.setEncoding("utf8").on("data", (chunk) => (stdout += chunk));
    child.stderr.setEncoding("utf8").on("data", (chunk) => (stderr += chunk));
    await eventually(() => stdout.includes("Phase started"), "the first phase");
    child.kill("SIGINT");
    // Not when the process ends: its words may come later.
    const [code] = await within(once(child, "close"), "the end of the run");
    assert.equal(code, 105);
    assert.match(stderr, /the run was interrupted by a signal/);
    assert.match(stdout, /Generator:/);
    assert.match(stdout, /Summary report @/);
  });
});

describe("the engine ws", () => {
  test("templates, captures and loops go over the wire as they are written", async (t) => {
    const heard = [];
    const target = await serve(t, (socket, request) => {
      heard.push({ url: request.url, cookie: request.headers.cookie, protocol: socket.protocol });
      socket.on("message", (data) => {
        heard.push(data.toString());
        const { ask } = JSON.parse(data);
        if (ask) socket.send(JSON.stringify({ type: "answer", token: `t-${ask}`, list: [1, 2] }));
      });
    });
    const flow = `
  - connect: { target: "{{ target }}/{{ room }}", headers: { cookie: "id={{ name }}" }, subprotocols: [chat] }
  - send: { payload: { ask: "{{ name }}" }, capture: [{ json: $.token, as: token }], match: { json: $.type, value: answer } }
  - loop:
    - send: { n: "{{ $loopCount }}", token: "{{ token }}", fixed: [1, null, "x"] }
    count: 2
  - loop:
    - send: { element: "{{ $loopElement }}" }
    over: [a, { b: 1 }]
  - loop:
    - send: { payload: { ask: again }, capture: { json: $.token, as: token } }
    whileTrue: token != "t-again"
  - send: '{"text": "{{ token }}-{{ $env.SUFFIX }}"}'
`;
    const file = single(target, flow).replace("phases:", "variables: { room: lobby, name: ada }, phases:");
    const { code, stderr, counters, summaries } = await run(t, file, [], { env: { SUFFIX: "end" } });
    assert.equal(code, 0, stderr);
    assert.deepEqual(heard, [
      { url: "/lobby", cookie: "id=ada", protocol: "chat" },
      '{"ask":"ada"}',
      '{"n":0,"token":"t-ada","fixed":[1,null,"x"]}',
      '{"n":1,"token":"t-ada","fixed":[1,null,"x"]}',
      '{"element":"a"}',
      '{"element":{"b":1}}',
      '{"ask":"again"}',
      '{"text": "t-again-end"}',
    ]);
    assert.equal(counters["vusers.completed"], 1);
    assert.equal(counters["websocket.messages_sent"], 7);
    assert.equal(counters["websocket.messages_received"], 2);
    assert.equal(summaries["websocket.response_time"].count, 2);
  });

  test("several answers, messages that nobody asked for, and those that match", async (t) => {
    const heard = [];
    const target = await serve(t, (socket) => {
      socket.send('{"type": "welcome", "id": 7}');
      socket.on("message", (data) => {
        heard.push(data.toString());
        if (data.toString() !== "go") return;
        for (const n of [1, 2, 3]) socket.send(JSON.stringify({ type: "news", n }));
        socket.send('{"type": "done"}');
      });
    });
    const flow = `
  - receive: { match: { json: $.type, value: welcome }, capture: { json: $.id, as: id } }
  - send: { payload: go, answers: 2 }
  - receive: { match: { json: $.type, value: done }, timed: true }
  - receive: { capture: { json: $.n, as: n } }
  - send: "{{ id }} {{ n }}"
`;
    const { code, stderr, counters, summaries } = await run(t, single(target, flow));
    assert.equal(code, 0, stderr);
    assert.deepEqual(heard, ["go", "7 3"]);
    assert.equal(summaries["websocket.response_time"].count, 2, "the first answer, and the timed message");
    assert.equal(counters["vusers.completed"], 1);
    assert.equal(counters["websocket.messages_received"], 5);
  });

  test("what goes wrong is counted by what it was", async (t) => {
    const closing = await serve(t, (socket) => socket.close(4001, "bye"));
    const silent = await serve(t, () => {});
    const refusing = await serve(t, () => {}, { verifyClient: (_, done) => done(false, 403) });
    const other = await serve(t, (socket) => socket.on("message", () => socket.send('{"type": "other"}')));
    const ask = "send: { payload: x, match: { json: $.type, value: pong }, timeout: 300ms }";
    for (const [name, target, step, error] of [
      ["closed while the user thinks", closing, "think: 60", "closed by the server with code 4001"],
      ["no answer", silent, ask, "response timeout"],
      ["refused", refusing, "think: 1", "Unexpected server response: 403"],
      ["nobody there", "ws://127.0.0.1:1", "think: 1", "ECONNREFUSED"],
      ["the wrong answer", other, ask, "Failed capture or match"],
      ["no such host", "ws://plimsoll.invalid", "think: 1", "ENOTFOUND"],
    ]) {
      const { code, counters, stderr } = await run(t, single(target, `  - ${step}\n`));
      assert.equal(code, 3, `${name}: ${stderr}`);
      assert.equal(counters["vusers.failed"], 1, name);
      assert.equal(counters["vusers.completed"], undefined, name);
      const errors = Object.entries(counters).filter(([name]) => name.startsWith("errors."));
      assert.deepEqual(errors, [[`errors.${error}`, 1]], name);
    }
  });

  test("maxVusers turns arrivals away, and counts them", async (t) => {
    const target = await serve(t, () => {});
    const file = `config: { target: "${target}", phases: [{ duration: 1, arrivalCount: 10, maxVusers: 4 }] }
scenarios: [{ engine: ws, flow: [{ think: 5 }] }]
`;
    const { counters, stdout } = await run(t, file);
    assert.equal(counters["vusers.created"], 4);
    assert.equal(counters["vusers.skipped"], 6);
    assert.match(stdout, /6 were turned away by maxVusers/);
  });

  test("a user may have several connections, which are all read", async (t) => {
    const heard = { first: [], second: [] };
    let closed = 0;
    const server = (name) =>
      serve(t, (socket) => {
        socket.on("message", (data) => heard[name].push(data.toString()) && socket.send(`${name}: ${data}`));
        socket.on("close", () => (closed += 1));
      });
    const [first, second] = [await server("first"), await server("second")];
    const flow = `  - connect: { name: other, target: "${second}" }
  - send: a
  - send: { payload: b, capture: { regexp: "(.*)", as: answer } }
    connection: other
  - send: "{{ answer }}"
  - receive: { match: { regexp: "first: second: b", value: "first: second: b" } }
  - connect: { name: other, target: "${second}" }
  - send: again
    connection: other
`;
    const { code, stderr, counters, summaries } = await run(t, single(first, flow));
    assert.equal(code, 0, stderr);
    assert.equal(counters["vusers.completed"], 1);
    assert.deepEqual(heard, { first: ["a", "second: b"], second: ["b", "again"] });
    assert.equal(counters["websocket.messages_received"], 4);
    assert.equal(summaries["websocket.connect_time"].count, 3);
    await eventually(() => closed === 3, "three closed connections");
    // One that ends ends its user, also while a step is busy with another one.
    const quitting = await serve(t, (socket) => socket.close());
    const lost = await run(t, single(first, `  - connect: { name: other, target: "${quitting}" }\n  - wait: { timeout: 60 }\n`));
    assert.equal(lost.counters["vusers.failed"], 1);
    assert.equal(lost.counters["errors.response timeout"], undefined);
  });

  test("messages are timed when they arrive, also while another connection is opened", async (t) => {
    const echo = await serve(t, (socket) => socket.on("message", (data) => socket.send(data)));
    // Answers the second upgrade when it has waited for so long.
    const verifyClient = (_, answer) => setTimeout(() => answer(true), 2000);
    const slow = await serve(t, () => {}, { verifyClient });
    const flow = `  - send: hello\n  - connect: { name: slow, target: "${slow}" }\n`;
    const { code, stderr, summaries } = await run(t, single(echo, flow));
    assert.equal(code, 0, stderr);
    assert.equal(summaries["websocket.response_time"].count, 1);
    const [response, connect] = ["response", "connect"].map((what) => summaries[`websocket.${what}_time`].max);
    assert.ok(connect >= 1900 && response < connect, `an answer after ${response} ms, a connection after ${connect} ms`);
  });

  test("an answer that comes together with the server's close is one", async (t) => {
    const target = await serve(t, (socket, { socket: tcp }) =>
      socket.on("message", (data) => {
        tcp.cork();
        socket.send(data);
        socket.close();
        tcp.uncork();
      }),
    );
    const flow = `  - send: { payload: "[1]", capture: { json: "$[0]", as: x } }\n`;
    const { code, stderr, counters, summaries } = await run(t, single(target, flow));
    assert.equal(code, 0, stderr);
    assert.equal(counters["vusers.completed"], 1);
    assert.equal(summaries["websocket.response_time"].count, 1);
  });

  test("a phase may hold a number of users, each followed by another one", async (t) => {
    const target = await serve(t, (socket) => socket.on("message", (data) => socket.send(data)));
    const file = `config: { target: "${target}", phases: [{ users: 4, duration: 2 }, { users: 2, rampTo: 1, duration: 1 }] }
scenarios: [{ engine: ws, flow: [{ send: { payload: a, capture: { json: $, as: x, strict: false } } }, { think: 0.1 }] }]
`;
    const { code, counters, summaries, stdout, stderr } = await run(t, file);
    assert.equal(code, 0, stderr);
    assert.ok(counters["vusers.created"] > 4, `${counters["vusers.created"]} users`);
    assert.equal(counters["vusers.completed"], counters["vusers.created"]);
    assert.equal(counters["vusers.interrupted"], undefined);
    // The last ones of the first phase may still be there in the second.
    assert.match(stdout, /at most [456] were active at once/);
    assert.equal(summaries["vusers.lateness"], undefined);
    assert.match(stdout, /0 of 0 users that were due arrived/);
    assert.match(stdout, new RegExp(`${counters["vusers.created"]} followed each other in phases that hold a number of users`));
  });

  test("users may arrive at random, and all that were due are there", async (t) => {
    const target = await serve(t, () => {});
    const file = `config: { target: "${target}", mode: poisson, phases: [{ duration: 1, arrivalRate: 100 }] }
scenarios: [{ engine: ws, flow: [{ think: 0 }] }]
`;
    const { code, counters, stdout, stderr } = await run(t, file);
    assert.equal(code, 0, stderr);
    const n = counters["vusers.created"];
    // Six standard deviations around the mean.
    assert.ok(n > 40 && n < 160, `${n} users`);
    assert.match(stdout, new RegExp(`${n} of ${n} users that were due arrived`));
  });

  test("rows of a table and weights", async (t) => {
    const heard = [];
    const target = await serve(t, (socket) => socket.on("message", (data) => heard.push(data.toString())));
    const file = `config:
  target: "${target}"
  phases: [{ duration: 1, arrivalCount: 4 }]
  payload: { path: users.csv, fields: [name, age], order: sequence, skipHeader: true }
scenarios:
- { engine: ws, weight: 0, flow: [{ send: never }] }
- { engine: ws, flow: [{ send: "{{ name }} {{ age }}" }] }
`;
    const files = { "users.csv": "name,age\nada,36\nbob,41\n" };
    const { code, stderr } = await run(t, file, [], { files });
    assert.equal(code, 0, stderr);
    assert.deepEqual(heard.sort(), ["ada 36", "ada 36", "bob 41", "bob 41"]);
  });

  test("before and after", async (t) => {
    const heard = [];
    const target = await serve(t, (socket) =>
      socket.on("message", (data) => {
        heard.push(data.toString());
        socket.send('{"token": "secret"}');
      }),
    );
    const around = `before: { engine: ws, flow: [{ send: { payload: login, capture: { json: $.token, as: token } } }] }
after: { engine: ws, flow: [{ send: "bye {{ token }}" }] }
`;
    const { code, stderr } = await run(t, single(target, '  - send: "{{ token }}"\n', around));
    assert.equal(code, 0, stderr);
    assert.deepEqual(heard, ["login", "secret", "bye secret"]);
  });
});

/** A server over HTTP; what it hears goes to `heard` as `{ line, body, headers }`. */
async function serveHttp(t, answer) {
  const heard = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    heard.push({ line: `${request.method} ${request.url}`, body, headers: request.headers });
    answer(request, response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.closeAllConnections() ?? server.close());
  return { target: `http://127.0.0.1:${server.address().port}`, heard };
}

describe("the engine http", () => {
  const user = (target, flow, config = "") =>
    `config: { target: "${target}", phases: [{ duration: 1, arrivalCount: 1 }]${config} }\nscenarios:\n- flow:\n${flow}`;

  test("parts of pages are captured with selectors", async (t) => {
    const { target, heard } = await serveHttp(t, (_, response) => {
      response.setHeader("content-type", "text/html");
      response.end("<form><input name=csrf value=c1></form><ul><li><a href=/1>one</a><li><a href=/2>two</a></ul>");
    });
    const flow = `
  - get:
      url: /
      capture:
      - { selector: "form input[name=csrf]", attr: value, as: csrf }
      - { selector: a, attr: href, index: last, as: last }
      - { selector: a, index: 0, as: text }
      - { selector: p, attr: id, as: none, strict: false }
      match: { selector: "li:first-child a", attr: href, value: /1 }
  - get: { url: "{{ last }}/{{ csrf }}/{{ text }}{{ none }}" }
  - get: { url: /, capture: { selector: p, attr: id, as: id } }
`;
    const { counters } = await run(t, user(target, flow));
    assert.deepEqual(heard.map(({ line }) => line), ["GET /", "GET /2/c1/oneundefined", "GET /"]);
    assert.equal(counters["errors.Failed capture or match"], 1);
  });

  test("requests, bodies, cookies, redirects and captures", async (t) => {
    const { target, heard } = await serveHttp(t, (request, response) => {
      if (request.url === "/login") response.setHeader("set-cookie", "session=s1");
      if (request.url === "/old") return response.writeHead(302, { location: "/new" }).end();
      response.setHeader("x-id", "77").setHeader("content-type", "application/json");
      response.end('{"token": "t1", "user": {"name": "ada"}}');
    });
    const flow = `
  - post: { url: /login, json: { name: ada }, capture: [{ json: $.token, as: token }, { header: x-id, as: id }] }
  - get: { url: "/items/{{ id }}", qs: { q: "a b", n: 1 }, headers: { authorization: "Bearer {{ token }}" } }
  - put: { url: /form, form: { a: 1, b: "x y" } }
  - patch: { url: /text, body: "plain {{ token }}" }
  - get: { url: /old }
  - get: { url: /old, followRedirect: false }
  - get: { url: /never, ifTrue: token == "t2" }
  - get: { url: /never, probability: 0 }
  - delete: { url: /x, auth: { user: me, pass: secret }, cookie: { extra: "1" }, match: { json: $.user.name, value: ada } }
`;
    const config = ", http: { defaults: { headers: { x-all: yes } } }, apdex: { threshold: 60000 }";
    const { code, stderr, stdout, counters, summaries } = await run(t, user(target, flow, config));
    assert.equal(code, 0, stderr);
    assert.deepEqual(
      heard.map(({ line, body }) => (body ? `${line} ${body}` : line)),
      [
        'POST /login {"name":"ada"}',
        "GET /items/77?q=a+b&n=1",
        "PUT /form a=1&b=x+y",
        "PATCH /text plain t1",
        "GET /old",
        "GET /new",
        "GET /old",
        "DELETE /x",
      ],
    );
    assert.equal(heard[0].headers["content-type"], "application/json");
    assert.equal(heard[1].headers.authorization, "Bearer t1");
    assert.equal(heard[1].headers.cookie, "session=s1");
    assert.equal(heard[7].headers.authorization, `Basic ${btoa("me:secret")}`);
    assert.deepEqual(heard[7].headers.cookie.split("; ").sort(), ["extra=1", "session=s1"]);
    assert.ok(heard.every(({ headers }) => headers["x-all"] === "yes"));
    assert.equal(counters["vusers.completed"], 1);
    assert.deepEqual([counters["http.requests"], counters["http.responses"]], [8, 8]);
    assert.deepEqual([counters["http.codes.200"], counters["http.codes.302"]], [6, 2]);
    assert.equal(summaries["http.response_time"].count, 8);
    assert.deepEqual(
      ["2xx", "3xx"].map((name) => summaries[`http.response_time.${name}`].count),
      [6, 2],
    );
    assert.match(stdout, /Apdex score: 1.000 \(excellent\)/);
  });

  test("expectations decide about the exit code, and users go on", async (t) => {
    const { target } = await serveHttp(t, (_, response) => {
      response.setHeader("content-type", "application/json").end('{"a": {"b": [1]}}');
    });
    const flow = (more) => `
  - get: { url: /, expect: [{ statusCode: [200, 201] }, { contentType: json }, { hasProperty: "a.b[0]" }, { hasHeader: date }${more}] }
  - get: { url: / }
`;
    const good = await run(t, user(target, flow("")));
    assert.equal(good.code, 0, good.stderr);
    assert.equal(good.counters["plugins.expect.ok"], 4);
    const bad = await run(t, user(target, flow(', { notStatusCode: 200 }, { matchesRegexp: "x[0-9]" }')));
    assert.equal(bad.code, 21);
    assert.equal(bad.counters["plugins.expect.failed"], 2);
    assert.equal(bad.counters["plugins.expect.failed.notStatusCode"], 1);
    assert.equal(bad.counters["http.responses"], 2);
  });

  test("what goes wrong is counted by what it was", async (t) => {
    const { target } = await serveHttp(t, (request, response) => {
      if (request.url === "/reset") request.socket.resetAndDestroy();
      if (request.url === "/text") response.end("no json");
    });
    for (const [name, url, more, error] of [
      ["nobody there", "http://127.0.0.1:1/", "", "ECONNREFUSED"],
      ["no answer", "/hang", "", "ETIMEDOUT"],
      ["a reset", "/reset", "", "ECONNRESET"],
      ["nothing to capture", "/text", ", capture: { json: $.id, as: id }", "Failed capture or match"],
    ]) {
      const flow = `  - get: { url: "${url}"${more} }\n`;
      const { code, counters, stderr } = await run(t, user(target, flow, ", http: { timeout: 0.5 }"));
      assert.equal(code, 3, `${name}: ${stderr}`);
      assert.equal(counters[`errors.${error}`], 1, `${name}: ${JSON.stringify(counters)}`);
      assert.equal(counters["vusers.failed"], 1, name);
    }
  });

  test("each endpoint has figures of its own", async (t) => {
    const server = createServer((request, response) => {
      response.writeHead(request.url.startsWith("/lost") ? 404 : 200, { "server-timing": "total;dur=12.5" }).end("{}");
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    t.after(() => server.close());
    const target = `http://127.0.0.1:${server.address().port}`;
    const file = `config:
  target: "${target}"
  phases: [{ duration: 1, arrivalCount: 2 }]
  variables: { ids: [1, 2] }
  plugins: { metrics-by-endpoint: { stripQueryString: true } }
  ensure: { thresholds: [{ "plugins.metrics-by-endpoint.response_time./users/{{ ids }}.p95": 10000 }] }
scenarios:
- flow:
  - get: { url: "/users/{{ ids }}?page=1" }
  - get: { url: "/lost", name: missing }
  - get: { url: "http://127.0.0.1:1/refused" }
`;
    // A report that is not there yet may stand before the file.
    const cwd = folderOf(t, { "test.yml": file });
    const { code, stdout, stderr } = await plimsollIn({ cwd }, "run", "--output", "report.json", "--report", "a.json", "test.yml");
    assert.equal(code, 3, stderr);
    const { metrics } = JSON.parse(readFileSync(join(cwd, "a.json"), "utf8"));
    const { contains, values } = metrics["plugins.metrics-by-endpoint.server-timing./lost (missing)"];
    assert.deepEqual([contains, values.count, values.max], ["time", 2, 12_500]);
    const { counters, summaries } = JSON.parse(readFileSync(join(cwd, "report.json"), "utf8")).aggregate;
    const prefix = "plugins.metrics-by-endpoint";
    assert.equal(counters[`${prefix}./users/{{ ids }}.codes.200`], 2);
    assert.equal(counters[`${prefix}./lost (missing).codes.404`], 2);
    assert.equal(counters[`${prefix}.:1/refused.errors.ECONNREFUSED`], 2);
    assert.equal(summaries[`${prefix}.response_time./users/{{ ids }}`].count, 2);
    assert.equal(summaries[`${prefix}.server-timing./lost (missing)`].max, 12.5);
    assert.match(stdout, /^plugins\.metrics-by-endpoint\.response_time\.\/users\/\{\{ ids \}\}:$/m);
    assert.match(stdout, /^ok: plugins\.metrics-by-endpoint/m);
  });

  test("a quick look needs no file", async (t) => {
    const { target, heard } = await serveHttp(t, (_, response) => response.end("ok"));
    const overHttp = await plimsollIn({}, "quick", `${target}/x`, "-c", "3", "-n", "4");
    assert.equal(overHttp.code, 0, overHttp.stderr);
    assert.deepEqual(
      heard.map(({ line }) => line),
      Array(12).fill("GET /x"),
    );
    assert.match(overHttp.stdout, /12 of 12 requests answered/);
    let n_heard = 0;
    const sockets = await serve(t, (socket) => socket.on("message", (data) => (n_heard += data.toString() === "hello")));
    const overWebSocket = await plimsollIn({}, "quick", sockets, "-c", "2", "-n", "5");
    assert.equal(overWebSocket.code, 0, overWebSocket.stderr);
    assert.equal(n_heard, 10);
  });
});

describe("the end", () => {
  test("checks decide about the exit code", async (t) => {
    const target = await serve(t, () => {});
    const file = (ensure) => single(target, "  - think: 0\n").replace("phases:", `ensure: ${ensure}, phases:`);
    const good = await run(t, file("{ conditions: [{ expression: vusers.completed == 1 and vusers.failed == 0 }] }"));
    assert.equal(good.code, 0);
    assert.match(good.stdout, /Checks:\nok: vusers.completed == 1 and vusers.failed == 0\n/);
    const optional = await run(t, file("{ conditions: [{ expression: vusers.failed > 0, strict: false }] }"));
    assert.equal(optional.code, 0);
    assert.match(optional.stdout, /fail: vusers.failed > 0 \(optional\)\n/);
    const bad = await run(t, file("{ thresholds: [{ vusers.completed: 1 }] }"));
    assert.equal(bad.code, 1);
    assert.match(bad.stdout, /fail: vusers.completed < 1\n/);
    assert.match(bad.stderr, /1 of 1 checks of `ensure` failed/);
  });

  test("a check may end the run", async (t) => {
    const target = await serve(t, (socket) => socket.close());
    const ensure = "ensure: { thresholds: [{ vusers.failed: 3, abortOnFail: true }] }, ";
    const file = `config: { target: "${target}", ${ensure}phases: [{ duration: 600, arrivalRate: 20 }] }
scenarios: [{ engine: ws, flow: [{ think: 600 }] }]
`;
    const { code, counters, stdout, stderr } = await run(t, file);
    assert.equal(code, 1);
    assert.ok(counters["vusers.failed"] >= 3);
    assert.match(stderr, /the check `vusers.failed < 3` of `ensure` failed after \d+\.\d s and ended the run/);
    assert.match(stdout, /^fail: vusers.failed < 3$/m);
  });

  test("a bad file is told with all its mistakes, and nothing runs", async (t) => {
    const { code, stderr, stdout } = await run(t, "config:\n  target: ws://h\nscenarios:\n- engine: ws\n  flow:\n  - sned: x\n  - thnik: 1\n");
    assert.deepEqual([code, stdout], [1, ""]);
    assert.match(stderr, /test\.yml:6:5: scenarios\[0\]\.flow\[0\]: there is no step `sned`.*did you mean `send`\?/);
    assert.match(stderr, /test\.yml:7:5: scenarios\[0\]\.flow\[1\]: there is no step `thnik`.*did you mean `think`\?/);
  });
});
