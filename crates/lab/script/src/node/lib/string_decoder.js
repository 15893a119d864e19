// `string_decoder`: texts from bytes that come in parts.

/** The number of bytes at the end that begin a character of UTF-8 without ending it. */
function unfinished(bytes) {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back];
    if ((byte & 0xc0) === 0x80) continue;
    const needed = byte >= 0xf0 && byte < 0xf8 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc2 ? 2 : 1;
    return needed > back ? back : 0;
  }
  return 0;
}

class StringDecoder {
  #rest = Buffer.alloc(0);

  constructor(encoding) {
    if (encoding !== undefined && !Buffer.isEncoding(encoding)) {
      throw require("internal/errors").coded(TypeError, "ERR_UNKNOWN_ENCODING", `Unknown encoding: ${encoding}`);
    }
    const name = (encoding ?? "utf8").toLowerCase().replace("utf-", "utf").replace(/^ucs-?2$|^utf16le$/, "utf16le").replace("binary", "latin1");
    this.encoding = name;
  }

  write(part) {
    if (typeof part === "string") return part;
    const bytes = Buffer.concat([this.#rest, Buffer.from(part.buffer, part.byteOffset, part.byteLength)]);
    let n = 0;
    if (this.encoding === "utf8") n = unfinished(bytes);
    else if (this.encoding === "utf16le") {
      n = bytes.length % 2;
      if (n === 0 && bytes.length >= 2 && (bytes[bytes.length - 1] & 0xfc) === 0xd8) n = 2;
    } else if (this.encoding.startsWith("base64")) n = bytes.length % 3;
    this.#rest = bytes.subarray(bytes.length - n);
    return bytes.toString(this.encoding, 0, bytes.length - n);
  }

  end(part) {
    const text = part === undefined ? "" : this.write(part);
    const rest = this.#rest;
    this.#rest = Buffer.alloc(0);
    return text + (this.encoding === "utf8" && rest.length > 0 ? "\ufffd" : rest.toString(this.encoding));
  }
}

exports.StringDecoder = StringDecoder;
