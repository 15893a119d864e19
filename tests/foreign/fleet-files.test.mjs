// Artillery files, wsdirector scenarios and `plimsoll quick` from several agents, which meet at a real NATS server: what one
// process does, seen by a real target. Agents have neither the files nor the environment of their coordinator.

import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { WebSocketServer } from "ws";
import { Fleet, perform } from "./support/fleet.mjs";
import { serveHttp } from "./support/http-server.mjs";
import { Server, plimsollIn } from "./support/plimsoll.mjs";
import { freePort } from "./support/ports.mjs";
import { folderOf } from "./support/scripts.mjs";

/** A target that remembers the requests that came. */
async function target(t) {
  const asked = [];
  const url = await serveHttp(t, async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString();
    asked.push([request.method, request.url, request.headers["x-from"] ?? "", body.length].join(" "));
    response.end(JSON.stringify({ token: "t1", number: asked.length }));
  });
  return { asked, url };
}

/** The counters of Artillery's report that do not depend on time. */
function counters(cwd, report = "report.json") {
  const { aggregate } = JSON.parse(readFileSync(join(cwd, report), "utf8"));
  return Object.fromEntries(Object.entries(aggregate.counters).filter(([name]) => !/bytes/.test(name)).sort());
}

const PHASES = "[{duration: 1, arrivalRate: 20}, {pause: 0.2}, {duration: 1, arrivalCount: 11, name: c}, {duration: 1, arrivalRate: 5, rampTo: 40}]";

const FILE = (url, { phases = PHASES, config = "", flow = "" } = {}) => `
config:
  target: "${url}"
  phases: ${phases}
  payload: { path: users.csv, fields: [name, age], order: sequence, skipHeader: true }
${config}
before: { flow: [{ get: { url: "/before/{{ name }}", capture: { json: $.token, as: token } } }] }
after: { flow: [{ get: { url: "/after/{{ name }}/{{ token }}" } }] }
scenarios:
- flow:
  - post: { url: "/{{ token }}/{{ $env.ROOM }}/{{ name }}/{{ $testId }}", json: { a: 1 } }
${flow}
`;

const USERS = `name,age\n${Array.from({ length: 7 }, (_, at) => `u${at},${at}`).join("\n")}\n`;

describe("an Artillery file", () => {
  test("does on two, three and seven agents what it does in one process", async (t) => {
    const outcomes = [];
    for (const n of [0, 2, 3, 7]) {
      const { asked, url } = await target(t);
      const files = { "test.yml": FILE(url), "users.csv": USERS };
      const { code, stdout, stderr, cwd } = await perform(t, n, files, "run", "test.yml", "-o", "report.json");
      assert.equal(code, 0, stderr + stdout);
      assert.equal(asked[0], "GET /before/u0  0");
      assert.match(stdout, /53 of 53 users that were due arrived/);
      const ids = new Set(asked.flatMap((line) => /\/(t[0-9a-f]{16}) /.exec(line)?.[1] ?? []));
      assert.equal(ids.size, 1);
      // `after` has the row behind the last user's.
      assert.equal(asked.at(-1), "GET /after/u5/t1  0");
      outcomes.push([asked.map((line) => line.replace(/t[0-9a-f]{16}/, "id")).sort(), counters(cwd)]);
    }
    const [whole, ...parts] = outcomes;
    assert.equal(whole[0].length, 55);
    for (const part of parts) assert.deepEqual(part, whole);
  });

  test("brings its processor with modules, packages, data and forms, wherever they are", async (t) => {
    const outer = folderOf(t, { "users.csv": USERS, "cat.png": "x".repeat(5000) });
    const modules = {
      "functions.js": `
        const { readFileSync, existsSync } = require("node:fs");
        const { letters } = require("some-package");
        const { from } = require("./lib.js");
        const names = JSON.parse(readFileSync(__dirname + "/names.json", "utf8"));
        module.exports = {
          sign(request, context, ee, next) {
            request.headers = { "x-from": [from, letters, names.length, existsSync("names.json"), process.env.ROOM].join(",") };
            ee.emit("counter", "signed", 1);
            ee.emit("histogram", "size", 3);
            next();
          },
        };`,
      "lib.js": `exports.from = "lib";`,
      "names.json": `["a", "b"]`,
      "overrides.yml": "config: { phases: [{ duration: 1, arrivalCount: 12 }] }",
    };
    const config = (url) => `
config: { target: "${url}", processor: ./functions.js, payload: { path: "${outer}/users.csv", fields: [name, age] } }
scenarios: [{ beforeRequest: sign, flow: [{ post: { url: "/form", formData: { file: { fromFile: "${outer}/cat.png" } } } }] }]`;
    const outcomes = [];
    for (const n of [0, 2]) {
      const { asked, url } = await target(t);
      const files = { "test.yml": config(url), ...modules, "node_modules/some-package/index.js": `exports.letters = "p";` };
      const { code, stderr, cwd } = await perform(t, n, files, "run", "--config", "overrides.yml", "test.yml", "-o", "report.json");
      assert.equal(code, 0, stderr);
      assert.match(asked[0], /^POST \/form lib,p,2,true,lobby 5\d\d\d$/);
      outcomes.push([asked.sort(), counters(cwd)]);
    }
    assert.equal(outcomes[0][1].signed, 12);
    assert.deepEqual(outcomes[1], outcomes[0]);
  });

  test("holds users in closed phases, judges the whole, and ends with the code of one process", async (t) => {
    const file = (url, ensure) => `
config:
  target: "${url}"
  phases: [{ duration: 1, users: 5 }]
  ensure: ${ensure}
scenarios: [{ flow: [{ get: { url: "/a", expect: { statusCode: 200 } } }, { think: 0.3 }] }]`;
    const fleet = await Fleet.start(t, 2);
    const { asked, url } = await target(t);
    // Each agent alone has fewer.
    const met = await fleet.perform({ "test.yml": file(url, "{ conditions: [{ expression: 'http.requests > 14' }] }") }, "run", "test.yml");
    assert.equal(met.code, 0, met.stderr + met.stdout);
    assert.match(met.stdout, /at most [5-6] were active at once\n {2}\d+ followed each other/);
    assert.equal(asked.length, Number(/http\.requests: \.+ (\d+)/.exec(met.stdout.slice(met.stdout.indexOf("Summary report")))[1]));
    const unmet = await fleet.perform({ "test.yml": file(url, "{ thresholds: [{ http.requests: 14 }] }") }, "run", "test.yml");
    assert.equal(unmet.code, 1, unmet.stderr);
    const early = file(url, "{ thresholds: [{ http.requests: 14, abortOnFail: true }] }").replace("duration: 1", "duration: 60");
    const aborted = await fleet.perform({ "test.yml": early }, "run", "test.yml");
    assert.match(aborted.stderr, /the check `http.requests < 14` of `ensure` failed after \d+\.\d s and ended the run/);
    await fleet.free();
  });

  test("is refused where several machines cannot do what one does", async (t) => {
    const check = async (files, words, ...args) => {
      const cwd = folderOf(t, files);
      const { code, stderr } = await plimsollIn({ cwd }, "run", "--fleet", "nats://localhost:1", "--agents", "2", "test.yml", ...args);
      assert.ok(code === 2 || code === 104, stderr);
      assert.match(stderr, words);
    };
    const file = (phase, config = "", flow = "{ think: 1 }") => ({
      "test.yml": `config: { target: "http://localhost:1", phases: [${phase}]${config} }\nscenarios: [{ flow: [${flow}] }]`,
      "users.csv": USERS,
    });
    const one = "{ duration: 1, arrivalCount: 1 }";
    await check(file("{ duration: 1, arrivalRate: 9, maxVusers: 2 }"), /config\.phases\[0\]: `maxVusers` limits the active users of all machines/);
    const sequence = ", payload: { path: users.csv, fields: [a, b], order: sequence }";
    await check(file("{ duration: 1, users: 2 }", sequence), /config\.payload: the `order` sequence is that of arrivals/);
    const late = "{ post: { url: /, formData: { a: { fromFile: '{{ x }}' } } } }";
    await check(file(one, "", late), /formData\.a\.fromFile: the path depends on the user/);
  });

  test("a module that asks for what agents do not have names the agent", async (t) => {
    const fleet = await Fleet.start(t, 2);
    const files = {
      "test.yml": `config: { target: "http://localhost:1", processor: f.js, phases: [{ duration: 1, arrivalCount: 1 }] }\nscenarios: [{ flow: [{ function: f }] }]`,
      "f.js": `require("node:fs").readdirSync("."); exports.f = (context, events, done) => done();`,
    };
    const { code, stderr } = await fleet.perform(files, "run", "test.yml");
    assert.notEqual(code, 0);
    assert.match(stderr, /agent a[12]: .*cannot use f\.js: .*scandir '\.' \(agents of a fleet have the files that the module reads/s);
    await fleet.free();
  });
});

/** A server that sends each message to all clients. */
async function echoToAll(t) {
  const seen = { n_clients: 0, messages: [] };
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  await once(server, "listening");
  t.after(() => server.close());
  server.on("connection", (socket) => {
    seen.n_clients += 1;
    socket.on("message", (message) => {
      seen.messages.push(message.toString());
      for (const client of server.clients) client.send(message.toString());
    });
  });
  return { seen, url: `ws://127.0.0.1:${server.address().port}/` };
}

describe("a wsdirector scenario", () => {
  // A random text is the same for all clients.
  const SCENARIO = `<% word = ENV["ROOM"] + rand(1000000000).to_s %>
- client:
    name: publisher
    multiplier: ":scale"
    actions:
    - wait_all
    - send: { data: "<%= word %>", sample: 3 }
    - wait_all
- client:
    name: listener
    multiplier: ":scale * 2"
    actions:
    - loop:
        multiplier: 2
        actions: [wait_all]
    - receive_all: { messages: [{ data: "<%= word %>", multiplier: 3 }] }`;

  const groups = ({ stdout }) => JSON.parse(stdout).scenario.groups.map(({ name, clients, failures, unfinished }) => [name, clients, failures, unfinished]);

  test("does on two, three and seven agents what it does in one process, with all clients at each wait_all", async (t) => {
    const outcomes = [];
    for (const n of [0, 2, 3, 7]) {
      const { seen, url } = await echoToAll(t);
      const outcome = await perform(t, n, { "a.yml": SCENARIO }, "run", "--as", "wsdirector", "a.yml", "--url", url, "--scale", "5", "--format", "json");
      assert.equal(outcome.code, 0, outcome.stderr);
      assert.match(seen.messages[0], /^lobby\d+$/);
      assert.equal(new Set(seen.messages).size, 1);
      const { iterations, metrics, agents } = JSON.parse(outcome.stdout);
      const steps = Object.entries(metrics).flatMap(([name, { values, count }]) => (name.startsWith("step_duration") ? [[name, values?.count ?? count]] : []));
      assert.equal(agents?.length ?? 0, n);
      outcomes.push([seen.n_clients, seen.messages.length, groups(outcome), iterations.complete, steps]);
    }
    assert.deepEqual(outcomes[0].slice(0, 4), [15, 3, [["publisher", 5, 0, 0], ["listener", 10, 0, 0]], 15]);
    for (const part of outcomes.slice(1)) assert.deepEqual(part, outcomes[0]);
  });

  test("tells the failures of all clients once, and no client waits for one that failed elsewhere", async (t) => {
    const { url } = await echoToAll(t);
    const failing = `
- client: { name: one, multiplier: 1, actions: [{ receive: { data: never, timeout: 0.2 } }, wait_all] }
- client: { name: all, multiplier: 6, actions: [wait_all] }`;
    for (const n of [0, 3]) {
      const outcome = await perform(t, n, { "a.yml": failing }, "run", "a.yml", "--url", url, "--timeout", "60", "--format", "json");
      assert.equal(outcome.code, 1, outcome.stderr);
      assert.match(outcome.stderr, /7 of 7 clients failed/);
      const { failures } = JSON.parse(outcome.stdout).scenario;
      const told = failures.map(({ group, client, n_clients, step, got }) => [group, client, n_clients, step, /failed before/.test(got)]);
      assert.deepEqual(told, [["one", 1, 1, "receive", false], ["all", 1, 6, "wait_all", true]]);
    }
  });

  test("a standstill says who is missing on all agents", async (t) => {
    const { url } = await echoToAll(t);
    const late = `
- client: { name: late, multiplier: 1, actions: [{ sleep: { time: 4 } }, wait_all] }
- client: { name: all, multiplier: 5, actions: [wait_all] }`;
    const outcome = await perform(t, 2, { "a.yml": late }, "run", "a.yml", "--url", url, "--timeout", "1");
    assert.equal(outcome.code, 1, outcome.stderr);
    assert.match(outcome.stdout, /got: 5 of 6 clients arrived, and no other client for 1s; missing: 1 of 1 of group late/);
  });
});

describe("plimsoll quick", () => {
  test("shares users among agents", async (t) => {
    const fleet = await Fleet.start(t, 3);
    const http = await target(t);
    const requests = await fleet.perform({}, "quick", http.url, "--count", "7", "--num", "3");
    assert.equal(requests.code, 0, requests.stderr);
    assert.equal(http.asked.length, 21);
    assert.match(requests.stdout, /7 of 7 users arrived, 21 of 21 requests answered/);
    const { seen, url } = await echoToAll(t);
    const messages = await fleet.perform({}, "quick", url, "--count", "2", "--num", "3");
    assert.equal(messages.code, 0, messages.stderr);
    // The coordinator examines the server, with one message.
    assert.deepEqual([seen.n_clients, seen.messages.length], [2 + 1, 6 + 1]);
  });

  test("its users subscribe to a cable server", async (t) => {
    const fleet = await Fleet.start(t, 2);
    const server = await Server.start("--app", "chat");
    t.after(() => server.stop());
    const channel = ["--channel", "ChatChannel", "--channel-params", '{"id":"demo"}'];
    const flags = ["-H", "Cookie: uid=kay/1", ...channel, "-c", "5", "-n", "3"];
    const { code, stdout, stderr } = await fleet.perform({}, "quick", server.ws("/cable"), ...flags);
    assert.equal(code, 0, stderr);
    assert.match(stdout, /5 of 5 users arrived, 15 of 15 subscriptions confirmed/);
    assert.match(stdout, /^Subscriptions: .*, 15 samples:$/m);
  });

  test("a server that the coordinator does not reach is left to the agents", async (t) => {
    const fleet = await Fleet.start(t, 2);
    const { code, stdout, stderr } = await fleet.perform({}, "quick", `ws://127.0.0.1:${await freePort()}/`, "-c", "2");
    assert.equal(code, 3, stderr);
    assert.match(stderr, /^no server answers at ws:\S+, seen from this machine, so the agents go by the URL: they connect and send messages$/m);
    assert.match(stdout, /2 errors:\n {4}2 × ECONNREFUSED/);
  });
});
