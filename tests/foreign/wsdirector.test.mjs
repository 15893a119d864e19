// wsdirector's scenarios with `plimsoll run`: against `plimsoll serve`, and against servers on npm `ws` that do what a
// scenario should find out.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { before, after, describe, test } from "node:test";
import { WebSocketServer } from "ws";
import { startCodecServer } from "./support/codec-server.mjs";
import { Server, plimsollIn } from "./support/plimsoll.mjs";
import { assertValid } from "./support/schema.mjs";
import { folderOf } from "./support/scripts.mjs";

/** A server on a free port; `onConnection` gets each client with its request. Gives its URL. */
async function serve(t, onConnection, options) {
  const server = new WebSocketServer({ host: "127.0.0.1", port: 0, ...options });
  await once(server, "listening");
  server.on("connection", onConnection);
  t.after(() => {
    server.clients.forEach((client) => client.terminate());
    server.close();
  });
  return `ws://127.0.0.1:${server.address().port}`;
}

/** Runs a scenario. One that is not refused has to be right by the schema, too. */
async function run(t, scenario, ...args) {
  const cwd = folderOf(t, { "scenario.yml": scenario });
  const outcome = await plimsollIn({ cwd }, "run", "scenario.yml", "--no-summary", ...args);
  if (![2, 104].includes(outcome.code)) assertValid("wsdirector", scenario);
  return outcome;
}

/** The same, which must end so. */
async function check(t, scenario, args, expected) {
  const outcome = await run(t, scenario, ...args);
  const { code, stdout } = expected;
  assert.equal(outcome.stdout, stdout ?? "", outcome.stderr);
  assert.equal(outcome.code, code, outcome.stderr);
  for (const words of expected.stderr ?? []) assert.ok(outcome.stderr.includes(words), outcome.stderr);
}

const ECHO = `
- client:
    multiplier: ":scale"
    protocol: action_cable
    actions:
      - subscribe: {channel: BenchmarkChannel}
      - perform: {channel: BenchmarkChannel, action: echo, data: {payload: {n: 1}}}
      - receive: {channel: BenchmarkChannel, data: {action: echo, payload: {n: 1}}}
`;

/** \`speakers\` is how many of the publishers publish. */
const broadcast = (speakers) => `
- client:
    name: publisher
    multiplier: ":scale"
    protocol: action_cable
    actions:
      - subscribe: &benchmark {channel: BenchmarkChannel}
      - wait_all
      - perform: {<<: *benchmark, action: broadcast, data: {payload: {n: 1}}, sample: "${speakers}"}
- client:
    name: listener
    multiplier: ":scale * 2"
    protocol: action_cable
    actions:
      - subscribe: *benchmark
      - wait_all
      - receive: {<<: *benchmark, data: {action: broadcast, payload: {n: 1}}, multiplier: "${speakers}"}
`;

describe("against plimsoll serve", () => {
  let server;
  before(async () => (server = await Server.start()));
  after(() => server.stop());

  for (const scale of [10, 20, 1000]) {
    const args = () => ["--url", server.ws("/cable"), "--scale", String(scale)];
    test(`echo at scale ${scale}`, (t) => check(t, ECHO, args(), { code: 0, stdout: `${scale} clients, 0 failures\n` }));

    // With 1,000 speakers two million messages would be delivered, which says no more than 20,000.
    const speakers = scale > 20 ? "10" : ":scale";
    test(`broadcast at scale ${scale}`, (t) =>
      check(t, broadcast(speakers), args(), {
        code: 0,
        stdout: `Group publisher: ${scale} clients, 0 failures\nGroup listener: ${2 * scale} clients, 0 failures\n`,
      }));
  }

  test("each step of each group has its timings", async (t) => {
    const cwd = folderOf(t, { "scenario.yml": broadcast(":scale") });
    const args = ["run", "scenario.yml", "-u", server.ws("/cable"), "-s", "3"];
    const { stdout } = await plimsollIn({ cwd }, ...args);
    const rows = stdout.split("\n").map((row) => row.trim().split(/ {2,}/));
    assert.deepEqual(rows[3], ["count", "min", "avg", "med", "p(95)", "p(99)", "max"]);
    const counts = rows.slice(4, -1).map(([name, count]) => `${name} ${count}`);
    assert.deepEqual(counts, [
      "publisher: connect 3",
      "publisher: 1 subscribe 3",
      "publisher: 2 wait_all 3",
      "publisher: 3 perform 3",
      "listener: connect 6",
      "listener: 1 subscribe 6",
      "listener: 2 wait_all 6",
      "listener: 3 receive 18",
    ]);

    const { stdout: text } = await plimsollIn({ cwd }, ...args, "--format", "json");
    const { scenario, metrics, iterations } = JSON.parse(text);
    assert.deepEqual(
      scenario.groups.map(({ name, clients, failures, unfinished }) => ({ name, clients, failures, unfinished })),
      [
        { name: "publisher", clients: 3, failures: 0, unfinished: 0 },
        { name: "listener", clients: 6, failures: 0, unfinished: 0 },
      ],
    );
    const receive = scenario.groups[1].steps.at(-1);
    assert.equal(receive.step, "3 receive");
    assert.equal(metrics[receive.metric].values.count, 18);
    assert.equal(metrics.step_duration.values.count, 3 * 4 + 6 * 3 + 18);
    assert.equal(metrics.ws_sessions.values.count, 9);
    assert.equal(iterations.complete, 9);
  });
});

/** Echoes, and lets the \`n\`-th message that everybody should get through to all but one. */
function broadcaster({ drops }) {
  const clients = [];
  return (client) => {
    clients.push(client);
    client.on("message", (text) => {
      const receivers = clients.filter((other) => other !== client);
      receivers.slice(drops).forEach((other) => other.send(`${text}`));
    });
  };
}

const PLAIN_BROADCAST = `
- client:
    name: publisher
    actions:
      - wait_all
      - send: {data: {n: 1}}
- client:
    name: listener
    multiplier: ":scale"
    actions:
      - wait_all
      - receive: {data: {n: 1}, timeout: 2}
`;

describe("failures", () => {
  test("a message that one listener does not get is pointed at", async (t) => {
    const good = await serve(t, broadcaster({ drops: 0 }));
    const lines = (failures) => `Group publisher: 1 clients, 0 failures\nGroup listener: 20 clients, ${failures} failures\n`;
    await check(t, PLAIN_BROADCAST, ["-u", good, "-s", "20"], { code: 0, stdout: lines(0) });
    const bad = await serve(t, broadcaster({ drops: 1 }));
    const { code, stdout, stderr } = await run(t, PLAIN_BROADCAST, "-u", bad, "-s", "20");
    assert.equal(code, 1);
    assert.match(stderr, /error: 1 of 21 clients failed/);
    assert.equal(
      stdout.replace(/client \d+ of/, "client N of"),
      `${lines(1)}
1) Action failed: #receive
   -- expected: {"n":1}
   ++ got: nothing within 2s
   client N of group listener; scenario.yml:12:18, [1].client.actions[1].receive
`,
    );
  });

  test("nobody waits for a client that cannot come", async (t) => {
    const scenario = `
- client: {name: a, actions: [{receive: {data: hi, timeout: 0.1}}, wait_all]}
- client: {name: b, multiplier: 3, actions: [wait_all, {send: {data: hi}}]}
`;
    const url = await serve(t, () => {});
    const { code, stdout } = await run(t, scenario, "-u", url, "--timeout", "60");
    assert.equal(code, 1);
    assert.match(stdout, /^Group a: 1 clients, 1 failures\nGroup b: 3 clients, 3 failures\n/);
    assert.match(stdout, /#wait_all\n {3}-- expected: all clients\n {3}\+\+ got: a client of group a failed before this step/);
  });

  test("a standstill at wait_all says who is missing", async (t) => {
    const scenario = `
- client: {name: a, multiplier: 2, actions: [{sleep: {time: 5, sample: 1}}, wait_all]}
- client: {name: b, multiplier: 3, actions: [wait_all]}
`;
    const url = await serve(t, () => {});
    const { stdout } = await run(t, scenario, "-u", url, "--timeout", "1.5");
    assert.match(stdout, /4 of 5 clients arrived, and no other client for 1.5s; missing: 1 of 2 of group a/);
  });

  for (const [name, steps, expected, got] of [
    ["another message", "receive: {data: {a: 1, b: {c: [1, 2]}}}", '{"a":1,"b":{"c":[1,2]}}', 'nothing within 500ms; it received other messages: {"a":1,"b":{"c":[1,3]}} (at .b.c[1]: expected 2, got 3), two, three'],
    ["a message with more in it", "receive: {data: {a: 1}}", '{"a":1}', 'nothing within 500ms; it received other messages: {"a":1,"b":{"c":[1,3]}} (at .b: was not expected), two, three'],
    ["a partial message that lacks a key", '"receive": {"data>": {c: 1}}', 'at least {"c":1}', 'nothing within 500ms; it received other messages: {"a":1,"b":{"c":[1,3]}} (at .c: is missing), two, three'],
    ["a text that is part of a message", "receive: {data: tw}", '"tw"', 'nothing within 500ms; it received other messages: {"a":1,"b":{"c":[1,3]}}, two, three'],
    ["the second message first", "receive: {data: two, ordered: true}", '"two" next', '{"a":1,"b":{"c":[1,3]}}'],
    ["an unexpected one among all", "receive_all: {messages: [{data: two}, {data: three}]}", '"two" (1 more) or "three" (1 more)', '{"a":1,"b":{"c":[1,3]}}'],
  ]) {
    test(name, async (t) => {
      const url = await serve(t, (client) => {
        for (const message of ['{"a":1,"b":{"c":[1,3]}}', "two", "three"]) client.send(message);
      });
      const step = steps.replace(/}$/, ", timeout: 0.5}");
      const { code, stdout } = await run(t, `- ${step}\n`, "-u", url);
      assert.equal(code, 1);
      const [, , , ...lines] = stdout.split("\n");
      assert.deepEqual(lines.slice(0, 2), [`   -- expected: ${expected}`, `   ++ got: ${got}`]);
    });
  }

  test("too few among all", async (t) => {
    const url = await serve(t, (client) => ["one", "two"].forEach((it) => client.send(it)));
    const all = "receive_all: {messages: [{data: one}, {data: two, multiplier: 2}], timeout: 0.5}";
    const { stdout } = await run(t, `- ${all}\n`, "-u", url);
    assert.match(stdout, /expected: "two", 1 more\n.*got: nothing within 500ms\n/);
  });

  test("a server that leaves, refuses or is not there", async (t) => {
    const scenario = "- receive: {data: hi}\n";
    const leaving = await serve(t, (client) => client.close(4001, "enough"));
    await check(t, scenario, ["-u", leaving], {
      code: 1,
      stdout: `1 clients, 1 failures

1) Action failed: #receive
   -- expected: "hi"
   ++ got: closed by the server with code 4001: enough
   client 1 of group default; scenario.yml:1:12, [0].receive
`,
    });
    const refusing = await serve(t, () => {}, { verifyClient: (_, answer) => answer(false, 401) });
    const refused = await run(t, scenario, "-u", refusing);
    assert.match(refused.stdout, /#connect\n.*expected: a connection\n.*401/);
    const absent = await run(t, scenario, "-u", "ws://127.0.0.1:1");
    assert.match(absent.stdout, /#connect\n.*expected: a connection\n.*refused/i);
    assert.deepEqual([refused.code, absent.code], [1, 1]);
  });
});

describe("steps", () => {
  test("what is not asked for stays until it is", async (t) => {
    const url = await serve(t, (client) => ["one", '{"n":2}', "noise 7", "three", "four"].forEach((it) => client.send(it)));
    const scenario = `
- client:
    ignore: /NOISE \\d/i
    actions:
      - receive: {data: three}
      - receive: {data: one, ordered: true}
      - receive: {"data>": {}}
      - receive: {data: four, ordered: true}
`;
    await check(t, scenario, ["-u", url], { code: 0, stdout: "1 clients, 0 failures\n" });
  });

  test("receive without data takes any message, and receive_all its share", async (t) => {
    const url = await serve(t, (client) => client.on("message", (text) => client.send(`${text}`)));
    const scenario = `
- send: {data: a, multiplier: 2}
- send: {data: b}
- receive: {multiplier: 2}
- receive_all: {messages: [{data: b}]}
- loop:
    multiplier: 2
    actions:
      - send: {data: [1, {x: 2}]}
      - receive: {data: [1, {x: 2}]}
`;
    await check(t, scenario, ["-u", url], { code: 0, stdout: "1 clients, 0 failures\n" });
  });

  test("what clients say when they connect", async (t) => {
    const seen = [];
    const url = await serve(
      t,
      (client, request) => {
        const { authorization, cookie } = request.headers;
        seen.push([request.url, authorization, cookie, client.protocol]);
        client.send("hi");
      },
      { handleProtocols: (offered) => [...offered][0] },
    );
    const scenario = `
- client:
    connection_options:
      headers: {Authorization: Bearer x}
      cookies: {uid: a b}
      query: {token: 1&2}
      subprotocol: mine
    actions: [receive]
`;
    await check(t, scenario, ["-u", `${url}/path?a=1`], { code: 0, stdout: "1 clients, 0 failures\n" });
    assert.deepEqual(seen, [["/path?a=1&token=1%262", "Bearer x", "uid=a+b", "mine"]]);
  });

  test("a binary encoding of Action Cable is refused by name", async (t) => {
    const url = await startCodecServer(t, "msgpack");
    const scenario = `
- client:
    protocol: action_cable
    connection_options: {subprotocol: actioncable-v1-msgpack}
    actions:
      - subscribe: {channel: BenchmarkChannel}
`;
    const { code, stdout, stderr } = await run(t, scenario, "-u", url);
    assert.equal(code, 1, stderr);
    assert.match(stdout, /did not agree to the sub-protocol actioncable-v1-json; it chose actioncable-v1-msgpack/);
  });

  test("the environment stands in for parts of the file", async (t) => {
    const url = await serve(t, (client) => client.send("hi"));
    const scenario = `- receive: {data: "<%= ENV['WORD'] %>", multiplier: <%= ENV["TIMES"] || 1 %>}\n`;
    const cwd = folderOf(t, { "scenario.yml": scenario });
    const { code, stderr } = await plimsollIn({ cwd, env: { WORD: "hi" } }, "run", "scenario.yml", "-u", url);
    assert.equal(code, 0, stderr);
  });

  test("debug and print speak, and a scenario may stand in the command line", async (t) => {
    const url = await serve(t, (client) => client.send("hi"));
    const steps = [{ debug: { message: "before" } }, { receive: { data: "hi", print: true } }];
    const { code, stdout, stderr } = await plimsollIn({}, "run", "--include", JSON.stringify(steps), "--no-summary", "-u", url);
    assert.equal(code, 0, stderr);
    assert.equal(stdout, "client=default_1 before\nclient=default_1 hi\n1 clients, 0 failures\n");
    const json = await plimsollIn({}, "run", "--include", JSON.stringify(steps), "--format", "json", "-u", url);
    assert.equal(JSON.parse(json.stdout).scenario.groups[0].clients, 1);
    assert.match(json.stderr, /client=default_1 before/);
  });

  test("-vv shows messages in both directions", async (t) => {
    const url = await serve(t, (client) => client.on("message", (text) => client.send(`echo ${text}`)));
    const steps = "- send: {data: hi}\n- receive: {data: echo hi}\n";
    const loud = await run(t, steps, "-u", url, "-vv");
    assert.equal(loud.code, 0, loud.stderr);
    assert.match(loud.stderr, /client=default_1 -> hi/);
    assert.match(loud.stderr, /client=default_1 <- echo hi/);
    const quieter = await run(t, steps, "-u", url, "-v");
    assert.match(quieter.stderr, /client=default_1 #receive/);
    assert.doesNotMatch(quieter.stderr, /<- echo hi/);
  });

  test("groups may share a name", async (t) => {
    const url = await serve(t, (client) => client.on("message", (text) => client.send(String(text))));
    const group = (data) => `- client:\n    name: same\n    actions: [{send: {data: ${data}}}, {receive: {data: ${data}}}]\n`;
    const { code, stdout, stderr } = await run(t, group("a") + group("b"), "-u", url);
    assert.equal(code, 0, stderr);
    assert.equal(stdout, "Group same: 1 clients, 0 failures\nGroup same: 1 clients, 0 failures\n");
  });

  test("--compat has wsdirector's texts and exit codes", async (t) => {
    const url = await serve(t, (client) => client.send("lo"));
    const steps = "- client:\n    multiplier: 2\n    actions: [{receive: {data: hi, ordered: true}}]\n";
    const { code, stdout, stderr } = await run(t, steps, "-u", url, "--compat");
    assert.equal(code, 1, stderr);
    const failure = (n) => `\n${n}) Action failed: #receive\n   -- expected: "hi" next\n   ++ got: lo (String)\n`;
    assert.equal(stdout, `2 clients, 2 failures\n${failure(1)}${failure(2)}`);
    const cwd = folderOf(t, { "scenario.yml": "- sned: {}\n" });
    assert.equal((await plimsollIn({ cwd }, "run", "scenario.yml", "-u", url, "--compat")).code, 1);
    assert.equal((await run(t, "- receive: {data: lo}\n", "-u", url, "--compat")).stdout, "1 clients, 0 failures\n");
  });
});

describe("protocols", () => {
  test("action_cable: a rejection is a failure, and pings are not seen", async (t) => {
    const url = await serve(
      t,
      (client) => {
        client.send('{"type":"welcome"}');
        client.on("message", (text) => {
          const { command, identifier, data } = JSON.parse(text);
          const { channel } = JSON.parse(identifier);
          client.send('{"type":"ping","message":1700000000}');
          if (command === "subscribe") {
            const type = channel === "Secret" ? "reject_subscription" : "confirm_subscription";
            client.send(JSON.stringify({ identifier, type }));
          }
          if (command === "message") client.send(JSON.stringify({ identifier, message: JSON.parse(data), offset: 1, epoch: "x" }));
        });
      },
      { handleProtocols: (offered) => [...offered][0] },
    );
    const scenario = (channel) => `
- client:
    protocol: action_cable
    actions:
      - subscribe: &it {channel: ${channel}, params: {id: 1}}
      - perform: {<<: *it, action: speak, data: {text: hi}}
      - receive: {<<: *it, ordered: true, offset: 1, data: {action: speak, text: hi}}
      - unsubscribe: *it
`;
    await check(t, scenario("Open"), ["-u", url], { code: 0, stdout: "1 clients, 0 failures\n" });
    const { code, stdout } = await run(t, scenario("Secret"), "-u", url);
    assert.equal(code, 1);
    assert.match(stdout, /#subscribe\n.*the confirmation of {"id":1,"channel":"Secret"}\n.*a rejection: .*reject_subscription/);
  });

  test("action_cable: a client of the extended protocol asks for history, and sees positions", async (t) => {
    const server = await Server.start("--public", "--broker", "memory", "--broadcast_key", "secret");
    t.after(() => server.stop());
    for (const n of [1, 2]) assert.equal((await server.broadcast({ stream: "room", data: JSON.stringify({ n }) })).status, 201);
    const scenario = (second) => `
- client:
    protocol: action_cable
    connection_options: {subprotocol: actioncable-v1-ext-json}
    actions:
      - subscribe: &room {channel: $pubsub, params: {stream_name: room}}
      - send: {data: {command: history, identifier: &id '{"stream_name":"room","channel":"$pubsub"}', history: {since: 1}}}
      - receive: {<<: *room, ordered: true, stream_id: room, offset: 1, data: {n: 1}}
      - receive: {<<: *room, ordered: true, stream_id: room, offset: ${second}, data: {n: 2}}
      - receive: {ordered: true, data: {type: confirm_history, identifier: *id}}
`;
    await check(t, scenario(2), ["-u", server.ws("/cable")], { code: 0, stdout: "1 clients, 0 failures\n" });
    const { code, stdout } = await run(t, scenario(3), "-u", server.ws("/cable"));
    assert.equal(code, 1);
    assert.match(stdout, /#receive\n.*"offset":2/s);
  });

  test("phoenix: channels are joined, spoken in and left", async (t) => {
    const seen = [];
    const url = await serve(t, (client, request) => {
      seen.push(request.url);
      client.on("message", (text) => {
        const [join_ref, ref, topic, event, payload] = JSON.parse(text);
        seen.push([join_ref, ref, topic, event, payload]);
        const status = topic === "room:secret" ? "error" : "ok";
        if (event === "new") client.send(JSON.stringify([join_ref, null, topic, "news", payload]));
        else client.send(JSON.stringify([join_ref, ref, topic, "phx_reply", { status, response: {} }]));
      });
    });
    const scenario = (topic) => `
- client:
    protocol: phoenix
    actions:
      - join: {topic: ${topic}, params: {token: x}}
      - send: {topic: ${topic}, event: new, data: {n: 1}}
      - receive: {topic: ${topic}, event: news, data: {n: 1}}
      - leave: {topic: ${topic}}
`;
    await check(t, scenario("room:1"), ["-u", url], { code: 0, stdout: "1 clients, 0 failures\n" });
    assert.deepEqual(seen, [
      "/?vsn=2.0.0",
      ["3", "3", "room:1", "phx_join", { token: "x" }],
      ["3", "4", "room:1", "new", { n: 1 }],
      ["3", "5", "room:1", "phx_leave", {}],
    ]);
    const { stdout } = await run(t, scenario("room:secret"), "-u", url);
    assert.match(stdout, /#join\n.*a reply with the status ok.*\n.*"status":"error"/);
  });
});

describe("what is wrong is said", () => {
  for (const [name, scenario, args, code, ...words] of [
    ["mistakes in the file, all at once", "- sned: {data: hi}\n- receive: {dta: 1}\n", ["-u", "localhost:1"], 104,
      "error: scenario.yml:1:9: [0].sned: `sned` is not a step; did you mean `send`?\n", "scenario.yml:2:13: [1].receive.dta: is not a key here; did you mean `data`?"],
    ["no YAML", "- receive: [\n", ["-u", "localhost:1"], 104, "scenario.yml:1:12: this is not valid YAML or JSON"],
    ["Ruby that there is not", "- send: {data: <%= File.read('x') %>}\n", ["-u", "localhost:1"], 104,
      "scenario.yml:1:20: the constant File is not supported"],
    ["an unset variable", "- send: {data: <%= ENV['NONE_SUCH'] %>}\n", ["-u", "localhost:1"], 104,
      "scenario.yml:1:20: the variable NONE_SUCH is not set"],
    ["no server", "- receive\n", [], 2, "which server? Expected --url, for example --url ws://localhost:3334/cable"],
    ["a wrong URL", "- receive\n", ["-u", "http://localhost"], 1, "expected ws or wss"],
    ["a wrong scale", "- receive\n", ["-u", "localhost", "-s", "0"], 2, "--scale"],
    ["Ruby", "- receive\n", ["-u", "localhost", "-r", "p.rb"], 2, "protocols written in Ruby are not supported"],
  ]) {
    test(name, (t) => check(t, scenario, args, { code, stderr: words }));
  }

  test("a file that is not there", async () => {
    const { code, stderr } = await plimsollIn({}, "run", "--as", "wsdirector", "absent.yml", "-u", "localhost:1");
    assert.deepEqual([code, /cannot read absent.yml/.test(stderr)], [255, true], stderr);
  });
});

describe("templates are Ruby's", () => {
  /** What Ruby's ERB makes of it. */
  const ruby = (template) =>
    execFileSync("ruby", ["-rerb", "-rjson", "-rsecurerandom", "-e", 'scale = 3; print ERB.new($stdin.read, trim_mode: "-").result(binding)'], {
      input: template,
      encoding: "utf8",
      env: { ...process.env, ROOMS: "4", LANG: "C.UTF-8" },
    });

  for (const code of [
    "scale", "scale * 2 + 1", "scale / 2", "-7 / 2", "-7 % 3", "7 % -3", "2 ** 10", "-2 ** 2", "7 / 2.0", "1e20", "0.00001", "1_000", "10.0", "3.7.to_i",
    'ENV["ROOMS"]', 'ENV["NONE"] || 5', 'ENV.fetch("ROOMS").to_i * 2', 'ENV.fetch("NONE", "x")', 'ENV["NONE"].to_i',
    '"user_#{scale + 1}"', "'a#{1}'", '"a\\tb"', '"ab" * 3', '"a" + "b"', '"abc"[1]', '"abc".upcase', '"a,b".split(",").inspect', '"5 apples".to_i', '" x ".strip',
    '42.to_s.rjust(6, "0")', 'format("%05.1f|%-4s|%+d|%x", 3.14159, "ab", 5, 255)', "[1, 2, 3].map { |n| n * scale }.join(\"-\")", "(1..4).select { |n| n.even? }.sum",
    "[3, 1, 2].sort.inspect", "[1, [2, nil]].inspect", "[1, 2, 3].first(2).inspect", "[1, 2, 3][-1]", "[1, 2, 3, 4][1..-2].inspect", "(1..3).to_a.reverse.join",
    '{ "a" => 1, b: [true, nil, 1.5] }.to_json', '{ a: 1 }[:a]', '{ "a" => 1 }.fetch("b", 2)', "{ a: 1 }.keys.inspect",
    'scale > 2 ? "big" : "small"', "scale == 3 && !false", "nil || false || :x", "not (1 == 2)", "[1, 2].include?(2)", "1 <=> 2", "5.clamp(1, 3)", "10.fdiv(4)", "3.zero?", "1..3", "1...3",
    "Integer(\"12\") + 1", "[1, 1, 2].uniq.length", "[[1, 2], [3, 4]].map { |a, b| a * b }.sum", '"é".length', "1.5.round", "2.5.floor", "1.234.round(2)",
  ]) {
    test(`<%= ${code} %>`, (t) => same(t, `<%= ${code} %>`));
  }

  for (const template of [
    "<% 3.times do |i| %><%= i %>,<% end %>",
    "a\n<% [1, 2].each do |x| -%>\n- <%= x %>\n<% end -%>\nz\n",
    "  <%- if scale > 2 -%>\n  yes\n  <%- else -%>\n  no\n  <%- end -%>\n",
    "<% i = 0 %><% while i < 3 do %><%= i += 1 %><% end %>",
    "<% for x in 1..3 do %><%= x * x %> <% end %>",
    "<% x = 5; y = 2 %><% unless x < y %><%= x - y %><% end %>",
    "<% 6.times do |i| next if i.odd?; break if i > 4 %><%= i %><% end %>",
    "<% names = [] %><% 3.times { |i| names << \"n#{i}\" } %><%= names.join(\",\") %>",
    "<% h = {} %><% h[:a] = 1; h[:a] += 2 %><%= h[:a] %>",
    "<% 1.upto(3) { |i| %><%= i %><% } %><% 3.downto(1) { |i| %><%= i %><% } %><% 1.step(7, 3) { |i| %><%= i %><% } %>",
    "<% loop do %>x<% break %><% end %>",
    "<% { a: 1, b: 2 }.each do |key, value| %><%= key %>=<%= value %>;<% end %>",
    "<%# a comment %>é",
    "<% x = nil %><% x ||= 4 %><%= x %>",
    "<% if scale > 5 %>a<% elsif scale > 2 %>b<% else %>c<% end %>",
  ]) {
    test(JSON.stringify(template), (t) => same(t, template));
  }

  /** A scenario sends what the template gives: the same as the file that Ruby makes of it. */
  async function same(t, template) {
    const got = [];
    const url = await serve(t, (client) => client.on("message", (text) => got.push(String(text))));
    const lines = `[${template}]`.split("\n").map((line) => `      ${line}\n`);
    const file = `- send:\n    data: |-\n${lines.join("")}`;
    for (const scenario of [file, ruby(file)]) {
      const cwd = folderOf(t, { "scenario.yml": scenario });
      const { code, stderr } = await plimsollIn({ cwd, env: { ROOMS: "4" } }, "run", "scenario.yml", "--scale", "3", "-u", url);
      assert.equal(code, 0, stderr);
    }
    assert.equal(got.length, 2);
    assert.equal(got[0], got[1]);
  }
});
