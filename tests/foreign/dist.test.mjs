// What `cargo xtask dist` makes, installed with each format's own tool as a user without a Rust toolchain would, and run.

import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, describe, test } from "node:test";
import { createInterface } from "node:readline";
import { ENVIRONMENT, PROGRAM } from "./support/plimsoll.mjs";

const ROOT = new URL("../..", import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), "plimsoll-dist-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const files = join(folder, "files");
const URL_OF_FILES = "https://downloads.example/plimsoll";

/** Runs a program to its end: `{ code, stdout, stderr }`. */
function run(program, args, options = {}) {
  return new Promise((resolve) => {
    execFile(program, args, { env: ENVIRONMENT, maxBuffer: 1 << 26, ...options }, (error, stdout, stderr) =>
      resolve({ code: error ? error.code : 0, stdout, stderr }),
    );
  });
}

/** The same for what must end well; returns what it printed. */
async function output(program, args, options) {
  const { code, stdout, stderr } = await run(program, args, options);
  assert.equal(code, 0, `${program} ${args.join(" ")}: ${stderr}${stdout}`);
  return stdout;
}

/** The finished file whose name ends like this, or matches. */
function artefact(pattern) {
  const found = readdirSync(files).filter((name) => (pattern instanceof RegExp ? pattern.test(name) : name.endsWith(pattern)));
  assert.equal(found.length, 1, `${pattern}: ${found}`);
  return join(files, found[0]);
}

/** A new folder below the test's own. */
function place(name) {
  const path = join(folder, name);
  mkdirSync(path, { recursive: true });
  return path;
}

/** Like a machine on which Rust was never installed: only what Debian brings. */
const PLAIN = { HOME: folder, PATH: "/usr/sbin:/usr/bin:/sbin:/bin" };

/** The program works, away from the checkout: it prints its version and runs a load test. */
async function assertRuns(program, { env = PLAIN, args = [] } = {}) {
  const cwd = place("elsewhere");
  const call = (...more) => output(program, [...args, ...more], { env, cwd });
  assert.match(await call("--version"), /^plimsoll 0\.1\.0 \(.+, x86_64-unknown-linux-gnu\)\n$/);
  writeFileSync(join(cwd, "one.js"), "export default function () {}");
  const summary = JSON.parse(await call("run", "--quiet", "--no-save", "--format", "json", "one.js"));
  assert.equal(summary.iterations.complete, 1);
}

before(async () => {
  await output("cargo", ["xtask", "dist", "--program", PROGRAM, "--out", files, "--url", URL_OF_FILES], { cwd: ROOT, env: process.env });
});

describe("the files of a release", () => {
  test("have checksums", async () => {
    const checked = await output("sha256sum", ["--check", "SHA256SUMS"], { cwd: files });
    const named = checked.trim().split("\n").map((line) => line.replace(": OK", ""));
    assert.deepEqual(named.sort(), readdirSync(files).filter((name) => name !== "SHA256SUMS").sort());
  });

  test("name every crate that is in the program, with its licence", () => {
    const { components, bomFormat, specVersion } = JSON.parse(readFileSync(artefact(".cdx.json"), "utf8"));
    assert.deepEqual([bomFormat, specVersion], ["CycloneDX", "1.6"]);
    const lock = readFileSync(join(ROOT, "Cargo.lock"), "utf8");
    for (const { name, version, licenses, purl } of components) {
      assert.ok(lock.includes(`name = "${name}"\nversion = "${version}"`), purl);
      assert.ok(licenses[0].expression, purl);
    }
    const names = components.map(({ name }) => name);
    for (const name of ["tokio", "rquickjs-sys", "libsqlite3-sys", "ring"]) assert.ok(names.includes(name), name);
    const licences = readFileSync(artefact("THIRD-PARTY-LICENSES.txt"), "utf8");
    for (const { name, version } of components) assert.ok(licences.includes(`\n${name} ${version} (`), name);
  });

  test("an archive holds the program, its manual and completion", async () => {
    const to = place("archive");
    await output("tar", ["--extract", "--file", artefact("-unknown-linux-gnu.tar.gz"), "--directory", to, "--strip-components", "1"]);
    await assertRuns(join(to, "bin/plimsoll"));
    await output("bash", ["-n", join(to, "share/bash-completion/completions/plimsoll")]);
    const pages = readdirSync(join(to, "share/man/man1"));
    for (const page of ["plimsoll.1.gz", "plimsoll-serve.1.gz", "plimsoll-bench-broadcast.1.gz"]) assert.ok(pages.includes(page), page);
  });

  test("Homebrew's formula is Ruby, and has the archive's sum", async () => {
    await output("ruby", ["-c", artefact(/^plimsoll\.rb$/)]);
    const sum = createHash("sha256").update(readFileSync(artefact("-unknown-linux-gnu.tar.gz"))).digest("hex");
    const formula = readFileSync(artefact(/^plimsoll\.rb$/), "utf8");
    assert.ok(formula.includes(`url "${URL_OF_FILES}/plimsoll-0.1.0-x86_64-unknown-linux-gnu.tar.gz"\n    sha256 "${sum}"`), formula);
  });
});

describe("the Debian package", () => {
  const root = () => join(folder, "debian");
  const dpkg = (...args) =>
    output("dpkg", [`--root=${root()}`, "--force-not-root,script-chrootless,depends", ...args], {
      env: { ...PLAIN, PATH: `/usr/sbin:/sbin:${PLAIN.PATH}` },
    });

  test("is installed, runs, and goes", async () => {
    for (const name of ["var/lib/dpkg/updates", "var/lib/dpkg/info"]) mkdirSync(join(root(), name), { recursive: true });
    writeFileSync(join(root(), "var/lib/dpkg/status"), "");
    await dpkg("--install", artefact(".deb"));
    await assertRuns(join(root(), "usr/bin/plimsoll"));
    assert.match(readFileSync(join(root(), "lib/systemd/system/plimsoll.service"), "utf8"), /^ExecStart=\/usr\/bin\/plimsoll serve/m);
    await dpkg("--remove", "plimsoll");
    assert.ok(!existsSync(join(root(), "usr/bin/plimsoll")));
    assert.ok(existsSync(join(root(), "etc/plimsoll/plimsoll.toml")), "settings stay until the package is purged");
    await dpkg("--purge", "plimsoll");
    assert.ok(!existsSync(join(root(), "etc/plimsoll")));
  });

  test("depends on the C library that the program needs", async () => {
    const depends = await output("dpkg-deb", ["--field", artefact(".deb"), "Depends"]);
    const symbols = await output("objdump", ["-T", PROGRAM]);
    const minors = [...symbols.matchAll(/GLIBC_2\.(\d+)/g)].map(([, minor]) => Number(minor));
    assert.equal(depends.trim(), `libc6 (>= 2.${Math.max(...minors)})`);
  });
});

describe("the npm packages", () => {
  const to = () => join(folder, "npm");
  const program = () => join(to(), "node_modules/.bin/plimsoll");
  // Node.js may be one that is not Debian's.
  const env = { ...PLAIN, PATH: `${dirname(process.execPath)}:${PLAIN.PATH}` };

  before(async () => {
    const install = ["install", "--prefix", place("npm"), "--no-audit", "--no-fund", "--ignore-scripts", "--offline"];
    await output("npm", [...install, artefact("-x64-0.1.0.tgz"), artefact(/^plimsoll-0\.1\.0\.tgz$/)]);
  });

  test("run the program", () => assertRuns(program(), { env }));

  test("end as the program ends", async () => {
    const { code, stderr } = await run(program(), ["run", "nowhere.js"], { env });
    assert.notEqual(code, 0);
    assert.match(stderr, /nowhere\.js/);
  });

  test("pass signals on", async () => {
    const child = spawn(program(), ["serve", "--announce", "--port", "0", "--app", "chat"], { env, stdio: ["ignore", "pipe", "inherit"] });
    await once(createInterface({ input: child.stdout }), "line");
    child.kill("SIGTERM");
    assert.deepEqual(await once(child, "exit"), [0, null]);
  });

  test("say which package is missing", async () => {
    const alone = place("npm-alone");
    await output("tar", ["--extract", "--file", artefact(/^plimsoll-0\.1\.0\.tgz$/), "--directory", alone]);
    const { code, stderr } = await run(process.execPath, [join(alone, "package/bin/plimsoll.js")], { env });
    assert.equal(code, 1);
    assert.match(stderr, /^plimsoll: the package plimsoll-linux-x64, which holds the program, is not installed\.\n/);
  });
});

test("the wheel puts the program beside Python", async () => {
  const to = place("wheel");
  await output("python3", ["-m", "pip", "install", "--quiet", "--no-index", "--target", to, artefact(".whl")]);
  await assertRuns(join(to, "bin/plimsoll"));
});

test("the gem gives the program to a bundle", async () => {
  const to = place("gem");
  await output("gem", ["install", "--local", "--no-document", "--install-dir", to, artefact("-x86_64-linux.gem")]);
  const env = { ...PLAIN, GEM_HOME: to, GEM_PATH: to };
  await assertRuns(join(to, "bin/plimsoll"), { env });
});

describe("the image", () => {
  /** A blob of the layout, whose name must be its digest. */
  function blob({ digest, size }) {
    const content = readFileSync(join(folder, "image/blobs/sha256", digest.replace("sha256:", "")));
    assert.equal(`sha256:${createHash("sha256").update(content).digest("hex")}`, digest);
    assert.equal(content.length, size);
    return content;
  }
  let config;
  const root = () => join(folder, "image-root");

  before(async () => {
    await output("tar", ["--extract", "--file", artefact(".oci.tar"), "--directory", place("image")]);
    const index = JSON.parse(readFileSync(join(folder, "image/index.json"), "utf8"));
    const manifest = JSON.parse(blob(index.manifests[0]));
    config = JSON.parse(blob(manifest.config));
    assert.equal(manifest.layers.length, 1);
    const layer = join(folder, "layer.tar.gz");
    writeFileSync(layer, blob(manifest.layers[0]));
    const [sum] = (await output("sh", ["-c", `gzip -dc ${layer} | sha256sum`])).split(" ");
    assert.deepEqual(config.rootfs.diff_ids, [`sha256:${sum}`]);
    await output("tar", ["--extract", "--file", layer, "--directory", place("image-root")]);
    // As an engine does for every container.
    copyFileSync("/etc/hosts", join(root(), "etc/hosts"));
  });

  /** The command that a container engine would run, in a root of its own. */
  const inside = (...args) => ["--user", "--map-root-user", "chroot", root(), ...config.config.Entrypoint, ...args];

  test("holds nothing but the program and what it is linked to", () => {
    assert.deepEqual(readdirSync(join(root(), "usr/bin")).sort(), ["k6", "plimsoll"]);
    assert.deepEqual([config.config.User, config.architecture, config.os], ["65532:65532", "amd64", "linux"]);
  });

  test("runs", async () => {
    assert.match(await output("unshare", inside("--version"), { env: PLAIN }), /^plimsoll 0\.1\.0 /);
    const [, ...rest] = inside("version");
    const k6 = rest.map((word) => (word === config.config.Entrypoint[0] ? "/usr/bin/k6" : word));
    assert.match(await output("unshare", ["--user", ...k6], { env: PLAIN }), /^k6 v.*plimsoll/);
  });

  test("resolves names, and serves with its own command", async () => {
    const [command, ...args] = config.config.Cmd;
    assert.deepEqual([command, args], ["serve", ["--host", "0.0.0.0"]]);
    const words = inside(command, "--host", "localhost", "--port", "0", "--app", "chat", "--announce");
    const child = spawn("unshare", words, { env: PLAIN, stdio: ["ignore", "pipe", "inherit"] });
    try {
      const [line] = await once(createInterface({ input: child.stdout }), "line");
      const { address } = JSON.parse(line);
      assert.equal((await fetch(`http://${address}/health`)).status, 200);
    } finally {
      child.kill("SIGTERM");
    }
    assert.deepEqual(await once(child, "exit"), [0, null]);
  });
});
