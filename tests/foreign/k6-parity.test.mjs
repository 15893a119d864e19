// The same scripts under `plimsoll run` and the real k6, against the same server: same exit code, same metrics, same
// checks, same verdicts.

import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { buildK6, k6In } from "./support/k6.mjs";
import { startNtlmServer } from "./support/ntlm-server.mjs";
import { Server, plimsollIn } from "./support/plimsoll.mjs";
import { startScriptServer } from "./support/script-server.mjs";
import { folderOf } from "./support/scripts.mjs";
import { SCRIPTS, assertAlike, runBoth, samplesOf, shapeOf } from "./support/side-by-side.mjs";
import { subtleKeys } from "./support/subtle.mjs";

/** How far a counter may be from k6's where the clock decides how often something happens. */
const TIMED = 0.02;

before(() => buildK6());

/** One of `scripts/chat`, with what writes its figures to a file, and without what k6 would fetch. */
function chatScript(t, name) {
  const text = readFileSync(fileURLToPath(new URL(`scripts/chat/${name}`, import.meta.url)), "utf8");
  const local = "const randomIntBetween = (low, high) => low + Math.floor(Math.random() * (high - low + 1));";
  const parts = [text.replace(/^import { randomIntBetween }.*$/m, local), `export { handleSummary } from "${join(SCRIPTS, "data.js")}";\n`];
  return join(folderOf(t, { [name]: parts.join("\n") }), name);
}

/** `assertions.js`, with its library in a file beside it: k6 would fetch it. */
function scriptWithAssertions(t) {
  const library = new URL("../../crates/lab/script/src/source/jslib/k6-testing/", import.meta.url);
  const parts = ["values", "matchers", "message", "soft_fails", "expect"].map((name) => readFileSync(new URL(`${name}.js`, library), "utf8"));
  const text = readFileSync(join(SCRIPTS, "assertions.js"), "utf8");
  const local = text.replace(/https:.*k6-testing.*(?=")/, "./k6-testing/index.js").replace("./data.js", join(SCRIPTS, "data.js"));
  const folder = folderOf(t, { "assertions.js": local });
  mkdirSync(join(folder, "k6-testing"));
  writeFileSync(join(folder, "k6-testing/index.js"), parts.join("\n"));
  return join(folder, "assertions.js");
}

describe("plimsoll run and k6 agree about", () => {
  test("checks, groups, custom metrics and sub-metrics", async (t) => {
    const both = await runBoth(t, "checks.js");
    assert.equal(both[0].code, 0, both[0].stderr);
    assertAlike(both);
  });

  test("all executors", async (t) => {
    const both = await runBoth(t, "executors.js");
    assert.equal(both[0].code, 0, both[0].stderr);
    assertAlike(both, TIMED);
    const [ours, theirs] = both.map(({ data: { metrics } }) => [metrics.vus.type, metrics.vus_max]);
    assert.deepEqual(ours, theirs);
  });

  test("setup data, environment, shared arrays and k6/execution", async (t) => {
    const both = await runBoth(t, "lifecycle.js", { GIVEN: "yes" });
    assert.equal(both[0].code, 0, both[0].stderr);
    assert.equal(both[0].data.metrics.checks.values.fails, 0);
    assertAlike(both);
  });

  for (const [what, script] of [
    ["pages and selectors", "values-html.js"],
    ["digests and base64", "values-bytes.js"],
    ["certificates", "values-x509.js"],
    ["files and modules beside a module in another folder", "values-modules.js"],
    ["files in parts, records of files and streams", "values-files.js"],
    ["arguments of all kinds, shared arrays and the order of timers", "values-arguments.js"],
  ]) {
    test(what, async (t) => {
      const both = await runBoth(t, script);
      assert.equal(both[0].code, 0, both[0].stderr);
      assertAlike(both);
    });
  }

  test("methods of all kinds of elements", async (t) => {
    const server = await startScriptServer(t);
    const both = await runBoth(t, "values-elements.js", { BASE: server.http });
    assert.equal(both[0].code, 0, both[0].stderr);
    assertAlike(both);
  });

  test("keys, signatures, encryption and failures of crypto.subtle", async (t) => {
    const both = await runBoth(t, "values-subtle.js", { KEYS: await subtleKeys() });
    assert.equal(both[0].code, 0, both[0].stderr);
    assertAlike(both);
  });

  for (const [what, env] of Object.entries({
    "numbers": { VUS: "2", ITERATIONS: "6", BATCH: "3", TARGET: "1" },
    "empty texts": { VUS: "", ITERATIONS: "", BATCH: "", TARGET: "1" },
    "a number with a fraction": { VUS: "1.5" },
    "a stage without a target": { TARGET: "" },
  })) {
    test(`options from variables: ${what}`, async (t) => {
      const both = await runBoth(t, "text-options.js", env);
      assert.deepEqual(both.map(({ code }) => code), Array(2).fill(what.startsWith("a ") ? 104 : 0), both[0].stderr);
      assertAlike(both);
    });
  }

  test("samples that a script adds to the checks", async (t) => {
    const both = await runBoth(t, "added-checks.js");
    assert.deepEqual(both.map(({ code }) => code), [99, 99], both[0].stderr);
    assertAlike(both);
    for (const { stdout } of both) assert.match(stdout, /checks_failed\.*: 50\.00% +2 out of 4/);
  });

  test("secrets, and that no log shows them", async (t) => {
    const sources = ["mock=default,name=vault,token=verysecret", `file=name=notes,filename=${join(SCRIPTS, "secrets.txt")}`];
    const args = sources.flatMap((source) => ["--secret-source", source]);
    const both = await runBoth(t, "secrets.js", {}, args);
    assert.equal(both[0].code, 0, both[0].stderr);
    assert.equal(both[0].data.metrics.checks.values.fails, 0);
    assertAlike(both);
    for (const { stderr } of both) {
      assert.match(stderr, /the token is \*\*\*SECRET_REDACTED\*\*\* \{ password: \\?"\*\*\*SECRET_REDACTED\*\*\*\\?" \}/);
      assert.match(stderr, /no \*\*\*SECRET_REDACTED\*\*\* here/);
      assert.doesNotMatch(stderr, /verysecret|hunter2/);
    }
  });

  test("secrets of a server, which is asked once for each and again after an error that passes", async (t) => {
    const { port, asked } = await secretsServer(t);
    const settings = `urlTemplate=http://127.0.0.1:${port}/v1/{key},responsePath=data.value,headers.Authorization=Bearer abc`;
    const both = await runBoth(t, "secrets-url.js", {}, ["--secret-source", `url=default,name=vault,method=POST,${settings}`]);
    assert.equal(both[0].code, 0, both[0].stderr);
    assert.equal(both[0].data.metrics.checks.values.fails, 0, both[0].stderr);
    assertAlike(both);
    for (const { stderr } of both) assert.doesNotMatch(stderr, /verysecret|hunter2/);
    // A secret that was given is remembered; a refusal is not.
    const refused = ["POST /v1/nothing", "POST /v1/number"];
    const expected = ["POST /v1/token", "POST /v1/later", "POST /v1/later", ...refused, ...refused];
    assert.equal(asked.size, 2);
    for (const requests of asked.values()) assert.deepEqual(requests.toSorted(), expected.toSorted());
  });

  for (const [startVUs, ...stages] of [
    [1, ["1s", 10]],
    [1, ["1s", 5], ["0s", 10]],
    [5, ["1s", 5], ["0s", 2], ["1s", 10]],
    [10, ["0s", 2], ["1s", 2]],
    [0, ["1s", 5], ["0s", 20], ["0s", 3], ["1s", 3]],
  ]) {
    test(`how many users ${startVUs} and ${stages.map((stage) => stage.join(":"))} take`, async (t) => {
      const executor = { executor: "ramping-vus", startVUs, stages: stages.map(([duration, target]) => ({ duration, target })) };
      const options = JSON.stringify({ scenarios: { executor } });
      const cwd = folderOf(t, { "script.js": `export const options = ${options};\nexport default function () {}` });
      const both = await Promise.all(
        [plimsollIn, k6In].map((runIn) => runIn({ cwd }, "inspect", "--execution-requirements", "script.js")),
      );
      const [ours, theirs] = both.map(({ stdout }) => JSON.parse(stdout));
      assert.deepEqual([ours.maxVUs, ours.totalDuration], [theirs.maxVUs, theirs.totalDuration]);
    });
  }

  test("requests, redirects, cookies, batches and failures", async (t) => {
    const server = await startScriptServer(t);
    const both = await runBoth(t, "http.js", { BASE: server.http });
    assert.equal(both[0].code, 0, both[0].stderr);
    assert.equal(both[0].data.metrics.checks.values.fails, 0);
    assertAlike(both);
  });

  test("users who sign in with NTLM, and how many requests that takes", async (t) => {
    const both = await runBoth(t, "ntlm.js", { HOST: await startNtlmServer(t) }, ["--out", "json=samples.json"]);
    assert.equal(both[0].code, 0, both[0].stderr);
    assert.equal(both[0].data.metrics.checks.values.fails, 0, JSON.stringify(both[0].data.root_group));
    assertAlike(both);
    // k6 hides two characters too few of a user or password for each one that is escaped.
    const hidden = (samples) => Object.entries(samples).map(([name, count]) => [name.replaceAll(/\*{4}:\*{4}[^@]*@/g, "*@"), count]);
    const [ours, theirs] = both.map((outcome) => summed(hidden(samplesOf(outcome))));
    assert.deepEqual(ours, theirs);
    assert.equal(both[0].data.metrics.http_req_failed.values.passes, 46);
  });

  test("frames, pings, timers and refusals over k6/ws", async (t) => {
    const server = await startScriptServer(t);
    const both = await runBoth(t, "echo.js", { WS_BASE: server.ws });
    assert.equal(both[0].code, 0, both[0].stderr);
    // The order in which two users answer a check is not guaranteed.
    for (const { data } of both) data.root_group.checks.sort((one, other) => one.name.localeCompare(other.name));
    assert.equal(both[0].data.metrics.checks.values.fails, 0);
    assertAlike(both);
  });

  test("readers of a page", async (t) => {
    const server = await startScriptServer(t);
    const both = await runBoth(t, chatScript(t, "post.js"), { POST_URL: `${server.http}/post` }, ["-u", "5", "-i", "30"]);
    assert.equal(both[0].code, 0, both[0].stderr);
    assertAlike(both);
  });

  test("a visitor of a chat who speaks the cable's protocol by hand", async (t) => {
    // One chat for each, or each would hear the other; and no ping at the moment of the end.
    const env = await Promise.all(
      ["plimsoll", "k6"].map(async () => {
        const server = await Server.start("--app", "chat", "--ping_interval", "60");
        t.after(() => server.stop());
        return { WS_URL: server.ws("/cable"), WS_COOKIE: "uid=kay/1" };
      }),
    );
    const both = await runBoth(t, chatScript(t, "ws.js"), env);
    assert.equal(both[0].code, 0, both[0].stderr);
    assert.deepEqual(both[0].data.metrics.checks.values.passes, 3);
    assertAlike(both);
  });

  for (const [ending, code] of [
    ["of its own", 0],
    ["init throws", 107],
    ["init aborts", 108],
    ["setup throws", 107],
    ["setup fails", 107],
    ["setup takes too long", 100],
    ["setup aborts", 108],
    ["setup marks", 110],
    ["iterations throw", 0],
    ["iterations fail", 0],
    ["groups throw", 0],
    ["checks throw", 0],
    ["promises reject", 0],
    ["iterations abort", 108],
    ["iterations mark: it marks", 110],
    ["teardown throws", 107],
    ["teardown takes too long", 101],
    ["teardown aborts", 108],
    ["it marks, and teardown throws", 107],
  ]) {
    test(`the end when ${ending}: ${code}`, async (t) => {
      const both = await runBoth(t, "endings.js", { ENDING: ending });
      assert.equal(both[0].code, code, both[0].stderr);
      assertAlike(both);
    });
  }

  for (const [ending, code, n_after] of [
    ["no way", 0, 4],
    ["hard", 108, 1],
    ["soft", 110, 4],
    ["soft and thrown", 0, 3],
    ["in setup", 108, undefined],
  ]) {
    test(`assertions that fail: ${ending}: ${code}`, async (t) => {
      const both = await runBoth(t, ["assertions.js", scriptWithAssertions(t)], { ENDING: ending, K6_TESTING_COLORIZE: "false" });
      assert.equal(both[0].code, code, both[0].stderr);
      assertAlike(both);
      for (const { data, stderr } of both) {
        assert.equal(data.metrics.after?.values.count, n_after);
        const received = ending === "in setup" ? "ready" : "200";
        // k6 writes a message of several lines as one.
        const lines = stderr.replaceAll("\\n", "\n").replaceAll('\\"', '"');
        if (ending !== "no way") assert.match(lines, new RegExp(`Received: "?${received}"?$`, "m"));
      }
    });
  }

  for (const [ending, code] of [
    ["of its own", 99],
    ["iterations abort", 108],
    ["iterations mark: it marks", 110],
    ["teardown throws", 107],
  ]) {
    test(`the end when a threshold does not hold and ${ending}: ${code}`, async (t) => {
      const both = await runBoth(t, "endings.js", { ENDING: ending, THRESHOLD: "1" });
      assert.equal(both[0].code, code, both[0].stderr);
      assertAlike(both);
    });
  }

  for (const [name, delay, atLeast] of [
    ["at once", "0s", 0],
    ["after a delay", "3s", 3],
  ]) {
    test(`a threshold that ends the run ${name}: 99`, async (t) => {
      const both = await runBoth(t, "aborting.js", { DELAY: delay });
      assert.equal(both[0].code, 99, both[0].stderr);
      assert.deepEqual(shapeOf(both[0]), shapeOf(both[1]));
      for (const { data } of both) {
        const seconds = data.state.testRunDurationMs / 1000;
        assert.ok(seconds >= atLeast && seconds < atLeast + 5, `ended after ${seconds} s`);
      }
    });
  }
});

/** `[name, count]` as an object; counts of equal names are added. */
function summed(entries) {
  const sums = {};
  for (const [name, count] of entries) sums[name] = (sums[name] ?? 0) + count;
  return sums;
}

/** A server of secrets whose key `later` fails once for each program: `{ port, asked }`, with requests by user agent. */
async function secretsServer(t) {
  const asked = new Map();
  const secrets = { "/v1/token": "verysecret", "/v1/later": "hunter2", "/v1/number": 7 };
  const server = createServer(({ headers, method, url }, response) => {
    const program = headers["user-agent"] ?? "";
    const requests = asked.get(program) ?? [];
    const isFirst = !requests.includes(`${method} ${url}`);
    asked.set(program, [...requests, `${method} ${url}`]);
    if (headers.authorization !== "Bearer abc") return response.writeHead(401).end();
    if (url === "/v1/later" && isFirst) return response.writeHead(503).end();
    if (!(url in secrets)) return response.writeHead(404).end();
    response.end(JSON.stringify({ data: { value: secrets[url] } }));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  return { port: server.address().port, asked };
}
