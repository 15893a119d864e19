// Random UUIDs (RFC 9562, version 4), from unpredictable random numbers.

import { randomBytes } from "k6/crypto";

/** For example `f81d4fae-7dec-4bd0-a765-00a0c91e6bf6`. */
export function uuidv4(secure = false) {
  const bytes = secure
    ? new Uint8Array(randomBytes(16))
    : Uint8Array.from({ length: 16 }, () => Math.floor(Math.random() * 256));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const digits = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}
