// The most common mistakes of people who run a load test, a server or a report: each ends soon, with few lines, which
// name the cause and the next step.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import { createServer as createTcpServer } from "node:net";
import { after, before, describe, test } from "node:test";
import { CertificateFiles } from "./support/certificates.mjs";
import { Server, plimsollIn } from "./support/plimsoll.mjs";
import { freePort } from "./support/ports.mjs";
import { folderOf } from "./support/scripts.mjs";

/** The most lines of both streams, without empty ones. */
const MOST_LINES = 20;

const LOOP = "export const options = { vus: 5, duration: '2s' };";

const SCRIPTS = {
  "throws.js": `${LOOP} export default function () { const user = undefined; user.name; }`,
  "http.js": `import http from 'k6/http'; ${LOOP} export default function () { http.get(__ENV.URL); }`,
  "ws.js": `import ws from 'k6/ws'; import { sleep } from 'k6'; ${LOOP}
    export default function () {
      ws.connect(__ENV.URL, { headers: { Origin: 'https://evil.example' } }, (socket) => socket.on('open', () => socket.close()));
      sleep(0.01);
    }`,
  "websockets.js": `import { WebSocket } from 'k6/websockets'; import { sleep } from 'k6'; ${LOOP}
    export default function () { const socket = new WebSocket(__ENV.URL); socket.onopen = () => socket.close(); sleep(0.01); }`,
  "cable.js": `import cable from 'k6/x/cable'; import { sleep } from 'k6'; ${LOOP}
    export default function () {
      const client = cable.connect(__ENV.URL, { handshakeTimeoutS: 1 });
      if (client) { client.subscribe('NoSuchChannel'); client.disconnect(); }
      sleep(0.01);
    }`,
  "syntax.js": "export default function () { const a = ; }",
  "import.js": "import x from './missing.js'; export default function () {}",
  "module.js": "import http from 'k6/htp'; export default function () {}",
  "no-default.js": "export function setup() {}",
  "duration.js": "export const options = { duration: '1x' }; export default function () {}",
  "threshold.js": "export const options = { thresholds: { http_req_duration: ['p95<100'] } }; export default function () {}",
  "metric.js": "export const options = { thresholds: { rtt: ['p(95)<100'] } }; export default function () {}",
  "option.js": "export const options = { vsu: 2 }; export default function () {}",
  "chat.yml": "config: { phases: [{ duration: 1, arrivalRate: 10 }] }\nscenarios: [{ engine: ws, flow: [{ send: hello }] }]",
  "misspelt.yml":
    "config: { target: 'ws://127.0.0.1:1', phases: [{ duration: 1, arivalRate: 1 }] }\nscenarios: [{ flow: [{ gte: { url: / } }] }]",
  "clients.yml":
    "- client: { multiplier: 10, protocol: action_cable, actions: [{ subscribe: { channel: NoSuchChannel } }] }",
  "misspelt-clients.yml": "- client: { actions: [{ recieve: x }] }",
  "page.html": "<html></html>",
  "fine.js": "export default function () {}",
  "members.js": "import cable from 'k6/x/cable'; export default function () { cable.conect(__ENV.URL); }",
  "settings.toml": "prot = 8080\n",
  "newer.json": JSON.stringify({ version: 99 }),
};

const BENCH = ["--server-type", "actioncable", "--step-size", "10", "--total-steps", "1", "--sample-size", "5"];

/** Each mistake: the command, its exit code, and texts of its talk: the cause, and the next step. */
const MISTAKES = [
  ["a script that throws in every iteration", (at) => ["run", "throws.js"], 3,
    [/all [\d,]+ iterations failed: TypeError: .*throws\.js:1:\d+/, /\d+ × TypeError/, /--fail-on-errors=never/]],
  ["HTTP to a port where nothing listens", (at) => ["run", "-e", `URL=http://${at.nothing}/`, "http.js"], 3,
    [/all [\d,]+ requests failed/, /connection refused: is the server running, and is this its address\?/]],
  ["HTTP to a wrong path", (at) => ["run", "-e", `URL=${at.plain.http("/nowhere")}`, "http.js"], 3,
    [/all [\d,]+ requests failed/, /request answered 404/]],
  ["https:// to a plain port", (at) => ["run", "-e", `URL=https://${at.plain.address}/health`, "http.js"], 3,
    [/use ws:\/\/ or http:\/\/ for this port/]],
  ["a host that does not exist", () => ["run", "-e", "URL=http://no-such-host.invalid/", "http.js"], 3,
    [/no such host/, /check the host of the URL/]],
  ["k6/ws to a port where nothing listens", (at) => ["run", "-e", `URL=ws://${at.nothing}/cable`, "ws.js"], 3,
    [/all [\d,]+ connections failed/, /connection refused: is the server running/]],
  ["k6/ws to a wrong path", (at) => ["run", "-e", `URL=${at.plain.ws("/cabel")}`, "ws.js"], 3,
    [/HTTP status 404: check the path of the URL, for Action Cable usually \/cable/, /There is nothing at this path/]],
  ["k6/ws with an origin that is not allowed", (at) => ["run", "-e", `URL=${at.strict.ws("/cable")}`, "ws.js"], 3,
    [/HTTP status 403: origin not allowed\? try --origin, or the header Origin/, /Pages of this origin are not allowed/]],
  ["k6/ws to a path that answers plain HTTP", (at) => ["run", "-e", `URL=ws://${at.web}/`, "ws.js"], 3,
    [/HTTP status 200: this path answers plain HTTP/]],
  ["wss:// to a plain port", (at) => ["run", "-e", `URL=wss://${at.plain.address}/cable`, "websockets.js"], 3,
    [/TLS to a port that does not speak it: use ws:\/\//]],
  ["ws:// to a port with TLS", (at) => ["run", "-e", `URL=ws://${at.secure.address}/cable`, "websockets.js"], 3,
    [/no TLS to a port that speaks it: use wss:\/\//]],
  ["a certificate that is not trusted", (at) => ["run", "-e", `URL=${at.secure.ws("/cable")}`, "cable.js"], 3,
    [/certificate is not trusted: trust its authority, or do not verify it \(--insecure, or insecureSkipTLSVerify/]],
  ["a channel that does not exist", (at) => ["run", "-e", `URL=${at.plain.ws("/cable")}`, "cable.js"], 3,
    [/subscription rejected: check the channel's name and parameters/, /NoSuchChannel/]],
  ["a path that does not speak Action Cable", (at) => ["run", "-e", `URL=${at.plain.ws("/echo")}`, "cable.js"], 3,
    [/does this path speak this protocol\? The path of Action Cable is usually \/cable/, /not an Action Cable message/]],
  ["a server that never answers", (at) => ["run", "-e", `URL=ws://${at.silent}/cable`, "cable.js"], 3,
    [/timed out in the HTTP upgrade: does a WebSocket server listen on this port\?/]],
  ["a script that does not exist", () => ["run", "missing.js"], 255, [/there is no file missing\.js/]],
  ["a syntax error", () => ["run", "syntax.js"], 107, [/syntax error/, /syntax\.js:1:40/]],
  ["a missing module", () => ["run", "import.js"], 107, [/there is no file .*missing\.js/, /import\.js:1:15/]],
  ["a misspelt module", () => ["run", "module.js"], 107, [/no module "k6\/htp"; did you mean "k6\/http"\?/]],
  ["a script without a default function", () => ["run", "no-default.js"], 104,
    [/function `default`, which is not exported/, /export default function/]],
  ["an option of a wrong form", () => ["run", "duration.js"], 104, [/options\.duration: expected a duration, for example "1m30s"/]],
  ["a threshold of a wrong form", () => ["run", "threshold.js"], 104, [/`p95<100` is not valid/, /for example `p\(95\)<500`/]],
  ["a threshold on an unknown metric", () => ["run", "metric.js"], 104, [/the metric `rtt`, which does not exist/, /init context/]],
  ["an unknown option", () => ["run", "option.js"], 0, [/unknown option `vsu`, which has no effect; did you mean `vus`\?/]],
  ["a flag that is not a number", () => ["run", "-u", "x", "throws.js"], 104, [/--vus: expected a whole number, for example 10/]],
  ["a duration without a unit", () => ["run", "-d", "5", "throws.js"], 104,
    [/--duration: expected at least 1s/, /without a unit it is milliseconds/]],
  ["an Artillery file and a server that is not there", (at) => ["run", "chat.yml", "-t", `ws://${at.nothing}/echo`], 3,
    [/all 10 iterations failed: ECONNREFUSED \(connection refused: is the server running/, /10 × ECONNREFUSED/]],
  ["an Artillery file and a wrong path", (at) => ["run", "chat.yml", "-t", at.plain.ws("/ehco")], 3,
    [/Unexpected server response: 404 \(.*check the path of the URL/]],
  ["misspelt keys of an Artillery file", () => ["run", "misspelt.yml"], 1,
    [/did you mean `arrivalRate`\?/, /no step `gte` .*did you mean `get`\?/]],
  ["an Artillery file without a server", () => ["run", "chat.yml"], 1, [/`target` is missing: expected a URL, .*--target/]],
  ["a wsdirector file and a server that is not there", (at) => ["run", "clients.yml", "--url", `ws://${at.nothing}/cable`], 1,
    [/10 of 10 clients failed/, /10 × #connect of group \S+: .*refused.*is the server running/]],
  ["a wsdirector file and a channel that does not exist", (at) => ["run", "clients.yml", "--url", at.plain.ws("/cable")], 1,
    [/10 of 10 clients failed/, /#subscribe of group \S+ \(clients\.yml:1:\d+\): .*a rejection/]],
  ["a misspelt step of a wsdirector file", () => ["run", "misspelt-clients.yml", "--url", "ws://127.0.0.1:1"], 104,
    [/`recieve` is not a step; did you mean `receive`\?/]],
  ["a wsdirector file without a server", () => ["run", "clients.yml"], 2, [/which server\? Expected --url, for example/]],
  ["quick without a scheme", () => ["quick", "localhost:8080"], 2, [/expected http, https, ws or wss, for example http:\/\//]],
  ["quick to a server that is not there", (at) => ["quick", `ws://${at.nothing}/`], 1,
    [/no server answers at ws:\S+\. .*refused.*: is the server running/]],
  ["quick over HTTP to a server that is not there", (at) => ["quick", `http://${at.nothing}/`], 3,
    [/ECONNREFUSED \(connection refused: is the server running/]],
  ["a bench of a server that is not there", (at) => ["bench", "broadcast", `ws://${at.nothing}/cable`, ...BENCH], 1,
    [/none of the 10 clients became ready: connection refused \(.*is the server running/]],
  ["a bench of a wrong path", (at) => ["bench", "broadcast", at.plain.ws("/cabel"), ...BENCH], 1,
    [/HTTP status 404 \(.*check the path of the URL/]],
  ["a bench with an origin that is not allowed",
    (at) => ["bench", "broadcast", at.strict.ws("/cable"), "--origin", "https://evil.example", ...BENCH], 1,
    [/HTTP status 403 \(.*origin not allowed\? try --origin/]],
  ["a bench of a channel that does not exist",
    (at) => ["bench", "broadcast", at.plain.ws("/cable"), "--channel", '{"channel":"NoSuchChannel"}', ...BENCH], 1,
    [/subscription rejected \(.*check the channel's name and parameters/]],
  ["a bench with wss:// of a plain port", (at) => ["bench", "connect", `wss://${at.plain.address}/cable`, ...BENCH.slice(0, 6)], 1,
    [/TLS to a port that does not speak it \(.*use ws:\/\//]],
  ["a bench of more connections than the system allows",
    (at) => ["bench", "connect", at.plain.ws("/cable"), "--server-type", "actioncable", "--step-size", "500", "--total-steps", "1"], 1,
    [/open files/, /ulimit -Hn/], { n_files: 100 }],
  ["bench http of a server that is not there", (at) => ["bench", "http", `http://${at.nothing}/`], 1,
    [/answered no request: .*refused.*is the server running/]],
  ["bench http of a WebSocket", () => ["bench", "http", "ws://127.0.0.1:1/"], 2, [/is a WebSocket URL; use `plimsoll bench echo`/]],
  ["a misspelt workload", () => ["bench", "brodcast"], 2, [/similar subcommand exists: 'broadcast'/]],
  ["an objective on an unknown metric", () => ["line", "throws.js", "--slo", "rtt p(95)<5"], 104,
    [/the metric `rtt`, which this test does not have; it has: /]],
  ["an objective without a comparison", () => ["line", "throws.js", "--slo", "x"], 104, [/no comparison operator; expected .*for example/]],
  ["a server on a port that is in use", (at) => ["serve", "--app", "echo", "--host", "127.0.0.1", "--port", String(at.plain.port)], 1,
    [/in use/, /--port/]],
  ["a server with a certificate and no key", () => ["serve", "--ssl_cert", "cert.pem"], 2, [/--ssl[-_]key/]],
  ["an application that does not exist", () => ["serve", "--app", "chta"], 2, [/possible values: benchmark, chat, echo|similar value exists: 'chat'/]],
  ["a report of a file that does not exist", () => ["report", "missing.json"], 2, [/cannot read missing\.json/]],
  ["a report of another file", () => ["report", "page.html"], 2, [/page\.html is not JSON/, /expected a summary, which `plimsoll run --report/]],
  ["a report of a newer summary", () => ["report", "newer.json"], 2, [/summary of version 99, .*use a newer plimsoll/]],
  ["a report into a folder that does not exist", () => ["run", "-i", "1", "fine.js", "--report", "missing/r.html"], 2,
    [/missing\/r\.html/, /there is no folder missing; create it first: mkdir -p missing/]],
  ["a line to a port where nothing listens",
    (at) => ["line", "-e", `URL=http://${at.nothing}/`, "http.js", "--step-duration", "1s", "--warm-up", "0s", "--start", "1", "--max", "1"], 3,
    [/http_req_failed rate 100 % of 1 % allowed|http_req_failed/, /refused/]],
  ["a line whose objectives do not notice that nothing listens",
    (at) => ["line", "-e", `URL=http://${at.nothing}/`, "http.js", "--step-duration", "1s", "--warm-up", "0s", "--start", "1", "--max", "1", "--slo", "errors==0"], 3,
    [/all [\d,]+ requests failed/, /fail: Not even 1 user holds/]],
  ["a line of a bench of a server that is not there",
    (at) => ["line", "bench", "broadcast", `ws://${at.nothing}/cable`, "--server-type", "actioncable", "--start", "1", "--max", "1", "--sample-size", "4"], 3,
    [/fail: Not even 1 client holds .*1 × connection refused/]],
  ["a line with a start above its end", () => ["line", "http.js", "--start", "20", "--max", "10"], 2, [/--max 10 is below --start 20/]],
  ["a line without a test", () => ["line"], 2, [/required arguments were not provided|<.*>/, /--help/]],
  ["a conformance suite and a server that is not there", (at) => ["conform", "websocket", `ws://${at.nothing}/`], 1, [/refused/]],
  ["a conformance suite and a wrong path", (at) => ["conform", "websocket", at.plain.ws("/nowhere")], 1,
    [/error: the server answers a plain opening handshake with "HTTP\/1\.1 404 Not Found" instead of the status 101; check the path of ws:/]],
  ["a conformance suite and an address without a scheme", () => ["conform", "websocket", "localhost:8080"], 2, [/ws:\/\//]],
  ["a conformance suite that does not exist", () => ["conform", "websockets"], 2, [/similar subcommand exists: 'websocket'/]],
  ["conformance cases that do not exist", (at) => ["conform", "websocket", at.plain.ws("/echo"), "--only", "99"], 2, [/99/]],
  ["a file of expectations that does not exist", (at) => ["conform", "websocket", at.plain.ws("/echo"), "--expect", "missing.txt"], 2,
    [/--expect missing\.txt: there is no such file; --write-expectations missing\.txt makes it/]],
  ["the cable suite and a server without its channels", (at) => ["conform", "cable", at.plain.ws("/cable")], 1,
    [/does not have the suite's channels: it answers .*reject_subscription.*; start it with --rpc_host 127/]],
  ["a check of a script with misspelt members", () => ["check", "members.js"], 107,
    [/cable\.conect/, /did you mean `connect`\?/, /members\.js:1:\d+/]],
  ["a check of a file that does not exist", () => ["check", "missing.js"], 255, [/there is no file missing\.js/]],
  ["a check of a file of no known kind", () => ["check", "page.html"], 2,
    [/page\.html is not a file of Artillery or wsdirector: expected .*; choose the format with --as/]],
  ["a flag that does not exist", () => ["run", "--vsu", "3", "throws.js"], 2, [/'--vsu'/, /'--vus'/]],
  ["a command that does not exist", () => ["rnu", "throws.js"], 2, [/similar subcommand exists: 'runs?'/]],
  ["a server type that is not supported", (at) => ["bench", "echo", at.plain.ws("/cable"), "--server-type", "phoenix"], 2, [/phoenix/, /not supported/]],
  ["a rate without a duration", (at) => ["bench", "broadcast", at.plain.ws("/cable"), "--rate", "5/s"], 2, [/--duration/]],
  ["a threshold of a bench on an unknown metric", (at) => ["bench", "echo", at.plain.ws("/cable"), ...BENCH, "--threshold", "rtd:p(95)<5"], 2,
    [/rtd/, /rtt/]],
  ["an output that does not exist", () => ["run", "-o", "jsn=x.json", "-i", "1", "fine.js"], 104, [/jsn/, /json/]],
  ["a watched port where nothing listens", (at) => ["run", "-i", "1", "fine.js", "--watch", `:${at.nothing.split(":")[1]}`], 1, [/--watch/, /no process/]],
  ["a run that was not kept", () => ["runs", "show", "no-such-run"], 1, [/no-such-run/, /runs list/]],
  ["a setting of the server that is misspelt", () => ["serve", "--max_con", "5"], 2, [/'--max-con'/, /'--max-conn'/]],
  ["a settings file with an unknown key", () => ["serve", "--config-path", "settings.toml"], 2, [/settings\.toml:1:1: prot: there is no such key\. plimsoll serve --print-config lists all keys/]],
  ["a demo of more users than the system allows", () => ["demo", "--users", "5000"], 2, [/--users 5000/, /open files/, /ulimit/], { n_files: 200 }],
];

describe("mistakes", { concurrency: 3 }, () => {
  const at = {};
  let folder;
  const cleanups = [];
  before(async () => {
    folder = folderOf({ after: (cleanup) => cleanups.push(cleanup) }, SCRIPTS);
    at.nothing = `127.0.0.1:${await freePort()}`;
    at.plain = await Server.start("--app", "benchmark");
    at.strict = await Server.start("--app", "benchmark", "--allowed_origins", "app.example");
    at.secure = await Server.start("--app", "benchmark", ...new CertificateFiles().flags);
    const web = createServer((_, response) => response.end("a web page")).listen(0, "127.0.0.1");
    // Without a listener, Node.js ends connections that ask for an upgrade.
    web.on("upgrade", (_, socket) => socket.end("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"));
    const sockets = new Set();
    const silent = createTcpServer((socket) => sockets.add(socket.on("error", () => {}))).listen(0, "127.0.0.1");
    await Promise.all([once(web, "listening"), once(silent, "listening")]);
    at.web = `127.0.0.1:${web.address().port}`;
    at.silent = `127.0.0.1:${silent.address().port}`;
    cleanups.push(() => web.close(), () => silent.close(), () => sockets.forEach((socket) => socket.destroy()));
  });
  after(async () => {
    await Promise.all([at.plain, at.strict, at.secure].map((server) => server?.stop()));
    cleanups.forEach((cleanup) => cleanup());
  });

  for (const [name, command, expected, texts, limits = {}] of MISTAKES) {
    test(name, async () => {
      const { code, stdout, stderr } = await plimsollIn({ cwd: folder, ...limits }, ...command(at));
      assert.equal(code, expected, `${stdout}\n${stderr}`);
      // People see both streams. Texts are wrapped in them.
      const all = `${stdout}\n${stderr}`.replaceAll(/\s+/g, " ");
      for (const text of texts) assert.match(all, text);
      // What ends well has its usual result on standard output, and talk on the other stream only.
      const talk = stderr.trimEnd().split("\n");
      assert.ok(talk.length <= MOST_LINES, `${talk.length} lines: ${stderr}`);
      const lines = code === 0 ? talk : [stdout, stderr].flatMap((text) => text.trim().split("\n")).filter((line) => line.trim() !== "");
      assert.ok(lines.length <= MOST_LINES, `${lines.length} lines: ${lines.join("\n")}`);
      assert.doesNotMatch(all, /panicked|RUST_BACKTRACE|stack backtrace/);
    });
  }

  test("there are at least 40 of them", () => assert.ok(MISTAKES.length >= 40));
});

describe("failures in numbers", () => {
  const files = {
    "throws.js": SCRIPTS["throws.js"],
    "some.js": "export const options = { vus: 2, iterations: 40 }; export default function () { if (__ITER % 4 === 0) throw new Error('now and then'); }",
    "speaks.js": "export const options = { iterations: 30 }; export default function () { console.error('said by the script'); }",
    "endless.js": "import { sleep } from 'k6'; export const options = { vus: 5, duration: '60s' }; export default function () { sleep(0.01); throw new Error('broken'); }",
  };

  test("a wrong script writes the first line of a cause, and then numbers", async (t) => {
    const cwd = folderOf(t, files);
    const { code, stderr } = await plimsollIn({ cwd }, "run", "-d", "6s", "throws.js");
    assert.equal(code, 3, stderr);
    const lines = stderr.split("\n");
    assert.ok(stderr.trimEnd().split("\n").length <= MOST_LINES, stderr);
    assert.equal(lines.filter((line) => line.startsWith("ERRO") && line.includes("TypeError")).length, 3, stderr);
    const told = [...stderr.matchAll(/ERRO\[\d+\] … ([\d,]+) more like this: TypeError/g)].map(([, n]) => Number(n.replaceAll(",", "")));
    const [, n_all] = /all ([\d,]+) iterations failed/.exec(stderr);
    assert.equal(told.reduce((sum, n) => sum + n, 1), Number(n_all.replaceAll(",", "")));
  });

  test("a log in JSON has the number of repeated lines as a field", async (t) => {
    const cwd = folderOf(t, files);
    const { stderr } = await plimsollIn({ cwd }, "run", "--quiet", "--log-format", "json", "throws.js");
    const lines = stderr.split("\n").filter((line) => line.startsWith("{")).map((line) => JSON.parse(line));
    const [first, ...rest] = lines.filter(({ level }) => level === "error");
    assert.match(first.msg, /^TypeError/);
    assert.ok(rest.length >= 1 && rest.every(({ count, msg }) => Number(count) > 0 && /more like this/.test(msg)), stderr);
  });

  test("lines of the script itself are written one by one", async (t) => {
    const cwd = folderOf(t, files);
    const { code, stderr } = await plimsollIn({ cwd }, "run", "--quiet", "speaks.js");
    assert.equal(code, 0, stderr);
    assert.equal(stderr.match(/said by the script/g).length, 30);
  });

  for (const [flags, script, expected] of [
    [[], "throws.js", 3],
    [["--fail-on-errors=never"], "throws.js", 0],
    [[], "some.js", 0],
    [["--fail-on-errors=all"], "some.js", 0],
    [["--fail-on-errors"], "some.js", 3],
    [["--fail-on-errors=any"], "some.js", 3],
  ]) {
    test(`${script} with ${flags.join(" ") || "no flag"} ends with ${expected}`, async (t) => {
      const cwd = folderOf(t, files);
      const { code, stderr } = await plimsollIn({ cwd }, "run", "--quiet", ...flags, script);
      assert.equal(code, expected, stderr);
    });
  }

  test("--abort-on-error-rate ends a run of each kind in which too much fails", async (t) => {
    const cwd = folderOf(t, { ...files, "chat.yml": SCRIPTS["chat.yml"].replace("duration: 1", "duration: 60") });
    const nothing = `ws://127.0.0.1:${await freePort()}/`;
    for (const command of [
      ["run", "endless.js"],
      ["run", "chat.yml", "-t", nothing],
    ]) {
      const started = performance.now();
      const { code, stdout, stderr } = await plimsollIn({ cwd }, ...command, "--abort-on-error-rate", "20%");
      assert.equal(code, 3, stderr);
      assert.match(stderr, /ended after [\d.]+ s by --abort-on-error-rate 20 %: [\d,]+ of [\d,]+ iterations \(100 %\) had failed: /);
      assert.ok(performance.now() - started < 30_000, `${stdout}\n${stderr}`);
    }
  });

  test("--abort-on-error-rate ends a bench of a server that refuses half of its clients", async (t) => {
    let n = 0;
    const server = createServer().on("upgrade", (request, socket) => {
      socket.on("error", () => {});
      if (++n % 2 === 0) return socket.end("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 4\r\n\r\nfull");
      const proof = createHash("sha1").update(`${request.headers["sec-websocket-key"]}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64");
      socket.write(`HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${proof}\r\n\r\n`);
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    t.after(() => server.close());
    const cwd = folderOf(t, files);
    const url = `ws://127.0.0.1:${server.address().port}/`;
    const flags = ["--server-type", "json", "--step-size", "10", "--total-steps", "60", "--steps-delay", "1"];
    const { code, stderr } = await plimsollIn({ cwd }, "bench", "connect", url, ...flags, "--abort-on-error-rate", "20%");
    assert.equal(code, 3, stderr);
    assert.match(stderr, /ended after .* by --abort-on-error-rate 20 %: [\d,]+ of [\d,]+ connections \(50 %\) had failed: .*HTTP status 503/);
    assert.match(stderr, /× client not ready: .*503[^]*503 Service\s+Unavailable/);
  });

  test("an invalid rate is refused with an example", async (t) => {
    const cwd = folderOf(t, files);
    const { code, stderr } = await plimsollIn({ cwd }, "run", "--abort-on-error-rate", "150%", "throws.js");
    assert.equal(code, 2, stderr);
    assert.match(stderr, /expected a percentage below 100 such as 5%, or a share such as 0\.05/);
  });
});
