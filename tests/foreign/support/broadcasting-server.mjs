// A server of websocket-bench's JSON whose broadcasts are a test's own business.

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { WebSocketServer } from "ws";

/**
 * Starts it, and returns its URL. For each broadcast of a client, `deliver` gets the client's number, all clients in the order of
 * their numbers, the text for them, and `confirm`, which answers the sender.
 */
export async function startBroadcasting(t, deliver) {
  const http = createServer();
  const sockets = new WebSocketServer({ server: http });
  const clients = [];
  sockets.on("connection", (socket) => {
    const sender = clients.push(socket) - 1;
    socket.on("message", (data) => {
      const { type, payload } = JSON.parse(data);
      assert.equal(type, "broadcast");
      const confirm = () => socket.send(JSON.stringify({ type: "broadcastResult", payload }));
      deliver({ sender, clients, text: JSON.stringify({ type, payload }), confirm });
    });
  });
  http.listen(0, "127.0.0.1");
  await once(http, "listening");
  t.after(() => {
    for (const socket of sockets.clients) socket.terminate();
    http.close();
  });
  return `ws://127.0.0.1:${http.address().port}/`;
}
