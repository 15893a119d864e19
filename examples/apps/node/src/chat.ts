// A chat behind a cable server, over gRPC. README.md says how to run it.

import grpc from "@grpc/grpc-js";
import { Chat } from "./application.js";
import { overHttp } from "./broadcast.js";
import { type CommandMessage, type ConnectionRequest, service } from "./contract.js";

const {
  ANYCABLE_RPC_HOST: address = "127.0.0.1:50051",
  ANYCABLE_HTTP_BROADCAST_URL: url = "http://localhost:8090/_broadcast",
  ANYCABLE_BROADCAST_KEY: key,
} = process.env;

/** Makes a handler of a function. The server logs the text of an ERROR, and treats the command as failed. */
function handler<Request>(answer: (request: Request, sid: string) => object | Promise<object>) {
  return async (call: grpc.ServerUnaryCall<Request, object>, done: grpc.sendUnaryData<object>) => {
    try {
      done(null, await answer(call.request, String(call.metadata.get("sid")[0])));
    } catch (error) {
      done(null, { status: "ERROR", error_msg: String(error) });
    }
  };
}

const chat = new Chat(overHttp(url, key));
const server = new grpc.Server();
server.addService(service, {
  Connect: handler<ConnectionRequest>(({ env }, sid) => chat.connect(env?.headers.cookie ?? "", sid)),
  Command: handler<CommandMessage>((message) => chat.command(message)),
  // Tells that a session is over. This chat keeps nothing of it.
  Disconnect: handler(() => ({ status: "SUCCESS" })),
});
server.bindAsync(address, grpc.ServerCredentials.createInsecure(), (error) => {
  if (error) throw error;
  console.log(`The chat listens on ${address}.`);
});
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => server.tryShutdown(() => process.exit()));
