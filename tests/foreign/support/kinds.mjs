// Servers of other protocols, until the test is over: npm `ws` and `socket.io`, and stand-ins for Phoenix and Pusher.

import { once } from "node:events";
import http from "node:http";
import { Server as SocketIo } from "socket.io";
import { WebSocketServer } from "ws";

/** `answer(client, text)` is called for each message, `greet(client)` at its begin. */
export async function startWs(t, { answer = () => {}, greet = () => {}, ...options } = {}) {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1", ...options });
  server.on("connection", (client) => {
    client.on("message", (data) => answer(client, data.toString()));
    greet(client);
  });
  t.after(() => {
    server.clients.forEach((client) => client.terminate());
    server.close();
  });
  await once(server, "listening");
  return `ws://127.0.0.1:${server.address().port}`;
}

/** npm `socket.io` itself. */
export async function startSocketIo(t) {
  const server = http.createServer((_, response) => response.writeHead(404).end());
  const io = new SocketIo(server);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => io.close());
  return `ws://127.0.0.1:${server.address().port}`;
}

/**
 * Phoenix Channels, as https://hexdocs.pm/phoenix/writing_a_channels_client.html describes them: heartbeats and joins of
 * topics that begin with `room:`. Messages are lists with `vsn=2.0.0`, and maps without.
 */
export async function startPhoenix(t) {
  const server = http.createServer((_, response) => response.writeHead(404).end());
  const sockets = new WebSocketServer({ noServer: true });
  server.on("upgrade", (request, socket, head) => {
    const url = new URL(request.url, "http://localhost");
    if (url.pathname !== "/socket/websocket") return socket.end("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
    const is_list = url.searchParams.get("vsn")?.startsWith("2.");
    sockets.handleUpgrade(request, socket, head, (client) => {
      client.on("message", (data) => {
        const message = JSON.parse(data);
        const { join_ref = null, ref, topic, event } = is_list
          ? Object.fromEntries(["join_ref", "ref", "topic", "event"].map((name, at) => [name, message[at]]))
          : message;
        const is_known = event === "heartbeat" || (event === "phx_join" && topic.startsWith("room:"));
        const payload = { status: is_known ? "ok" : "error", response: is_known ? {} : { reason: "unmatched topic" } };
        const reply = { topic, event: "phx_reply", payload, ref };
        client.send(JSON.stringify(is_list ? [join_ref, ref, topic, "phx_reply", payload] : reply));
      });
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    sockets.clients.forEach((client) => client.terminate());
    server.close();
  });
  return `ws://127.0.0.1:${server.address().port}`;
}

/** The greeting and subscriptions of https://pusher.com/docs/channels/library_auth_reference/pusher-websockets-protocol/. */
export function startPusher(t) {
  return startWs(t, {
    greet(client) {
      const data = JSON.stringify({ socket_id: "1.2", activity_timeout: 120 });
      client.send(JSON.stringify({ event: "pusher:connection_established", data }));
    },
    answer(client, text) {
      const { event, data } = JSON.parse(text);
      const channel = data.channel;
      if (event === "pusher:subscribe") {
        client.send(JSON.stringify({ event: "pusher_internal:subscription_succeeded", channel, data: "{}" }));
      }
    },
  });
}
