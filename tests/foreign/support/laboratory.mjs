// The service of `k6-scripts/protos/laboratory.proto`, made with gRPC's own library for Node.

import { fileURLToPath } from "node:url";
import grpc from "@grpc/grpc-js";
import protoLoader from "@grpc/proto-loader";

export const PROTOS = fileURLToPath(new URL("../k6-scripts/protos/", import.meta.url));

const { laboratory } = grpc.loadPackageDefinition(
  protoLoader.loadSync("laboratory.proto", { includeDirs: [PROTOS], keepCase: true, longs: String }),
);

/** The request's own metadata: names that begin with `x-`. */
function ownMetadata({ metadata }) {
  const own = new grpc.Metadata();
  for (const name of Object.keys(metadata.getMap()).filter((name) => name.startsWith("x-"))) {
    for (const value of metadata.get(name)) own.add(name, value);
  }
  return own;
}

function fail({ request: { code, message } }, done) {
  const metadata = new grpc.Metadata();
  metadata.set("x-reason", "as told");
  done({ code, details: message, metadata });
}

/** The handlers; `seen` gets the metadata of each call. */
const handlers = (seen) => ({
  Echo: ({ request }, done) => done(null, request),
  Greet: (call, done) => {
    const own = ownMetadata(call);
    seen.push(call.metadata.getMap());
    call.sendMetadata(own);
    done(null, { name: `hello ${call.request.name}` }, own);
  },
  Fail: fail,
  Wait: ({ request: { ms } }, done) => setTimeout(() => done(null, { name: `after ${ms}` }), ms),
  Count: (call) => {
    for (let value = 1; value <= call.request.n; value += 1) call.write({ value });
    setTimeout(() => call.end(), call.request.ms);
  },
  Sum: (call, done) => {
    let sum = 0;
    call.on("data", ({ value }) => (sum += Number(value)));
    call.on("end", () => done(null, { value: sum }));
  },
  Chat: (call) => {
    call.on("data", ({ name }) => {
      if (name === "fail") call.emit("error", { code: grpc.status.ABORTED, details: "as told" });
      else call.write({ name: `hello ${name}` });
    });
    call.on("end", () => call.end());
  },
});

/** Starts the service on a free port: `{ address, seen }`. `tls` is `{ key, cert, ca }` in PEM. */
export async function startLaboratory(t, { tls, options } = {}) {
  const server = new grpc.Server(options);
  const seen = [];
  server.addService(laboratory.Laboratory.service, handlers(seen));
  const credentials = tls
    ? grpc.ServerCredentials.createSsl(tls.ca ? Buffer.from(tls.ca) : null, [
        { private_key: Buffer.from(tls.key), cert_chain: Buffer.from(tls.cert) },
      ], Boolean(tls.ca))
    : grpc.ServerCredentials.createInsecure();
  const port = await new Promise((resolve, reject) => {
    server.bindAsync("127.0.0.1:0", credentials, (error, port) => (error ? reject(error) : resolve(port)));
  });
  t.after(() => server.forceShutdown());
  return { address: `127.0.0.1:${port}`, seen };
}
