// Starts the server: node main.mjs --port 8080 --rpc_host http://127.0.0.1:50051/_anycable

import { Server } from "./server.mjs";

const server = new Server(process.argv.slice(2));
process.on("SIGTERM", () => server.end().then(() => process.exit(0)));
await server.listen();
