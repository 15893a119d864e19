// Random UUIDs (RFC 9562, version 4), from numbers that are not secret.

/** For example `f81d4fae-7dec-4bd0-a765-00a0c91e6bf6`. */
export function uuidv4() {
  return "xxxxxxxx-xxxx-4xxx-Nxxx-xxxxxxxxxxxx".replace(/[xN]/g, (place) => {
    const digit = Math.floor(Math.random() * 16);
    return (place === "x" ? digit : (digit & 0x3) | 0x8).toString(16);
  });
}
