// What `cargo xtask dist` makes, installed with each format's own tool as a user without a Rust toolchain would, and run.

import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { chmodSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
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

/** A program that says it is for arm64, to be packaged and not run: one of this machine's with another header. */
const FOREIGN = join(folder, "foreign");

/** The newest minor version of glibc 2 that a program's symbols have. */
async function glibc(program) {
  const symbols = await output("objdump", ["-T", program]);
  return Math.max(...[...symbols.matchAll(/GLIBC_2\.(\d+)/g)].map(([, minor]) => Number(minor)));
}

/** Makes the files of a release in a folder, with these programs. */
function dist(programs, out, { umask = "022", env = {} } = {}) {
  const words = [...programs.flatMap((program) => ["--program", program]), "--out", out, "--url", URL_OF_FILES];
  const script = `umask ${umask}; exec cargo xtask dist "$@"`;
  return output("sh", ["-c", script, "sh", ...words], { cwd: ROOT, env: { ...process.env, ...env } });
}

before(async () => {
  const program = readFileSync("/usr/bin/true");
  // The machine in an ELF header, EM_AARCH64.
  program.writeUInt16LE(183, 18);
  writeFileSync(FOREIGN, program, { mode: 0o755 });
  await dist([PROGRAM, FOREIGN], files);
});

describe("the files of a release", () => {
  test("have checksums", async () => {
    const checked = await output("sha256sum", ["--check", "SHA256SUMS"], { cwd: files });
    const named = checked.trim().split("\n").map((line) => line.replace(": OK", ""));
    assert.deepEqual(named.sort(), readdirSync(files).filter((name) => name !== "SHA256SUMS").sort());
  });

  test("are the same whenever, wherever and by whom they are made", async () => {
    const [program, again] = [join(folder, "same-program"), join(place("deeper"), "again")];
    copyFileSync(PROGRAM, program);
    chmodSync(program, 0o700);
    utimesSync(program, 1_000_000_000, 1_000_000_000);
    // The first call is over, so all files and folders on the way into the packages are newer this time.
    await dist([FOREIGN, program], again, { umask: "077", env: { TZ: "Pacific/Auckland", LC_ALL: "C", USER: "somebody" } });
    const names = readdirSync(files).sort();
    assert.deepEqual(readdirSync(again).sort(), names);
    const differing = names.filter((name) => !readFileSync(join(files, name)).equals(readFileSync(join(again, name))));
    assert.deepEqual(differing, []);
  });

  test("have the time of the commit", async () => {
    const seconds = Number(process.env.SOURCE_DATE_EPOCH || (await output("git", ["log", "-1", "--format=%ct"], { cwd: ROOT })));
    const { serialNumber, metadata } = JSON.parse(readFileSync(artefact(".cdx.json"), "utf8"));
    assert.equal(Date.parse(metadata.timestamp), seconds * 1000);
    assert.match(serialNumber, /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
    const listing = await output("tar", ["--list", "--verbose", "--full-time", "--utc", "--file", artefact("-x86_64-unknown-linux-gnu.tar.gz")]);
    const times = new Set(listing.trim().split("\n").map((line) => line.split(/\s+/).slice(3, 5).join("T")));
    assert.deepEqual([...times], [metadata.timestamp.replace("Z", "")]);
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
    await output("tar", ["--extract", "--file", artefact("-x86_64-unknown-linux-gnu.tar.gz"), "--directory", to, "--strip-components", "1"]);
    await assertRuns(join(to, "bin/plimsoll"));
    await output("bash", ["-n", join(to, "share/bash-completion/completions/plimsoll")]);
    const pages = readdirSync(join(to, "share/man/man1"));
    for (const page of ["plimsoll.1.gz", "plimsoll-serve.1.gz", "plimsoll-bench-broadcast.1.gz"]) assert.ok(pages.includes(page), page);
  });

  test("Homebrew's formula is Ruby, and has the archives' sums", async () => {
    await output("ruby", ["-c", artefact(/^plimsoll\.rb$/)]);
    const formula = readFileSync(artefact(/^plimsoll\.rb$/), "utf8");
    for (const [block, triple] of [["on_intel", "x86_64-unknown-linux-gnu"], ["on_arm", "aarch64-unknown-linux-gnu"]]) {
      const sum = createHash("sha256").update(readFileSync(artefact(`-${triple}.tar.gz`))).digest("hex");
      const lines = `${block} do\n    url "${URL_OF_FILES}/plimsoll-0.1.0-${triple}.tar.gz"\n    sha256 "${sum}"\n  end`;
      assert.ok(formula.includes(lines), formula);
    }
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
    await dpkg("--install", artefact("_amd64.deb"));
    await assertRuns(join(root(), "usr/bin/plimsoll"));
    assert.match(readFileSync(join(root(), "lib/systemd/system/plimsoll.service"), "utf8"), /^ExecStart=\/usr\/bin\/plimsoll serve/m);
    await dpkg("--remove", "plimsoll");
    assert.ok(!existsSync(join(root(), "usr/bin/plimsoll")));
    assert.ok(existsSync(join(root(), "etc/plimsoll/plimsoll.toml")), "settings stay until the package is purged");
    await dpkg("--purge", "plimsoll");
    assert.ok(!existsSync(join(root(), "etc/plimsoll")));
  });

  test("depends on the C library that the program needs", async () => {
    const depends = await output("dpkg-deb", ["--field", artefact("_amd64.deb"), "Depends"]);
    assert.equal(depends.trim(), `libc6 (>= 2.${await glibc(PROGRAM)})`);
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
  await output("python3", ["-m", "pip", "install", "--quiet", "--no-index", "--target", to, artefact("_x86_64.whl")]);
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

/** Each format's tool reads for which machines a package is; the program in these is never started. */
describe("the packages for arm64", () => {
  const program = () => readFileSync(FOREIGN);

  test("are the same kinds as those for x86_64, but for the image", () => {
    const known = (pattern) => readdirSync(files).filter((name) => pattern.test(name)).map((name) => name.replace(pattern, "*").replace(/_2_\d+/, ""));
    const x86 = known(/amd64|x86_64|x64/);
    assert.deepEqual(known(/arm64|aarch64/).sort(), x86.filter((name) => !name.endsWith(".oci.tar")).sort());
    assert.equal(x86.length, 6);
  });

  test("Debian's says so, and is refused here", async () => {
    const fields = await output("dpkg-deb", ["--show", "--showformat", "${Architecture} ${Depends}", artefact("_arm64.deb")]);
    assert.equal(fields, `arm64 libc6 (>= 2.${await glibc(FOREIGN)})`);
    const root = place("debian-arm64");
    for (const name of ["var/lib/dpkg/updates", "var/lib/dpkg/info"]) mkdirSync(join(root, name), { recursive: true });
    writeFileSync(join(root, "var/lib/dpkg/status"), "");
    const { code, stderr } = await run("dpkg", [`--root=${root}`, "--force-not-root,depends", "--install", artefact("_arm64.deb")], {
      env: { ...PLAIN, LC_ALL: "C" },
    });
    assert.notEqual(code, 0);
    assert.match(stderr, /package architecture \(arm64\) does not match system \(amd64\)/);
  });

  test("npm chooses the package of the processor out of both, and refuses the other one", async () => {
    const env = { ...PLAIN, PATH: `${dirname(process.execPath)}:${PLAIN.PATH}` };
    const install = (folder, ...words) =>
      run("npm", ["install", "--prefix", folder, "--no-audit", "--no-fund", "--ignore-scripts", "--offline", ...words], { env });
    const packages = Object.fromEntries(["arm64", "x64"].map((cpu) => [`plimsoll-linux-${cpu}`, `file:${artefact(`-linux-${cpu}-0.1.0.tgz`)}`]));
    const manifest = { private: true, dependencies: { plimsoll: `file:${artefact(/^plimsoll-0\.1\.0\.tgz$/)}` }, optionalDependencies: packages };
    for (const cpu of ["arm64", "x64"]) {
      const project = place(`npm-on-${cpu}`);
      writeFileSync(join(project, "package.json"), JSON.stringify(manifest));
      const { code, stderr } = await install(project, "--os=linux", `--cpu=${cpu}`, "--libc=glibc");
      assert.equal(code, 0, stderr);
      const installed = readdirSync(join(project, "node_modules")).filter((name) => !name.startsWith("."));
      assert.deepEqual(installed.sort(), ["plimsoll", `plimsoll-linux-${cpu}`]);
    }
    assert.ok(readFileSync(join(folder, "npm-on-arm64/node_modules/plimsoll-linux-arm64/bin/plimsoll")).equals(program()));
    const refused = await install(place("npm-refused"), artefact("-linux-arm64-0.1.0.tgz"));
    assert.notEqual(refused.code, 0);
    assert.match(refused.stderr, /EBADPLATFORM/);
  });

  test("pip chooses its own out of a folder with both", async () => {
    const minor = await glibc(FOREIGN);
    const install = (platform) => {
      const to = place(`wheel-${platform}`);
      const words = ["install", "--quiet", "--no-index", "--find-links", files, "--only-binary", ":all:", "--platform", platform];
      return run("python3", ["-m", "pip", ...words, "--target", to, "plimsoll"]);
    };
    const { code, stderr } = await install(`manylinux_2_${minor}_aarch64`);
    assert.equal(code, 0, stderr);
    assert.ok(readFileSync(join(folder, `wheel-manylinux_2_${minor}_aarch64/bin/plimsoll`)).equals(program()));
    // A machine whose C library is older.
    assert.notEqual((await install(`manylinux_2_${minor - 1}_aarch64`)).code, 0);
  });

  test("RubyGems takes it for Linux on aarch64", async () => {
    const check = "require 'rubygems/package'; print ARGV.map { |file| Gem::Package.new(file).spec.platform === Gem::Platform.new('aarch64-linux') }";
    const found = await output("ruby", ["-e", check, artefact("-aarch64-linux.gem"), artefact("-x86_64-linux.gem")]);
    assert.equal(found, "[true, false]");
  });

  test("an archive holds its program", async () => {
    const to = place("archive-arm64");
    await output("tar", ["--extract", "--file", artefact("-aarch64-unknown-linux-gnu.tar.gz"), "--directory", to, "--strip-components", "1"]);
    assert.ok(readFileSync(join(to, "bin/plimsoll")).equals(program()));
  });
});
