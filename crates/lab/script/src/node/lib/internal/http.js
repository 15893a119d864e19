// The client of `http` and `https`. A request is sent when it ends, and its answer is read as one piece.

const { coded, invalidType } = require("internal/errors");
const { Readable, Writable } = require("stream");

const STATUS_CODES = {
  100: "Continue", 101: "Switching Protocols", 102: "Processing", 103: "Early Hints", 200: "OK", 201: "Created", 202: "Accepted",
  203: "Non-Authoritative Information", 204: "No Content", 205: "Reset Content", 206: "Partial Content", 207: "Multi-Status",
  208: "Already Reported", 226: "IM Used", 300: "Multiple Choices", 301: "Moved Permanently", 302: "Found", 303: "See Other",
  304: "Not Modified", 305: "Use Proxy", 307: "Temporary Redirect", 308: "Permanent Redirect", 400: "Bad Request", 401: "Unauthorized",
  402: "Payment Required", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed", 406: "Not Acceptable",
  407: "Proxy Authentication Required", 408: "Request Timeout", 409: "Conflict", 410: "Gone", 411: "Length Required",
  412: "Precondition Failed", 413: "Payload Too Large", 414: "URI Too Long", 415: "Unsupported Media Type", 416: "Range Not Satisfiable",
  417: "Expectation Failed", 418: "I'm a Teapot", 421: "Misdirected Request", 422: "Unprocessable Entity", 423: "Locked",
  424: "Failed Dependency", 425: "Too Early", 426: "Upgrade Required", 428: "Precondition Required", 429: "Too Many Requests",
  431: "Request Header Fields Too Large", 451: "Unavailable For Legal Reasons", 500: "Internal Server Error", 501: "Not Implemented",
  502: "Bad Gateway", 503: "Service Unavailable", 504: "Gateway Timeout", 505: "HTTP Version Not Supported",
  506: "Variant Also Negotiates", 507: "Insufficient Storage", 508: "Loop Detected", 509: "Bandwidth Limit Exceeded",
  510: "Not Extended", 511: "Network Authentication Required",
};
const METHODS = ["ACL", "BIND", "CHECKOUT", "CONNECT", "COPY", "DELETE", "GET", "HEAD", "LINK", "LOCK", "M-SEARCH", "MERGE", "MKACTIVITY", "MKCALENDAR", "MKCOL", "MOVE", "NOTIFY", "OPTIONS", "PATCH", "POST", "PROPFIND", "PROPPATCH", "PURGE", "PUT", "QUERY", "REBIND", "REPORT", "SEARCH", "SOURCE", "SUBSCRIBE", "TRACE", "UNBIND", "UNLINK", "UNLOCK", "UNSUBSCRIBE"];
/** Fields that come once; a second one is ignored. */
const SINGLE = ["age", "authorization", "content-length", "content-type", "etag", "expires", "from", "host", "if-modified-since", "if-unmodified-since", "last-modified", "location", "max-forwards", "proxy-authorization", "referer", "retry-after", "server", "user-agent"];

/** Keeps no connections itself: the host does. */
class Agent {
  constructor(options = {}) {
    this.options = { ...options };
    this.keepAlive = Boolean(options.keepAlive);
    this.maxSockets = options.maxSockets ?? Infinity;
    this.maxFreeSockets = options.maxFreeSockets ?? 256;
    Object.assign(this, { requests: {}, sockets: {}, freeSockets: {} });
  }

  destroy() {}
}
const globalAgent = new Agent({ keepAlive: true });

class IncomingMessage extends Readable {
  constructor(answer, request) {
    super({ read() {} });
    this.statusCode = answer.status;
    this.statusMessage = answer.reason;
    this.httpVersion = answer.version;
    [this.httpVersionMajor, this.httpVersionMinor] = answer.version.split(".").map(Number);
    this.rawHeaders = answer.headers.flat();
    this.headers = {};
    this.headersDistinct = Object.create(null);
    for (const [written, value] of answer.headers) {
      const name = written.toLowerCase();
      (this.headersDistinct[name] ??= []).push(value);
      if (name === "set-cookie") (this.headers[name] ??= []).push(value);
      else if (this.headers[name] === undefined) this.headers[name] = value;
      else if (!SINGLE.includes(name)) this.headers[name] += `${name === "cookie" ? "; " : ", "}${value}`;
    }
    this.url = "";
    this.method = null;
    this.req = request;
    this.socket = this.connection = request.socket;
    this.complete = true;
    this.aborted = false;
    this.trailers = {};
    if (answer.body.byteLength > 0) this.push(Buffer.from(answer.body));
    this.push(null);
  }

  setTimeout() { return this; }
}

class ClientRequest extends Writable {
  #fields = new Map();
  #parts = [];
  #cancel = null;
  #timer = null;
  #timeout = 0;
  #isSent = false;

  constructor(protocol, defaultPort, options, callback) {
    // It ends with its answer, and not when it was written.
    super({ autoDestroy: false });
    const own = options.protocol ?? protocol;
    if (own !== protocol) throw coded(TypeError, "ERR_INVALID_PROTOCOL", `Protocol "${own}" not supported. Expected "${protocol}"`);
    if (options.path !== undefined && /[\0-\x20]/.test(String(options.path))) throw coded(TypeError, "ERR_UNESCAPED_CHARACTERS", "Request path contains unescaped characters");
    if (options.method !== undefined && typeof options.method !== "string") throw invalidType("options.method", "string", options.method);
    this.protocol = protocol;
    this.method = (options.method ?? "GET").toUpperCase();
    this.host = options.hostname ?? options.host ?? "localhost";
    this.path = String(options.path ?? "/") || "/";
    const port = options.port ?? options.defaultPort ?? defaultPort;
    const name = this.host.includes(":") && !this.host.startsWith("[") ? `[${this.host}]` : this.host;
    this.agent = options.agent ?? globalAgent;
    // What packages ask of a socket.
    this.socket = Object.assign(new (require("events"))(), {
      setKeepAlive() { return this; }, setNoDelay() { return this; }, setTimeout() { return this; }, ref() { return this; }, unref() { return this; },
      destroy: (error) => this.destroy(error), encrypted: protocol === "https:", authorized: protocol === "https:", remotePort: Number(port), remoteAddress: undefined,
    });
    this.connection = this.socket;
    Object.defineProperty(this, "address", { value: `${protocol}//${name}${Number(port) === defaultPort ? "" : `:${port}`}`, enumerable: false });
    const headers = Array.isArray(options.headers) ? chunked(options.headers) : Object.entries(options.headers ?? {});
    for (const [key, value] of headers) if (value !== undefined) this.setHeader(key, value);
    if (options.auth && !this.hasHeader("authorization")) this.setHeader("Authorization", `Basic ${Buffer.from(options.auth).toString("base64")}`);
    if (options.timeout) this.setTimeout(options.timeout);
    options.signal?.addEventListener("abort", () => this.destroy(coded(Error, "ABORT_ERR", "The operation was aborted", { name: "AbortError" })));
    if (callback) this.once("response", callback);
    this.aborted = false;
    this.reusedSocket = false;
    process.nextTick(() => this.emit("socket", this.socket));
  }

  setHeader(name, value) {
    if (typeof name !== "string" || !/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(name)) throw coded(TypeError, "ERR_INVALID_HTTP_TOKEN", `Header name must be a valid HTTP token ["${name}"]`);
    if (value === undefined) throw coded(TypeError, "ERR_HTTP_INVALID_HEADER_VALUE", `Invalid value "undefined" for header "${name}"`);
    if (this.#isSent) throw coded(Error, "ERR_HTTP_HEADERS_SENT", "Cannot set headers after they are sent to the client");
    for (const one of [value].flat()) {
      if (/[^\t\x20-\x7e\x80-\xff]/.test(String(one))) throw coded(TypeError, "ERR_INVALID_CHAR", `Invalid character in header content ["${name}"]`);
    }
    this.#fields.set(name.toLowerCase(), [name, value]);
    return this;
  }

  getHeader(name) { return this.#fields.get(name.toLowerCase())?.[1]; }
  getHeaders() { return Object.assign(Object.create(null), Object.fromEntries([...this.#fields].map(([name, [, value]]) => [name, value]))); }
  getHeaderNames() { return [...this.#fields.keys()]; }
  getRawHeaderNames() { return [...this.#fields.values()].map(([name]) => name); }
  hasHeader(name) { return this.#fields.has(name.toLowerCase()); }
  removeHeader(name) { this.#fields.delete(name.toLowerCase()); }
  flushHeaders() {}
  setNoDelay() {}
  setSocketKeepAlive() {}
  get headersSent() { return this.#isSent; }

  setTimeout(ms, callback) {
    if (callback) this.once("timeout", callback);
    clearTimeout(this.#timer);
    this.#timeout = ms;
    if (ms > 0) this.#timer = setTimeout(() => this.emit("timeout"), ms);
    return this;
  }

  get timeout() { return this.#timeout || undefined; }

  abort() {
    this.aborted = true;
    process.nextTick(() => this.emit("abort"));
    this.destroy();
  }

  _write(chunk, encoding, callback) {
    this.#parts.push(Buffer.from(chunk));
    callback();
  }

  _final(callback) {
    this.#isSent = true;
    const headers = [...this.#fields.values()].flatMap(([name, value]) => [value].flat().map((one) => [name, String(one)]));
    const body = this.#parts.length > 0 ? Buffer.concat(this.#parts.splice(0)) : undefined;
    this.#cancel = native.exchange({ method: this.method, url: this.address + this.path, headers, body, decodes: false }, (failure, answer) => {
      clearTimeout(this.#timer);
      this.#cancel = null;
      if (this.destroyed && !this.writableFinished) return;
      if (failure) return void this.#fail(failure);
      const message = new IncomingMessage(answer, this);
      this.res = message;
      message.once("close", () => this.emit("close"));
      if (!this.emit("response", message)) message.resume();
    });
    callback();
  }

  #fail(error) {
    this.emit("error", error);
    this.emit("close");
  }

  _destroy(error, callback) {
    clearTimeout(this.#timer);
    const wasWaiting = this.#cancel !== null || !this.#isSent;
    this.#cancel?.();
    this.#cancel = null;
    // A request that is given up has an error; one whose answer is there has not.
    const isQuiet = error !== null || !wasWaiting || this.writableFinished && !this.isGivenUp;
    callback(isQuiet ? error : coded(Error, "ECONNRESET", "socket hang up"));
  }

  destroy(error) {
    Object.defineProperty(this, "isGivenUp", { value: this.#cancel !== null || !this.#isSent, configurable: true });
    return super.destroy(error);
  }
}

function chunked(list) {
  if (list.every(Array.isArray)) return list;
  return Array.from({ length: list.length / 2 }, (_, i) => [list[2 * i], list[2 * i + 1]]);
}

/** The arguments of `request`: a URL, options, a callback; each may be absent but the first two together. */
function optionsOf(input, options, callback) {
  let all = {};
  if (typeof input === "string") all = require("url").urlToHttpOptions(new URL(input));
  else if (input instanceof URL) all = require("url").urlToHttpOptions(input);
  else [callback, options, all] = [options, undefined, { ...input }];
  if (typeof options === "function") [callback, options] = [options, undefined];
  return [{ ...all, ...options }, callback];
}

module.exports = (protocol, defaultPort) => {
  const request = (...args) => new ClientRequest(protocol, defaultPort, ...optionsOf(...args));
  const get = (...args) => {
    const made = request(...args);
    made.end();
    return made;
  };
  const all = { request, get, Agent, globalAgent };
  return protocol === "https:" ? all : { ...all, ClientRequest, IncomingMessage, METHODS, STATUS_CODES, maxHeaderSize: 16_384 };
};
