// What scripts under two programs talk to: answers that depend on nothing but the request, and an echo.

import { once } from "node:events";
import http from "node:http";
import { WebSocketServer } from "ws";

/** Starts on a free port and ends with the test: `{ http, ws }` are its addresses. */
export async function startScriptServer(t) {
  const server = http.createServer((request, response) => void answer(request, response));
  const sockets = new WebSocketServer({ noServer: true });
  server.on("upgrade", (request, socket, head) => {
    if (request.url !== "/echo") return void socket.end("HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n");
    sockets.handleUpgrade(request, socket, head, (socket) => {
      socket.on("message", (data, isBinary) => socket.send(data, { binary: isBinary }));
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.close();
    server.closeAllConnections();
    sockets.clients.forEach((socket) => socket.terminate());
  });
  const address = `127.0.0.1:${server.address().port}`;
  return { http: `http://${address}`, ws: `ws://${address}` };
}

async function answer(request, response) {
  const body = Buffer.concat(await request.toArray()).toString();
  const [, place, rest] = request.url.split("/");
  if (ANSWERS[place]) return void ANSWERS[place](response, rest, request, body);
  response.writeHead(200, { "content-type": "text/plain", "x-two-words": "yes" });
  response.end(`${request.method} ${request.url} ${body}`);
}

/** By the first part of the path; every other path says what was asked. */
const ANSWERS = {
  404: (response) => response.writeHead(404).end("nothing here"),
  value: (response) => response.writeHead(200, { "content-type": "application/json" }).end('{"list":[1,{"deep":7}]}'),
  redirect: (response, n) =>
    n === "0" ? response.writeHead(200).end("there") : response.writeHead(302, { location: `/redirect/${n - 1}` }).end(),
  "set-cookie": (response) => response.writeHead(200, { "set-cookie": "taste=sweet; Path=/" }).end(),
  cookies: (response, _, { headers }) => response.writeHead(200).end(headers.cookie),
  page: (response, _, __, body) => response.writeHead(200, { "content-type": "text/html" }).end(body),
  none: (response) => response.writeHead(204).end(),
  end: (response) => response.socket.end(),
  cut: (response) => response.socket.end("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\ncut"),
  // Longer than any script waits; the client closes the connection.
  slow: () => {},
};
