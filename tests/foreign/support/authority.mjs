// A certificate authority of a test's own, made by the `openssl` program, and what it vouches for.

import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * PEM files `{ key, crt }` by role: an authority `ca`, and what it signed: `server` for 127.0.0.1, `stranger` for another
 * name, and `client`. They are gone when the process ends.
 */
export function makeAuthority() {
  const folder = mkdtempSync(join(tmpdir(), "plimsoll-certificates-"));
  process.on("exit", () => rmSync(folder, { recursive: true }));
  const files = (name) => ({ key: join(folder, `${name}.key`), crt: join(folder, `${name}.crt`) });
  const openssl = (...args) => execFileSync("openssl", args, { stdio: "pipe" });
  const newKey = (key) => ["req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", key];

  const ca = files("ca");
  openssl(...newKey(ca.key), "-x509", "-subj", "/CN=Test authority", "-out", ca.crt);
  const issue = (name, alternativeName) => {
    const { key, crt } = files(name);
    const [request, extensions] = [join(folder, `${name}.csr`), join(folder, `${name}.ext`)];
    writeFileSync(extensions, `subjectAltName=${alternativeName}`);
    openssl(...newKey(key), "-subj", `/CN=${name}`, "-out", request);
    openssl("x509", "-req", "-in", request, "-CA", ca.crt, "-CAkey", ca.key, "-CAcreateserial", "-extfile", extensions, "-out", crt);
    return { key, crt };
  };
  return {
    ca,
    server: issue("server", "IP:127.0.0.1"),
    stranger: issue("stranger", "DNS:elsewhere.example"),
    client: issue("client", "DNS:client.example"),
  };
}

/** The same for a server made in this process: `{ ca, caPath, key, cert }`, where all but the path are PEM. */
export function authority() {
  const { ca, server } = makeAuthority();
  const pem = (path) => readFileSync(path, "utf8");
  return { ca: pem(ca.crt), caPath: ca.crt, key: pem(server.key), cert: pem(server.crt) };
}
