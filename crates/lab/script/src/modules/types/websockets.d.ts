declare module "k6/websockets" {
  export type BinaryType = "blob" | "arraybuffer" | "";
  export interface Params {
    headers?: { [name: string]: string };
    tags?: { [name: string]: string };
    jar?: import("k6/http").CookieJar;
    compression?: "deflate";
  }
  export interface Event {
    type: string;
    timestamp: number;
  }
  export interface MessageEvent extends Event {
    data: any;
  }
  export interface CloseEvent extends Event {
    code: number;
    reason: string;
  }
  export interface ErrorEvent extends Event {
    error: string;
  }
  export interface Events {
    open: Event;
    message: MessageEvent;
    error: ErrorEvent;
    close: CloseEvent;
    ping: Event;
    pong: Event;
  }
  export class WebSocket {
    constructor(url: string, protocols?: string | string[] | null, params?: Params);
    static readonly CONNECTING: number;
    static readonly OPEN: number;
    static readonly CLOSING: number;
    static readonly CLOSED: number;
    readonly CONNECTING: number;
    readonly OPEN: number;
    readonly CLOSING: number;
    readonly CLOSED: number;
    readonly url: string;
    readonly readyState: number;
    readonly bufferedAmount: number;
    readonly protocol: string;
    readonly extensions: string;
    binaryType: BinaryType;
    onopen: ((event: Event) => unknown) | null;
    onmessage: ((event: MessageEvent) => unknown) | null;
    onerror: ((event: ErrorEvent) => unknown) | null;
    onclose: ((event: CloseEvent) => unknown) | null;
    onping: ((event: Event) => unknown) | null;
    onpong: ((event: Event) => unknown) | null;
    addEventListener<K extends keyof Events>(type: K, listener: (event: Events[K]) => unknown): void;
    removeEventListener<K extends keyof Events>(type: K, listener: (event: Events[K]) => unknown): void;
    send(data: string | ArrayBuffer | ArrayBufferView | Blob): void;
    ping(): void;
    close(code?: number, reason?: string): void;
  }
  export class Blob {
    constructor(parts?: (string | ArrayBuffer | ArrayBufferView | Blob)[], options?: { type?: string });
    readonly size: number;
    readonly type: string;
    arrayBuffer(): Promise<ArrayBuffer>;
    bytes(): Promise<Uint8Array>;
    slice(start?: number, end?: number, type?: string): Blob;
    text(): Promise<string>;
  }
  const all: Omit<typeof import("k6/websockets"), "default">;
  export default all;
}
