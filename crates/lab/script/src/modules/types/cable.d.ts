declare module "k6/x/cable" {
  import { Trend } from "k6/metrics";

  export interface ConnectOptions {
    /** The `Cookie` header. */
    cookies?: string;
    headers?: { [name: string]: string };
    tags?: { [name: string]: string };
    /** Seconds for the handshake with the welcome. Default: 60. */
    handshakeTimeoutS?: number;
    /** Milliseconds for subscribing and receiving. Default: 1000. */
    receiveTimeoutMs?: number;
    logLevel?: string;
    codec?: "json" | "msgpack" | "protobuf";
    /** Whether failures to connect and to subscribe are exceptions. */
    throw?: boolean;
    /** The sub-protocol to offer. */
    protocol?: string;
    /** A client of an earlier `connect`, whose session the server should resume. */
    resume?: Client | null;
  }

  /** An object whose fields are equal to those of the message, an equal text, or a function. */
  export type Condition = { [field: string]: unknown } | string | ((message: any) => unknown);

  export interface Pending {
    /** Waits up to this many milliseconds for the answer. */
    await(ms?: number): Channel | null;
  }

  export interface SubscribeOptions {
    /** Asks for the messages that an earlier client missed; with `since`, in Unix time in seconds, for earlier ones, too. */
    history?: boolean | { since: number };
  }

  export interface Client {
    /** The confirmed channel; null if it was rejected or not answered in time. */
    subscribe(channel: string, params?: { [name: string]: unknown }, options?: SubscribeOptions): Channel | null;
    subscribeAsync(channel: string, params?: { [name: string]: unknown }, options?: SubscribeOptions): Pending;
    disconnect(): void;
    /** Calls `run` until it returns a true value or throws. */
    loop(run: () => unknown): void;
    onDisconnect(
      run: (event: { reason: string; reconnect: boolean; code: number; message: string }) => unknown,
    ): void;
    onClose(run: (event: { code: number; message: string }) => unknown): void;
    readonly closeCode: number | null;
    readonly ending: string | null;
    readonly sid: string | null;
    readonly restored: boolean;
  }

  export interface Channel {
    perform(action: string, data?: unknown): void;
    /** The next message that satisfies the condition; null if none arrives in time. */
    receive(condition?: Condition): any;
    receiveN(n: number, condition?: Condition): any[];
    receiveAll(seconds: number, condition?: Condition): any[];
    ignoreReads(): void;
    onMessage(run: (message: any) => unknown): void;
    /** Milliseconds from the subscription to its answer; null before it. */
    ackDuration(): number | null;
    /** Performs the action and waits for its answer; records the milliseconds between in `trend` or `cable_rtt`. */
    roundTrip(action: string, data?: unknown, condition?: Condition | null, trend?: Trend): any;
    /** From now on, messages are only counted, outside of the script. */
    countOnly(options?: { timestampField?: string; trend?: Trend }): void;
    history(options?: { since?: number }): boolean;
    /** Waits for the messages that `subscribe` asked for. */
    replayed(): boolean;
    historyDuration(): number | null;
    whisper(data: unknown): void;
    join(id: string, info?: unknown): void;
    leave(): void;
    presence(): { type: string; total: number; records: any[] } | null;
    onPresence(run: (event: { type: string; id: string; info: any }) => unknown): void;
    unsubscribe(): void;
    /** The last position in each stream. */
    readonly positions: { [stream: string]: { offset: number; epoch: string } };
    readonly identifier: string;
    readonly received: number;
    /** Milliseconds of Unix time. */
    readonly lastReceivedAt: number | null;
  }

  /** A client that has received its welcome; null if the connection failed. */
  export function connect(url: string, options?: ConnectOptions | null): Client | null;
  const all: Omit<typeof import("k6/x/cable"), "default">;
  export default all;
}
