// An HTTP server of a test's own.

import { once } from "node:events";
import { createServer } from "node:http";

/** Answers each request with `ok`, and writes down what was asked for: `{ asked, url }`, with paths. */
export async function serveAsked(t) {
  const asked = [];
  const url = await serveHttp(t, (request, response) => {
    asked.push(request.url);
    response.end("ok");
  });
  return { asked, url };
}

/** Answers requests with `handle` until the test ends. Its address. */
export async function serveHttp(t, handle) {
  const server = createServer(handle);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${server.address().port}`;
}
