// An HTTP server of a test's own.

import { once } from "node:events";
import { createServer } from "node:http";

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
