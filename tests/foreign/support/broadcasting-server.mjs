// A server of websocket-bench's JSON whose broadcasts are a test's own business.

import assert from "node:assert/strict";
import { once } from "node:events";
import { WebSocketServer } from "ws";

/**
 * Starts it, and returns its URL. For each broadcast of a client, `deliver` gets the client's number, all clients in the order of
 * their numbers, the text for them, and `confirm`, which answers the sender.
 */
export async function startBroadcasting(t, deliver) {
  const sockets = new WebSocketServer({ port: 0, host: "127.0.0.1" });
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
  await once(sockets, "listening");
  t.after(() => {
    for (const socket of sockets.clients) socket.terminate();
    sockets.close();
  });
  return `ws://127.0.0.1:${sockets.address().port}/`;
}
