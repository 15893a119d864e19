declare module "k6/ws" {
  export interface Params {
    headers?: { [name: string]: string };
    tags?: { [name: string]: string };
    jar?: import("k6/http").CookieJar | null;
    compression?: string;
  }
  export interface Response {
    readonly url: string;
    readonly status: number;
    readonly headers: { [name: string]: string };
    readonly body: string;
    readonly error: string;
  }
  export interface Socket {
    on(event: "open" | "ping" | "pong", handler: () => unknown): void;
    on(event: "message", handler: (data: string) => unknown): void;
    on(event: "binaryMessage", handler: (data: ArrayBuffer) => unknown): void;
    on(event: "close", handler: (code: number) => unknown): void;
    on(event: "error", handler: (error: { error(): string }) => unknown): void;
    send(data: string): void;
    sendBinary(data: ArrayBuffer | ArrayBufferView): void;
    ping(): void;
    close(code?: number): void;
    setInterval(run: () => unknown, ms: number): void;
    setTimeout(run: () => unknown, ms: number): void;
  }
  /** Connects, calls `run` with the socket, and blocks until it is closed. */
  export function connect(url: string, run: (socket: Socket) => unknown): Response;
  export function connect(url: string, params: Params | null, run: (socket: Socket) => unknown): Response;
  const all: Omit<typeof import("k6/ws"), "default">;
  export default all;
}
