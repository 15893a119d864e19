// An application over gRPC, made with gRPC's own library from the project's `.proto`, whose names and numbers the
// specification of AnyCable gives.

import { fileURLToPath } from "node:url";
import grpc from "@grpc/grpc-js";
import protoLoader from "@grpc/proto-loader";
import { METHODS, RpcApp } from "./rpc-app.mjs";

const PROTO = fileURLToPath(new URL("../../../crates/server/rpc/proto/rpc.proto", import.meta.url));
const { anycable } = grpc.loadPackageDefinition(
  protoLoader.loadSync(PROTO, { keepCase: true, enums: String, defaults: true }),
);

export const { status: Code } = grpc;

/** An error with a gRPC status, for habits to throw. */
export const failure = (code, details = "as told") => Object.assign(new Error(details), { code, details });

/** Options: those of gRPC's server, and `tls: { key, cert }` in PEM, and `address` to listen on. */
export class GrpcApp extends RpcApp {
  static kind = "gRPC";
  static rejection = (details) => failure(Code.INTERNAL, details);
  static overload = () => failure(Code.RESOURCE_EXHAUSTED);

  #server;
  #port = 0;

  /** Starts to listen, again on the same port after `kill`. */
  async listen() {
    const { tls, address = "127.0.0.1", port = this.#port, ...options } = this.options;
    this.#server = new grpc.Server(options);
    const methods = METHODS.map((name) => [name, (call, done) => this.#answer(name, call, done)]);
    this.#server.addService(anycable.RPC.service, Object.fromEntries(methods));
    const credentials = tls
      ? grpc.ServerCredentials.createSsl(null, [{ private_key: Buffer.from(tls.key), cert_chain: Buffer.from(tls.cert) }])
      : grpc.ServerCredentials.createInsecure();
    this.#port = await new Promise((resolve, reject) => {
      const done = (error, port) => (error ? reject(error) : resolve(port));
      this.#server.bindAsync(`${address}:${port}`, credentials, done);
    });
  }

  /** Ends at once, calls in progress included. */
  kill() {
    this.#server.forceShutdown();
  }

  get port() {
    return this.#port;
  }

  /** For `--rpc_host`. */
  get host() {
    return `127.0.0.1:${this.#port}`;
  }

  async #answer(method, stream, done) {
    const { request, metadata } = stream;
    const [sid] = metadata.get("sid");
    const [protov] = metadata.get("protov");
    try {
      done(null, await this.answer(method, { ...request, sid, protov }, stream.getPeer()));
    } catch (error) {
      done(error);
    }
  }
}
