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

declare const crypto: {
  randomUUID(): string;
  getRandomValues<T extends ArrayBufferView>(array: T): T;
};

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
