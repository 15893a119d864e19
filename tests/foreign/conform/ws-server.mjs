// A server under test: npm `ws` echoes. Prints its port.

import { WebSocketServer } from "ws";

const perMessageDeflate = process.argv[2] === "deflate" ? { threshold: 0 } : false;
const server = new WebSocketServer({ host: "127.0.0.1", port: 0, perMessageDeflate });
server.on("connection", (socket) => {
  socket.on("message", (data, isBinary) => socket.send(data, { binary: isBinary }));
  socket.on("error", () => {});
});
server.on("listening", () => console.log(server.address().port));
