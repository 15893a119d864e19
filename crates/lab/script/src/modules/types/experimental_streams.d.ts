declare module "k6/experimental/streams" {
  export interface Controller<T> {
    readonly desiredSize: number | null;
    enqueue(chunk: T): void;
    close(): void;
    error(reason?: unknown): void;
  }
  export interface Source<T> {
    start?(controller: Controller<T>): unknown;
    pull?(controller: Controller<T>): unknown;
    cancel?(reason?: unknown): unknown;
  }
  export class ReadableStream<T = any> {
    constructor(source?: Source<T>, strategy?: { highWaterMark?: number; size?(chunk: T): number });
    readonly locked: boolean;
    cancel(reason?: unknown): Promise<void>;
    getReader(): ReadableStreamDefaultReader<T>;
  }
  export class ReadableStreamDefaultReader<T = any> {
    constructor(stream: ReadableStream<T>);
    readonly closed: Promise<void>;
    read(): Promise<{ done: false; value: T } | { done: true; value: undefined }>;
    cancel(reason?: unknown): Promise<void>;
    releaseLock(): void;
  }
  export interface SinkController {
    error(reason?: unknown): void;
  }
  export interface Sink<T> {
    start?(controller: SinkController): unknown;
    write?(chunk: T, controller: SinkController): unknown;
    close?(): unknown;
    abort?(reason?: unknown): unknown;
  }
  export class WritableStream<T = any> {
    constructor(sink?: Sink<T>, strategy?: { highWaterMark?: number; size?(chunk: T): number });
    readonly locked: boolean;
    abort(reason?: unknown): Promise<void>;
    close(): Promise<void>;
    getWriter(): WritableStreamDefaultWriter<T>;
  }
  export class WritableStreamDefaultWriter<T = any> {
    constructor(stream: WritableStream<T>);
    readonly closed: Promise<void>;
    readonly ready: Promise<void>;
    readonly desiredSize: number | null;
    write(chunk: T): Promise<void>;
    close(): Promise<void>;
    abort(reason?: unknown): Promise<void>;
    releaseLock(): void;
  }
  export class CountQueuingStrategy {
    constructor(options: { highWaterMark: number });
    readonly highWaterMark: number;
    size(): number;
  }
  const all: Omit<typeof import("k6/experimental/streams"), "default">;
  export default all;
}
