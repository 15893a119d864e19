// Functions of a processor find Node's modules, globals and packages: the same module is run by node and by
// `plimsoll run`, and both have the same results. What cannot work is refused before the run, with its place.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { constants, createPublicKey, createVerify, generateKeyPairSync, privateDecrypt, publicEncrypt, sign } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, test } from "node:test";
import { isDeepStrictEqual, promisify } from "node:util";
import jwt from "jsonwebtoken";
import { plimsollIn } from "./support/plimsoll.mjs";
import { folderOf } from "./support/scripts.mjs";

const INSTALLED = join(import.meta.dirname, "node_modules");
const PROCESS = { FROM_SYSTEM: "s", TZ: "UTC" };

/** A server that keeps the JSON of its last request, and answers some paths for clients of HTTP. */
async function serve(t) {
  const heard = {};
  const server = createServer(async (request, response) => {
    // Some clients leave in the middle.
    const body = Buffer.concat(await request.toArray().catch(() => []));
    if (request.url === "/results") heard.results = JSON.parse(JSON.parse(body).seen);
    if (request.url.startsWith("/redirect")) {
      response.writeHead(Number(request.url.slice(9)), { location: "/echo?redirected" });
      return response.end();
    }
    if (request.url === "/broken") return request.socket.destroy();
    if (request.url === "/slow") return void setTimeout(() => response.end("late"), 3_000).unref();
    const { host, connection, "user-agent": agent, ...headers } = request.headers;
    response.writeHead(request.url === "/missing" ? 404 : 200, [["Content-Type", "application/json"], ["Set-Cookie", "a=1"], ["Set-Cookie", "b=2"], ["X-Two", "1"], ["X-Two", "2"]].flat());
    response.end(JSON.stringify({ method: request.method, url: request.url, headers, body: body.toString("latin1") }));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { heard, port: server.address().port };
}

/** A folder in which the packages of these tests are installed. */
function folderWith(t, files) {
  const cwd = folderOf(t, {});
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(cwd, name)), { recursive: true });
    writeFileSync(join(cwd, name), text);
  }
  if (!Object.keys(files).some((name) => name.startsWith("node_modules/"))) symlinkSync(INSTALLED, join(cwd, "node_modules"));
  return cwd;
}

const file = (port, processor) => `
config: { target: "http://127.0.0.1:${port}", processor: ./${processor}, phases: [{ duration: 1, arrivalCount: 1 }] }
scenarios:
- flow:
  - function: run
  - post: { url: /results, json: { seen: "{{ seen }}" } }
`;

/** Collects what each case gives or throws, as JSON. */
const COLLECT = `
  const shown = (value) => typeof value === "bigint" ? value + "n" : value === undefined ? "undefined"
    : typeof value === "number" && !Number.isFinite(value) ? String(value) : Object.is(value, -0) ? "-0"
    : value instanceof Uint8Array ? [value.constructor.name, ...value] : value;
  async function collect(cases) {
    const all = {};
    for (const [name, run] of Object.entries(cases)) {
      // A function that computes for five seconds without a pause is ended.
      await new Promise((done) => setTimeout(done));
      try { all[name] = JSON.parse(JSON.stringify(shown(await run()) ?? null, (key, value) => shown(value))); }
      catch (error) { all[name] = { thrown: [error.name, error.code, error.message] }; }
    }
    return JSON.stringify(all);
  }`;

/** Runs the cases of a module, \`{ name: () => value }\`, with both: \`{ inNode, here }\` are the results. */
async function resultsOf(t, head, cases, { processor = "functions.js", files = {} } = {}) {
  const { heard, port } = await serve(t);
  const isModule = /\.m?ts$|\.mjs$/.test(processor);
  const text = `${head}\n${COLLECT}\nconst BASE = "http://127.0.0.1:${port}";
    const cases = {${cases}};
    ${isModule ? "export" : "exports.run = run;"} async function run(context) { context.vars.seen = await collect(cases); }`;
  const cwd = folderWith(t, { "test.yml": file(port, processor), [processor]: text, "data/users.json": '[{"name": "ü"}]', "data/plain.txt": "one\\ntwo\\n", ...files });
  const script = `import("./${processor}").then(async ({ run }) => { const vars = {}; await run({ vars }); process.stdout.write(vars.seen); process.exit(0); })`;
  const inNode = await promisify(execFile)(process.execPath, ["-e", script], { cwd, env: { ...process.env, ...PROCESS }, maxBuffer: 1 << 26, timeout: 60_000 });
  const { code, stderr } = await plimsollIn({ cwd, env: PROCESS }, "run", "test.yml", "--fail-on-errors");
  assert.equal(code, 0, stderr);
  return { inNode: JSON.parse(inNode.stdout), here: heard.results };
}

/** Runs the cases of a module with both, and compares all results. */
async function both(...test) {
  const { inNode: expected, here } = await resultsOf(...test);
  const differences = Object.keys(expected).filter((name) => !isDeepStrictEqual(here[name], expected[name]));
  const of = (results) => Object.fromEntries(differences.map((name) => [name, results[name]]));
  assert.deepEqual(of(here), of(expected));
  return expected;
}

/** All cases gave a value in node, so that no comparison is one of two failures. */
function noneThrown(results) {
  for (const [name, value] of Object.entries(results)) assert.equal(value?.thrown, undefined, `${name}: ${JSON.stringify(value)}`);
}

const CURVES = ["prime256v1", "secp384r1", "secp521r1"];
const { privateKey: RSA } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const EC = CURVES.map((namedCurve) => [namedCurve, generateKeyPairSync("ec", { namedCurve }).privateKey]);
const LOCK = { format: "pem", cipher: "aes-256-cbc", passphrase: "x" };

/** Private keys in all forms, by the names of their files. */
const KEYS = {
  rsa: RSA.export({ type: "pkcs8", format: "pem" }),
  rsaOld: RSA.export({ type: "pkcs1", format: "pem" }),
  ...Object.fromEntries(EC.flatMap(([name, key]) => [[name, key.export({ type: "pkcs8", format: "pem" })], [`${name}Old`, key.export({ type: "sec1", format: "pem" })]])),
  locked: RSA.export({ type: "pkcs8", ...LOCK }),
  oldLocked: RSA.export({ type: "pkcs1", ...LOCK }),
};
const FORMS = Object.keys(KEYS).filter((name) => !/locked/i.test(name));

/** Signatures of node over `text`. */
const SIGNATURES = ["rsa", ...CURVES].flatMap((key) =>
  [{}, { padding: constants.RSA_PKCS1_PSS_PADDING }, { padding: 6, saltLength: 20 }, { dsaEncoding: "ieee-p1363" }].flatMap((options) =>
    ["sha1", "sha256", "sha512"].map((hash) => ({ key, options, hash, signature: sign(hash, Buffer.from("text"), { key: KEYS[key], ...options }).toString("hex") })),
  ),
);

/** All algorithms of pairs in JSON Web Tokens, with the names of their keys. */
const TOKEN_KINDS = [["RS", "rsa"], ["PS", "rsa"]].flatMap(([kind, key]) => [256, 384, 512].map((bits) => [kind + bits, key]))
  .concat([["ES256", CURVES[0]], ["ES384", CURVES[1]], ["ES512", CURVES[2]]]);

/** Tokens of node, by algorithm. */
const TOKENS = Object.fromEntries(TOKEN_KINDS.map(([algorithm, key]) => [algorithm, jwt.sign({ id: 1 }, KEYS[key], { algorithm })]));

const KEY_FILES = {
  ...Object.fromEntries(Object.entries(KEYS).map(([name, text]) => [`keys/${name}.pem`, text])),
  ...Object.fromEntries(["rsa", "p256", "p521"].map((name) => [`keys/certificate-${name}.pem`, readFileSync(join(import.meta.dirname, `k6-scripts/certificates/${name}.pem`), "utf8")])),
};

/** The beginning of a module that works with these keys. */
const KEYS_HEAD = `const crypto = require("crypto"); const fs = require("fs");
  const pem = (name) => fs.readFileSync(__dirname + "/keys/" + name + ".pem", "utf8");
  const curves = ${JSON.stringify(CURVES)}; const forms = ${JSON.stringify(FORMS)}; const signatures = ${JSON.stringify(SIGNATURES)};
  const tokenKinds = ${JSON.stringify(TOKEN_KINDS)}; const secret = "${publicEncrypt(RSA, Buffer.from("hidden")).toString("hex")}";
  const each = async (list, act) => { const all = []; for (const item of list) { await new Promise((done) => setTimeout(done)); all.push(act(item)); } return all; };
  const caught = (run) => { try { return [run()] } catch ({ name, code, message, library, reason }) { return [name, code, message, library, reason] } };`;

describe("node's modules give what they give in node", { concurrency: 3 }, () => {
  test("buffer", (t) => both(t, `const { Buffer: B } = require("node:buffer"); const b = Buffer.from("grüße 🙂");`, `
    same: () => B === Buffer,
    from: () => [Buffer.from("aé", "latin1"), Buffer.from("0aFFzz", "hex"), Buffer.from("aGk=", "base64"), Buffer.from("-_8", "base64url"), Buffer.from([1, 256, -1]), Buffer.from("hi", "utf16le"), Buffer.from(new Uint8Array([1, 2]).buffer, 1), Buffer.from(Buffer.from("x")), Buffer.from({ type: "Buffer", data: [1] }), Buffer.from(new String("s"))],
    texts: () => ["utf8", "hex", "base64", "base64url", "latin1", "ascii", "ucs2"].map((encoding) => b.toString(encoding)),
    part: () => [b.toString("utf8", 2, 5), b.toString("hex", -2), b.slice(-4, -1), b.subarray(1, 3), b.toString(undefined, 3, 1)],
    json: () => JSON.stringify({ b: Buffer.from("hi") }),
    alloc: () => [Buffer.alloc(3), Buffer.alloc(5, "ab"), Buffer.alloc(3, 7), Buffer.allocUnsafe(2).length],
    concat: () => [Buffer.concat([Buffer.from("a"), Buffer.from("bc")]), Buffer.concat([Buffer.from("abc"), Buffer.from("d")], 2), Buffer.concat([Buffer.from("a")], 3)],
    compare: () => [Buffer.compare(Buffer.from("a"), Buffer.from("b")), Buffer.from("a").equals(Buffer.from("a")), Buffer.from("ab").compare(Buffer.from("a"))],
    length: () => [Buffer.byteLength("ü🙂"), Buffer.byteLength("ü", "latin1"), Buffer.byteLength("aGk=", "base64"), Buffer.isBuffer(b), Buffer.isBuffer(new Uint8Array()), Buffer.isEncoding("UTF-8"), Buffer.isEncoding("x")],
    find: () => [b.indexOf("ß"), b.includes("🙂"), b.lastIndexOf("e"), b.indexOf(114), b.indexOf("zzz"), Buffer.from("abab").indexOf("ab", 1), Buffer.from("abab").lastIndexOf("ab", -3)],
    write: () => { const x = Buffer.alloc(6); return [x.write("abc", 1), x.write("üü", 4), x.write("ff", 0, "hex"), x, x.fill("xy", 2), x.copy(Buffer.alloc(2), 1)] },
    numbers: () => { const x = Buffer.alloc(40); x.writeUInt32BE(0xdeadbeef, 0); x.writeInt16LE(-2, 4); x.writeDoubleBE(1.5, 8); x.writeFloatLE(0.25, 16); x.writeBigInt64LE(-5n, 20); x.writeUIntBE(0x123456789a, 28, 5); x.writeIntLE(-3, 34, 3); return [x, x.readUInt32LE(0), x.readInt16LE(4), x.readDoubleBE(8), x.readFloatLE(16), x.readBigInt64LE(20), x.readUIntBE(28, 5), x.readIntLE(34, 3), x.readUint8(0), x.readInt8(0)] },
    swap: () => Buffer.from([1, 2, 3, 4]).swap16(),
    typed: () => [Buffer.from([3, 1, 2]).map((x) => x * 2), Buffer.from([1, 2, 3]).filter((x) => x > 1), [...Buffer.from("ab").entries()]],
    web: () => [btoa("hi"), atob("aGk=")],
    range: () => Buffer.alloc(2).readUInt16LE(1),
    offset: () => Buffer.alloc(2).readUInt8(1.5),
    value: () => Buffer.alloc(2).writeUInt8(256),
    big: () => Buffer.alloc(4).writeInt32LE(2 ** 40),
    type: () => Buffer.from(5),
    none: () => Buffer.from(null),
    encoding: () => Buffer.from("a", "utf9"),
    size: () => { try { Buffer.alloc(-1) } catch (error) { return [error.name, error.code] } },
    list: () => Buffer.concat("a"),
    invalid: () => [Buffer.from([0xff, 0x41, 0xe2, 0x82]).toString(), Buffer.from("\\ud800x")],
    mutable: () => { const x = Buffer.from("abc"); x.subarray(1)[0] = 65; return x.toString() },
  `));

  test("ciphers", (t) => both(t, `const crypto = require("crypto"); const { createCipheriv, createDecipheriv } = crypto;
    const names = ["cbc", "ctr", "gcm"].flatMap((mode) => [128, 192, 256].map((bits) => "aes-" + bits + "-" + mode));
    const text = "grüße an alle, die das lesen: 🙂"; const key = (name) => Buffer.alloc(Number(name.slice(4, 7)) / 8, 7); const iv = Buffer.alloc(16, 9);
    const all = (cipher, data, ...encodings) => Buffer.concat([cipher.update(data), cipher.final()]);
    const caught = (run) => { try { return run() } catch ({ name, code, message, library, reason }) { return [name, code, message, library, reason] } };
    const gcm = (make = createCipheriv, options, vector = iv) => make("aes-128-gcm", Buffer.alloc(16), vector, options);`, `
    encrypted: () => names.map((name) => all(createCipheriv(name, key(name), iv), text).toString("hex")),
    back: () => names.map((name) => { const c = createCipheriv(name, key(name), iv); const secret = all(c, text); const d = createDecipheriv(name, key(name), iv); if (name.endsWith("gcm")) d.setAuthTag(c.getAuthTag()); return all(d, secret).toString() }),
    pieces: () => names.map((name) => { const c = createCipheriv(name, key(name), iv); return [1, 15, 16, 17, 40, 0, 3].map((n) => c.update(Buffer.alloc(n, n)).toString("hex")).concat(c.final("hex")) }),
    texts: () => ["hex", "base64", "base64url", "latin1"].map((encoding) => { const c = createCipheriv("aes-256-cbc", Buffer.alloc(32), iv); let out = ""; for (const part of ["a", "bcd".repeat(7), "", "é".repeat(9)]) out += c.update(part, "utf8", encoding); return out + c.final(encoding) }),
    decrypted: () => { const c = createCipheriv("aes-256-cbc", "k".repeat(32), "i".repeat(16)); const secret = c.update("7072", "hex", "base64") + c.final("base64"); const d = createDecipheriv("AES256", "k".repeat(32), "i".repeat(16)); return d.update(secret, "base64", "utf8") + d.final("utf8") },
    tags: () => [4, 8, 12, 13, 16].map((authTagLength) => { const c = gcm(createCipheriv, { authTagLength }); c.setAAD(Buffer.from("head")).setAAD(Buffer.from("er")); const secret = c.update(text, "utf8", "hex") + c.final("hex"); return [secret, c.getAuthTag()] }),
    vectors: () => [1, 7, 12, 13, 16, 33].map((n) => { const c = gcm(createCipheriv, {}, Buffer.alloc(n, 3)); return c.update("text", "utf8", "hex") + c.final("hex") + c.getAuthTag().toString("hex") }),
    empty: () => names.map((name) => { const c = createCipheriv(name, key(name), iv); return [c.final("hex"), name.endsWith("gcm") && c.getAuthTag("hex").toString("hex")] }),
    plain: () => { const c = createCipheriv("aes-128-cbc", Buffer.alloc(16), iv); c.setAutoPadding(false); const secret = c.update("sixteen letters!", "utf8", "hex") + c.final("hex"); const d = createDecipheriv("aes-128-cbc", Buffer.alloc(16), iv); return [secret, d.setAutoPadding(false).update(secret, "hex", "utf8") + d.final("utf8")] },
    streams: async () => { const { pipeline } = require("stream/promises"); const { Readable } = require("stream"); const c = createCipheriv("aes-192-ctr", Buffer.alloc(24), iv); const d = createDecipheriv("aes-192-ctr", Buffer.alloc(24), iv); const parts = []; d.on("data", (part) => parts.push(part)); await pipeline(Readable.from(["one, ", "two"]), c, d); return Buffer.concat(parts).toString() },
    broken: async () => { const { pipeline } = require("stream/promises"); const { Readable } = require("stream"); try { await pipeline(Readable.from([Buffer.alloc(16)]), createDecipheriv("aes-128-cbc", Buffer.alloc(16), iv).resume()); return "fine" } catch (error) { return error.code } },
    unauthentic: () => { const d = gcm(createDecipheriv).setAuthTag(Buffer.alloc(16)); return [d.update("00", "hex"), caught(() => d.final())] },
    untagged: () => { const d = gcm(createDecipheriv); d.update("00", "hex"); return caught(() => d.final()) },
    wrongEnds: () => ["00", "00".repeat(16), "00".repeat(17)].map((secret) => { const d = createDecipheriv("aes-128-cbc", Buffer.alloc(16), iv); d.update(secret, "hex"); return caught(() => d.final()) }),
    notWhole: () => { const c = createCipheriv("aes-128-cbc", Buffer.alloc(16), iv).setAutoPadding(false); c.update("x"); return caught(() => c.final()) },
    unknown: () => caught(() => createCipheriv("aes-128-xyz", Buffer.alloc(16), iv)),
    wrongKey: () => caught(() => createCipheriv("aes-128-cbc", Buffer.alloc(15), iv)),
    wrongVector: () => ["cbc", "ctr", "gcm"].map((mode) => caught(() => createCipheriv("aes-128-" + mode, Buffer.alloc(16), Buffer.alloc(0)))),
    noVector: () => caught(() => createCipheriv("aes-128-cbc", Buffer.alloc(16), null)),
    wrongTypes: () => [[5, "k", "i"], ["aes-128-cbc", 5, iv], ["aes-128-cbc", Buffer.alloc(16), 5]].map((given) => caught(() => createCipheriv(...given))),
    wrongData: () => caught(() => gcm().update(5)),
    wrongTags: () => [() => gcm(createCipheriv, { authTagLength: 5 }), () => gcm(createDecipheriv).setAuthTag(Buffer.alloc(5)), () => gcm(createDecipheriv, { authTagLength: 12 }).setAuthTag(Buffer.alloc(16))].map(caught),
    states: () => { const c = gcm(); c.update("x"); const early = [caught(() => c.getAuthTag()), caught(() => c.setAAD(Buffer.alloc(1)))]; c.final(); return [...early, caught(() => c.update("x")), caught(() => c.final()), caught(() => c.setAutoPadding())] },
    secretKey: () => createCipheriv("aes-128-ctr", crypto.createSecretKey(Buffer.alloc(16)), iv).update("x", "utf8", "hex"),
    known: () => [crypto.getCipherInfo("aes-192-cbc"), crypto.getCipherInfo("AES-256-GCM"), crypto.getCipherInfo(904), crypto.getCipherInfo("none"), crypto.getCipherInfo("aes-128-gcm", { ivLength: 8 }), crypto.getCipherInfo("aes-128-cbc", { keyLength: 5 })],
    listed: () => names.every((name) => crypto.getCiphers().includes(name)),
    classes: () => [gcm() instanceof crypto.Cipheriv, gcm(createDecipheriv) instanceof crypto.Decipheriv],
  `));

  test("signatures and keys of pairs", (t) => both(t, KEYS_HEAD, `
    rsa: () => ["sha1", "RSA-SHA256", "sha384", "SHA512"].map((name) => crypto.createSign(name).update("a").update(Buffer.from("b")).update("63", "hex").sign(pem("rsa"), "hex")),
    oneShot: () => [crypto.sign("sha256", Buffer.from("text"), pem("rsa")), crypto.sign(undefined, Buffer.from("text"), pem("rsa"))],
    later: () => new Promise((done) => crypto.sign("sha256", Buffer.from("text"), pem("rsa"), (error, signature) => done([error, signature.toString("hex")]))),
    forms: () => each(forms, (name) => crypto.sign("sha256", Buffer.from("text"), pem(name)).length > 60),
    verified: () => each(signatures, ({ key, options, hash, signature }) => [crypto.verify(hash, Buffer.from("text"), { key: pem(key), ...options }, Buffer.from(signature, "hex")), crypto.createVerify(hash).update("text").verify({ key: pem(key), ...options }, signature, "hex"), crypto.createVerify(hash).update("test").verify({ key: pem(key), ...options }, signature, "hex")]),
    ownVerified: () => each(curves.concat("rsa"), (name) => [{}, { padding: crypto.constants.RSA_PKCS1_PSS_PADDING }, { padding: 6, saltLength: 7 }, { padding: 6, saltLength: crypto.constants.RSA_PSS_SALTLEN_DIGEST }, { dsaEncoding: "ieee-p1363" }].map((options) => { const signature = crypto.sign("sha512", Buffer.from("x"), { key: pem(name), ...options }); return [crypto.verify("sha512", Buffer.from("x"), { key: crypto.createPublicKey(pem(name)), ...options }, signature), crypto.verify("sha512", Buffer.from("y"), { key: pem(name), ...options }, signature)] })),
    streamed: () => new Promise((done) => { const s = crypto.createSign("sha256"); s.write("a"); s.end("b", () => done(s.sign(pem("rsa"), "hex"))) }),
    facts: () => each(forms, (name) => { const key = crypto.createPrivateKey(pem(name)); const half = crypto.createPublicKey(key); return [key.type, key.asymmetricKeyType, key.asymmetricKeyDetails, half.type, half.asymmetricKeyDetails, key instanceof crypto.KeyObject, key.constructor.name, half.constructor.name, key.equals(crypto.createPrivateKey(pem(name))), key.equals(half)] }),
    jwk: () => each(forms, (name) => { const key = crypto.createPrivateKey(pem(name)); const jwk = key.export({ format: "jwk" }); return [jwk, crypto.createPublicKey(key).export({ format: "jwk" }), crypto.createPrivateKey({ key: jwk, format: "jwk" }).equals(key)] }),
    exported: () => [["rsa", "pkcs1"], ["rsa", "pkcs8"], ...curves.map((name) => [name, "sec1"])].map(([name, type]) => crypto.createPrivateKey(pem(name)).export({ type, format: "pem" })),
    exportedHalf: () => [["rsa", "pkcs1"], ["rsa", "spki"], ...curves.map((name) => [name, "spki"])].flatMap(([name, type]) => ["pem", "der"].map((format) => crypto.createPublicKey(pem(name)).export({ type, format }))),
    again: () => each(forms, (name) => ["pem", "der"].map((format) => { const key = crypto.createPrivateKey(pem(name)); return crypto.createPrivateKey({ key: key.export({ type: "pkcs8", format }), format, type: "pkcs8" }).equals(key) })),
    halves: () => each(forms, (name) => crypto.createPublicKey(pem(name)).equals(crypto.createPublicKey(crypto.createPrivateKey(pem(name))))),
    certificate: () => ["rsa", "p256", "p521"].map((name) => crypto.createPublicKey(fs.readFileSync(__dirname + "/keys/certificate-" + name + ".pem")).export({ type: "spki", format: "pem" })),
    loose: () => crypto.createPrivateKey("text before\\n" + pem("rsa").replaceAll("\\n", "\\r\\n") + "text after").equals(crypto.createPrivateKey(Buffer.from(pem("rsa")))),
    secret: () => [crypto.createSecretKey("s", "utf8"), crypto.createSecretKey(Buffer.from("ab"))].map((key) => [key.type, key.symmetricKeySize, key.export().toString(), key.export({ format: "jwk" }), key.constructor.name, key.equals(crypto.createSecretKey(Buffer.from("ab")))]),
    encrypted: () => { const data = Buffer.from("text"); return [{}, { oaepHash: "sha256" }, { oaepLabel: Buffer.from("l") }].map((options) => { const secret = crypto.publicEncrypt({ key: pem("rsa"), ...options }, data); return [secret.length, crypto.privateDecrypt({ key: pem("rsa"), ...options }, secret).toString()] }) },
    fromNode: () => crypto.privateDecrypt(pem("rsa"), Buffer.from(secret, "hex")).toString(),
    wrongSecret: () => caught(() => crypto.privateDecrypt(pem("rsa"), Buffer.alloc(256, 1))),
    tooLong: () => caught(() => crypto.publicEncrypt(pem("rsa"), Buffer.alloc(300))),
    made: () => each([["rsa", { modulusLength: 1024 }], ["ec", { namedCurve: "P-256" }], ["ec", { namedCurve: "secp521r1" }]], ([type, options]) => { const { publicKey, privateKey } = crypto.generateKeyPairSync(type, options); return [publicKey.type, privateKey.asymmetricKeyDetails, crypto.createPublicKey(privateKey).equals(publicKey)] }),
    madeTexts: () => Object.values(crypto.generateKeyPairSync("ec", { namedCurve: "prime256v1", publicKeyEncoding: { type: "spki", format: "pem" }, privateKeyEncoding: { type: "pkcs8", format: "pem" } })).map((text) => text.split("\\n")[0]),
    madeLater: () => new Promise((done) => crypto.generateKeyPair("rsa", { modulusLength: 1024 }, (error, publicKey, privateKey) => done([error, crypto.createPublicKey(privateKey).equals(publicKey)]))),
    madePromised: async () => Object.keys(await require("util").promisify(crypto.generateKeyPair)("ec", { namedCurve: "P-384" })),
    subtle: async () => { const key = await crypto.subtle.importKey("raw", Buffer.from("key"), { name: "HMAC", hash: "SHA-256" }, false, ["sign"]); return [Buffer.from(await crypto.webcrypto.subtle.sign("HMAC", key, Buffer.from("text"))).toString("hex"), crypto.subtle === crypto.webcrypto.subtle] },
    noKey: () => ["", "secret", pem("rsa").slice(0, 99)].flatMap((text) => [caught(() => crypto.createPrivateKey(text)), caught(() => crypto.createPublicKey(text))]),
    half: () => caught(() => crypto.createPrivateKey(crypto.createPublicKey(pem("rsa")).export({ type: "spki", format: "pem" }))),
    wrongObjects: () => { const half = crypto.createPublicKey(pem("rsa")); return [() => crypto.createSign("sha256").sign(half), () => crypto.createVerify("sha256").verify(crypto.createSecretKey(Buffer.from("s")), Buffer.alloc(1)), () => crypto.createPublicKey(half), () => crypto.createSign("sha256").sign()].map(caught) },
    wrongArguments: () => [() => crypto.createPrivateKey(5), () => crypto.createPublicKey({ key: 5 }), () => crypto.createSign(5), () => crypto.createSign("none"), () => crypto.createVerify("none"), () => crypto.createSign("sha256").update(5), () => crypto.createPrivateKey(crypto.createPublicKey(pem("rsa"))), () => crypto.createPrivateKey({ key: Buffer.alloc(1), format: "xyz" })].map(caught),
    wrongExports: () => { const key = crypto.createPrivateKey(pem("rsa")); const curve = crypto.createPrivateKey(pem("prime256v1")); return [() => key.export(), () => key.export({ format: "pem" }), () => key.export({ type: "pkcs8", format: "x" }), () => key.export({ type: "sec1", format: "pem" }), () => curve.export({ type: "pkcs1", format: "pem" })].map(caught) },
    wrongPairs: () => [() => crypto.generateKeyPairSync("none"), () => crypto.generateKeyPairSync("rsa"), () => crypto.generateKeyPairSync("rsa", {}), () => crypto.generateKeyPairSync("ec", {}), () => crypto.generateKeyPairSync("ec", { namedCurve: "none" })].map(caught),
    wrongSignature: () => [crypto.verify("sha256", Buffer.from("x"), pem("rsa"), Buffer.alloc(3)), crypto.verify("sha256", Buffer.from("x"), pem("prime256v1"), Buffer.from("junk")), crypto.verify("sha256", Buffer.from("x"), pem("rsa"), Buffer.alloc(256))],
  `, { files: KEY_FILES }));

  test("what signs, encrypts and makes keys at random is understood by node", async (t) => {
    const { here } = await resultsOf(t, KEYS_HEAD, `
      signed: async () => (await each(["rsa", ...curves], (key) => [{ padding: 6 }, { padding: 6, saltLength: -1 }, { padding: 6, saltLength: 9 }, { dsaEncoding: "ieee-p1363" }, {}].map((options) => ({ key, options, signature: crypto.sign("sha384", Buffer.from("text"), { key: pem(key), ...options }).toString("hex") })))).flat(),
      made: () => each([["rsa", { modulusLength: 2048 }], ...curves.map((namedCurve) => ["ec", { namedCurve }])], ([type, options]) => { const { privateKey } = crypto.generateKeyPairSync(type, options); return { types: ["pkcs8", type === "rsa" ? "pkcs1" : "sec1"].map((type) => privateKey.export({ type, format: "pem" })), signature: crypto.sign("sha256", Buffer.from("text"), privateKey).toString("hex") } }),
      encrypted: () => [{}, { oaepHash: "sha512", oaepLabel: Buffer.from("l") }].map((options) => crypto.publicEncrypt({ key: pem("rsa"), ...options }, Buffer.from("text")).toString("hex")),
      locked: () => ["locked", "oldLocked"].flatMap((name) => [pem(name), { key: pem(name), passphrase: "x" }]).map((key) => caught(() => crypto.createPrivateKey(key)).slice(1, 3)),
      tokens: () => each(tokenKinds, ([algorithm, key]) => require("jsonwebtoken").sign({ id: 7 }, pem(key), { algorithm })),
    `, { files: KEY_FILES });
    for (const { key, options, signature } of here.signed) {
      const verify = (text) => createVerify("sha384").update(text).verify({ key: KEYS[key], ...options }, signature, "hex");
      assert.deepEqual([verify("text"), verify("test")], [true, false], JSON.stringify([key, options]));
    }
    for (const { types, signature } of here.made) {
      for (const key of types) assert.ok(createVerify("sha256").update("text").verify(createPublicKey(key), signature, "hex"), key);
    }
    const decrypted = [{}, { oaepHash: "sha512", oaepLabel: Buffer.from("l") }].map((options, index) => privateDecrypt({ key: KEYS.rsa, ...options }, Buffer.from(here.encrypted[index], "hex")).toString());
    assert.deepEqual(decrypted, ["text", "text"]);
    // Node would ask the terminal for the passphrase.
    const locked = [["ERR_MISSING_PASSPHRASE", "Passphrase required for encrypted key"], ["ERR_FEATURE_UNAVAILABLE_ON_PLATFORM", "encrypted keys cannot be read here; decrypt the key with `openssl pkey -in encrypted.pem -out key.pem`"]];
    assert.deepEqual(here.locked, [...locked, ...locked]);
    TOKEN_KINDS.forEach(([algorithm, key], index) => {
      assert.equal(jwt.verify(here.tokens[index], createPublicKey(KEYS[key]), { algorithms: [algorithm] }).id, 7);
    });
  });

  test("crypto", (t) => both(t, `const crypto = require("crypto"); const assert = require("assert");
    const algorithms = ["md5", "sha1", "sha256", "SHA384", "sha512", "RSA-SHA256", "sha512-256", "ripemd160"];`, `
    hash: () => algorithms.map((name) => crypto.createHash(name).update("grüße").digest("hex")),
    parts: () => crypto.createHash("sha256").update("a").update(Buffer.from("b")).update("63", "hex").digest("base64"),
    copy: () => { const h = crypto.createHash("sha1").update("a"); const c = h.copy().update("b"); return [h.digest("hex"), c.digest("hex")] },
    buffer: () => crypto.createHash("md5").update("").digest(),
    hmac: () => algorithms.map((name) => crypto.createHmac(name, "key").update("text").digest("hex")),
    hmacOfBytes: () => crypto.createHmac("sha256", Buffer.alloc(200, 1)).update(new Uint8Array([1, 2])).digest("base64url"),
    short: () => crypto.hash?.("sha1", "abc") ?? "a9993e364706816aba3e25717850c26c9cd0d89d",
    twice: () => { const h = crypto.createHash("md5"); h.digest(); h.update("x") },
    twiceDigest: () => { const h = crypto.createHash("md5"); h.digest(); h.digest() },
    unknown: () => crypto.createHmac("sha257", "k"),
    wrongType: () => crypto.createHash("md5").update(5),
    random: () => [crypto.randomBytes(16).length, crypto.randomBytes(4).toString("hex").length, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(crypto.randomUUID()), crypto.randomInt(3) < 3, crypto.randomInt(5, 6), crypto.randomFillSync(Buffer.alloc(3)).length],
    callback: () => new Promise((done) => crypto.randomBytes(3, (error, bytes) => done([error, bytes.length]))),
    equal: () => [crypto.timingSafeEqual(Buffer.from("a"), Buffer.from("a")), crypto.timingSafeEqual(Buffer.from("a"), Buffer.from("b"))],
    unequal: () => crypto.timingSafeEqual(Buffer.from("a"), Buffer.from("bc")),
    derived: () => [crypto.pbkdf2Sync("secret", "salt", 1000, 40, "sha512"), Buffer.from(crypto.hkdfSync("sha256", "key", "salt", "info", 50))],
    derivedLater: () => new Promise((done) => crypto.pbkdf2("secret", "salt", 1, 20, "sha1", (error, key) => done(key.toString("hex")))),
    secret: () => { const key = crypto.createSecretKey(Buffer.from("k")); return [key.type, key.symmetricKeySize, key.export().toString(), crypto.createHmac("sha1", key).update("x").digest("hex")] },
    notAKey: () => { try { crypto.createPrivateKey("secret") } catch (error) { return error instanceof Error } },
    web: () => [globalThis.crypto.randomUUID().length, globalThis.crypto.getRandomValues(new Uint8Array(3)).length, crypto.webcrypto.getRandomValues(new Uint8Array(2)).length],
    stream: () => new Promise((done) => { const h = crypto.createHash("sha256"); h.on("data", (d) => done(d.toString("hex"))); h.write("ab"); h.end("c") }),
    hashes: () => algorithms.filter((name) => name.startsWith("sha") && !crypto.getHashes().includes(name)),
  `));

  test("path, url and querystring", (t) => both(t, `const path = require("path"); const url = require("url"); const qs = require("node:querystring");
    const paths = ["", ".", "/", "//", "a", "a/", "/a", "/a/b.c", "a/../b", "../a", "/..", "a//b", "./a.b.c", ".hidden", "a.", "/a/.b/", "//a"];
    const pairs = [["/a/b", "/a/c/d"], ["/a", "/a"], ["a", "../b"], ["/a/b/c", "/"]];
    const urls = ["http://user:p%40ss@Host.example:8080/p/a?q=1&q=2#h", "//host/path", "/just/path?x", "mailto:a@b.c", "https://x", "http://[::1]:80/", "?a=b", "http://a/b c"];`, `
    normalize: () => paths.map((p) => path.normalize(p)), basename: () => paths.map((p) => path.basename(p)), dirname: () => paths.map((p) => path.dirname(p)),
    extname: () => paths.map((p) => path.extname(p)), parse: () => paths.filter((p) => p !== "/..").map((p) => path.parse(p)), suffix: () => [path.basename("a.js", ".js"), path.basename(".js", ".js"), path.basename("a/b.js/", ".js")],
    join: () => [path.join(), path.join("a", "", "../b"), path.join("/a", "..", ".."), path.join("a/", "./b/")],
    resolve: () => [path.resolve("/a", "b", "../c"), path.resolve("/a", "/b"), path.resolve("/")], relative: () => pairs.map(([a, b]) => path.relative(a, b)),
    format: () => [path.format({ dir: "/a", base: "b" }), path.format({ root: "/", name: "b", ext: "c" }), path.format({ name: "x", ext: ".y" })],
    absolute: () => [path.isAbsolute("/a"), path.isAbsolute("a"), path.sep, path.delimiter, path.posix === path],
    wrong: () => path.join(5), wrongToo: () => path.basename(null),
    legacy: () => urls.map((u) => ({ ...url.parse(u) })), query: () => url.parse("/a?b=1&b=2&c", true).query.b, formatted: () => urls.map((u) => url.format(url.parse(u))),
    format2: () => [url.format({ protocol: "http", hostname: "a", port: 1, pathname: "b", query: { c: [1, 2] } }), url.format({ host: "x", search: "y", hash: "z" }), url.format(new URL("http://u:p@a/b#c"), { auth: false, fragment: false })],
    resolved: () => [url.resolve("/a/b", "c"), url.resolve("http://a/b/c", "../d"), url.resolve("http://a", "//b/c"), url.resolve("a/b", "c")],
    file: () => [url.fileURLToPath("file:///a%20b/c"), url.pathToFileURL("/a b/#c?").href], notAFile: () => url.fileURLToPath("http://a/"),
    options: () => url.urlToHttpOptions(new URL("http://u:p@a:1/b?c")).auth,
    whatwg: () => { const u = new URL("../x?a=1&a=2#h", "http://h/p/q"); u.searchParams.append("b", "ü +"); u.searchParams.delete("a"); return [u.href, String(u), u.origin, u.pathname, [...u.searchParams], JSON.stringify(u)] },
    params: () => [String(new URLSearchParams({ a: 1, b: "x y" })), String(new URLSearchParams([["a", "1"], ["a", "2"]])), [...new URLSearchParams("?q=%20&r=+").entries()], new URLSearchParams("a=1&b=2").has("b")],
    canParse: () => [URL.canParse("http://a"), URL.canParse("a"), url.URL === URL],
    qs: () => [qs.stringify({ a: [1, "x y"], b: true, c: null, d: "ü", e: NaN, f: 1n }), qs.stringify({ a: 1, b: 2 }, ";", ":"), { ...qs.parse("a=1&a=2&b=%20+&c&=d&e=%zz") }, { ...qs.parse("a:1;b:2", ";", ":") }, qs.escape("a&b'"), qs.unescape("%41%zz"), Object.keys(qs.parse("a&b&c", null, null, { maxKeys: 2 }))],
  `));

  test("util", (t) => both(t, `const util = require("node:util"); class A { constructor() { this.x = 1 } } class B extends A { get y() { return 1 } }
    const circular = { a: 1 }; circular.self = circular; const deep = { a: { b: { c: { d: 1 } } } };
    const values = [1, -0, "a'b", 'a"\\'b', "line\\nbreak", 5n, true, null, undefined, Symbol("s"), [], {}, [1, [2, [3, [4]]]], deep, circular, new A(), new B(), Object.create(null), new Map([["a", { b: 1 }]]), new Set([1, "x"]),
      new Date(0), new Date(NaN), /a+/g, () => 1, function named() {}, async () => {}, class {}, class C extends A {}, [1, , 3], [undefined, null], { "a-b": 1, [Symbol("k")]: 2, 3: 4 }, Buffer.from("hi"), new Uint8Array([1, 2]), new ArrayBuffer(2),
      { get a() { return 1 }, set b(x) {}, get c() { return 1 }, set c(x) {} }, [["a", 1]], { f() {}, g: class {} }, new Number(3), new String("s"), Promise.resolve(5), new Promise(() => {}), new WeakMap(), Object.assign(() => {}, { p: 1 }), Object.assign([1], { p: 1 }),
      Array.from({ length: 120 }, (_, i) => i), Array.from({ length: 30 }, (_, i) => "item" + i), "x".repeat(200), { long: "y".repeat(70), other: "z".repeat(20) }, [{ a: 1, b: 2 }, { a: 3, b: 4 }], { a: [{ b: { c: {} } }] }, new (class Foo extends Map {})(), [[[[]]]], { a: {}, b: [] }, "a".repeat(20) + "\\n" + "b".repeat(60),
      Array.from({ length: 10 }, (_, i) => ({ id: i })), { name: "user", tags: ["a", "b", "c"], nested: { list: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10], map: new Map([[1, 2]]) } }, [1.5, -2, 1000000], new Set(), new Map(), [null, undefined, true], (function () { return arguments })(1, 2), new Error("x").message, [new Date(0)], { a: 1n, b: Symbol.iterator }, Object.create({ inherited: 1 }), Object.create(A.prototype), new Proxy({ a: 1 }, {})];`, `
    ...Object.fromEntries(values.map((value, i) => ["inspect" + i, () => util.inspect(value)])),
    depth: () => [util.inspect(deep, { depth: 0 }), util.inspect(deep, { depth: null }), util.inspect(deep, false, 1), util.inspect({ a: 1, b: { c: 2 } }, { compact: false }), util.inspect({ b: 1, a: 2 }, { sorted: true }), util.inspect([1, 2, 3], { maxArrayLength: 1 }), util.inspect({ a: "x" }, { colors: true }), util.inspect("abcdef", { maxStringLength: 2 }), util.inspect({ a: { b: 1 } }, { breakLength: 3 })],
    custom: () => util.inspect({ a: { [util.inspect.custom](depth, options) { return "own " + depth } } }),
    format: () => [util.format("%s %d %i %f %j %o %O %%", "a", "1.5", "1.5", "1.5", { a: 1 }, [1], { b: 2 }), util.format("a", "b", { c: 1 }, 5), util.format("%s", null, undefined), util.format("%s %s", "a"), util.format("%x", 1), util.format(1, "a"), util.format("%s", { a: { b: 1 } }), util.format("%s", () => 5), util.format("%d", 5n), util.format("%s", Symbol("x")), util.format("%c styled", "css"), util.format("%s", [1, "a"]), util.format("%s", new A())],
    promisify: async () => [await util.promisify((a, done) => done(null, a + 1))(1), await util.promisify((done) => done(new Error("e")))().catch((e) => e.message), await util.promisify(setTimeout)(1, "v")],
    callbackify: () => new Promise((done) => util.callbackify(async (x) => x * 2)(4, (error, value) => done([error, value]))),
    inherits: () => { function P() {} P.prototype.hi = () => 1; function Q() {} util.inherits(Q, P); return [new Q().hi(), Q.super_ === P] },
    equal: () => [util.isDeepStrictEqual({ a: [1, new Set([1])] }, { a: [1, new Set([1])] }), util.isDeepStrictEqual([1], ["1"]), util.isDeepStrictEqual(new Map([[{}, 1]]), new Map([[{}, 1]])), util.isDeepStrictEqual(NaN, NaN), util.isDeepStrictEqual(0, -0)],
    types: () => [util.types.isDate(new Date()), util.types.isPromise(Promise.resolve()), util.types.isAsyncFunction(async () => {}), util.types.isRegExp(/x/), util.types.isTypedArray(Buffer.alloc(1)), util.types.isGeneratorFunction(function* () {}), util.types.isMap(new Map()), util.types.isNativeError(new TypeError())],
    others: () => [util.isArray([]), util.stripVTControlCharacters("\\u001b[31mx\\u001b[0m"), new util.TextEncoder().encode("ü"), new util.TextDecoder().decode(new Uint8Array([195, 188]))],
    deprecate: () => util.deprecate((x) => x + 1, "old", "DEP1")(1),
  `));

  test("events, assert and streams", (t) => both(t, `const EventEmitter = require("events"); const { once, on } = EventEmitter; const assert = require("node:assert"); const { Readable, Writable, Transform, PassThrough, pipeline, finished } = require("stream");
    const read = async (stream) => { let text = ""; for await (const part of stream) text += part; return text };
    const thrown = (run) => { try { run(); return "nothing" } catch (error) { return [error.name, error.code, error.message.split("\\n")[0], error.generatedMessage, error.operator] } };`, `
    emit: () => { const e = new EventEmitter(); const seen = []; e.on("a", (x) => seen.push(x)); e.once("a", (x) => seen.push("once" + x)); e.prependListener("a", () => seen.push("first")); return [e.emit("a", 1), e.emit("a", 2), e.emit("b"), seen, e.listenerCount("a"), e.eventNames()] },
    off: () => { const e = new EventEmitter(); const f = () => {}; e.on("a", f).on("a", f); e.off("a", f); return [e.listenerCount("a"), e.removeAllListeners().eventNames(), e.getMaxListeners()] },
    error: () => new EventEmitter().emit("error", new RangeError("no")), errorText: () => new EventEmitter().emit("error", "text"), notAFunction: () => new EventEmitter().on("a", 5),
    once: async () => { const e = new EventEmitter(); setTimeout(() => e.emit("x", 1, 2), 1); return once(e, "x") },
    on: async () => { const e = new EventEmitter(); setTimeout(() => { e.emit("x", 1); e.emit("x", 2) }, 1); const seen = []; for await (const [x] of on(e, "x")) { seen.push(x); if (x === 2) break } return seen },
    meta: () => { const e = new EventEmitter(); const seen = []; e.on("newListener", (name) => seen.push(name)); e.on("a", () => {}); return seen },
    classic: () => { function E() { EventEmitter.call(this) } require("util").inherits(E, EventEmitter); const e = new E(); let n = 0; e.on("a", () => n++); e.emit("a"); return n },
    asserts: () => [thrown(() => assert(true)), thrown(() => assert.ok(0, "zero")), thrown(() => assert.equal(1, "1")), thrown(() => assert.equal(1, 2)), thrown(() => assert.strictEqual(1, 2)), thrown(() => assert.strictEqual("a", "a")), thrown(() => assert.deepStrictEqual({ a: 1 }, { a: 1 })), thrown(() => assert.deepEqual({ a: 1 }, { a: "1" })), thrown(() => assert.deepStrictEqual({ a: 1 }, { a: "1" })), thrown(() => assert.notStrictEqual(1, 1)), thrown(() => assert.throws(() => {})), thrown(() => assert.throws(() => { throw new TypeError("x") }, TypeError)), thrown(() => assert.throws(() => { throw new Error("abc") }, /b/)), thrown(() => assert.match("abc", /x/)), thrown(() => assert.fail("why")), thrown(() => assert.ifError(null)), thrown(() => assert.strict.equal(1, "1")), thrown(() => assert.notDeepEqual([1], [1])), thrown(() => assert.doesNotThrow(() => { throw new Error("y") }))],
    rejects: async () => [await assert.rejects(Promise.reject(new Error("x")), /x/) ?? "ok", await assert.rejects(async () => 1).catch((e) => e.message)],
    readable: () => read(Readable.from(["a", "b"])), pushed: () => { const r = new Readable({ read() {} }); r.push("x"); r.push(Buffer.from("y")); r.push(null); return read(r.setEncoding("utf8")) },
    chunks: async () => { const seen = []; await new Promise((done) => Readable.from([1, 2, 3]).on("data", (x) => seen.push(x)).on("end", done)); return seen },
    piped: () => new Promise((done, fail) => { const seen = []; pipeline(Readable.from(["ab", "cd"]), new Transform({ transform(chunk, encoding, next) { next(null, String(chunk).toUpperCase()) } }), new Writable({ write(chunk, encoding, next) { seen.push(String(chunk)); setTimeout(next, 1) } }), (error) => error ? fail(error) : done(seen)) }),
    broken: () => new Promise((done) => pipeline(new Readable({ read() { this.destroy(new Error("source")) } }), new PassThrough(), (error) => done(error.message))),
    writes: () => new Promise((done) => { const w = new Writable({ highWaterMark: 3, write(chunk, encoding, next) { next() } }); const seen = [w.write("ab"), w.write("cd")]; w.on("finish", () => done([...seen, w.writableFinished])); w.end("e") }),
    finished: () => new Promise((done) => { const r = Readable.from(["x"]); finished(r, (error) => done(error ?? "fine")); r.resume() }),
    afterEnd: () => new Promise((done) => { const w = new PassThrough(); w.on("error", (error) => done(error.code)); w.end(); w.write("x") }),
    backpressure: async () => { const p = new PassThrough({ highWaterMark: 4 }); let n = 0; (async () => { for (let i = 0; i < 50; i++) { n++; if (!p.write("abcd")) await once(p, "drain") } p.end() })(); return [(await read(p)).length, n] },
    decoder: () => { const { StringDecoder } = require("string_decoder"); const d = new StringDecoder("utf8"); return [d.write(Buffer.from([0xe2, 0x82])), d.write(Buffer.from([0xac])), d.end(Buffer.from([0xc3]))] },
  `));

  test("fs and os", (t) => both(t, `const fs = require("fs"); const fsp = require("fs/promises"); const path = require("path"); const os = require("os");
    const at = (name) => path.join(__dirname, "data", name);`, `
    sync: () => [fs.readFileSync(at("plain.txt"), "utf8"), fs.readFileSync("./data/plain.txt"), JSON.parse(fs.readFileSync(at("users.json"))), fs.readFileSync(at("users.json"), { encoding: "latin1" })],
    promised: async () => [await fsp.readFile(at("plain.txt"), "utf8"), (await fs.promises.stat(at("plain.txt"))).size, (await fsp.readdir(at(""))).sort(), await fsp.access(at("plain.txt")) ?? "fine"],
    callback: () => new Promise((done) => fs.readFile(at("plain.txt"), "utf8", (error, text) => done([error, text]))),
    exists: () => [fs.existsSync(at("plain.txt")), fs.existsSync(at("none"))],
    stat: () => { const s = fs.statSync(at("plain.txt")); return [s.isFile(), s.isDirectory(), s.size, s.mtime instanceof Date, fs.statSync(at("")).isDirectory(), fs.statSync(at("none"), { throwIfNoEntry: false })] },
    folder: () => [fs.readdirSync(at("")), fs.readdirSync(at(""), { withFileTypes: true }).map((entry) => [entry.name, entry.isFile()])],
    url: () => fs.readFileSync(new URL("file://" + at("plain.txt")), "utf8"),
    missing: () => fs.readFileSync("/none/at/all"), missingStat: () => fs.statSync("/none"), isFolder: () => fs.readFileSync("/"), access: () => fs.accessSync("/none"), missingLater: () => fsp.readFile("/none"), list: () => fs.readdirSync("/none"),
    wrong: () => fs.readFileSync({}), encoding: () => fs.readFileSync(at("plain.txt"), "utf9"),
    stream: async () => { let text = ""; for await (const part of fs.createReadStream(at("plain.txt"), { encoding: "utf8", start: 1, end: 4 })) text += part; return text },
    os: () => [os.EOL, os.platform(), os.type(), os.arch(), os.hostname(), os.cpus().length, os.totalmem(), os.tmpdir(), os.homedir(), os.endianness(), os.release()],
    places: () => [__filename === at("../functions.js"), __dirname === path.dirname(__filename), module.exports === exports, typeof require.resolve, require.resolve("./data/users.json") === at("users.json"), require.main === module],
  `));

  test("globals and timers", (t) => both(t, `const { performance: p } = require("perf_hooks"); const timers = require("timers").promises; const { setTimeout: own } = require("timers");`, `
    order: () => new Promise((done) => setTimeout(() => { const seen = []; const add = (x) => () => seen.push(x); setTimeout(() => done(seen), 20); setTimeout(add("timeout"), 1); setImmediate(add("immediate")); Promise.resolve().then(add("promise")); queueMicrotask(add("microtask")); process.nextTick(add("tick")); seen.push("now") }, 1)),
    ticks: () => new Promise((done) => setTimeout(() => { const seen = []; process.nextTick((x) => { seen.push(x); process.nextTick(() => seen.push("inner")); Promise.resolve().then(() => seen.push("promise")) }, "outer"); process.nextTick(() => seen.push("second")); setTimeout(() => done(seen), 5) }, 1)),
    cleared: () => new Promise((done) => { let n = 0; clearTimeout(setTimeout(() => n++, 1)); clearImmediate(setImmediate(() => n++)); const i = setInterval(() => { n += 10; if (n >= 30) { clearInterval(i); done(n) } }, 1) }),
    timer: () => { const timer = setTimeout(() => {}, 1); return [typeof timer.ref, timer.unref() === timer, timer.hasRef?.call !== undefined, own === setTimeout] },
    promised: async () => [await timers.setTimeout(1, "a"), await timers.setImmediate("b")], wrong: () => setTimeout("code", 1),
    process: () => [process.env.FROM_SYSTEM, "FROM_SYSTEM" in process.env, process.env.NOT_THERE, Array.isArray(process.argv), typeof process.pid, process.platform, process.arch, /^v\\d+/.test(process.version), process.cwd() === __dirname, typeof process.uptime(), process.hrtime().length, typeof process.hrtime.bigint(), require("process") === process, typeof process.memoryUsage().rss],
    elapsed: () => { const a = process.hrtime(); const b = process.hrtime(a); return [b[0], b[1] >= 0, performance.now() > 0, p === performance, typeof performance.timeOrigin] },
    text: () => [new TextEncoder().encode("ü🙂"), new TextDecoder().decode(new Uint8Array([0xef, 0xbb, 0xbf, 0xc3, 0xbc])), new TextDecoder("utf-8", { fatal: true }).fatal],
    clone: () => { const a = { d: new Date(5), m: new Map([["k", { x: 1 }]]), s: new Set([1]), r: /x/g, b: new Uint8Array([1]), n: null, u: undefined, l: [1, , 3] }; a.self = a; const c = structuredClone(a); return [c !== a, c.self === c, c.d.getTime(), c.m.get("k").x, c.s.has(1), String(c.r), c.b, "u" in c, 1 in c.l, c.m !== a.m] },
    cloneError: () => { const c = structuredClone(new TypeError("x", { cause: 1 })); return [c instanceof TypeError, c.message, c.cause] }, cloneFunction: () => structuredClone(() => 1), cloneSymbol: () => structuredClone({ a: Symbol("x") }),
    abort: () => { const c = new AbortController(); let n = 0; c.signal.addEventListener("abort", () => n++); c.abort(); c.abort(); return [c.signal.aborted, n, c.signal.reason.name, AbortSignal.abort("why").reason] },
    event: () => { const target = new EventTarget(); const seen = []; target.addEventListener("a", (event) => seen.push(event.type, event instanceof Event), { once: true }); target.dispatchEvent(new Event("a")); target.dispatchEvent(new Event("a")); return seen },
    exception: () => { const e = new DOMException("m", "AbortError"); return [e.name, e.code, e.message, e instanceof Error] },
    blob: async () => { const b = new Blob(["ab", new Uint8Array([99])], { type: "Text/Plain" }); return [b.size, b.type, await b.text(), await b.slice(1).text()] },
    headers: () => { const h = new Headers({ "X-A": "1" }); h.append("x-a", "2"); h.append("Set-Cookie", "a"); h.append("set-cookie", "b"); return [[...h], h.get("X-A"), h.get("none"), h.has("x-a"), h.getSetCookie()] },
    response: async () => { const r = new Response('{"a":1}', { status: 201, headers: { a: "b" } }); const c = r.clone(); return [r.ok, r.status, await r.json(), r.bodyUsed, await c.text(), Response.json({ b: 2 }).headers.get("content-type"), r.headers.get("content-type")] },
    request: async () => { const r = new Request("http://a/b", { method: "post", body: new URLSearchParams({ a: "1" }) }); return [r.method, r.url, r.headers.get("content-type"), await r.text()] },
    globals: () => [typeof global, global === globalThis, typeof Buffer, typeof fetch],
  `));

  test("HTTP", async (t) => {
    const results = await both(t, `const http = require("http"); const https = require("node:https");
      const body = (response) => new Promise((done) => { let text = ""; response.setEncoding("utf8"); response.on("data", (part) => text += part); response.on("end", () => done(JSON.parse(text))) });
      const request = (url, options, data) => new Promise((done, fail) => { const r = http.request(url, options, async (response) => done([response.statusCode, response.statusMessage, response.headers["set-cookie"], response.headers["x-two"], await body(response)])); r.on("error", fail); r.end(data) });
      const answer = async (response) => [response.status, response.ok, response.statusText, response.redirected, response.url.slice(BASE.length), response.headers.get("x-two"), response.headers.getSetCookie(), await response.json()];
      const failure = async (promise) => promise.then(() => "nothing", (error) => [error.name, error.message.replace(/\\d{4,}/, "PORT"), error.code, error.cause?.code, error.cause?.syscall]);`, `
      get: async () => answer(await fetch(BASE + "/a?b=1")),
      post: async () => answer(await fetch(BASE + "/a", { method: "POST", headers: { "Content-Type": "application/json", "X-Own": "1" }, body: JSON.stringify({ a: "ü" }) })),
      form: async () => answer(await fetch(new URL("/f", BASE), { method: "PUT", body: new URLSearchParams({ a: "x y" }) })),
      text: async () => (await (await fetch(BASE + "/t", { method: "POST", body: "plain" })).json()).headers["content-type"],
      bytes: async () => (await (await fetch(BASE + "/t", { method: "POST", body: Buffer.from([1, 2, 255]) })).json()).body,
      redirects: async () => [await answer(await fetch(BASE + "/redirect302", { method: "POST", body: "x" })), await answer(await fetch(BASE + "/redirect307", { method: "POST", body: "x" })), (await fetch(BASE + "/redirect301", { redirect: "manual" })).status],
      refusedRedirect: () => failure(fetch(BASE + "/redirect302", { redirect: "error" })),
      missing: async () => { const r = await fetch(BASE + "/missing"); return [r.ok, r.status, r.statusText] },
      head: async () => { const r = await fetch(BASE + "/h", { method: "HEAD" }); return [r.status, await r.text()] },
      refused: () => failure(fetch("http://127.0.0.1:2/")), invalid: () => failure(fetch("nothing")), scheme: () => failure(fetch("ftp://a/")), broken: () => failure(fetch(BASE + "/broken")),
      aborted: async () => { const c = new AbortController(); setTimeout(() => c.abort(), 20); return failure(fetch(BASE + "/slow", { signal: c.signal })) },
      timeout: async () => (await failure(fetch(BASE + "/slow", { signal: AbortSignal.timeout(20) })))[0],
      parallel: async () => (await Promise.all([1, 2, 3].map((n) => fetch(BASE + "/" + n)))).map((r) => r.status),
      httpGet: () => new Promise((done) => http.get(BASE + "/g", async (response) => done([response.statusCode, response.httpVersion, response.headers["content-type"], await body(response)]))),
      httpPost: () => request(BASE + "/p", { method: "POST", headers: { "Content-Type": "text/plain", "content-length": 3 } }, "abc"),
      httpOptions: () => new Promise((done) => { const r = http.request({ hostname: "127.0.0.1", port: new URL(BASE).port, path: "/p?q", method: "PUT", headers: { "Content-Length": 2 } }, async (response) => done(await body(response))); r.write("x"); r.end("y") }),
      auth: () => request(new URL(BASE + "/x"), { auth: "u:p" }).then(([, , , , seen]) => seen.headers.authorization),
      noRedirect: () => new Promise((done) => http.get(BASE + "/redirect302", (response) => { response.resume(); done([response.statusCode, response.headers.location]) })),
      httpRefused: () => failure(request("http://127.0.0.1:1/")), httpBroken: () => failure(request(BASE + "/broken")), protocol: () => https.get(BASE),
      destroyed: () => new Promise((done) => { const r = http.get(BASE + "/slow"); r.on("error", (error) => done([error.code, error.message])); setTimeout(() => r.destroy(), 20) }),
      httpTimeout: () => new Promise((done) => { const r = http.get(BASE + "/slow", { timeout: 20 }); r.on("timeout", () => { r.destroy(new Error("too slow")) }); r.on("error", (error) => done(error.message)) }),
      codes: () => [http.STATUS_CODES[404], http.METHODS.includes("PATCH"), new http.Agent({ keepAlive: true }).keepAlive],
      wrongHeader: () => http.request(BASE, { headers: { "a b": "1" } }),
    `);
    assert.equal(results.get[0], 200);
  });
});

describe("packages of node_modules work as in node", { concurrency: 2 }, () => {
  test("CommonJS", async (t) => {
    const results = await both(t, `${KEYS_HEAD} const tokens = ${JSON.stringify(TOKENS)}; const _ = require("lodash"); const jwt = require("jsonwebtoken"); const { z } = require("zod"); const { format, addDays, parseISO } = require("date-fns"); const { faker } = require("@faker-js/faker"); const uuid = require("uuid");
      const fixed = { algorithm: "HS256", noTimestamp: true };`, `
      lodash: () => [_.chunk([1, 2, 3], 2), _.groupBy(["a", "bb"], "length"), _.get({ a: [{ b: 1 }] }, "a[0].b"), _.camelCase("some words"), _.template("hi <%= name %>")({ name: "x" }), _.cloneDeep({ a: [1] }), _.isEqual({ a: 1 }, { a: 1 })],
      zod: () => { const user = z.object({ name: z.string().min(2), age: z.number().optional() }); return [user.parse({ name: "ab" }), user.safeParse({ name: "a" }).success, user.safeParse({ name: 5 }).error.issues[0].code] },
      dates: () => [format(new Date(2024, 1, 29, 3, 4, 5), "yyyy-MM-dd HH:mm:ss EEE"), addDays(parseISO("2024-02-28"), 2).getDate()],
      faker: () => { faker.seed(5); return [faker.number.int(1000), typeof faker.person.fullName(), faker.internet.email().includes("@"), faker.string.uuid().length] },
      uuid: () => [uuid.v4().length, uuid.validate(uuid.v4()), uuid.v5("name", uuid.v5.URL), uuid.version(uuid.v7())],
      signed: () => jwt.sign({ id: 1, name: "ü" }, "secret", fixed), verified: () => jwt.verify(jwt.sign({ id: 1 }, "secret", { expiresIn: "1h" }), "secret").id,
      pairs: () => each(tokenKinds, ([algorithm, key]) => [jwt.verify(tokens[algorithm], crypto.createPublicKey(pem(key)), { algorithms: [algorithm] }).id, jwt.verify(jwt.sign({ id: 2 }, pem(key), { algorithm }), crypto.createPublicKey(pem(key)).export({ type: "spki", format: "pem" })).id]),
      rs256: () => jwt.sign({ id: 1 }, pem("rsa"), { ...fixed, algorithm: "RS256" }), changed: () => caught(() => jwt.verify(tokens.PS256.slice(0, -4) + "AAAA", pem("rsa"))), otherKind: () => caught(() => jwt.verify(tokens.RS256, "secret")), notPrivate: () => caught(() => jwt.sign({}, crypto.createPublicKey(pem("rsa")), { algorithm: "RS256" })),
      hs512: () => jwt.sign({ id: 1 }, "secret", { ...fixed, algorithm: "HS512" }), wrongKey: () => { try { jwt.verify(jwt.sign({}, "a"), "b") } catch (error) { return [error.name, error.message] } }, decoded: () => jwt.decode(jwt.sign({ id: 2 }, "s", fixed), { complete: true }).header,
    `, { files: KEY_FILES });
    noneThrown(results);
  });

  test("ES modules and TypeScript", async (t) => {
    const head = `import _ from "lodash"; import { z } from "zod"; import { v5 as v5 } from "uuid"; import { format } from "date-fns/format"; import jwt from "jsonwebtoken"; import { createHash } from "node:crypto"; import * as path from "path"; import fs, { readFileSync } from "fs"; import EventEmitter, { once } from "events"; import { Buffer } from "buffer"; import { faker } from "@faker-js/faker/locale/en"; import { dirname } from "path"; import { fileURLToPath } from "url"; import { createRequire } from "module";
      const require = createRequire(import.meta.url); const users = require("./data/users.json");`;
    const cases = `
      all: () => [_.sum([1, 2]), z.string().parse("a"), v5("n", v5.DNS), format(new Date(0), "yyyy"), jwt.sign({ a: 1 }, "s", { noTimestamp: true }), createHash("sha1").update("x").digest("hex"), path.join("a", "b"), fs.readFileSync === readFileSync, typeof once, new EventEmitter().listenerCount("x"), Buffer.from("a"), faker.helpers.arrayElement([7]), users],
      place: () => [dirname(fileURLToPath(import.meta.url)) === process.cwd(), import.meta.url.startsWith("file:///")],
      dynamic: async () => (await import("path")).default.basename("/a/b"),
    `;
    noneThrown(await both(t, head, cases, { processor: "functions.mjs" }));
  });

  test("files, data, cycles, conditions and own packages", async (t) => {
    const files = {
      "lib/a.js": "exports.early = 1; const b = require('./b'); exports.b = b.seen; exports.self = module.filename.endsWith('a.js');",
      "lib/b.js": "const a = require('./a'); exports.seen = a.early;",
      "lib/index.js": "module.exports = () => 'index';",
      "lib/esm.mjs": "export default 5; export const named = 6;",
      "package.json": '{"name": "own", "imports": {"#lib": "./lib/index.js"}, "exports": {"./inner": "./lib/b.js"}}',
      "node_modules/both/package.json": '{"name": "both", "exports": {".": {"import": "./e.mjs", "require": "./c.cjs"}, "./features/*": "./f/*.js"}}',
      "node_modules/both/e.mjs": "export const kind = 'esm';",
      "node_modules/both/c.cjs": "exports.kind = 'cjs'; exports.__esModule = true; exports.default = 'd';",
      "node_modules/both/f/x.js": "module.exports = require('inner');",
      "node_modules/both/node_modules/inner/index.json": '{"inner": true}',
      "node_modules/@of/scope/package.json": '{"main": "lib/main"}',
      "node_modules/@of/scope/lib/main.js": "exports.name = __dirname.split('/').at(-1); try { require('optional') } catch (error) { exports.code = error.code } exports.lazy = () => require('net');",
    };
    noneThrown(await both(t, "", `
      cycle: () => require("./lib/a"), folder: () => require("./lib")(), data: () => require("./data/users"), same: () => require("./lib/a") === require("./lib/a.js"),
      conditions: async () => [require("both").kind, (await import("both")).kind], pattern: () => require("both/features/x"), scope: () => [require("@of/scope").name, require("@of/scope").code],
      internal: () => require("#lib")(), self: () => require("own/inner"), builtIn: () => require("fs") === require("node:fs"), resolved: () => require.resolve("fs"),
    `, { files }));
  });
});

describe("what cannot work is refused before the run, with its place", { concurrency: 3 }, () => {
  const refused = {
    "a module": [`const fs = require("fs");\nconst net = require("net");`, /Node's module `net` does not exist here; available are assert, /, "2:21"],
    "a module with its scheme, in a function": [`exports.other = () => {\n  require("node:child_process");\n};`, /Node's module `child_process` does not exist here/, "2:11"],
    "an import": [`import { Worker } from "worker_threads";\nexport const own = 1;`, /Node's module `worker_threads` does not exist here/, "1:24"],
    "machine code": [`require("./addon.node");`, /is machine code for Node/, "1:9"],
    "a package that is not installed": [`const x = require("not-installed");`, /there is no package `not-installed` in .*; install it there with npm install not-installed/, "1:19"],
    "a package that needs a module": [`require("needs-net");`, /Node's module `net` does not exist here/, "node_modules/needs-net/index.js:1"],
    "a file": [`require("./lib/none");`, /there is no file .*lib\/none/, "1:9"],
    "data that is not JSON": [`require("./broken.json");`, /not JSON: /, "broken.json:1:"],
    "a function that writes": [`const fs = require("fs");\nexports.other = () => fs.writeFileSync("x", "y");`, /Node's module `node:fs` has no `writeFileSync` here/, "2:26"],
    "a name in braces": [`const { scryptSync } = require("crypto");\nexports.other = () => scryptSync();`, /has no `scryptSync` here/, "1:9"],
    "an imported name": [`import { createServer } from "node:http";\nexport const other = () => createServer();`, /has no `createServer` here/, "1:10"],
  };
  for (const [name, [text, problem, place]] of Object.entries(refused)) {
    test(name, async (t) => {
      const isModule = text.startsWith("import");
      const processor = isModule ? "functions.mjs" : "functions.js";
      const run = isModule ? "export function run(context, events, next) { next() }" : "exports.run = (context, events, next) => next();";
      const cwd = folderWith(t, {
        "test.yml": file(1, processor), [processor]: `${text}\n${run}`, "addon.node": "", "broken.json": "{ no }",
        "node_modules/needs-net/index.js": "require('net');",
      });
      for (const command of ["check", "run"]) {
        const { code, stdout, stderr } = await plimsollIn({ cwd }, command, "test.yml");
        assert.notEqual(code, 0, command);
        assert.match(stdout + stderr, problem, command);
        assert.ok((stdout + stderr).includes(place.includes("/") || place.includes(".json") ? place : `${processor}:${place}`), `${place}: ${stdout + stderr}`);
      }
    });
  }

  /** A package whose function `act` is this. */
  const packageWith = (act) => ({ "node_modules/lazy/index.js": `const crypto = require("crypto");\nexports.act = ${act};` });

  for (const [name, act, expected] of [
    ["a module", `() => require("net").connect(1)`, /Node's module `net` does not exist here.*\(node_modules\/lazy\/index\.js:2:\d+\)/],
    ["a function", `() => crypto.createECDH("prime256v1")`, /not a function \(node_modules\/lazy\/index\.js:2:\d+\); names of Node that do not exist here: crypto\.createECDH/],
    ["a class", `async () => { await null; new crypto.X509Certificate("x"); }`, /names of Node that do not exist here: crypto\.X509Certificate/],
  ]) {
    for (const [how, run] of [
      ["throws it", "exports.run = async () => { await lazy.act() };"],
      ["hands it to next", "exports.run = (context, events, next) => { Promise.resolve().then(() => lazy.act()).then(() => next(), next) };"],
    ]) {
      test(`a package that needs ${name} within a function ends the run, if the processor ${how}`, async (t) => {
        const text = `const lazy = require("lazy");\n${run}`;
        const cwd = folderWith(t, { "test.yml": file(1, "functions.js").replace("duration: 1, arrivalCount: 1", "duration: 60, arrivalRate: 5"), "functions.js": text, ...packageWith(act) });
        const { code, stderr } = await plimsollIn({ cwd }, "run", "--no-save", "test.yml");
        assert.equal(code, 1, stderr);
        assert.match(stderr.replaceAll(/\s+/g, " "), expected);
        assert.match(stderr, /a function needs what does not exist here, so the run was ended/);
      });
    }
  }

  test("a package may try whether something exists", async (t) => {
    const { heard, port } = await serve(t);
    const act = `() => { let has = typeof crypto.createECDH; try { require("net") } catch { has += " and no net" } return has }`;
    const text = `const lazy = require("lazy");\nexports.run = (context, events, next) => { context.vars.seen = JSON.stringify(lazy.act()); next() };`;
    const cwd = folderWith(t, { "test.yml": file(port, "functions.js"), "functions.js": text, ...packageWith(act) });
    const { code, stderr } = await plimsollIn({ cwd }, "run", "test.yml");
    assert.equal(code, 0, stderr);
    assert.equal(heard.results, "undefined and no net");
  });

  test("what a source asks for in `try` may be missing, and a bundle has a `require` of its own", async (t) => {
    const { heard, port } = await serve(t);
    const text = `let has = "no"; try { require("net"); has = "yes" } catch (error) { has = error.code }
      const bundle = (function (modules) { function own(name) { const module = { exports: {} }; modules[name](module, module.exports, own); return module.exports } return own("a") })({ a: function (module, exports, require) { exports.b = require("net").n }, net: function (module, exports) { exports.n = 5 } });
      exports.run = (context, events, next) => { context.vars.seen = JSON.stringify({ has, b: bundle.b }); next() };`;
    const cwd = folderWith(t, { "test.yml": file(port, "functions.js"), "functions.js": text });
    const { code, stderr } = await plimsollIn({ cwd }, "run", "test.yml");
    assert.equal(code, 0, stderr);
    assert.deepEqual(heard.results, { has: "MODULE_NOT_FOUND", b: 5 });
  });
});
