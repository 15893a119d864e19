// An identity provider: keys that npm's `jose` makes, tokens that it signs, and the public keys over HTTP.

import http from "node:http";
import https from "node:https";
import { once } from "node:events";
import * as jose from "jose";

/** Claims of a token for Kay that is good for an hour. */
export const KAY = '{"user":"kay"}';

/** A token for Kay signed with a secret, as AnyCable's libraries make it; `claims` replace what it says. */
export function secretToken(secret, { algorithm = "HS256", ...claims } = {}) {
  return new jose.SignJWT({ ext: KAY, exp: inSeconds(3600), ...claims })
    .setProtectedHeader({ alg: algorithm, typ: "JWT" })
    .sign(new TextEncoder().encode(secret));
}

export const inSeconds = (seconds) => Math.floor(Date.now() / 1000) + seconds;

/** A key pair of its own: `token()` signs for Kay, `jwk` is the public half. */
export async function keyPair(algorithm, kid) {
  const { privateKey, publicKey } = await jose.generateKeyPair(algorithm);
  return {
    jwk: { ...(await jose.exportJWK(publicKey)), ...(kid && { kid }) },
    token: (header = {}) =>
      new jose.SignJWT({ ext: KAY })
        .setProtectedHeader({ alg: algorithm, ...(kid && { kid }), ...header })
        .setExpirationTime("1h")
        .sign(privateKey),
  };
}

/** Publishes `keys` at `url`, and counts how often it was asked. */
export class IdentityProvider {
  keys;
  status = 200;
  n_requests = 0;
  url;
  #server;

  static start(...pairs) {
    return IdentityProvider.#listen("http", (handler) => http.createServer(handler), pairs);
  }

  /** The same over TLS; `options` are those of Node.js. */
  static startTls(options, ...pairs) {
    return IdentityProvider.#listen("https", (handler) => https.createServer(options, handler), pairs);
  }

  static async #listen(scheme, createServer, pairs) {
    const provider = new IdentityProvider();
    provider.keys = pairs.map(({ jwk }) => jwk);
    provider.#server = createServer((request, response) => {
      provider.n_requests += 1;
      response.writeHead(provider.status, { "content-type": "application/jwk-set+json" });
      response.end(JSON.stringify({ keys: provider.keys }));
    });
    provider.#server.listen(0, "127.0.0.1");
    await once(provider.#server, "listening");
    provider.url = `${scheme}://127.0.0.1:${provider.#server.address().port}/.well-known/jwks.json`;
    return provider;
  }

  stop() {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}
