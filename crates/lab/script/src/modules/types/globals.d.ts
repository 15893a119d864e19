// Types of the modules and globals of scripts for `plimsoll run`, written by `plimsoll new --ts`.

/** The environment: variables of the system and of `-e NAME=value`. A variable that is not set is undefined. */
declare const __ENV: { [name: string]: string | undefined };
/** The number of the virtual user, from 1; 0 outside of iterations. */
declare const __VU: number;
/** The number of the iteration of this virtual user, from 0. */
declare const __ITER: number;
declare const global: typeof globalThis;

/** Reads a file as text. Paths start at the folder of the script. Only outside of functions. */
declare function open(path: string): string;
/** Reads a file as bytes. */
declare function open(path: string, mode: "b"): ArrayBuffer;
/** Loads a CommonJS module, or a module of k6. */
declare function require(module: string): any;

declare function setTimeout<A extends any[]>(run: (...args: A) => void, ms?: number, ...args: A): number;
declare function clearTimeout(id?: number): void;
declare function setInterval<A extends any[]>(run: (...args: A) => void, ms?: number, ...args: A): number;
declare function clearInterval(id?: number): void;
declare function queueMicrotask(run: () => void): void;

/** Writes to the log of the run. */
declare const console: {
  log(...values: unknown[]): void;
  info(...values: unknown[]): void;
  debug(...values: unknown[]): void;
  warn(...values: unknown[]): void;
  error(...values: unknown[]): void;
};

declare const performance: {
  /** Milliseconds since `timeOrigin`, with fractions. */
  now(): number;
  /** Milliseconds of Unix time. */
  readonly timeOrigin: number;
};

interface Crypto {
  randomUUID(): string;
  getRandomValues<T extends ArrayBufferView>(array: T): T;
  readonly subtle: SubtleCrypto;
  /** The class of keys, for `instanceof`. */
  readonly CryptoKey: new (never: never) => CryptoKey;
}

declare const crypto: Crypto;

type Bytes = ArrayBuffer | ArrayBufferView;
type KeyUsage = "encrypt" | "decrypt" | "sign" | "verify" | "deriveKey" | "deriveBits" | "wrapKey" | "unwrapKey";
type DigestName = "SHA-1" | "SHA-256" | "SHA-384" | "SHA-512" | { name: "SHA-1" | "SHA-256" | "SHA-384" | "SHA-512" };
type RsaName = "RSA-OAEP" | "RSA-PSS" | "RSASSA-PKCS1-v1_5";
type AesName = "AES-CBC" | "AES-CTR" | "AES-GCM";
type NamedCurve = "P-256" | "P-384" | "P-521";

interface CryptoKey {
  readonly type: "secret" | "private" | "public";
  readonly extractable: boolean;
  readonly algorithm: {
    name: string;
    length?: number;
    hash?: { name: string };
    namedCurve?: NamedCurve;
    modulusLength?: number;
    publicExponent?: Uint8Array;
  };
  readonly usages: KeyUsage[];
}

interface CryptoKeyPair {
  privateKey: CryptoKey;
  publicKey: CryptoKey;
}

interface JsonWebKey {
  kty?: string;
  alg?: string;
  crv?: string;
  d?: string;
  dp?: string;
  dq?: string;
  e?: string;
  ext?: boolean;
  k?: string;
  key_ops?: string[];
  n?: string;
  p?: string;
  q?: string;
  qi?: string;
  x?: string;
  y?: string;
}

type CipherAlgorithm =
  | { name: "AES-CBC"; iv: Bytes }
  | { name: "AES-CTR"; counter: Bytes; length: number }
  | { name: "AES-GCM"; iv: Bytes; additionalData?: Bytes; tagLength?: 96 | 104 | 112 | 120 | 128 }
  | { name: "RSA-OAEP"; label?: Bytes }
  | "RSA-OAEP";
type SignatureAlgorithm =
  | "HMAC"
  | "RSASSA-PKCS1-v1_5"
  | { name: "HMAC" | "RSASSA-PKCS1-v1_5" }
  | { name: "RSA-PSS"; saltLength: number }
  | { name: "ECDSA"; hash: DigestName };
type DerivationAlgorithm =
  | { name: "PBKDF2"; hash: DigestName; salt: Bytes; iterations: number }
  | { name: "ECDH"; public: CryptoKey };
type SecretKeyAlgorithm = { name: AesName; length: number } | { name: "HMAC"; hash: DigestName; length?: number };
type KeyPairAlgorithm =
  | { name: "ECDSA" | "ECDH"; namedCurve: NamedCurve }
  | { name: RsaName; modulusLength: number; publicExponent: Uint8Array; hash: DigestName };
type ImportAlgorithm =
  | AesName
  | "PBKDF2"
  | { name: AesName | "PBKDF2" }
  | { name: "HMAC" | RsaName; hash: DigestName; length?: number }
  | { name: "ECDSA" | "ECDH"; namedCurve: NamedCurve };

interface SubtleCrypto {
  digest(algorithm: DigestName, data: Bytes): Promise<ArrayBuffer>;
  encrypt(algorithm: CipherAlgorithm, key: CryptoKey, data: Bytes): Promise<ArrayBuffer>;
  decrypt(algorithm: CipherAlgorithm, key: CryptoKey, data: Bytes): Promise<ArrayBuffer>;
  sign(algorithm: SignatureAlgorithm, key: CryptoKey, data: Bytes): Promise<ArrayBuffer>;
  verify(algorithm: SignatureAlgorithm, key: CryptoKey, signature: Bytes, data: Bytes): Promise<boolean>;
  generateKey(algorithm: SecretKeyAlgorithm, extractable: boolean, usages: KeyUsage[]): Promise<CryptoKey>;
  generateKey(algorithm: KeyPairAlgorithm, extractable: boolean, usages: KeyUsage[]): Promise<CryptoKeyPair>;
  importKey(format: "jwk", key: JsonWebKey, algorithm: ImportAlgorithm, extractable: boolean, usages: KeyUsage[]): Promise<CryptoKey>;
  importKey(format: "raw" | "pkcs8" | "spki", key: Bytes, algorithm: ImportAlgorithm, extractable: boolean, usages: KeyUsage[]): Promise<CryptoKey>;
  exportKey(format: "jwk", key: CryptoKey): Promise<JsonWebKey>;
  exportKey(format: "raw" | "pkcs8" | "spki", key: CryptoKey): Promise<ArrayBuffer>;
  deriveBits(algorithm: DerivationAlgorithm, key: CryptoKey, length?: number | null): Promise<ArrayBuffer>;
  deriveKey(algorithm: DerivationAlgorithm, key: CryptoKey, derived: SecretKeyAlgorithm, extractable: boolean, usages: KeyUsage[]): Promise<CryptoKey>;
}

declare class TextEncoder {
  readonly encoding: string;
  encode(text?: string): Uint8Array;
}

declare class TextDecoder {
  constructor(label?: string, options?: { fatal?: boolean; ignoreBOM?: boolean });
  readonly encoding: string;
  decode(bytes?: ArrayBuffer | ArrayBufferView): string;
}

declare class URL {
  constructor(url: string, base?: string | URL);
  static canParse(url: string, base?: string | URL): boolean;
  href: string;
  readonly origin: string;
  protocol: string;
  username: string;
  password: string;
  host: string;
  hostname: string;
  port: string;
  pathname: string;
  search: string;
  readonly searchParams: URLSearchParams;
  hash: string;
  toString(): string;
  toJSON(): string;
}

declare class URLSearchParams {
  constructor(init?: string | Iterable<[string, string]> | { [name: string]: string } | URLSearchParams);
  readonly size: number;
  append(name: string, value: string): void;
  delete(name: string, value?: string): void;
  get(name: string): string | null;
  getAll(name: string): string[];
  has(name: string, value?: string): boolean;
  set(name: string, value: string): void;
  sort(): void;
  forEach(run: (value: string, name: string, all: URLSearchParams) => void): void;
  entries(): IterableIterator<[string, string]>;
  keys(): IterableIterator<string>;
  values(): IterableIterator<string>;
  [Symbol.iterator](): IterableIterator<[string, string]>;
  toString(): string;
}

/** Libraries that are fetched have no types here. */
declare module "https://*";
