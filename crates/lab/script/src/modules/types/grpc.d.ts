declare module "k6/net/grpc" {
  export interface Metadata {
    /** A text; bytes under names that end in `-bin`. */
    [name: string]: string | Uint8Array;
  }
  export interface Tls {
    /** The client's certificate in PEM. */
    cert?: string;
    /** Its key in PEM, without a password. */
    key?: string;
    password?: "";
    /** Authorities to trust beside those of the system, in PEM. */
    cacerts?: string | string[];
  }
  export interface ConnectParams {
    plaintext?: boolean;
    reflect?: boolean;
    reflectMetadata?: Metadata;
    timeout?: string | number;
    maxReceiveSize?: number;
    maxSendSize?: number;
    tls?: Tls;
    authority?: string;
  }
  export interface Params {
    metadata?: Metadata | null;
    tags?: { [name: string]: string | number | boolean };
    timeout?: string | number;
    discardResponseMessage?: boolean;
  }
  export interface MethodInfo {
    package: string;
    service: string;
    full_method: string;
    name: string;
    is_client_stream: boolean;
    is_server_stream: boolean;
  }
  export interface Response {
    /** The message as JSON; null if it was to be discarded. */
    message: any;
    error: null | { code: number; message: string; details: any[] };
    headers: { [name: string]: string[] };
    trailers: { [name: string]: string[] };
    status: number;
  }
  export class Client {
    constructor();
    /** Loads `.proto` files; in the init context. */
    load(importPaths: string[] | null, ...files: string[]): MethodInfo[];
    /** Loads a `FileDescriptorSet`; in the init context. */
    loadProtoset(path: string): MethodInfo[];
    connect(address: string, params?: ConnectParams): boolean;
    invoke(method: string, request: object, params?: Params | null): Response;
    asyncInvoke(method: string, request: object, params?: Params | null): Promise<Response>;
    healthCheck(service?: string): { status: number };
    close(): void;
  }
  export interface StreamError {
    code: number;
    message: string;
    details: any[];
  }
  /** The time of an event, in seconds since 1970. */
  export interface EventMetadata {
    ts: number;
  }
  export interface Stream {
    on(event: "data", handler: (message: any, metadata: EventMetadata) => unknown): void;
    on(event: "error", handler: (error: StreamError, metadata: EventMetadata) => unknown): void;
    on(event: "end", handler: (nothing: object, metadata: EventMetadata) => unknown): void;
    write(message: object): void;
    end(): void;
  }
  export const Stream: {
    new (client: Client, method: string, params?: Params | null): Stream;
  };
  export const StatusOK: 0;
  export const StatusCanceled: 1;
  export const StatusUnknown: 2;
  export const StatusInvalidArgument: 3;
  export const StatusDeadlineExceeded: 4;
  export const StatusNotFound: 5;
  export const StatusAlreadyExists: 6;
  export const StatusPermissionDenied: 7;
  export const StatusResourceExhausted: 8;
  export const StatusFailedPrecondition: 9;
  export const StatusAborted: 10;
  export const StatusOutOfRange: 11;
  export const StatusUnimplemented: 12;
  export const StatusInternal: 13;
  export const StatusUnavailable: 14;
  export const StatusDataLoss: 15;
  export const StatusUnauthenticated: 16;
  export const HealthCheckUnknown: 0;
  export const HealthCheckServing: 1;
  export const HealthCheckNotServing: 2;
  export const HealthCheckServiceUnkown: 3;
  const all: Omit<typeof import("k6/net/grpc"), "default">;
  export default all;
}
