// deploy/ci: the GitHub action and the GitLab job run a real load test; this file plays the runner, and a forge that keeps
// comments as the published APIs say.
//
// GitHub: https://docs.github.com/en/rest/issues/comments   GitLab: https://docs.gitlab.com/api/notes

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { deployPath, readYaml } from "./support/deployment.mjs";
import { ENVIRONMENT, PROGRAM } from "./support/plimsoll.mjs";

const TOKEN = "a-token-of-the-forge";
const ACTION = readYaml("ci", "github", "action.yml");
const JOB = readYaml("ci", "gitlab", "plimsoll.gitlab-ci.yml")[".plimsoll"];
const SCRIPT = "import http from 'k6/http'; export default () => http.get(__ENV.URL);";

// Beside other tests, a run says that its figures are doubtful.

/** A forge that keeps the comments of change 7. */
async function startForge(t, { status } = {}) {
  const comments = [];
  const calls = [];
  const places = {
    "/repos/kay/chat/issues/7/comments": { authorization: `Bearer ${TOKEN}`, url: (id) => `${url}/repos/kay/chat/issues/comments/${id}` },
    "/projects/5/merge_requests/7/notes": { "private-token": TOKEN },
  };
  const server = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const { pathname } = new URL(request.url, "http://forge.test");
    calls.push(`${request.method} ${pathname}`);
    const list = places[pathname];
    const id = Number(pathname.split("/").at(-1));
    if (status) return response.writeHead(status).end("{}");
    const sent = Object.values(places).some(({ url, ...header }) => Object.entries(header).every(([name, value]) => request.headers[name] === value));
    if (!sent) return response.writeHead(401).end("{}");
    const answer = (code, value) => response.writeHead(code, { "content-type": "application/json" }).end(JSON.stringify(value));
    if (request.method === "GET") return answer(200, comments);
    const { body } = JSON.parse(Buffer.concat(chunks));
    if (request.method === "POST" && list) {
      const comment = { id: comments.length + 1, body, ...(list.url && { url: list.url(comments.length + 1) }) };
      comments.push(comment);
      return answer(201, comment);
    }
    comments[id - 1].body = body;
    answer(200, comments[id - 1]);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  const url = `http://127.0.0.1:${server.address().port}`;
  return { comments, calls, url };
}

/** A target whose answers take so many milliseconds. */
async function startTarget(t, ms = 0) {
  const server = createServer((_request, response) => setTimeout(() => response.end("hello"), ms)).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${server.address().port}/`;
}

/** A checkout with a script and with plimsoll on the PATH. */
function checkout(t) {
  const folder = mkdtempSync(join(tmpdir(), "plimsoll-ci-"));
  t.after(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, "bin"));
  symlinkSync(PROGRAM, join(folder, "bin/plimsoll"));
  writeFileSync(join(folder, "load.js"), SCRIPT);
  writeFileSync(join(folder, "event.json"), JSON.stringify({ pull_request: { number: 7 } }));
  return folder;
}

function shell(program, folder, script, env) {
  return new Promise((resolve) => {
    const options = { cwd: folder, env: { ...ENVIRONMENT, PATH: `${folder}/bin:${process.env.PATH}`, ...env } };
    execFile(program, ["-e", "-c", script], options, (error, stdout, stderr) => resolve({ code: error?.code ?? 0, stdout, stderr }));
  });
}

/** The step of the action, as a runner of GitHub starts it. */
function onGitHub(folder, forge, inputs) {
  const [{ run, env }] = ACTION.runs.steps;
  const given = { ...Object.fromEntries(Object.entries(ACTION.inputs).map(([name, { default: value }]) => [name, value])), token: TOKEN, ...inputs };
  const settings = Object.entries(env).map(([name, value]) => [name, given[/^\$\{\{ inputs\.(\w+) \}\}$/.exec(value)[1]]]);
  return shell("bash", folder, run, {
    ...Object.fromEntries(settings),
    GITHUB_ACTION_PATH: deployPath("ci", "github"),
    GITHUB_API_URL: forge.url,
    GITHUB_EVENT_PATH: join(folder, "event.json"),
    GITHUB_REPOSITORY: "kay/chat",
    GITHUB_STEP_SUMMARY: join(folder, "summary.md"),
  });
}

/** The job of GitLab. */
function onGitLab(folder, forge, command) {
  return shell("sh", folder, JOB.script.join("\n"), {
    ...JOB.variables,
    LOAD_TEST_SCRIPT: deployPath("ci", "load-test.sh"),
    LOAD_TEST_COMMAND: command,
    LOAD_TEST_TOKEN: TOKEN,
    CI_API_V4_URL: forge.url,
    CI_PROJECT_ID: "5",
    CI_MERGE_REQUEST_IID: "7",
  });
}

for (const [name, run, replaced] of [
  ["GitHub", (folder, forge, command) => onGitHub(folder, forge, { command }), "PATCH /repos/kay/chat/issues/comments/1"],
  ["GitLab", onGitLab, "PUT /projects/5/merge_requests/7/notes/1"],
]) {
  test(`${name}: the report is kept, and one comment has the result of the latest run`, async (t) => {
    const [forge, url, folder] = [await startForge(t), await startTarget(t), checkout(t)];
    const command = `run load.js -q --no-save -u 1 -i 3 -e 'URL=${url}'`;
    const first = await run(folder, forge, command);
    assert.equal(first.code, 0, first.stderr);
    for (const file of ["load.html", "load.json"]) assert.ok(existsSync(join(folder, "load-test", file)), file);
    assert.match(forge.comments[0].body, /^<!-- plimsoll: load test -->\n## load test\n\n### (✅ load\.js: pass|⚠️ load\.js: doubtful)\n[^]*\| iterations \(failed\) \| 3 \(0\) \|/);
    const second = await run(folder, forge, command.replace("-i 3", "-i 4"));
    assert.equal(second.code, 0, second.stderr);
    assert.equal(forge.comments.length, 1);
    assert.match(forge.comments[0].body, /\| iterations \(failed\) \| 4 \(0\) \|/);
    assert.equal(forge.calls.at(-1), replaced);
    assert.doesNotMatch(first.stdout + first.stderr + second.stdout + second.stderr, new RegExp(TOKEN));
  });
}

test("a failed threshold and a wrong command fail the job, and the comment says so", async (t) => {
  const [forge, url, folder] = [await startForge(t), await startTarget(t), checkout(t)];
  writeFileSync(join(folder, "strict.js"), `${SCRIPT} export const options = { thresholds: { http_reqs: ["count>99"] } };`);
  const missed = await onGitHub(folder, forge, { command: `run strict.js -q --no-save -i 3 -e URL=${url}` });
  assert.equal(missed.code, 99, missed.stderr);
  assert.match(forge.comments[0].body, /### ❌ strict\.js: fail/);
  assert.match(readFileSync(join(folder, "summary.md"), "utf8"), /### ❌ strict\.js: fail/);
  const wrong = await onGitHub(folder, forge, { command: "run absent.js --no-save" });
  assert.notEqual(wrong.code, 0);
  assert.match(forge.comments[0].body, new RegExp(`No result: \`plimsoll run\` ended with the exit code ${wrong.code}\\.`));
  const none = await onGitHub(folder, forge, { command: "" });
  assert.equal(none.code, 2);
  assert.match(none.stderr, /error: no command of plimsoll; expected for example/);
});

test("a forge that refuses the comment does not fail the job", async (t) => {
  const [forge, url, folder] = [await startForge(t, { status: 403 }), await startTarget(t), checkout(t)];
  const { code, stderr } = await onGitHub(folder, forge, { command: `run load.js -q --no-save -i 3 -e URL=${url}` });
  assert.equal(code, 0, stderr);
  assert.match(stderr, /warning: the comment could not be written; the result is in load-test\/comment\.md/);
  // Without the list it is not known whether there is a comment already, so none is posted.
  assert.deepEqual(forge.calls, ["GET /repos/kay/chat/issues/7/comments"]);
  assert.match(readFileSync(join(folder, "load-test/comment.md"), "utf8"), /### (✅ load\.js: pass|⚠️ load\.js: doubtful)/);
});

test("a run that is worse than the baseline fails, and one without a baseline does not", async (t) => {
  const [forge, fast, slow, folder] = [await startForge(t), await startTarget(t, 5), await startTarget(t, 60), checkout(t)];
  const command = (url) => `run load.js -q --no-save -u 2 -d 10s -e URL=${url}`;
  const first = await onGitHub(folder, forge, { command: command(fast), baseline: "main.json" });
  assert.equal(first.code, 0, first.stderr);
  assert.match(forge.comments[0].body, /There is no baseline yet: `main\.json` is missing\./);
  writeFileSync(join(folder, "main.json"), readFileSync(join(folder, "load-test/load.json")));
  const second = await onGitHub(folder, forge, { command: command(slow), baseline: "main.json" });
  assert.equal(second.code, 3, second.stderr);
  assert.match(forge.comments[0].body, /\*\*worse: /);
});
