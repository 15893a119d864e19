// Starts the server: node main.mjs --port 8080 --rpc_host http://127.0.0.1:50051/_anycable

import { Server } from "./server.mjs";

new Server(process.argv.slice(2)).listen();
