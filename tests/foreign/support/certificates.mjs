// Certificates for servers on this machine, made by the `openssl` program.

import { execFileSync } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The paths of a key and a certificate in a new folder, which is gone when the process ends. */
function newFolder() {
  const folder = mkdtempSync(join(tmpdir(), "plimsoll-certificates-"));
  process.on("exit", () => rmSync(folder, { recursive: true }));
  return (name) => ({ key: join(folder, `${name}-key.pem`), cert: join(folder, `${name}-cert.pem`) });
}

const openssl = (...args) => execFileSync("openssl", args, { stdio: "pipe" });

/** What it takes to ask for a certificate with a new key; `-x509` among `more` signs it with that key. */
function request(key, name, ...more) {
  const newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-noenc", "-keyout", key];
  return openssl("req", ...newKey, "-subj", `/CN=${name}`, ...more);
}

/** A key and a certificate that is signed with it, as a server is told to use them. */
export class CertificateFiles {
  #paths = newFolder();
  #files = this.#paths("server");

  constructor() {
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
    return this.#files.cert;
  }

  get key() {
    return this.#files.key;
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
    const { key, cert } = this.#paths("new");
    const names = "subjectAltName=DNS:localhost,IP:127.0.0.1";
    // Unlike OpenSSL, rustls does not take an authority for a server.
    const noAuthority = "basicConstraints=critical,CA:FALSE";
    request(key, "localhost", "-x509", "-addext", names, "-addext", noAuthority, "-days", "2", "-out", cert);
    return { key, cert };
  }
}

/** PEM files `{ key, cert }` for 127.0.0.1, as `openssl req -x509` makes them: signed by itself, and an authority. */
export function makeSelfSigned() {
  const { key, cert } = newFolder()("self");
  request(key, "127.0.0.1", "-x509", "-addext", "subjectAltName=IP:127.0.0.1", "-out", cert);
  return { key, cert };
}

/**
 * PEM files `{ key, cert }` by role: an authority `ca`, and what it signed: `server` for 127.0.0.1, `stranger` for
 * another name, and `client`.
 */
export function makeAuthority() {
  const paths = newFolder();
  const ca = paths("ca");
  request(ca.key, "Test authority", "-x509", "-out", ca.cert);
  const issue = (name, alternativeName) => {
    const { key, cert } = paths(name);
    const [wish, extensions] = [`${cert}.csr`, `${cert}.ext`];
    writeFileSync(extensions, `subjectAltName=${alternativeName}`);
    request(key, name, "-out", wish);
    openssl("x509", "-req", "-in", wish, "-CA", ca.cert, "-CAkey", ca.key, "-CAcreateserial", "-extfile", extensions, "-out", cert);
    return { key, cert };
  };
  return {
    ca,
    server: issue("server", "IP:127.0.0.1"),
    stranger: issue("stranger", "DNS:elsewhere.example"),
    client: issue("client", "DNS:client.example"),
  };
}
