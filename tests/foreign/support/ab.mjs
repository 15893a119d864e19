// Servers that count what `ab` asks for, the real ab, and its report.

import { execFile } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";

/** A server on a free port that is gone with the test: its URL. */
export async function listen(t, server, scheme = "http") {
  const sockets = new Set();
  const remember = (socket) => {
    sockets.add(socket);
    // Ends that tests bring about on purpose.
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
  };
  server.on("connection", remember);
  server.on("secureConnection", remember);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.close();
    sockets.forEach((socket) => socket.destroy());
  });
  return `${scheme}://127.0.0.1:${server.address().port}/`;
}

/** An HTTP server that counts: `{ url, seen: { requests, connections, last } }`. */
export async function counting(t, answer = (_request, response) => response.end("hello")) {
  const seen = { requests: 0, connections: 0, last: undefined };
  const server = createServer((request, response) => {
    seen.requests++;
    const body = [];
    request.on("data", (chunk) => body.push(chunk));
    request.on("end", () => {
      const { method, url, headers } = request;
      seen.last = { method, url, headers, body: Buffer.concat(body).toString() };
      answer(request, response, seen.requests);
    });
  });
  server.on("connection", () => seen.connections++);
  return { url: await listen(t, server), seen };
}

/** The value of a line of the report. */
export function field(report, label) {
  const line = report.split("\n").find((line) => line.startsWith(`${label}:`));
  return line?.slice(label.length + 1).trim();
}

/** Runs the real ab: `{ code, stdout, stderr }`. */
export const ab = (...args) =>
  new Promise((resolve) => {
    const done = (error, stdout, stderr) => resolve({ code: error ? error.code : 0, stdout, stderr });
    execFile("ab", args, { timeout: 60_000 }, done);
  });
