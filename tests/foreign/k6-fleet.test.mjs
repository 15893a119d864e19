// What a fleet of k6 needs, beside the real k6: segments of a test, archives, proxies, variables of the environment, and
// the program under the name `k6`.

import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { before, describe, test } from "node:test";
import { WebSocketServer } from "ws";
import { buildK6, k6In } from "./support/k6.mjs";
import { ENVIRONMENT, PROGRAM, plimsollIn } from "./support/plimsoll.mjs";
import { folderOf } from "./support/scripts.mjs";

before(() => buildK6());

/** The metrics of an exported summary. k6 1.8.1 writes none when an instance had no iteration and sent nothing. */
function exported(cwd) {
  const path = join(cwd, "exported.json");
  return existsSync(path) ? JSON.parse(readFileSync(path, "utf8")).metrics : {};
}

/** Runs a script under one of the two: `{ code, stdout, stderr, metrics }`. */
async function run(runIn, cwd, ...args) {
  const flags = ["run", "--quiet", "--no-color", "--summary-export", "exported.json"];
  if (runIn === plimsollIn) flags.push("--fail-on-errors=never");
  const outcome = await runIn({ cwd }, ...flags, ...args);
  return { ...outcome, metrics: exported(cwd) };
}

describe("execution segments", () => {
  const SCRIPT = `
import exec from "k6/execution";
import { Counter } from "k6/metrics";
const seen = new Counter("seen");
export const options = { scenarios: { a: SCENARIO } };
export default function () {
  seen.add(1);
  console.log("AT " + exec.scenario.iterationInTest + " VU " + exec.vu.idInTest + " OF " + __VU);
}
`;
  const SEQUENCE = "0,1/4,1/2,1";
  const SEGMENTS = ["0:1/4", "1/4:1/2", "1/2:1"];

  /** The iterations' numbers in the whole test, sorted; and the pairs of users' numbers, sorted. */
  const numbers = (text) => {
    const found = [...text.matchAll(/AT (\d+) VU (\d+) OF (\d+)/g)];
    const sorted = (values) => [...new Set(values)].sort((a, b) => a - b || String(a).localeCompare(String(b)));
    return { iterations: found.map(([, at]) => Number(at)).sort((a, b) => a - b), vus: sorted(found.map(([, , id]) => Number(id))) };
  };

  for (const [scenario, isTimed] of [
    [{ executor: "shared-iterations", vus: 5, iterations: 23 }],
    [{ executor: "shared-iterations", vus: 2, iterations: 20 }],
    [{ executor: "per-vu-iterations", vus: 3, iterations: 4 }],
    [{ executor: "per-vu-iterations", vus: 1, iterations: 2 }],
    // The last start is 150 ms before the end, because neither tool starts what is due when its time is over.
    [{ executor: "constant-arrival-rate", rate: 5, duration: "3950ms", preAllocatedVUs: 42, maxVUs: 42 }],
    [{ executor: "constant-arrival-rate", rate: 4, duration: "1900ms", preAllocatedVUs: 31, maxVUs: 31 }],
    [{ executor: "ramping-arrival-rate", startRate: 2, stages: [{ duration: "2s", target: 20 }], preAllocatedVUs: 42, maxVUs: 42 }, true],
  ]) {
    test(`${JSON.stringify(scenario)}: each instance makes k6's part`, async (t) => {
      const script = SCRIPT.replace("SCENARIO", JSON.stringify(scenario));
      const all = [];
      await Promise.all(
        SEGMENTS.map(async (segment) => {
          const args = ["--execution-segment", segment, "--execution-segment-sequence", SEQUENCE, "a.js"];
          const [own, real] = await Promise.all(
            [plimsollIn, k6In].map((runIn) => run(runIn, folderOf(t, { "a.js": script }), ...args)),
          );
          assert.deepEqual([own.code, real.code], [0, 0], own.stderr + real.stderr);
          const count = ({ metrics }) => metrics.seen?.count ?? 0;
          const [mine, theirs] = [numbers(own.stderr), numbers(real.stderr)];
          all.push(...mine.iterations);
          // k6 starts a ramp's last iteration or not, by rounding.
          if (isTimed) return assert.ok(Math.abs(count(own) - count(real)) <= 1, `${segment}: ${count(own)} and ${count(real)}`);
          assert.equal(count(own), count(real), segment);
          assert.deepEqual(mine.iterations, theirs.iterations, segment);
          if (!scenario.executor.includes("arrival") && !scenario.executor.startsWith("shared")) assert.deepEqual(mine.vus, theirs.vus, segment);
        }),
      );
      // Together they are the whole. k6's numbers of iterations that each user has for itself have gaps.
      if (!scenario.executor.startsWith("per-vu")) assert.deepEqual(all.sort((a, b) => a - b), all.map((_, at) => at));
    });
  }

  test("users of ramps and constant users are k6's", async (t) => {
    const scenarios = {
      constant: { executor: "constant-vus", vus: 5, duration: "1s", gracefulStop: "0s" },
      ramp: { executor: "ramping-vus", startVUs: 1, stages: [{ duration: "1s", target: 9 }, { duration: "1s", target: 9 }], gracefulStop: "0s", startTime: "1s" },
    };
    const script = `import { sleep } from "k6"; export const options = { scenarios: ${JSON.stringify(scenarios)} }; export default () => sleep(0.1);`;
    await Promise.all(
      SEGMENTS.map(async (segment) => {
        const args = ["--execution-segment", segment, "--execution-segment-sequence", SEQUENCE, "a.js"];
        const [own, real] = await Promise.all(
          [plimsollIn, k6In].map((runIn) => run(runIn, folderOf(t, { "a.js": script }), ...args)),
        );
        assert.deepEqual([own.code, real.code], [0, 0], own.stderr + real.stderr);
        assert.equal(own.metrics.vus_max.value, real.metrics.vus_max.value, segment);
      }),
    );
  });

  for (const [flags, words] of [
    [["--execution-segment", "1/2:1/4"], /--execution-segment: expected a part of the whole/],
    [["--execution-segment", "0:1/2", "--execution-segment-sequence", "0,1/3,1"], /is not one of the sequence/],
    [["--execution-segment-sequence", "0,1/3,1"], /needs the segment of this instance/],
  ]) {
    test(`${flags.join(" ")} is refused by both`, async (t) => {
      const script = "export default () => {};";
      const own = await plimsollIn({ cwd: folderOf(t, { "a.js": script }) }, "run", ...flags, "a.js");
      const real = await k6In({ cwd: folderOf(t, { "a.js": script }) }, "run", ...flags, "a.js");
      assert.equal(own.code, 104, own.stderr);
      assert.notEqual(real.code, 0);
      assert.match(own.stderr, words);
    });
  }
});

describe("archives", () => {
  /** A folder with a script, its modules and its data. */
  const folder = (t) => {
    const cwd = folderOf(t, {});
    mkdirSync(join(cwd, "lib"));
    for (const [name, text] of Object.entries(FILES)) writeFileSync(join(cwd, name), text);
    return cwd;
  };
  const FILES = {
    "a.js": `
import { hi } from "./lib/b.js";
const data = open("./data.csv");
const bin = open("lib/../data.bin", "b");
export const options = { vus: 2, iterations: 6, tags: { team: "chat" }, thresholds: { checks: ["rate==1"] } };
export default function () {
  console.log("SAID " + [hi(), data.trim(), bin.byteLength, __ENV.WORD].join(" "));
}
`,
    "lib/b.js": 'import { name } from "./c.js";\nexport const hi = () => "hi " + name;\n',
    "lib/c.js": 'export const name = "ü";\n',
    "data.csv": "x,y\n",
    "data.bin": "\u0000\u0001\u0002",
  };
  const SAID = "SAID hi ü x,y 3 w";

  for (const [makes, maker] of [
    ["k6", k6In],
    ["plimsoll", plimsollIn],
  ]) {
    test(`an archive of ${makes} runs in both, without the files`, async (t) => {
      const from = folder(t);
      const made = await maker({ cwd: from }, "archive", "-e", "WORD=w", "--vus", "3", "-O", "x.tar", "a.js");
      assert.equal(made.code, 0, made.stderr);
      const list = execFileSync("tar", ["-tf", join(from, "x.tar")], { encoding: "utf8" }).trim().split("\n");
      const names = list.map((name) => name.replace(/\/$/, "").replace(`file${from}/`, "")).filter((name) => !name.startsWith("file"));
      assert.deepEqual(names.sort(), ["a.js", "data", "data.bin", "data.csv", "lib", "lib/b.js", "lib/c.js", "metadata.json"]);
      for (const runIn of [plimsollIn, k6In]) {
        const cwd = folderOf(t, { "x.tar": "" });
        writeFileSync(join(cwd, "x.tar"), readFileSync(join(from, "x.tar")));
        const { code, stderr, metrics } = await run(runIn, cwd, "x.tar");
        assert.equal(code, 0, stderr);
        assert.equal(metrics.iterations.count, 6);
        // k6 takes samples of users once a second, which a short run may miss.
        assert.equal(metrics.vus_max?.value ?? 3, 3);
        assert.equal(stderr.match(/SAID [^"\n]*/g).length, 6, stderr);
        assert.ok(stderr.includes(SAID), stderr);
        // The command line is above the archive.
        const more = await run(runIn, cwd, "-i", "3", "-e", "WORD=v", "x.tar");
        assert.deepEqual([more.metrics.iterations.count, more.stderr.includes("3 v")], [3, true], more.stderr);
      }
    });
  }

  test("inspect says the same of an archive as k6", async (t) => {
    const cwd = folder(t);
    await plimsollIn({ cwd }, "archive", "-O", "x.tar", "a.js");
    const [own, real] = [await plimsollIn({ cwd }, "inspect", "x.tar"), await k6In({ cwd }, "inspect", "x.tar")];
    assert.deepEqual([own.code, real.code], [0, 0], own.stderr + real.stderr);
    const set = (value) => (value && typeof value === "object" && !Array.isArray(value) ? Object.fromEntries(Object.entries(value).map(([key, one]) => [key, set(one)]).filter(([, one]) => one !== null && JSON.stringify(one) !== "{}")) : value);
    const { systemTags: _, summaryTrendStats: __, ...theirs } = set(JSON.parse(real.stdout));
    const { systemTags: ___, summaryTrendStats: ____, ...ours } = set(JSON.parse(own.stdout));
    assert.deepEqual(ours, theirs);
  });

  for (const [name, bytes, words] of [
    ["damaged", (tar) => Buffer.concat([tar.subarray(0, 3000), Buffer.from("x"), tar.subarray(3001)]), /cannot use the archive x\.tar: /],
    ["broken off", (tar) => tar.subarray(0, 1500), /cannot use the archive x\.tar: the tar file ends within/],
  ]) {
    test(`an archive that is ${name} is refused`, async (t) => {
      const cwd = folder(t);
      await plimsollIn({ cwd }, "archive", "-O", "x.tar", "a.js");
      writeFileSync(join(cwd, "x.tar"), bytes(readFileSync(join(cwd, "x.tar"))));
      const { code, stderr } = await plimsollIn({ cwd }, "run", "x.tar");
      assert.notEqual(code, 0);
      assert.match(stderr, name === "damaged" ? /error: / : words);
    });
  }

  test("a script that is no archive is told from one", async (t) => {
    const cwd = folder(t);
    const { code, stderr } = await plimsollIn({ cwd }, "run", "--type", "archive", "a.js");
    assert.equal(code, 255, stderr);
    assert.match(stderr, /--type archive expects a tar file/);
  });
});

describe("proxies", () => {
  /** A proxy that answers requests itself and passes tunnels on: `{ url, seen }`. */
  async function proxy(t, port) {
    const seen = [];
    const note = ({ method, url, headers }) => seen.push([method, url, headers["proxy-authorization"] ?? null]);
    const server = createServer((request, response) => {
      note(request);
      response.end("from the proxy");
    });
    server.on("connect", (request, socket) => {
      note(request);
      socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
      const through = connect(port, "127.0.0.1");
      for (const [one, other] of [[socket, through], [through, socket]]) {
        one.on("error", () => {});
        one.on("close", () => other.destroy());
      }
      socket.pipe(through).pipe(socket);
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    t.after(() => (server.closeAllConnections(), server.close()));
    return { url: `http://u:p@127.0.0.1:${server.address().port}`, seen };
  }

  test("requests and WebSockets of scripts go through those that the environment names", async (t) => {
    const sockets = new WebSocketServer({ port: 0, host: "127.0.0.1" });
    sockets.on("connection", (client) => client.on("message", (text) => client.send(String(text))));
    await once(sockets, "listening");
    t.after(() => sockets.close());
    const script = `
import http from "k6/http";
import ws from "k6/ws";
import { check } from "k6";
export default function () {
  check(http.get("http://app.test:81/x?y"), { "from the proxy": (r) => r.body === "from the proxy" });
  check(http.get("http://spared.test/"), { "directly": (r) => r.status === 0 });
  let echoed;
  ws.connect("ws://app.test/", (socket) => {
    socket.on("open", () => socket.send("hi"));
    socket.on("message", (text) => { echoed = text; socket.close(); });
  });
  check(echoed, { "echoed": (text) => text === "hi" });
}
`;
    const seen = [];
    for (const runIn of [plimsollIn, k6In]) {
      const there = await proxy(t, sockets.address().port);
      const cwd = folderOf(t, { "a.js": script });
      const env = { HTTP_PROXY: there.url, NO_PROXY: "spared.test" };
      const { code, stderr } = await runIn({ cwd, env }, "run", "--quiet", "--summary-export", "exported.json", "a.js");
      assert.equal(code, 0, stderr);
      assert.deepEqual([exported(cwd).checks.passes, exported(cwd).checks.fails], [3, 0], stderr);
      seen.push(there.seen);
    }
    assert.deepEqual(seen[0], seen[1]);
    assert.deepEqual(seen[0], [
      ["GET", "http://app.test:81/x?y", "Basic dTpw"],
      ["CONNECT", "app.test:80", "Basic dTpw"],
    ]);
  });

  test("a fetched module is asked for through the proxy", async (t) => {
    for (const runIn of [plimsollIn, k6In]) {
      const there = await proxy(t, 9);
      const cwd = folderOf(t, { "a.js": 'import "https://modules.test/x.js"; export default () => {};' });
      const env = { HTTPS_PROXY: there.url, XDG_CACHE_HOME: cwd };
      const { code } = await runIn({ cwd, env }, "run", "--quiet", "a.js");
      assert.notEqual(code, 0);
      assert.deepEqual(there.seen[0], ["CONNECT", "modules.test:443", "Basic dTpw"]);
    }
  });

  test("a proxy that cannot be used is named", async (t) => {
    const cwd = folderOf(t, { "a.js": "export default () => {};" });
    const env = { HTTPS_PROXY: "socks5://me:secret@h:1" };
    const { code, stderr } = await plimsollIn({ cwd, env }, "run", "a.js");
    assert.notEqual(code, 0);
    assert.match(stderr, /HTTPS_PROXY: "socks5:\/\/\*\*\*@h:1": proxies with the scheme socks5 are not supported/);
    assert.doesNotMatch(stderr, /secret/);
  });
});

describe("called as k6", () => {
  /** Runs a link with the name k6. */
  function k6Named(t, cwd, env, ...args) {
    const link = join(folderOf(t, {}), "k6");
    symlinkSync(PROGRAM, link);
    return new Promise((resolve) => {
      const done = (error, stdout, stderr) => resolve({ code: error ? error.code : 0, stdout, stderr });
      execFile(link, args, { cwd, env: { ...ENVIRONMENT, ...env }, timeout: 90_000 }, done);
    });
  }

  test("version, inspect, archive and new do what k6 does", async (t) => {
    const cwd = folderOf(t, { "a.js": "export const options = { vus: 3 }; export default () => {};" });
    const version = await k6Named(t, cwd, {}, "version");
    assert.deepEqual([version.code, /^k6 v1\.\d+\.\d+ \(plimsoll v/.test(version.stdout)], [0, true], version.stdout);
    const inspected = await k6Named(t, cwd, {}, "inspect", "--execution-requirements", "a.js");
    assert.deepEqual([inspected.code, JSON.parse(inspected.stdout).maxVUs], [0, 3], inspected.stderr);
    assert.equal((await k6Named(t, cwd, {}, "archive", "-O", "x.tar", "a.js")).code, 0);
    assert.equal((await k6Named(t, cwd, {}, "new", "script.js")).code, 0);
    assert.match(readFileSync(join(cwd, "script.js"), "utf8"), /export default function/);
  });

  test("run ends as k6 does, although every request failed", async (t) => {
    const cwd = folderOf(t, {
      "a.js": 'import http from "k6/http"; export const options = { iterations: 3 }; export default () => { http.get("http://127.0.0.1:9/"); };',
    });
    const own = await k6Named(t, cwd, {}, "run", "--quiet", "a.js");
    const real = await k6In({ cwd }, "run", "--quiet", "a.js");
    assert.deepEqual([own.code, real.code], [0, 0], own.stderr);
  });

  test("what is not there is named", async (t) => {
    const cwd = folderOf(t, {});
    for (const [command, words] of [
      ["cloud", /k6's command `cloud` is not supported: there is no cloud service/],
      ["serve", /unknown command "serve" for "k6"/],
    ]) {
      const { code, stderr } = await k6Named(t, cwd, {}, command);
      assert.notEqual(code, 0);
      assert.match(stderr, words);
    }
  });

  test("the variables of all options are k6's", async (t) => {
    const script = `
import exec from "k6/execution";
export default () => console.log("OPTIONS " + JSON.stringify(exec.test.options));
`;
    const env = {
      K6_VUS: "2", K6_ITERATIONS: "2", K6_NO_SETUP: "true", K6_BATCH: "7", K6_BATCH_PER_HOST: "3", K6_RPS: "50",
      K6_USER_AGENT: "me", K6_MAX_REDIRECTS: "4", K6_THROW: "true", K6_INSECURE_SKIP_TLS_VERIFY: "true",
      K6_DISCARD_RESPONSE_BODIES: "true", K6_NO_CONNECTION_REUSE: "true", K6_NO_VU_CONNECTION_REUSE: "true",
      K6_MIN_ITERATION_DURATION: "1ms", K6_BLACKLIST_IPS: "10.0.0.0/8", K6_BLOCK_HOSTNAMES: "*.evil.test",
      K6_SUMMARY_TREND_STATS: "avg,p(99)", K6_SUMMARY_TIME_UNIT: "ms", K6_SYSTEM_TAGS: "url,status",
      K6_EXECUTION_SEGMENT: "0:1/2", K6_EXECUTION_SEGMENT_SEQUENCE: "0,1/2,1", K6_SETUP_TIMEOUT: "5s", K6_TEARDOWN_TIMEOUT: "6s",
      K6_TAGS: "team:chat,stage:test",
    };
    const options = async (runIn) => {
      const cwd = folderOf(t, { "a.js": script });
      const { code, stderr, stdout } = await runIn({ cwd, env }, "run", "--quiet", "--log-output=stdout", "--log-format=raw", "--no-summary", "a.js");
      assert.equal(code, 0, stderr + stdout);
      return JSON.parse(/OPTIONS (.*)/.exec(stdout)[1]);
    };
    const [own, real] = [await options(plimsollIn), await options(k6In)];
    for (const key of Object.keys(real)) {
      if (real[key] === null || key === "dns" || key === "scenarios") continue;
      const plain = (value) => (key === "systemTags" ? [...value].sort() : value);
      assert.deepEqual(plain(own[key]), plain(real[key]), key);
    }
  });
});
