// Certificates for servers on this machine, made by the `openssl` program.

import { execFileSync } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A folder with `cert.pem` and `key.pem`, as a server is told to use them; it ends with the test. */
export class CertificateFiles {
  #folder = mkdtempSync(join(tmpdir(), "plimsoll-tls-"));

  constructor(t) {
    t.after(() => rmSync(this.#folder, { recursive: true }));
    this.renew();
  }

  /** A new key and a new certificate, signed by itself. */
  renew() {
    const made = this.#make();
    copyFileSync(made.key, this.key);
    copyFileSync(made.cert, this.cert);
  }

  /** A key to which the certificate does not belong. */
  spoilKey() {
    copyFileSync(this.#make().key, this.key);
  }

  spoilCertificate(text) {
    writeFileSync(this.cert, text);
  }

  get cert() {
    return join(this.#folder, "cert.pem");
  }

  get key() {
    return join(this.#folder, "key.pem");
  }

  /** What a client that trusts the certificate passes to Node.js's TLS. */
  get trust() {
    return { ca: readFileSync(this.cert) };
  }

  get fingerprint() {
    return new X509Certificate(readFileSync(this.cert)).fingerprint256;
  }

  /** The flags of a server with these files. */
  get flags() {
    return ["--ssl_cert", this.cert, "--ssl_key", this.key];
  }

  #make() {
    const [key, cert] = ["new-key.pem", "new-cert.pem"].map((name) => join(this.#folder, name));
    const names = "subjectAltName=DNS:localhost,IP:127.0.0.1";
    // Unlike OpenSSL, rustls does not take an authority for a server.
    const noAuthority = "basicConstraints=critical,CA:FALSE";
    const kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-noenc"];
    const args = ["req", "-x509", ...kind, "-subj", "/CN=localhost", "-addext", names, "-addext", noAuthority, "-days", "2"];
    execFileSync("openssl", [...args, "-keyout", key, "-out", cert], { stdio: "ignore" });
    return { key, cert };
  }
}
