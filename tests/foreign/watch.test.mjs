// `--watch`: what the target of a load used, by processes, groups and pages whose cost is known.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { connect, createServer as createTcpServer } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { describe, test } from "node:test";
import { within } from "./support/deadline.mjs";
import { plimsoll, startPlimsoll } from "./support/plimsoll.mjs";
import { eventually } from "./support/processes.mjs";
import { folderOf } from "./support/scripts.mjs";

/** One request, which the test answers when it has seen what it wants to see. */
const SCRIPT = `
import http from "k6/http";
export const options = { vus: 1, iterations: 1 };
export default () => { http.get(__ENV.URL + "/load", { timeout: "80s" }); };
`;

/** An HTTP server that does this with each request: its URL. */
async function listen(t, answer) {
  const server = createServer(answer);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${server.address().port}`;
}

/**
 * Runs a script with these flags of `--watch`; `during` goes on while the load does, and its end is the load's:
 * `{ code, stderr, report }`.
 */
async function runWith(t, targets, during) {
  let began;
  const load = new Promise((resolve) => (began = resolve));
  const url = await listen(t, (_request, response) => began(response));
  const script = join(folderOf(t, { "load.js": SCRIPT }), "load.js");
  const flags = targets.flatMap((target) => ["--watch", target]);
  const child = startPlimsoll("run", "--format", "json", "-e", `URL=${url}`, ...flags, script);
  const [stdout, stderr] = [child.stdout, child.stderr].map(collect);
  const response = await within(Promise.race([load, child.exited]), "the load");
  if (response.end) {
    await during();
    response.end();
  }
  const { code } = await within(child.exited, "the end of the run", 60_000);
  const text = await stdout;
  return { code, stderr: await stderr, report: text.trim() === "" ? null : JSON.parse(text) };
}

async function collect(stream) {
  stream.setEncoding("utf8");
  let all = "";
  for await (const chunk of stream) all += chunk;
  return all;
}

/** A process that does what it is told: `{ pid, tell(word) → its answer, end() }`. */
function puppet(t) {
  const program = `
    const lines = require("node:readline").createInterface({ input: process.stdin });
    const kept = [];
    lines.on("line", (word) => {
      if (word === "work") {
        for (const until = Date.now() + 1500; Date.now() < until; ) ;
        kept.push(Buffer.alloc(64 << 20, 1));
      }
      const { user, system } = process.cpuUsage();
      console.log(JSON.stringify({ cpu: (user + system) / 1e6, rss: process.memoryUsage.rss() }));
    });`;
  const child = spawn(process.execPath, ["-e", program], { stdio: ["pipe", "pipe", "inherit"] });
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const gone = once(child, "exit");
  t.after(() => child.kill("SIGKILL"));
  return {
    pid: child.pid,
    async tell(word) {
      child.stdin.write(`${word}\n`);
      const { value } = await within(answers.next(), `the answer to ${word}`);
      return JSON.parse(value);
    },
    async end() {
      child.kill("SIGKILL");
      await within(gone, "the end of a process");
    },
  };
}

/** Asserts that two numbers differ by at most 5 %. */
function near(found, expected, what) {
  assert.ok(Math.abs(found - expected) <= 0.05 * expected, `${what}: ${found} instead of ${expected}`);
}

const last = (series) => series.filter((value) => value !== null).at(-1);

describe("processes", () => {
  test("their CPU time and memory are what they say themselves", async (t) => {
    const target = puppet(t);
    const before = await target.tell("rest");
    let after;
    const { code, report, stderr } = await runWith(t, [`worker=${target.pid}`], async () => {
      after = await target.tell("work");
    });
    assert.equal(code, 0, stderr);
    const [worker] = report.targets;
    assert.deepEqual([worker.name, worker.what, worker.ended], ["worker", `process ${target.pid}`, null]);
    near(worker.cpu_seconds, after.cpu - before.cpu, "CPU");
    near(last(worker.series.rss_bytes), after.rss, "RSS");
    assert.ok(worker.rss_max_bytes >= 64 << 20 && worker.pss_max_bytes <= worker.rss_max_bytes);
    assert.ok(worker.threads_max > 1 && worker.open_files_max > 2 && worker.processes_max === 1);
    assert.ok(worker.sampling_cpu_seconds > 0);
  });

  test("one that dies ends no run, and what it did until then is kept", async (t) => {
    const [dies, lives] = [puppet(t), puppet(t)];
    await Promise.all([dies.tell("rest"), lives.tell("rest")]);
    const { code, report, stderr } = await runWith(t, [`dies=${dies.pid}`, `${lives.pid}`], () => dies.end());
    assert.equal(code, 0, stderr);
    const [dead, alive] = report.targets;
    assert.equal(dead.ended.reason, `process ${dies.pid} is gone`);
    assert.ok(dead.ended.seconds >= 0 && alive.ended === null && alive.rss_max_bytes > 0);
    assert.equal(report.iterations.complete, 1);
    assert.match(stderr, /the watch target dies \(process \d+\) ended after/);
  });

  test("a port leads to those who listen on it", async (t) => {
    const server = createTcpServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    t.after(() => server.close());
    const { code, report, stderr } = await runWith(t, [`:${server.address().port}`], () => {});
    assert.equal(code, 0, stderr);
    assert.equal(report.targets[0].what, `port ${server.address().port}`);
    assert.ok(report.targets[0].rss_max_bytes > 1_000_000);
  });
});

describe("how much comes with each user", () => {
  /** A server of its own process that keeps 8 MiB for each client: `{ pid, url }`. */
  async function hoarder(t) {
    const program = `
      const kept = [];
      const server = require("node:http").createServer((request, response) => {
        kept.push(Buffer.alloc(8 << 20, 1));
        response.end();
      });
      server.listen(0, "127.0.0.1", () => console.log(server.address().port));`;
    const child = spawn(process.execPath, ["-e", program], { stdio: ["ignore", "pipe", "inherit"] });
    t.after(() => child.kill("SIGKILL"));
    const [port] = await within(once(createInterface({ input: child.stdout }), "line"), "a server");
    return { pid: child.pid, url: `http://127.0.0.1:${port}` };
  }

  const script = (stages) => `
    import http from "k6/http";
    import { sleep } from "k6";
    export const options = { scenarios: { all: {
      executor: "ramping-vus", stages: ${JSON.stringify(stages)}, gracefulStop: "0s", gracefulRampDown: "0s",
    } } };
    export default () => { http.get(__ENV.URL); sleep(60); };`;

  test("is a line through the loads that were held, although memory stays when users leave", async (t) => {
    const { pid, url } = await hoarder(t);
    const held = [4, 8, 12, 16].flatMap((target) => [{ duration: "0s", target }, { duration: "4s", target }]);
    const stages = [...held, { duration: "0s", target: 2 }, { duration: "3s", target: 2 }];
    const file = join(folderOf(t, { "load.js": script(stages) }), "load.js");
    const words = ["run", "--format", "json", "-e", `URL=${url}`, "--watch", String(pid), file];
    const { code, stdout, stderr } = await plimsoll(...words);
    assert.equal(code, 0, stderr);
    const [{ rss_per_user: memory, no_rss_per_user, rss_per_user_bytes }] = JSON.parse(stdout).targets;
    assert.ok(memory, no_rss_per_user);
    const per_user = 8 << 20;
    assert.ok(memory.low < per_user * 1.1 && memory.high > per_user * 0.9, JSON.stringify(memory));
    assert.ok(Math.abs(memory.bytes - per_user) < 0.2 * per_user, JSON.stringify(memory));
    assert.deepEqual([memory.plateaus, rss_per_user_bytes], [4, Math.round(memory.bytes)]);
  });

  test("is not said of a load that stays the same", async (t) => {
    const { pid, url } = await hoarder(t);
    const file = join(folderOf(t, { "load.js": script([{ duration: "0s", target: 3 }, { duration: "1s", target: 3 }]) }), "load.js");
    const { stdout } = await plimsoll("run", "-e", `URL=${url}`, "--watch", `hoarder=${pid}`, file);
    assert.match(stdout, /target\.+: hoarder \(process \d+\), CPU .*, RSS up to .*, PSS up to /);
    assert.match(stdout, /- no RSS per user: it needs 3 rising numbers of users that are held/);
  });
});

describe("a target that is not there ends the command before any load", () => {
  /** A port that is in use without a listener: the port of a client. */
  async function silentPort(t) {
    const server = createTcpServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const client = connect(server.address().port, "127.0.0.1");
    await once(client, "connect");
    t.after(() => {
      client.destroy();
      server.close();
    });
    return client.localPort;
  }

  const artillery = (url) => ({
    config: { target: url, phases: [{ duration: 1, arrivalCount: 1 }] },
    scenarios: [{ flow: [{ get: { url: "/" } }] }],
  });
  const wsdirector = [{ client: { actions: [{ send: { data: "hi" } }] } }];
  for (const [name, files, command] of [
    ["run, a script", { "load.js": SCRIPT }, (url) => ["run", "-e", `URL=${url}`, "load.js"]],
    ["run, a file of Artillery's", { "load.json": artillery }, () => ["run", "load.json"]],
    ["run, a file of wsdirector's", { "load.json": () => wsdirector }, (url) => ["run", "load.json", "-u", `${url.slice(7)}/`]],
    ["quick", {}, (url) => ["quick", url]],
    ["demo", {}, () => ["demo", "--users", "1", "--time", "1"]],
    ["bench http", {}, (url) => ["bench", "http", "-n", "1", `${url}/`]],
    ["bench connect", {}, (url) => ["bench", "connect", `${url.replace("http", "ws")}/`]],
    ["bench echo", {}, (url) => ["bench", "echo", "--server-type", "echo", `${url.replace("http", "ws")}/`]],
    ["bench broadcast", {}, (url) => ["bench", "broadcast", `${url.replace("http", "ws")}/`]],
  ]) {
    test(name, async (t) => {
      let n_requests = 0;
      const url = await listen(t, (_request, response) => {
        n_requests++;
        response.end();
      });
      const texts = Object.entries(files).map(([file, text]) => [
        file,
        typeof text === "string" ? text : JSON.stringify(text(url)),
      ]);
      const folder = folderOf(t, Object.fromEntries(texts));
      const words = command(url).map((word) => (word in files ? join(folder, word) : word));
      const port = await silentPort(t);
      const { code, stderr } = await plimsoll(...words, "--watch", `:${port}`);
      assert.equal(code, 1, stderr);
      assert.match(stderr, new RegExp(`--watch port ${port}: no process listens on port ${port} of this machine`));
      assert.equal(n_requests, 0);
    });
  }

  test("what is no target at all is wrong usage", async () => {
    const { code, stderr } = await plimsoll("run", "--watch", "puma", "load.js");
    assert.equal(code, 2);
    assert.match(stderr, /`puma` is not a watch target; expected a process id such as `1234`/);
  });
});

describe("pages of metrics", () => {
  /** Serves this body, which may depend on how often it was asked for: `{ url, n() }`. */
  async function page(t, answer) {
    let n = 0;
    const url = await listen(t, (request, response) => answer(response, ++n, request));
    return { url: `${url}/metrics`, n: () => n };
  }

  test("gauges, counters and means are followed, and those that people name", async (t) => {
    const { url, n } = await page(t, (response, n) =>
      response.end(
        `# TYPE jobs_total counter\njobs_total{queue="a"} ${n * 10}\n# TYPE busy gauge\nbusy ${n}\n` +
          `# TYPE wait histogram\nwait_bucket{le="+Inf"} ${n}\nwait_sum ${n * 3}\nwait_count ${n}\n` +
          `process_resident_memory_bytes 5e7\n`,
      ),
    );
    const targets = [`all=${url}`, `some=${url}#jobs*,wait`];
    // Both are found, asked before the load, and then each second.
    const { code, report, stderr } = await runWith(t, targets, () => eventually(() => n() >= 8, "eight looks"));
    assert.equal(code, 0, stderr);
    const [all, some] = report.targets;
    assert.deepEqual(Object.keys(all.series), ["busy", "mean(wait)", 'rate(jobs_total{queue="a"})', "rss_bytes"]);
    assert.deepEqual(Object.keys(some.series), ["mean(wait)", 'rate(jobs_total{queue="a"})']);
    assert.equal(all.rss_max_bytes, 50_000_000);
    assert.equal(last(some.series["mean(wait)"]), 3);
    assert.ok(last(some.series['rate(jobs_total{queue="a"})']) > 0);
    assert.equal(some.what, `metrics ${url}`);
  });

  test("one that does not come for a while leaves a gap, and one that stays away has ended", async (t) => {
    const gap = await page(t, (response, n) => (n === 3 ? response.writeHead(500).end() : response.end(`a ${n}\n`)));
    const gone = await page(t, (response, n, request) => (n > 2 ? request.socket.destroy() : response.end("a 1\n")));
    const { code, report, stderr } = await runWith(t, [`gap=${gap.url}`, `gone=${gone.url}`], () =>
      eventually(() => gap.n() >= 4 && gone.n() >= 5, "pages that were asked for"),
    );
    assert.equal(code, 0, stderr);
    const [first, second] = report.targets;
    assert.deepEqual([first.missed, first.ended], [1, null]);
    assert.ok(second.missed >= 3);
    assert.match(second.ended.reason, /no metrics from http:.*EOF/);
  });

  for (const [name, answer, words] of [
    ["404", (response) => response.writeHead(404).end("a 1\n"), /it answered 404 Not Found/],
    ["a web page", (response) => response.end("<!doctype html>\n"), /line 1 is not a sample: `<!doctype html>`/],
    ["bytes", (response) => response.end(Buffer.from([0xff, 0xfe, 0, 10])), /it is not UTF-8 text/],
    ["nothing", (response) => response.end(), /it has no samples/],
    ["no end", endless, /larger than 8388608 bytes|request timeout/],
    ["no answer", () => {}, /request timeout/],
    ["other metrics", (response) => response.end("a 1\n"), /it has no metric named nothing_like_it/],
  ]) {
    test(`${name} is said before the load`, async (t) => {
      const { url } = await page(t, answer);
      const target = name === "other metrics" ? `${url}#nothing_like_it` : url;
      const { code, report, stderr } = await runWith(t, [target], () => assert.fail("the load began"));
      assert.deepEqual([code, report], [1, null]);
      assert.match(stderr, words);
      assert.match(stderr, /^error: --watch metrics http:/m);
    });
  }

  function endless(response) {
    const chunk = "a 1\n".repeat(16_384);
    const more = () => {
      while (!response.destroyed && response.write(chunk));
    };
    response.on("drain", more);
    more();
  }
});

describe("control groups", () => {
  const FILES = {
    "cgroup.controllers": "cpu memory pids\n",
    "cgroup.procs": "1\n",
    "cgroup.events": "populated 1\nfrozen 0\n",
    "cpu.stat": "usage_usec 1000000\nuser_usec 700000\nsystem_usec 300000\n",
    "memory.current": "90000000\n",
    "memory.stat": "anon 40000000\nfile 30000000\nfile_mapped 5000000\n",
    "pids.current": "12\n",
  };

  test("their CPU time, memory and threads are what the kernel says", async (t) => {
    const folder = folderOf(t, FILES);
    const { code, report, stderr } = await runWith(t, [`db=cgroup:${folder}`], () => {
      writeFileSync(join(folder, "cpu.stat"), "usage_usec 3500000\n");
      writeFileSync(join(folder, "memory.stat"), "anon 60000000\nfile_mapped 5000000\n");
    });
    assert.equal(code, 0, stderr);
    const [db] = report.targets;
    assert.equal(db.what, `cgroup ${folder}`);
    assert.deepEqual([db.cpu_seconds, db.rss_max_bytes, db.threads_max], [2.5, 65_000_000, 12]);
    assert.equal(last(db.series.memory_current_bytes), 90_000_000);
    assert.deepEqual([db.pss_max_bytes, db.open_files_max], [null, null]);
  });

  test("one that goes away has ended", async (t) => {
    const folder = join(folderOf(t, {}), "group");
    mkdirSync(folder);
    for (const [name, text] of Object.entries(FILES)) writeFileSync(join(folder, name), text);
    const { code, report } = await runWith(t, [`cgroup:${folder}`], () => rmSync(folder, { recursive: true }));
    assert.deepEqual([code, report.targets[0].ended.reason], [0, "the control group is gone"]);
    assert.equal(report.targets[0].name, "group");
  });

  test("what is no group is said before the load", async (t) => {
    for (const [target, words] of [
      [folderOf(t, {}), /is not a control group of cgroup v2: it has no file cgroup\.procs/],
      ["no/such/group", /there is no control group .*no\/such\/group|this machine has no cgroup v2/],
    ]) {
      const { code, stderr } = await runWith(t, [`cgroup:${target}`], () => assert.fail("the load began"));
      assert.equal(code, 1);
      assert.match(stderr, words);
    }
  });
});

test("the demo watches its own server beside what it is told to", async () => {
  const { code, stdout, stderr } = await plimsoll(
    ...["demo", "--users", "5", "--time", "2", "--format", "json", "--watch", `node=${process.pid}`],
  );
  assert.equal(code, 0, stderr);
  const { targets } = JSON.parse(stdout);
  assert.deepEqual(targets.map(({ name }) => name), ["server", "node"]);
  assert.ok(targets.every(({ cpu_seconds, rss_max_bytes }) => cpu_seconds > 0 && rss_max_bytes > 1_000_000));
});

test("bench says what all targets used", async (t) => {
  const url = await listen(t, (_request, response) => response.end("hello"));
  const flags = ["--watch", `node=${process.pid}`, "--watch", `again=${process.pid}`];
  const json = await plimsoll("bench", "http", "-n", "50", "-f", "json", ...flags, `${url}/`);
  const { targets, watch } = JSON.parse(json.stdout);
  assert.deepEqual(targets.map(({ name }) => name), ["node", "again"]);
  assert.ok(watch.rss_bytes > 1_000_000);
  const { stdout } = await plimsoll("bench", "http", "-n", "50", ...flags, `${url}/`);
  assert.match(stdout, /target\.+: again \(process \d+\), CPU .*, RSS up to /);
});
