declare module "k6/crypto" {
  export type Bytes = string | ArrayBuffer | ArrayBufferView;
  export type Algorithm =
    | "md4"
    | "md5"
    | "ripemd160"
    | "sha1"
    | "sha256"
    | "sha384"
    | "sha512"
    | "sha512_224"
    | "sha512_256";
  /** Texts, or with `binary` bytes. */
  export type Encoding = "hex" | "base64" | "base64url" | "base64rawurl";
  export interface Hasher {
    update(input: Bytes): void;
    digest(encoding: "binary"): ArrayBuffer;
    digest(encoding: Encoding): string;
  }
  export function createHash(algorithm: Algorithm): Hasher;
  export function createHMAC(algorithm: Algorithm, secret: Bytes): Hasher;
  export function hexEncode(input: Bytes): string;
  export function hmac(algorithm: Algorithm, secret: Bytes, input: Bytes, encoding: "binary"): ArrayBuffer;
  export function hmac(algorithm: Algorithm, secret: Bytes, input: Bytes, encoding: Encoding): string;
  export function randomBytes(n: number): ArrayBuffer;
  export function md4(input: Bytes, encoding: "binary"): ArrayBuffer;
  export function md4(input: Bytes, encoding: Encoding): string;
  export function md5(input: Bytes, encoding: "binary"): ArrayBuffer;
  export function md5(input: Bytes, encoding: Encoding): string;
  export function ripemd160(input: Bytes, encoding: "binary"): ArrayBuffer;
  export function ripemd160(input: Bytes, encoding: Encoding): string;
  export function sha1(input: Bytes, encoding: "binary"): ArrayBuffer;
  export function sha1(input: Bytes, encoding: Encoding): string;
  export function sha256(input: Bytes, encoding: "binary"): ArrayBuffer;
  export function sha256(input: Bytes, encoding: Encoding): string;
  export function sha384(input: Bytes, encoding: "binary"): ArrayBuffer;
  export function sha384(input: Bytes, encoding: Encoding): string;
  export function sha512(input: Bytes, encoding: "binary"): ArrayBuffer;
  export function sha512(input: Bytes, encoding: Encoding): string;
  export function sha512_224(input: Bytes, encoding: "binary"): ArrayBuffer;
  export function sha512_224(input: Bytes, encoding: Encoding): string;
  export function sha512_256(input: Bytes, encoding: "binary"): ArrayBuffer;
  export function sha512_256(input: Bytes, encoding: Encoding): string;
  const all: Omit<typeof import("k6/crypto"), "default">;
  export default all;
}
