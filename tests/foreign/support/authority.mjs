// A certificate authority of our own, made by the `openssl` program, and what it vouches for.

import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * An authority and a certificate of it for 127.0.0.1: `{ ca, caPath, key, cert }`, where all but the path are PEM. The
 * files go with the process.
 */
export function authority() {
  const directory = mkdtempSync(join(tmpdir(), "plimsoll-tls-"));
  process.on("exit", () => rmSync(directory, { recursive: true, force: true }));
  const path = (name) => join(directory, name);
  const pem = (name) => readFileSync(path(name), "utf8");
  const openssl = (...args) => execFileSync("openssl", args, { stdio: "pipe" });
  const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  openssl("req", "-x509", ...curve, "-keyout", path("ca.key"), "-out", path("ca.pem"), "-subj", "/CN=Test authority");
  openssl("req", "-new", ...curve, "-keyout", path("key.pem"), "-out", path("request.pem"), "-subj", "/CN=application");
  writeFileSync(path("names"), "subjectAltName=IP:127.0.0.1");
  const authority = ["-CA", path("ca.pem"), "-CAkey", path("ca.key"), "-CAcreateserial", "-extfile", path("names")];
  openssl("x509", "-req", "-in", path("request.pem"), ...authority, "-out", path("cert.pem"), "-days", "2");
  return { ca: pem("ca.pem"), caPath: path("ca.pem"), key: pem("key.pem"), cert: pem("cert.pem") };
}
