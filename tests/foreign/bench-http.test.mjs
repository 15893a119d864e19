// `plimsoll bench http` and `plimsoll ab` against Node.js's servers: what they counted is what the report says.

import assert from "node:assert/strict";
import { EventEmitter, once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { createSecureServer, createServer as createHttp2Server } from "node:http2";
import { createServer as createHttpsServer } from "node:https";
import { createServer as createTcpServer } from "node:net";
import { join } from "node:path";
import { describe, test } from "node:test";
import { ab, counting, field, listen } from "./support/ab.mjs";
import { CertificateFiles } from "./support/certificates.mjs";
import { plimsoll, withoutBottleneck, plimsollIn, plimsollJson, startPlimsoll } from "./support/plimsoll.mjs";
import { within } from "./support/deadline.mjs";
import { folderOf } from "./support/scripts.mjs";

/** A TCP server that does this with each connection. */
const raw = (t, serve) => listen(t, createTcpServer(serve));

/** Once with `answer`, at the first bytes of each connection. */
const answering = (answer) => (socket) => socket.once("data", () => socket.end(answer));

describe("ab's report", () => {
  test("has ab's labels, and counts what the server counted", async (t) => {
    const { url, seen } = await counting(t, (_request, response) => {
      response.setHeader("server", "node");
      response.end("hello");
    });
    const { code, stdout, stderr } = await plimsoll("ab", "-n", "300", "-c", "10", `${url}a?b`);
    assert.equal(code, 0, stderr);
    assert.equal(seen.requests, 300);
    assert.equal(seen.connections, 300);
    assert.equal(field(stdout, "Server Software"), "node");
    assert.equal(field(stdout, "Server Hostname"), "127.0.0.1");
    assert.equal(field(stdout, "Document Path"), "/a?b");
    assert.equal(field(stdout, "Document Length"), "5 bytes");
    assert.equal(field(stdout, "Concurrency Level"), "10");
    assert.equal(field(stdout, "Complete requests"), "300");
    assert.equal(field(stdout, "Failed requests"), "0");
    assert.equal(field(stdout, "HTML transferred"), "1500 bytes");
    assert.equal(field(stdout, "Keep-Alive requests"), undefined);
    for (const pattern of [
      /^Time taken for tests: +\d+\.\d{3} seconds$/m,
      /^Requests per second: +\d+\.\d\d \[#\/sec\] \(mean\)$/m,
      /^Time per request: +\d+\.\d{3} \[ms\] \(mean\)$/m,
      /^Time per request: +\d+\.\d{3} \[ms\] \(mean, across all concurrent requests\)$/m,
      /^Transfer rate: +\d+\.\d\d \[Kbytes\/sec\] received$/m,
      /^ {14}min {2}mean\[\+\/-sd\] median {3}max$/m,
      /^Total: +\d+ +\d+ +\d+\.\d +\d+ +\d+$/m,
      /^ {2}95% +\d+$/m,
      /^ 100% +\d+ \(longest request\)$/m,
      /^ {2}p99\.99 +\d+\.\d{3}$/m,
    ]) {
      assert.match(stdout, pattern);
    }
    assert.match(stderr, /^Completed 30 requests$/m);
    assert.match(stderr, /^Finished 300 requests$/m);
  });

  test("-d, -S and -q leave out what they leave out in ab", async (t) => {
    const { url } = await counting(t);
    const { stdout, stderr } = await plimsoll("ab", "-d", "-S", "-q", "-n", "200", url);
    assert.doesNotMatch(stdout, /Percentage of the requests|median|percentiles/);
    assert.match(stdout, /^ {14}min {3}avg {3}max$/m);
    assert.equal(withoutBottleneck(stderr), "");
  });

  test("-k keeps connections", async (t) => {
    const { url, seen } = await counting(t);
    const { stdout } = await plimsoll("ab", "-k", "-n", "500", "-c", "7", url);
    assert.deepEqual([seen.requests, seen.connections], [500, 7]);
    assert.equal(field(stdout, "Keep-Alive requests"), "500");
    assert.equal(seen.last.headers.connection, "keep-alive");
  });

  test("-e and -g write ab's files", async (t) => {
    const { url } = await counting(t);
    const cwd = folderOf(t, {});
    const { code } = await plimsollIn({ cwd }, "ab", "-n", "40", "-e", "new/e.csv", "-g", "g.tsv", url);
    assert.equal(code, 0);
    const csv = readFileSync(join(cwd, "new/e.csv"), "utf8").trimEnd().split("\n");
    assert.equal(csv[0], "Percentage served,Time in ms");
    assert.equal(csv.length, 102);
    assert.match(csv.at(-1), /^100,\d+\.\d{3}$/);
    const tsv = readFileSync(join(cwd, "g.tsv"), "utf8").trimEnd().split("\n");
    assert.equal(tsv[0], "starttime\tseconds\tctime\tdtime\tttime\twait");
    assert.equal(tsv.length, 41);
    assert.match(tsv[1], /^\w{3} \w{3} \d\d \d\d:\d\d:\d\d 20\d\d\t\d+\t\d+\t\d+\t\d+\t\d+$/);
  });
});

describe("the request", () => {
  test("is what the flags say", async (t) => {
    const { url, seen } = await counting(t);
    const flags = ["-H", "X-A: 1", "-H", "user-agent: me", "-C", "a=1", "-C", "b=2", "-A", "al ice:p:w"];
    const { code, stderr } = await plimsoll("ab", "-n", "2", ...flags, url);
    assert.equal(code, 0, stderr);
    const { method, headers } = seen.last;
    assert.equal(method, "GET");
    assert.equal(headers["x-a"], "1");
    assert.equal(headers["user-agent"], "me");
    assert.equal(headers.cookie, "a=1; b=2");
    assert.equal(headers.authorization, `Basic ${Buffer.from("al ice:p:w").toString("base64")}`);
    assert.equal(headers.connection, "close");
  });

  for (const [name, flags, expected] of [
    ["-p posts a file", ["-p", "body", "-T", "application/json"], ["POST", "application/json", '{"a":1}']],
    ["-u puts a file", ["-u", "body"], ["PUT", "text/plain", '{"a":1}']],
    ["-m takes another method", ["-m", "PATCH", "-p", "body"], ["PATCH", "text/plain", '{"a":1}']],
    ["-i asks for the head", ["-i"], ["HEAD", undefined, ""]],
  ]) {
    test(name, async (t) => {
      const { url, seen } = await counting(t);
      const cwd = folderOf(t, { body: '{"a":1}' });
      const { code, stdout, stderr } = await plimsollIn({ cwd }, "ab", "-k", "-n", "20", "-c", "2", ...flags, url);
      assert.equal(code, 0, stderr);
      const { method, headers, body } = seen.last;
      assert.deepEqual([method, headers["content-type"], body], expected);
      assert.equal(seen.requests, 20);
      const sent = Number(field(stdout, "Total body sent") ?? 0);
      assert.ok(expected[2] === "" ? sent === 0 : sent > 20 * 7, stdout);
    });
  }

  test("comes from where -B says, and --watch and --filename are there", async (t) => {
    const { url, seen } = await counting(t, (request, response) => {
      seen.from = request.socket.remoteAddress;
      response.end();
    });
    const cwd = folderOf(t, {});
    const flags = ["-B", "127.0.0.9", "--watch", String(process.pid), "--filename", "new/r.json", "-f", "json"];
    const { code, stdout, stderr } = await plimsollIn({ cwd }, "bench", "http", "-n", "3", ...flags, url);
    assert.deepEqual([code, stdout], [0, ""], stderr);
    assert.equal(seen.from, "127.0.0.9");
    assert.ok(JSON.parse(readFileSync(join(cwd, "new/r.json"), "utf8")).watch.rss_bytes > 1_000_000);
  });

  test("a large body is sent and a chunked answer is read", async (t) => {
    const body = "x".repeat(3_000_000);
    const { url, seen } = await counting(t, (_request, response) => {
      response.write("y".repeat(100_000));
      response.end("z".repeat(50_000));
    });
    const cwd = folderOf(t, { body });
    const { code, stdout } = await plimsollIn({ cwd }, "ab", "-k", "-n", "6", "-c", "2", "-p", "body", url);
    assert.equal(code, 0);
    assert.equal(seen.last.body.length, body.length);
    assert.equal(field(stdout, "HTML transferred"), `${6 * 150_000} bytes`);
  });
});

describe("failures", () => {
  test("bodies of other lengths fail, but for -l", async (t) => {
    const { url } = await counting(t, (_request, response, n) => response.end(n > 1 && n % 5 === 0 ? "other" : "five"));
    const strict = await plimsoll("ab", "-n", "20", url);
    assert.equal(strict.code, 3);
    assert.equal(field(strict.stdout, "Complete requests"), "20");
    assert.equal(field(strict.stdout, "Failed requests"), "4");
    assert.match(strict.stdout, /^ {3}\(Connect: 0, Receive: 0, Length: 4, Exceptions: 0\)$/m);
    const lax = await plimsoll("ab", "-l", "-n", "20", url);
    assert.equal(lax.code, 0);
    assert.equal(field(lax.stdout, "Document Length"), "Variable");
    assert.equal(field(lax.stdout, "Failed requests"), "0");
  });

  test("other statuses are counted and are not failures", async (t) => {
    const { url } = await counting(t, (_request, response, n) => {
      response.statusCode = n % 2 ? 200 : 503;
      response.end();
    });
    const { code, stdout } = await plimsoll("ab", "-n", "10", url);
    assert.equal(code, 0);
    assert.equal(field(stdout, "Non-2xx responses"), "5");
    const judged = await plimsoll("ab", "-n", "10", "--threshold", "non_2xx:rate<0.1", url);
    assert.equal(judged.code, 3);
    assert.match(judged.stdout, /^Threshold non_2xx:rate<0\.1: FAILED, the value is 0\.5$/m);
  });

  test("a broken connection ends the run, but for -r", async (t) => {
    const answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
    let n = 0;
    const url = await raw(t, (socket) => {
      const isGood = ++n % 4 !== 0;
      socket.once("data", () => (isGood ? socket.end(answer) : socket.resetAndDestroy()));
    });
    const ended = await plimsoll("ab", "-n", "20", url);
    assert.equal(ended.code, 1);
    assert.equal(field(ended.stdout, "Complete requests"), "3");
    assert.match(ended.stderr, /ended after 3 complete requests: read: .*reset.*; with -r the run continues and counts such failures/);
    n = 0;
    const { code, report } = await plimsollJson("bench", "http", "-r", "-n", "20", url);
    assert.equal(code, 0);
    assert.deepEqual([report.complete, report.failed_receive, report.failed], [15, 5, 5]);
    assert.deepEqual(report.causes, { "Receive: read: connection reset by peer": 5 });
    n = 0;
    const judged = await plimsoll("ab", "-r", "-n", "20", "--threshold", "failed:rate<0.5", url);
    assert.equal(judged.code, 0, judged.stdout);
    n = 0;
    const strict = await plimsoll("ab", "-r", "-n", "20", "--threshold", "failed:rate<0.1", url);
    assert.equal(strict.code, 3, strict.stdout);
    n = 0;
    const any = await plimsoll("ab", "-r", "-n", "20", "--fail-on-errors", url);
    assert.equal(any.code, 3, any.stdout);
  });

  for (const [name, serve, flags, kind, words] of [
    ["garbage", answering("SSH-2.0-OpenSSH_9.2\r\n"), [], "exceptions", /malformed HTTP response.*is it an HTTP server\?/],
    [
      "an answer that ends early",
      answering("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort"),
      [],
      "receive",
      /ended the connection before the end of its response/,
    ],
    ["silence", () => {}, ["-s", "0.2"], "receive", /no whole response within 0\.2 s; raise the limit with -s/],
  ]) {
    test(`${name}: a message and exit code 1`, async (t) => {
      const url = await raw(t, serve);
      const { code, stdout, stderr } = await plimsoll("ab", "-n", "4", ...flags, url);
      assert.deepEqual([code, stdout], [1, ""]);
      assert.match(stderr, words);
    });

    test(`${name} after good answers is counted`, async (t) => {
      let n = 0;
      const good = answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
      const url = await raw(t, (socket) => (++n % 2 ? good : serve)(socket));
      const { code, report } = await plimsollJson("bench", "http", "-r", "-n", "6", ...flags, url);
      assert.equal(code, 0);
      assert.equal(report.complete, 3);
      assert.equal(report[`failed_${kind}`], 3);
      assert.equal(report.latency_us.count, 3);
    });
  }

  test("nothing listens: an error, but for -r a report and exit code 0, as ab does it", async (t) => {
    const server = createTcpServer();
    const url = await listen(t, server);
    server.close();
    await once(server, "close");
    const { code, stderr } = await plimsoll("ab", "-n", "100000", url);
    assert.equal(code, 1);
    assert.match(stderr, /answered no request: .*Connection refused.*is the server running/);
    const [own, real] = await Promise.all([plimsoll("ab", "-r", "-n", "20", url), ab("-r", "-n", "20", url)]);
    assert.deepEqual([own.code, real.code], [0, 0], own.stderr);
    for (const label of ["Server Port", "Document Path", "Concurrency Level", "HTML transferred"]) {
      assert.equal(field(own.stdout, label), field(real.stdout, label), label);
    }
    // ab counts each of them as complete, and some twice as failed.
    assert.equal(field(own.stdout, "Complete requests"), "0");
    assert.equal(field(own.stdout, "Failed requests"), "20");
    assert.match(own.stdout, /^ {3}\(Connect: 20, Receive: 0, Length: 0, Exceptions: 0\)$/m);
  });

  test("a server that is gone is asked less and less often, until the time is up", async (t) => {
    let n = 0;
    const good = answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    const url = await raw(t, (socket) => (++n === 1 ? good(socket) : socket.destroy()));
    const { code, report } = await plimsollJson("bench", "http", "-r", "--duration", "1s", url);
    assert.deepEqual([code, report.complete], [0, 1]);
    // Two at once, then after 10, 20, 40 … ms: nine are a second. A slow machine makes fewer.
    assert.ok(report.failed >= 2 && report.failed <= 9, `${report.failed} failed`);
    assert.equal(report.held_back, report.failed - 1);
    assert.match(report.notes.join(), /a place delayed its next request by up to 1 s/);
  });

  test("a connection that the server closes between requests is replaced", async (t) => {
    let n_connections = 0;
    const url = await raw(t, (socket) => {
      n_connections++;
      // Says nothing of closing, and closes.
      socket.once("data", () => socket.end("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"));
    });
    const { code, report, stderr } = await plimsollJson("bench", "http", "-k", "-n", "20", "-c", "2", url);
    assert.equal(code, 0, stderr);
    assert.equal(report.complete, 20);
    assert.equal(n_connections, 20);
  });
});

describe("how long and how fast", () => {
  test("--duration has an end, and what is under way is waited for", async (t) => {
    const { url, seen } = await counting(t);
    const { code, report } = await plimsollJson("bench", "http", "-k", "-c", "4", "--duration", "300ms", url);
    assert.equal(code, 0);
    assert.ok(report.seconds >= 0.3, `${report.seconds}`);
    assert.equal(report.complete, seen.requests);
    assert.equal(report.latency_us.count, seen.requests);
  });

  test("-t has ab's limit of requests, and -n another", async (t) => {
    const { url, seen } = await counting(t);
    const { report } = await plimsollJson("bench", "http", "-k", "-t", "60", "-n", "50", url);
    assert.deepEqual([report.complete, seen.requests], [50, 50]);
  });

  test("the warm-up is made and not counted", async (t) => {
    const { url, seen } = await counting(t);
    const { report } = await plimsollJson("bench", "http", "-k", "-n", "25", "--warm-up", "2s", url);
    assert.equal(report.complete, 25);
    assert.ok(report.warm_up_requests > 0);
    assert.equal(report.complete + report.warm_up_requests, seen.requests);
    assert.equal(report.latency_us.count, 25);
  });

  test("--rate counts from when a request was due, so a stall shows in every request that it held up", async (t) => {
    // One place, 100 requests per second; the 10th answer takes half a second.
    const { url, seen } = await counting(t, (_request, response, n) => {
      if (n === 10) setTimeout(() => response.end("hello"), 500);
      else response.end("hello");
    });
    const flags = ["-k", "-c", "1", "-n", "100", "--rate", "100"];
    const { code, report, stderr } = await plimsollJson("bench", "http", ...flags, url);
    assert.equal(code, 0, stderr);
    assert.equal(seen.requests, 100);
    assert.equal(report.complete, 100);
    assert.equal(report.unsent, 0);
    // Those due while it lasted waited 490, 480, 470 … ms. A closed loop would show one slow request.
    const n_slow = report.histogram.filter((bar) => bar.from_us >= 100_000).reduce((sum, bar) => sum + bar.count, 0);
    assert.ok(n_slow >= 40, JSON.stringify(report.histogram));
    assert.ok(report.queueing_us.max >= 480_000, `${report.queueing_us.max}`);
    // The server itself was slow once, and most requests waited for that.
    const { processing_us, queueing_us } = report;
    assert.ok(processing_us.p90 < queueing_us.p90, JSON.stringify({ processing_us, queueing_us }));
    assert.ok(report.seconds >= 0.99, `${report.seconds}`);
  });

  test("an open model with pauses uses few of its connections, so that none idles until the server closes it", async (t) => {
    const { url, seen } = await counting(t);
    const flags = ["-k", "-c", "200", "-n", "200", "--rate", "200"];
    const { code, report } = await plimsollJson("bench", "http", ...flags, url);
    assert.equal(code, 0);
    assert.equal(report.keepalive_requests, 200);
    // A model that takes the connection that was idle longest uses all of them.
    assert.ok(seen.connections < 200, `${seen.connections}`);
  });

  test("a rate that is not kept is said", async (t) => {
    const { url } = await counting(t, (_request, response) => setTimeout(() => response.end("hello"), 100));
    const flags = ["-k", "-c", "1", "--rate", "100", "--duration", "500ms"];
    const { code, report } = await plimsollJson("bench", "http", ...flags, url);
    assert.equal(code, 3);
    assert.equal(report.complete + report.unsent, 50);
    assert.ok(report.unsent > 40, `${report.unsent}`);
    assert.match(report.notes.join(), /the rate was not reached/);
  });

  test("an interrupt ends the run with what there is", async (t) => {
    const tenth = new EventEmitter();
    const { url, seen } = await counting(t, (_request, response, n) => {
      response.end("hello");
      if (n === 10) tenth.emit("seen");
    });
    const tenthSeen = once(tenth, "seen");
    const child = startPlimsoll("bench", "http", "-k", "-c", "2", "--duration", "1h", "--format", "json", url);
    child.stdout.setEncoding("utf8");
    let stdout = "";
    child.stdout.on("data", (chunk) => (stdout += chunk));
    await within(tenthSeen, "ten requests");
    child.kill("SIGINT");
    const [{ code }] = await within(Promise.all([child.exited, once(child, "close")]), "the end of the run");
    const report = JSON.parse(stdout);
    assert.equal(code, 105);
    assert.equal(report.interrupted, true);
    assert.equal(report.complete, seen.requests);
  });
});

describe("TLS and HTTP/2", () => {
  const files = new CertificateFiles();
  const certificate = () => ({ key: readFileSync(files.key), cert: readFileSync(files.cert) });
  const believed = { env: { SSL_CERT_FILE: files.cert } };

  test("https, with a certificate that is believed or that does not matter", async (t) => {
    const server = createHttpsServer(certificate(), (_request, response) => response.end("hello"));
    const url = await listen(t, server, "https");
    const trusting = await plimsollIn(believed, "ab", "-k", "-n", "20", "-c", "2", url);
    assert.equal(trusting.code, 0, trusting.stderr);
    assert.match(field(trusting.stdout, "SSL/TLS Protocol"), /^TLSv1\.3,TLS_AES_\d+_GCM_SHA\d+$/);
    const careless = await plimsoll("ab", "--insecure", "-n", "2", url);
    assert.equal(careless.code, 0, careless.stderr);
    const strict = await plimsoll("ab", "-n", "2", url);
    assert.equal(strict.code, 1);
    assert.match(strict.stderr, /unknown authority; --insecure accepts any certificate/);
    const plain = await plimsoll("ab", "-n", "2", url.replace("https", "http"));
    assert.equal(plain.code, 1);
    assert.match(plain.stderr, /https:\/\//);
  });

  /** Counts sessions and requests. */
  async function http2(t, server, scheme) {
    const seen = { sessions: 0, requests: 0, body: "" };
    server.on("session", () => seen.sessions++);
    server.on("stream", (stream) => {
      seen.requests++;
      const body = [];
      stream.on("error", () => {});
      stream.on("data", (chunk) => body.push(chunk));
      stream.on("end", () => {
        seen.body = Buffer.concat(body).toString();
        stream.respond({ ":status": 200, server: "node2" });
        stream.end("hello");
      });
    });
    return { url: await listen(t, server, scheme), seen };
  }

  for (const [name, scheme, make] of [
    ["chosen in the TLS handshake", "https", () => createSecureServer(certificate())],
    ["with prior knowledge", "http", () => createHttp2Server()],
  ]) {
    test(`HTTP/2 ${name}`, async (t) => {
      const { url, seen } = await http2(t, make(), scheme);
      const cwd = folderOf(t, { body: "posted" });
      const flags = ["--http2", "-c", "10", "--streams", "5", "-n", "200", "-p", "body"];
      const { code, stdout, stderr } = await plimsollIn({ cwd, ...believed }, "ab", ...flags, url);
      assert.equal(code, 0, stderr);
      assert.deepEqual(seen, { sessions: 2, requests: 200, body: "posted" });
      assert.equal(field(stdout, "Complete requests"), "200");
      assert.equal(field(stdout, "Server Software"), "node2");
      assert.equal(field(stdout, "HTTP version"), "2");
      assert.equal(field(stdout, "HTML transferred"), "1000 bytes");
    });
  }

  test("a server without HTTP/2 is told from one that is not there", async (t) => {
    const server = createHttpsServer(certificate(), (_request, response) => response.end());
    const secure = await plimsollIn(believed, "ab", "--http2", await listen(t, server, "https"));
    assert.equal(secure.code, 1);
    assert.match(secure.stderr, /does not speak HTTP\/2.*remove --http2/);
    const { url } = await counting(t);
    const plain = await plimsoll("ab", "--http2", url);
    assert.equal(plain.code, 1);
    assert.match(plain.stderr, /http2: .*remove --http2/);
  });
});

describe("wrong usage", () => {
  for (const [name, args, words] of [
    ["more under way than are made", ["-n", "5", "-c", "10", "http://h/"], /-c 10 is more than -n 5/],
    ["a flag of ab's next version", ["-W", "2", "http://h/"], /ab's flag -W is not supported: use --workers/],
    ["a withdrawn version of TLS", ["-f", "TLS1", "https://h/"], /TLS1 is not supported because it was withdrawn.*use TLS1\.2/],
    ["HTML and JSON", ["-w", "-f", "json", "http://h/"], /-w prints HTML and --format json prints JSON/],
    ["a WebSocket's URL", ["ws://h/"], /invalid URL "ws:\/\/h\/".*bench echo/],
    ["no host", ["http://"], /invalid URL "http:\/\/"/],
    ["a body that is not there", ["-p", "no/such", "http://h/"], /-p: cannot read no\/such: No such file/],
    ["a header without a colon", ["-H", "nonsense", "http://h/"], /-H "nonsense" is not a header/],
    ["a cookie without a value", ["-C", "nonsense", "http://h/"], /-C "nonsense" is not a cookie/],
    ["a password without a user", ["-A", "nonsense", "http://h/"], /-A "nonsense" has no colon/],
    ["a threshold of nothing", ["--threshold", "speed:max<1", "http://h/"], /"speed" is not a measure; expected one of latency/],
    ["a rate of nothing", ["--rate", "0", "http://h/"], /"0" is not a rate; expected a number per second such as 500/],
  ]) {
    test(name, async () => {
      const { code, stdout, stderr } = await plimsoll("ab", ...args);
      assert.deepEqual([code, stdout], [2, ""]);
      assert.match(stderr, words);
    });
  }

  test("a file that cannot be written is found before the run", async (t) => {
    const { url, seen } = await counting(t);
    const cwd = folderOf(t, { file: "" });
    const { code, stderr } = await plimsollIn({ cwd }, "ab", "-n", "5", "-e", "file/e.csv", url);
    assert.equal(code, 1);
    assert.match(stderr, /write the result to file\/e\.csv/);
    assert.equal(seen.requests, 0);
    assert.equal(existsSync(join(cwd, "file/e.csv")), false);
  });
});
