// Types for editors: what `plimsoll new --ts` writes passes the TypeScript compiler, and mistakes do not.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, readFileSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { describe, test } from "node:test";
import { plimsollIn } from "./support/plimsoll.mjs";
import { folderOf } from "./support/scripts.mjs";

const COMPILER = join(dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin", "tsc");
const SCRIPTS = new URL("k6-scripts/", import.meta.url);

/** The compiler's complaints about a folder. */
function compile(cwd, ...args) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [COMPILER, ...args], { cwd, encoding: "utf8" });
  return [status, stdout + stderr];
}

async function folderWithTypes(t, files = {}) {
  const cwd = folderOf(t, files);
  const made = await plimsollIn({ cwd }, "new", "--types");
  assert.deepEqual([made.code, made.stderr], [0, "Wrote plimsoll.d.ts and tsconfig.json.\n"]);
  return cwd;
}

describe("what is written", () => {
  test("every template in TypeScript compiles, and is a script without mistakes", async (t) => {
    const cwd = folderOf(t, {});
    for (const template of ["minimal", "protocol", "cable"]) {
      const file = `${template}.ts`;
      const made = await plimsollIn({ cwd }, "new", "--ts", file, "--template", template);
      assert.equal(made.code, 0, made.stderr);
      const checked = await plimsollIn({ cwd }, "check", file);
      assert.deepEqual([checked.code, checked.stdout, checked.stderr], [0, `${file}: no mistakes in this k6 script\n`, ""]);
    }
    assert.deepEqual(readdirSync(cwd).sort(), ["cable.ts", "minimal.ts", "plimsoll.d.ts", "protocol.ts", "tsconfig.json"]);
    assert.deepEqual(compile(cwd), [0, ""]);
  });

  test("files that exist stay", async (t) => {
    const cwd = folderOf(t, { "tsconfig.json": "{}", "plimsoll.d.ts": "mine", "script.ts": "mine" });
    const read = (name) => readFileSync(join(cwd, name), "utf8");
    const refused = await plimsollIn({ cwd }, "new", "--ts");
    assert.deepEqual([refused.code, /script\.ts already exists/.test(refused.stderr)], [2, true], refused.stderr);
    const kept = await plimsollIn({ cwd }, "new", "--types");
    assert.equal(kept.code, 0, kept.stderr);
    assert.match(kept.stderr, /^Kept plimsoll\.d\.ts \(not the types of this version; --force renews them\) and tsconfig\.json\.$/m);
    assert.deepEqual(["script.ts", "plimsoll.d.ts", "tsconfig.json"].map(read), ["mine", "mine", "{}"]);
    assert.equal((await plimsollIn({ cwd }, "new", "--types", "--force")).code, 0);
    assert.deepEqual([read("tsconfig.json"), /declare module "k6\/x\/cable"/.test(read("plimsoll.d.ts"))], ["{}", true]);
  });

  test("wrong combinations are refused", async (t) => {
    const cwd = folderOf(t, {});
    for (const [args, words] of [
      [["--ts", "--template", "artillery"], /--ts: the template artillery is not a script; expected --template minimal, protocol, cable/],
      [["--ts", "chat.js"], /chat\.js: the template minimal is a script in TypeScript; expected a name such as script\.ts/],
    ]) {
      const { code, stderr } = await plimsollIn({ cwd }, "new", ...args);
      assert.deepEqual([code, words.test(stderr)], [2, true], stderr);
    }
    assert.deepEqual(readdirSync(cwd), []);
  });
});

describe("the types", () => {
  test("the scripts with which k6 is compared have no type errors", async (t) => {
    const cwd = await folderWithTypes(t);
    cpSync(SCRIPTS, cwd, { recursive: true });
    // Some of them also call functions wrongly, to compare the errors.
    const files = readdirSync(cwd).filter((name) => name.endsWith(".js") && !/^(values|checks|grpc-(faults|stream-faults|values))/.test(name));
    const args = ["--ignoreConfig", "--noEmit", "--allowJs", "--checkJs", "--strict", "false", "--target", "es2022", "--module", "esnext"];
    const found = compile(cwd, ...args, "--moduleResolution", "bundler", "--lib", "es2023", "--types", "", "plimsoll.d.ts", ...files);
    assert.deepEqual(found, [0, ""]);
  });

  for (const [name, line, words] of [
    ["a member that a module does not have", "cable.conect('ws://x');", /Property 'conect' does not exist.*Did you mean 'connect'\?/],
    ["an import that a module does not have", "import { chek } from 'k6'; chek;", /no exported member named 'chek'/],
    ["an argument of a wrong type", "sleep('1');", /not assignable to parameter of type 'number'/],
    ["an option of a wrong type", "const o: Options = { vus: 'x' }; o;", /not assignable to type 'number/],
    ["a function that fakers do not have", "new Faker(11).person.firstNam();", /Property 'firstNam' does not exist.*Did you mean 'firstName'\?/],
    ["a client that may be null", "cable.connect('ws://x').disconnect();", /possibly 'null'/],
    ["a global of Node.js", "process.exit(1);", /Cannot find name 'process'/],
  ]) {
    test(`${name} is an error`, async (t) => {
      const text = `import cable from "k6/x/cable";\nimport { Faker } from "k6/x/faker";\nimport { sleep } from "k6";\nimport type { Options } from "k6/options";\n${line}\ncable; Faker; sleep; export {};\nlet _: Options;\n`;
      const cwd = await folderWithTypes(t, { "chat.ts": text });
      const [status, output] = compile(cwd);
      assert.notEqual(status, 0);
      assert.match(output, words);
      assert.match(output, /chat\.ts\(5,/);
    });
  }

  test("calls of all kinds compile", async (t) => {
    const cwd = await folderWithTypes(t, {
      "calls.ts": `import http from "k6/http";
import * as all from "k6/http";
import { check, group, sleep } from "k6";
import { SharedArray } from "k6/data";
import { Counter, Trend } from "k6/metrics";
import exec from "k6/execution";
import encoding from "k6/encoding";
import crypt from "k6/crypto";
import ws from "k6/ws";
import { WebSocket } from "k6/websockets";
import secrets from "k6/secrets";
import cable from "k6/x/cable";
import faker, { Faker } from "k6/x/faker";
import { randomItem } from "https://jslib.k6.io/k6-utils/1.4.0/index.js";
const users = new SharedArray("users", () => JSON.parse(open("./users.json")) as { name: string }[]);
const rtt = new Trend("rtt", true);
export default async function () {
  const response = http.post(http.url\`https://x/\${__VU}\`, JSON.stringify(users[0]), { tags: { a: 1 }, timeout: "1s" });
  check(response, { ok: (r) => r.status === 200, long: (r) => r.body.length > 1 });
  const { a } = http.batch({ a: "https://x", b: ["GET", "https://y"] });
  a.json("x.y"); a.html("a").first().attr("href");
  group("g", () => sleep(1));
  new Counter("n").add(1, { t: "x" });
  exec.vu.tags.x = exec.scenario.name;
  const text: string = encoding.b64decode("aGk=", "std", "s");
  const bytes: ArrayBuffer = crypt.sha256(text, "binary");
  ws.connect("ws://x", {}, (socket) => socket.on("message", (data) => socket.send(data.trim())));
  const socket = new WebSocket("ws://x");
  socket.onmessage = (event) => { socket.send(event.data); };
  socket.addEventListener("close", (event) => event.code);
  const client = cable.connect("ws://x", { throw: true });
  client?.subscribe("Chat", { id: 1 })?.roundTrip("speak", { a: 1 }, (message) => message.id === 1, rtt);
  const name: string = new Faker(11).person.firstName();
  const sorted: number[] = faker.numbers.shuffleInts([1, 2]), price: number = faker.zen.price(1);
  console.log(name, sorted, price, faker.call("intRange", 1, 2), faker.person.person().first_name);
  console.log(await secrets.get("key"), performance.now(), randomItem([1]), all.default.get, bytes, new URL("x:y").href);
}
`,
    });
    assert.deepEqual(compile(cwd), [0, ""]);
    assert.ok(existsSync(join(cwd, "tsconfig.json")));
  });
});
