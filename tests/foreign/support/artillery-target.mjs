// A target that notes what comes over the wire, for the files of tests/foreign/artillery: the same for Artillery itself
// and for `plimsoll run`.

import { once } from "node:events";
import { createServer } from "node:http";
import { WebSocketServer } from "ws";

/** Header fields that depend on the tool, the connection or the port. */
const OWN_FIELDS = new Set([
  "accept-encoding",
  "connection",
  "host",
  "sec-websocket-extensions",
  "sec-websocket-key",
  "transfer-encoding",
  "upgrade",
  "user-agent",
  "sec-websocket-version",
]);

const JSON_BODY = JSON.stringify({
  id: 7,
  name: "Ada",
  flag: true,
  nothing: null,
  list: [1, 2, 3],
  user: { email: "ada@example.com", roles: [{ name: "admin" }] },
});
const PAGE = '<html><body><h1 class="t">Title</h1><a href="/a">A</a><a href="/b">B</a></body></html>';

const answer = (status, body, headers = {}) => [status, { "content-type": "text/plain", ...headers }, body];
const json = (body, headers = {}) => answer(200, body, { "content-type": "application/json", ...headers });

/** Answers by path: `(request, body) => [status, headers, body]`, or `null` to cut the connection. */
const PATHS = {
  "/json": () => json(JSON_BODY, { "x-token": "t-1" }),
  "/text": () => answer(200, "plain text 42"),
  "/page": () => answer(200, PAGE, { "content-type": "text/html" }),
  "/xml": () => answer(200, "<r><a n='1'>one</a><a n='2'>two</a></r>", { "content-type": "application/xml" }),
  "/broken-json": () => json("{oops"),
  "/empty": () => answer(204, ""),
  "/set-cookie": () => answer(200, "ok", { "set-cookie": ["sid=abc; Path=/", "lang=en; Path=/"] }),
  "/redirect": () => answer(302, "", { location: "/json" }),
  "/redirect-307": () => answer(307, "", { location: "/echo" }),
  "/redirect-cookie": () => answer(302, "", { location: "/json", "set-cookie": "r=1; Path=/" }),
  "/loop": () => answer(302, "", { location: "/loop" }),
  "/reset": () => null,
  "/status-404": () => answer(404, "no"),
  "/status-500": () => answer(500, "bad"),
  "/status-503": () => answer(503, "busy"),
  "/cached": () => answer(200, "ok", { "x-cache": "Hit from the cache" }),
  "/timed": () => answer(200, "ok", { "server-timing": "total;dur=12" }),
  "/echo": (request, body) => json(body.toString(), { "x-method": request.method }),
};

/** Removes the boundary of a form with files, which is drawn by chance. */
function unbounded(type, body) {
  const boundary = /boundary=(?:"([^"]+)"|([^;]+))/.exec(type ?? "")?.slice(1).find(Boolean);
  const text = body.toString("latin1");
  return boundary ? [type.replace(boundary, "BOUNDARY"), text.replaceAll(boundary, "BOUNDARY")] : [type, text];
}

export class ArtilleryTarget {
  #server = createServer();
  /** Requests and messages, as lines of text. */
  #wire = [];

  static async start() {
    const target = new ArtilleryTarget();
    target.#server.on("request", (request, response) => void target.#answer(request, response));
    const sockets = new WebSocketServer({ noServer: true, handleProtocols: ([first]) => first ?? false });
    target.#server.on("upgrade", (request, socket, head) => {
      target.#note(`UPGRADE ${request.url}`, request.headers, "");
      if (request.url.startsWith("/refused")) return socket.end("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n");
      sockets.handleUpgrade(request, socket, head, (peer) => target.#serve(peer, request));
    });
    target.#server.listen(0, "127.0.0.1");
    await once(target.#server, "listening");
    return target;
  }

  get url() {
    return `http://127.0.0.1:${this.#server.address().port}`;
  }

  /** What came, without what is drawn by chance, in a fixed order: users run at the same time. */
  wire() {
    const port = String(this.#server.address().port);
    return this.#wire.map((line) => line.replaceAll(port, "PORT")).sort();
  }

  async stop() {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  #note(what, headers, body) {
    const fields = Object.entries(headers)
      .filter(([name]) => !OWN_FIELDS.has(name) && !(name === "content-length" && body === ""))
      .sort(([one], [other]) => (one < other ? -1 : 1));
    this.#wire.push([what, ...fields.map(([name, value]) => `${name}: ${value}`), body].filter(Boolean).join("\n"));
  }

  async #answer(request, response) {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    const [type, text] = unbounded(request.headers["content-type"], body);
    const headers = type === undefined ? request.headers : { ...request.headers, "content-type": type };
    // The length of a form with files depends on the boundary.
    if (text.includes("BOUNDARY")) delete headers["content-length"];
    this.#note(`${request.method} ${request.url}`, headers, text);
    const { pathname, searchParams } = new URL(request.url, "http://target");
    const found = (PATHS[pathname] ?? (() => answer(200, "ok")))(request, body);
    const send = () => {
      if (found === null) return request.socket.destroy();
      const [status, fields, content] = found;
      response.writeHead(status, fields).end(content);
    };
    setTimeout(send, Number(searchParams.get("delay") ?? 0));
  }

  #serve(peer, request) {
    const { pathname } = new URL(request.url, "http://target");
    peer.on("error", () => {});
    if (pathname === "/greets") peer.send("welcome");
    peer.on("message", (data, isBinary) => {
      this.#wire.push(`MESSAGE ${pathname} ${data}`);
      if (pathname === "/silent") return;
      if (pathname === "/closes") return peer.close(1000);
      if (pathname === "/json") return peer.send(JSON_BODY);
      peer.send(data, { binary: isBinary });
    });
  }
}
