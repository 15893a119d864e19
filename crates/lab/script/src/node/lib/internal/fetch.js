// `fetch` and its classes (WHATWG Fetch). Bodies are whole: a request is sent and an answer is read as one piece.

const { Blob, File, bytesOf } = require("internal/dom");
const { coded } = require("internal/errors");

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const nameOf = (name) => {
  name = String(name);
  if (!TOKEN.test(name)) throw new TypeError(`Headers.append: ${name} is an invalid header name.`);
  return name.toLowerCase();
};
const valueOf = (name, value) => {
  value = String(value).replace(/^[\t\n\r ]+|[\t\n\r ]+$/g, "");
  // eslint-disable-next-line no-control-regex
  if (/[\0\r\n]/.test(value)) throw new TypeError(`Headers.append: ${value} is an invalid header value.`);
  return value;
};

class Headers {
  #fields = [];

  constructor(init) {
    if (init === undefined || init === null) return;
    if (typeof init !== "object") throw new TypeError("Headers constructor: init is neither a sequence nor a record");
    const pairs = init instanceof Headers ? init.#fields : typeof init[Symbol.iterator] === "function" ? init : Object.entries(init);
    for (const [name, value] of pairs) this.append(name, value);
  }

  append(name, value) { this.#fields.push([nameOf(name), valueOf(name, value)]); }

  set(name, value) {
    this.delete(name);
    this.append(name, value);
  }

  delete(name) { this.#fields = this.#fields.filter(([other]) => other !== nameOf(name)); }
  has(name) { return this.#fields.some(([other]) => other === nameOf(name)); }

  get(name) {
    const values = this.#fields.filter(([other]) => other === nameOf(name)).map(([, value]) => value);
    return values.length > 0 ? values.join(", ") : null;
  }

  getSetCookie() { return this.#fields.filter(([name]) => name === "set-cookie").map(([, value]) => value); }

  *entries() {
    const names = [...new Set(this.#fields.map(([name]) => name))].sort();
    for (const name of names) {
      if (name === "set-cookie") for (const value of this.getSetCookie()) yield [name, value];
      else yield [name, this.get(name)];
    }
  }

  *keys() { for (const [name] of this.entries()) yield name; }
  *values() { for (const [, value] of this.entries()) yield value; }
  [Symbol.iterator]() { return this.entries(); }
  forEach(run, self) { for (const [name, value] of this.entries()) run.call(self, value, name, this); }
  [Symbol.for("nodejs.util.inspect.custom")](depth, options, inspect) { return `Headers ${inspect(Object.fromEntries(this), options)}`; }
}

class FormData {
  #fields = [];

  #field(name, value, fileName) {
    if (value instanceof Blob && !(value instanceof File)) value = new File([value], fileName ?? "blob", { type: value.type });
    else if (value instanceof File && fileName !== undefined) value = new File([value], fileName, { type: value.type });
    return [String(name), value instanceof Blob ? value : String(value)];
  }

  append(name, value, fileName) { this.#fields.push(this.#field(name, value, fileName)); }

  set(name, value, fileName) {
    const at = this.#fields.findIndex(([other]) => other === name);
    const field = this.#field(name, value, fileName);
    this.#fields = this.#fields.filter(([other], index) => other !== name || index === at);
    if (at < 0) this.#fields.push(field);
    else this.#fields[at] = field;
  }

  delete(name) { this.#fields = this.#fields.filter(([other]) => other !== name); }
  get(name) { return this.#fields.find(([other]) => other === name)?.[1] ?? null; }
  getAll(name) { return this.#fields.filter(([other]) => other === name).map(([, value]) => value); }
  has(name) { return this.#fields.some(([other]) => other === name); }
  *entries() { yield* this.#fields; }
  *keys() { for (const [name] of this.#fields) yield name; }
  *values() { for (const [, value] of this.#fields) yield value; }
  [Symbol.iterator]() { return this.entries(); }
  forEach(run, self) { for (const [name, value] of this) run.call(self, value, name, this); }
}

const escapedName = (name) => name.replaceAll("\n", "%0A").replaceAll("\r", "%0D").replaceAll('"', "%22");

/** The bytes of a body and its type. */
function readBody(body) {
  if (body === undefined || body === null) return [null, null];
  if (body instanceof URLSearchParams) return [Buffer.from(String(body)), "application/x-www-form-urlencoded;charset=UTF-8"];
  if (body instanceof FormData) {
    const boundary = `----formdata-${Buffer.from(native.random(12)).toString("hex")}`;
    const parts = [];
    for (const [name, value] of body) {
      const file = value instanceof Blob ? `; filename="${escapedName(value.name)}"\r\nContent-Type: ${value.type || "application/octet-stream"}` : "";
      parts.push(Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="${escapedName(name)}"${file}\r\n\r\n`));
      parts.push(value instanceof Blob ? bytesOf(value) : Buffer.from(value.replace(/\r?\n/g, "\r\n")), Buffer.from("\r\n"));
    }
    parts.push(Buffer.from(`--${boundary}--\r\n`));
    return [Buffer.concat(parts), `multipart/form-data; boundary=${boundary}`];
  }
  if (body instanceof Blob) return [bytesOf(body), body.type || null];
  if (body instanceof ArrayBuffer) return [Buffer.from(body.slice(0)), null];
  if (ArrayBuffer.isView(body)) return [Buffer.from(Buffer.from(body.buffer, body.byteOffset, body.byteLength)), null];
  return [Buffer.from(String(body)), "text/plain;charset=UTF-8"];
}

/** The reading half of requests and answers. */
class Body {
  #bytes;
  #isUsed = false;

  constructor(bytes) { this.#bytes = bytes; }

  #take() {
    if (this.#isUsed) throw new TypeError("Body is unusable: Body has already been read");
    if (this.#bytes !== null) this.#isUsed = true;
    return this.#bytes ?? Buffer.alloc(0);
  }

  get bodyUsed() { return this.#isUsed; }

  /** One chunk at a time; there are no other methods of a stream of the web. */
  get body() {
    if (this.#bytes === null) return null;
    const take = () => this.#take();
    return { async *[Symbol.asyncIterator]() { yield new Uint8Array(take()); } };
  }

  async text() { return this.#take().toString().replace(/^\ufeff/, ""); }
  async json() { return JSON.parse(await this.text()); }
  async bytes() { return new Uint8Array(this.#take()); }
  async arrayBuffer() { return (await this.bytes()).buffer; }
  async blob() { return new Blob([this.#take()], { type: this.headers.get("content-type") ?? "" }); }

  async formData() {
    const type = this.headers.get("content-type") ?? "";
    if (!type.startsWith("application/x-www-form-urlencoded")) throw new TypeError("Response.formData: Could not parse content as FormData.");
    const form = new FormData();
    for (const [name, value] of new URLSearchParams(await this.text())) form.append(name, value);
    return form;
  }

  static peek(of) {
    if (of.#isUsed) throw new TypeError("Response.clone: Body has already been consumed.");
    return of.#bytes;
  }
}
const { peek } = Body;
delete Body.peek;

const METHODS = ["DELETE", "GET", "HEAD", "OPTIONS", "POST", "PUT"];

class Request extends Body {
  constructor(input, init = {}) {
    const from = input instanceof Request ? input : undefined;
    const given = String(init.method ?? from?.method ?? "GET");
    const method = METHODS.includes(given.toUpperCase()) ? given.toUpperCase() : given;
    if (!TOKEN.test(method)) throw new TypeError(`'${method}' is not a valid HTTP method.`);
    let [bytes, type] = readBody(init.body);
    if (init.body === undefined && from) bytes = peek(from);
    if (bytes !== null && ["GET", "HEAD"].includes(method)) throw new TypeError("Request with GET/HEAD method cannot have body.");
    super(bytes);
    let url;
    try {
      url = new URL(from ? from.url : String(input));
    } catch {
      throw Object.assign(new TypeError(`Failed to parse URL from ${input}`), { cause: coded(TypeError, "ERR_INVALID_URL", "Invalid URL", { input: String(input) }) });
    }
    if (url.username || url.password) throw new TypeError(`Request cannot be constructed from a URL that includes credentials: ${url.origin}`);
    this.method = method;
    this.url = url.href;
    this.headers = new Headers(init.headers ?? from?.headers);
    if (type !== null && !this.headers.has("content-type")) this.headers.set("content-type", type);
    this.redirect = init.redirect ?? from?.redirect ?? "follow";
    this.signal = init.signal ?? from?.signal ?? new (require("internal/dom").AbortController)().signal;
    this.credentials = init.credentials ?? "same-origin";
    this.cache = init.cache ?? "default";
    this.mode = init.mode ?? "cors";
    this.referrer = "about:client";
    this.keepalive = Boolean(init.keepalive);
  }

  clone() { return new Request(this); }
}

class Response extends Body {
  constructor(body = null, { status = 200, statusText = "", headers } = {}, made = {}) {
    if (made.url === undefined && (status < 200 || status > 599)) throw new RangeError('init["status"] must be in the range of 200 to 599, inclusive.');
    const [bytes, type] = readBody(body);
    super(bytes);
    this.status = status;
    this.statusText = statusText;
    this.headers = new Headers(headers);
    if (type !== null && !this.headers.has("content-type")) this.headers.set("content-type", type);
    this.url = made.url ?? "";
    this.redirected = made.redirected ?? false;
    this.type = made.type ?? "default";
  }

  get ok() { return this.status >= 200 && this.status <= 299; }

  clone() {
    const { status, statusText, headers, url, redirected, type } = this;
    const bytes = peek(this);
    return new Response(bytes, { status, statusText, headers }, { url, redirected, type });
  }

  static json(value, init = {}) {
    const headers = new Headers(init.headers);
    if (!headers.has("content-type")) headers.set("content-type", "application/json");
    return new Response(JSON.stringify(value), { ...init, headers });
  }

  static redirect(url, status = 302) { return new Response(null, { status, headers: { location: new URL(url).href } }); }
  static error() { return Object.assign(new Response(), { status: 0, type: "error" }); }
}

for (const kind of [Headers, FormData, Request, Response]) {
  Object.defineProperty(kind.prototype, Symbol.toStringTag, { value: kind.name, configurable: true });
}

const REDIRECTS = [301, 302, 303, 307, 308];
const MOST_REDIRECTS = 20;
const failed = (cause) => Object.assign(new TypeError("fetch failed"), { cause });

/** One exchange of the host. */
function exchange(request, url, method, headers, body) {
  return new Promise((resolve, reject) => {
    const cancel = native.exchange({ method, url: url.href, headers: [...headers], body: body ?? undefined, decodes: true }, (failure, answer) => {
      request.signal.removeEventListener("abort", end);
      // The name that Node's `fetch` has for it.
      if (failure?.message === "socket hang up") failure = coded(Error, "UND_ERR_SOCKET", "other side closed", { name: "SocketError" });
      if (failure) reject(failed(failure));
      else resolve(answer);
    });
    function end() {
      cancel();
      reject(request.signal.reason);
    }
    request.signal.addEventListener("abort", end);
  });
}

async function fetch(input, init) {
  const request = new Request(input, init);
  request.signal.throwIfAborted();
  let url = new URL(request.url);
  if (url.protocol === "data:") throw failed(new Error("data: is not supported"));
  if (!["http:", "https:"].includes(url.protocol)) throw failed(new Error("unknown scheme"));
  let [method, body] = [request.method, peek(request)];
  const headers = new Headers(request.headers);
  for (const [name, value] of [["accept", "*/*"], ["accept-language", "*"], ["sec-fetch-mode", "cors"], ["user-agent", "node"], ["accept-encoding", "gzip, deflate"]]) {
    if (!headers.has(name)) headers.set(name, value);
  }
  for (let n = 0; ; n++) {
    const answer = await exchange(request, url, method, headers, body);
    const location = answer.headers.find(([name]) => name === "location")?.[1];
    if (!REDIRECTS.includes(answer.status) || location === undefined || request.redirect === "manual") {
      const isEmpty = method === "HEAD" || [101, 103, 204, 205, 304].includes(answer.status);
      const facts = { url: url.href.replace(/#.*/, ""), redirected: n > 0, type: "basic" };
      return new Response(isEmpty ? null : answer.body, { status: answer.status, statusText: answer.reason, headers: answer.headers }, facts);
    }
    if (request.redirect === "error") throw failed(new Error("unexpected redirect"));
    if (n === MOST_REDIRECTS) throw failed(new Error("redirect count exceeded"));
    const next = new URL(location, url);
    if (!["http:", "https:"].includes(next.protocol)) throw failed(new Error("URL scheme must be a HTTP(S) scheme"));
    if (answer.status === 303 ? !["GET", "HEAD"].includes(method) : [301, 302].includes(answer.status) && method === "POST") {
      [method, body] = ["GET", null];
      for (const name of ["content-encoding", "content-language", "content-location", "content-type", "content-length"]) headers.delete(name);
    }
    if (next.origin !== url.origin) for (const name of ["authorization", "proxy-authorization", "cookie", "host"]) headers.delete(name);
    if (!next.hash) next.hash = url.hash;
    url = next;
  }
}

module.exports = { fetch, Headers, FormData, Request, Response };
