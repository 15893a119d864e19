// `url`: the classes of the web, and Node's older functions.

const { coded, invalidType } = require("internal/errors");

function fileURLToPath(url) {
  if (typeof url === "string") url = new URL(url);
  if (!(url instanceof URL)) throw invalidType("path", ["string", "URL"], url);
  if (url.protocol !== "file:") throw coded(TypeError, "ERR_INVALID_URL_SCHEME", "The URL must be of scheme file");
  if (url.hostname !== "") throw coded(TypeError, "ERR_INVALID_FILE_URL_HOST", 'File URL host must be "localhost" or empty on linux');
  if (/%2f/i.test(url.pathname)) throw coded(TypeError, "ERR_INVALID_FILE_URL_PATH", "File URL path must not include encoded / characters");
  return decodeURIComponent(url.pathname);
}

function pathToFileURL(path) {
  let resolved = require("path").resolve(path);
  if (path.endsWith("/") && !resolved.endsWith("/")) resolved += "/";
  const escaped = resolved.replace(/[%\\\n\r\t?#]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`);
  return new URL(`file://${escaped}`);
}

const SLASHED = /^(https?|ftp|gopher|file|wss?):?$/;
const PARTS = ["protocol", "slashes", "auth", "host", "port", "hostname", "hash", "search", "query", "pathname", "path", "href"];

class Url {
  constructor() {
    for (const name of PARTS) this[name] = null;
  }

  parse(text, parsesQuery, isHostWithoutScheme) {
    return Object.assign(this, parse(text, parsesQuery, isHostWithoutScheme));
  }

  format() { return format(this); }
  resolve(to) { return resolve(this.href, to); }
}

/** Characters that the older parser escapes. */
const escaped = (text) => text.replace(/[\t\n\r "'<>\\^`{|}]/g, (c) => (c === "\\" ? "/" : `%${c.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`));

function parse(text, parsesQuery = false, isHostWithoutScheme = false) {
  if (text instanceof Url) return text;
  if (typeof text !== "string") throw invalidType("url", "string", text);
  const url = new Url();
  let rest = text.trim();
  const before = rest.search(/[?#]/);
  if (before < 0) rest = rest.replaceAll("\\", "/");
  else rest = rest.slice(0, before).replaceAll("\\", "/") + rest.slice(before);
  const scheme = /^[a-z0-9.+-]+:/i.exec(rest);
  if (scheme) {
    url.protocol = scheme[0].toLowerCase();
    rest = rest.slice(scheme[0].length);
  }
  const hasSlashes = rest.startsWith("//") && url.protocol !== "javascript:" && (scheme !== null || isHostWithoutScheme);
  if (hasSlashes) {
    url.slashes = true;
    rest = rest.slice(2);
  }
  const isOther = url.protocol !== null && url.protocol !== "javascript:" && !SLASHED.test(url.protocol);
  if (hasSlashes || isOther) {
    const end = rest.search(/[/?#]/);
    let authority = end < 0 ? rest : rest.slice(0, end);
    rest = end < 0 ? "" : rest.slice(end);
    const at = authority.lastIndexOf("@");
    if (at >= 0) {
      url.auth = decodeURIComponent(authority.slice(0, at));
      authority = authority.slice(at + 1);
    }
    const port = /:(\d*)$/.exec(authority);
    if (port) {
      if (port[1] !== "") url.port = port[1];
      authority = authority.slice(0, -port[0].length);
    }
    let hostname = authority.toLowerCase();
    if (/[^\x00-\x7f]/.test(hostname)) hostname = domainToASCII(hostname);
    url.host = hostname + (url.port ? `:${url.port}` : "");
    url.hostname = hostname.startsWith("[") && hostname.endsWith("]") ? hostname.slice(1, -1) : hostname;
  }
  if (url.protocol !== "javascript:") rest = escaped(rest);
  const hash = rest.indexOf("#");
  if (hash >= 0) {
    url.hash = rest.slice(hash);
    rest = rest.slice(0, hash);
  }
  const query = rest.indexOf("?");
  if (query >= 0) {
    url.search = rest.slice(query);
    url.query = rest.slice(query + 1);
    rest = rest.slice(0, query);
  } else if (parsesQuery) {
    url.search = null;
    url.query = "";
  }
  if (parsesQuery) url.query = require("querystring").parse(url.query);
  if (rest !== "") url.pathname = rest;
  if (url.protocol !== null && SLASHED.test(url.protocol) && url.hostname && !url.pathname) url.pathname = "/";
  if (url.pathname !== null || url.search !== null) url.path = (url.pathname ?? "") + (url.search ?? "");
  url.href = format(url);
  return url;
}

function format(url, options) {
  if (typeof url === "string") url = parse(url);
  if (url instanceof URL) {
    const { auth = true, fragment = true, search = true } = options ?? {};
    const copy = new URL(url);
    if (!auth) copy.username = copy.password = "";
    if (!fragment) copy.hash = "";
    if (!search) copy.search = "";
    return copy.href;
  }
  if (url === null || typeof url !== "object") throw invalidType("urlObject", ["Object", "string"], url);
  let auth = url.auth ? encodeURIComponent(url.auth).replace(/%3A/i, ":") : "";
  if (auth) auth += "@";
  let protocol = url.protocol ?? "";
  if (protocol && !protocol.endsWith(":")) protocol += ":";
  let host = "";
  if (url.host) host = auth + url.host;
  else if (url.hostname) {
    const name = url.hostname.includes(":") && !url.hostname.startsWith("[") ? `[${url.hostname}]` : url.hostname;
    host = auth + name + (url.port ? `:${url.port}` : "");
  }
  let search = url.search ?? "";
  if (!search && url.query !== null && typeof url.query === "object") {
    const query = require("querystring").stringify(url.query);
    search = query ? `?${query}` : "";
  }
  if (search && !search.startsWith("?")) search = `?${search}`;
  let hash = url.hash ?? "";
  if (hash && !hash.startsWith("#")) hash = `#${hash}`;
  let pathname = (url.pathname ?? "").replace(/[?#]/g, encodeURIComponent);
  search = search.replaceAll("#", "%23");
  if (url.slashes || (protocol && SLASHED.test(protocol))) {
    if (url.slashes || host) {
      if (pathname && !pathname.startsWith("/")) pathname = `/${pathname}`;
      host = `//${host}`;
    }
  }
  return protocol + host + pathname + search + hash;
}

function resolve(from, to) {
  const base = new URL(from, "resolve://host-of-nothing/");
  const target = new URL(to, base);
  if (target.protocol !== "resolve:") return target.href;
  const path = target.pathname + target.search + target.hash;
  return from.startsWith("/") || to.startsWith("/") ? path : path.slice(1);
}

function domainToASCII(domain) {
  try {
    return new URL(`ws://${domain}`).hostname;
  } catch {
    return "";
  }
}

function urlToHttpOptions(url) {
  const options = {
    protocol: url.protocol,
    hostname: url.hostname.startsWith("[") ? url.hostname.slice(1, -1) : url.hostname,
    hash: url.hash, search: url.search, pathname: url.pathname, path: `${url.pathname}${url.search}`, href: url.href,
  };
  if (url.port !== "") options.port = Number(url.port);
  if (url.username || url.password) options.auth = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  return options;
}

module.exports = {
  URL: globalThis.URL, URLSearchParams: globalThis.URLSearchParams, fileURLToPath, pathToFileURL, Url, parse, format, resolve,
  resolveObject: (from, to) => parse(resolve(typeof from === "string" ? from : from.href, to)), domainToASCII, urlToHttpOptions,
};
