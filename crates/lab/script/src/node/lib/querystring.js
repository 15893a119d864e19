// `querystring`.

const KEPT = /[A-Za-z0-9\-_.!~*'()]/;

/** Percent-encodes all bytes but those of letters, digits and a few signs. */
function escape(text) {
  if (typeof text !== "string") text = typeof text === "object" ? String(text) : `${text}`;
  let escaped = "";
  for (const c of text) {
    const code = c.codePointAt(0);
    if (code >= 0xd800 && code <= 0xdfff) throw require("internal/errors").coded(URIError, "ERR_INVALID_URI", "URI malformed");
    escaped += KEPT.test(c) ? c : encodeURIComponent(c);
  }
  return escaped;
}

/** Decodes what can be decoded. */
function unescapeBuffer(text) {
  const bytes = [];
  for (let i = 0; i < text.length; i++) {
    const hex = text[i] === "%" ? /^[0-9a-fA-F]{2}/.exec(text.slice(i + 1, i + 3)) : null;
    if (hex) {
      bytes.push(parseInt(hex[0], 16));
      i += 2;
    } else bytes.push(...Buffer.from(text[i]));
  }
  return Buffer.from(bytes);
}

function unescape(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return unescapeBuffer(text).toString();
  }
}

function primitive(value) {
  if (typeof value === "string") return value;
  if (typeof value === "number") return Number.isFinite(value) ? `${value}` : "";
  if (typeof value === "bigint") return `${value}`;
  return typeof value === "boolean" ? String(value) : "";
}

function stringify(object, separator, equals, { encodeURIComponent: encode = exports.escape } = {}) {
  if (object === null || typeof object !== "object") return "";
  separator ||= "&";
  equals ||= "=";
  const fields = [];
  for (const key of Object.keys(object)) {
    const values = Array.isArray(object[key]) ? object[key] : [object[key]];
    for (const value of values) fields.push(`${encode(primitive(key))}${equals}${encode(primitive(value))}`);
  }
  return fields.join(separator);
}

function parse(text, separator, equals, { decodeURIComponent: decode = exports.unescape, maxKeys = 1000 } = {}) {
  const found = Object.create(null);
  if (typeof text !== "string" || text === "") return found;
  separator ||= "&";
  equals ||= "=";
  const decoded = (part) => {
    const plain = part.replaceAll("+", " ");
    if (!plain.includes("%") && decode === unescape) return plain;
    try {
      return decode(plain);
    } catch {
      return unescape(plain);
    }
  };
  let fields = text.split(separator).filter((field) => field !== "");
  if (maxKeys > 0) fields = fields.slice(0, maxKeys);
  for (const field of fields) {
    const at = field.indexOf(equals);
    const name = decoded(at < 0 ? field : field.slice(0, at));
    const value = at < 0 ? "" : decoded(field.slice(at + equals.length));
    if (!(name in found)) found[name] = value;
    else if (Array.isArray(found[name])) found[name].push(value);
    else found[name] = [found[name], value];
  }
  return found;
}

Object.assign(exports, { escape, unescape, unescapeBuffer, stringify, encode: stringify, parse, decode: parse });
