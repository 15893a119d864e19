declare module "k6/http" {
  import { Selection } from "k6/html";

  /** The URL of `http.url`, with a name for the tags of samples. */
  export interface NamedUrl {
    readonly url: string;
    readonly clean_url: string;
    readonly name: string;
  }
  export type Url = string | NamedUrl;
  export interface FileData {
    readonly data: string | ArrayBuffer;
    readonly filename: string;
    readonly content_type: string;
  }
  /** An object without files is sent as a form, one with files as a form in several parts. */
  export type Body = string | ArrayBuffer | ArrayBufferView | FileData | { [name: string]: any };
  export interface Callback {
    readonly __expectedStatuses?: never;
  }
  export interface CookieOptions {
    domain?: string;
    path?: string;
    expires?: string;
    max_age?: number;
    secure?: boolean;
    http_only?: boolean;
  }

  export interface Params {
    headers?: { [name: string]: string };
    tags?: { [name: string]: string | number | boolean };
    cookies?: { [name: string]: string | { value: string; replace?: boolean } };
    jar?: CookieJar | null;
    /** Milliseconds, or a text such as "10s". Default: 60 s. */
    timeout?: number | string;
    auth?: "basic" | "digest" | "ntlm";
    redirects?: number;
    responseType?: "text" | "binary" | "none";
    responseCallback?: Callback | null;
    compression?: string;
    /** Whether failures are exceptions. */
    throw?: boolean;
  }

  export interface Timings {
    readonly blocked: number;
    readonly looking_up: number;
    readonly connecting: number;
    readonly tls_handshaking: number;
    readonly sending: number;
    readonly waiting: number;
    readonly receiving: number;
    /** The sum of sending, waiting and receiving, in milliseconds. */
    readonly duration: number;
  }
  export interface Cookie {
    readonly name: string;
    readonly value: string;
    readonly domain: string;
    readonly path: string;
    readonly expires: number;
    readonly max_age: number;
    readonly secure: boolean;
    readonly http_only: boolean;
  }
  export interface SentRequest {
    readonly method: string;
    readonly url: string;
    readonly headers: { [name: string]: string[] };
    readonly body: string;
    readonly cookies: { [name: string]: { name: string; value: string; replace: boolean }[] };
  }

  export interface Response {
    readonly status: number;
    readonly status_text: string;
    readonly url: string;
    readonly remote_ip: string;
    readonly remote_port: number;
    readonly proto: string;
    readonly tls_version: string;
    readonly tls_cipher_suite: string;
    readonly ocsp: { [name: string]: any };
    readonly error: string;
    readonly error_code: number;
    /** A text; bytes with `responseType` "binary"; null with "none". */
    readonly body: any;
    readonly headers: { [name: string]: string };
    readonly cookies: { [name: string]: Cookie[] };
    readonly timings: Timings;
    readonly request: SentRequest;
    /** The body as JSON, or the value at a path in it: `items.0.id`. */
    json(path?: string | null): any;
    html(selector?: string): Selection;
    submitForm(options?: {
      formSelector?: string;
      submitSelector?: string;
      fields?: { [name: string]: string | number };
      params?: Params;
    }): Response;
    clickLink(options?: { selector?: string; params?: Params }): Response;
  }

  export class CookieJar {
    cookiesForURL(url: string): { [name: string]: string[] };
    set(url: string, name: string, value: string, options?: CookieOptions): boolean;
    clear(url: string): void;
    delete(url: string, name: string): void;
  }

  export type Method = string;
  export interface BatchRequest {
    method: Method;
    url: Url;
    body?: Body | null;
    params?: Params | null;
  }
  export type Batched = Url | BatchRequest | [Method, Url, (Body | null)?, (Params | null)?];

  export function get(url: Url, params?: Params | null): Response;
  export function head(url: Url, params?: Params | null): Response;
  export function post(url: Url, body?: Body | null, params?: Params | null): Response;
  export function put(url: Url, body?: Body | null, params?: Params | null): Response;
  export function patch(url: Url, body?: Body | null, params?: Params | null): Response;
  export function del(url: Url, body?: Body | null, params?: Params | null): Response;
  export function options(url: Url, body?: Body | null, params?: Params | null): Response;
  export function request(method: Method, url: Url, body?: Body | null, params?: Params | null): Response;
  export function asyncRequest(
    method: Method,
    url: Url,
    body?: Body | null,
    params?: Params | null,
  ): Promise<Response>;
  /** Sends requests at the same time; the responses are in the order, or by the names, of the requests. */
  export function batch(requests: Batched[]): Response[];
  export function batch<K extends string>(requests: { [name in K]: Batched }): { [name in K]: Response };
  /** A file of a form. */
  export function file(data: string | ArrayBuffer | ArrayBufferView, name?: string, type?: string): FileData;
  /** The tag of a template literal whose samples are named by the template. */
  export function url(parts: TemplateStringsArray, ...values: unknown[]): NamedUrl;
  /** Statuses that are no failures: http.expectedStatuses(200, { min: 300, max: 399 }). */
  export function expectedStatuses(...statuses: (number | { min: number; max: number })[]): Callback;
  export function setResponseCallback(callback: Callback | null): void;
  /** The jar of this virtual user. */
  export function cookieJar(): CookieJar;
  export const TLS_1_0: "tls1.0";
  export const TLS_1_1: "tls1.1";
  export const TLS_1_2: "tls1.2";
  export const TLS_1_3: "tls1.3";
  export const OCSP_STATUS_GOOD: "good";
  export const OCSP_STATUS_REVOKED: "revoked";
  export const OCSP_STATUS_SERVER_FAILED: "server_failed";
  export const OCSP_STATUS_UNKNOWN: "unknown";
  export const OCSP_REASON_UNSPECIFIED: "unspecified";
  export const OCSP_REASON_KEY_COMPROMISE: "key_compromise";
  export const OCSP_REASON_CA_COMPROMISE: "ca_compromise";
  export const OCSP_REASON_AFFILIATION_CHANGED: "affiliation_changed";
  export const OCSP_REASON_SUPERSEDED: "superseded";
  export const OCSP_REASON_CESSATION_OF_OPERATION: "cessation_of_operation";
  export const OCSP_REASON_CERTIFICATE_HOLD: "certificate_hold";
  export const OCSP_REASON_REMOVE_FROM_CRL: "remove_from_crl";
  export const OCSP_REASON_PRIVILEGE_WITHDRAWN: "privilege_withdrawn";
  export const OCSP_REASON_AA_COMPROMISE: "aa_compromise";
  const all: Omit<typeof import("k6/http"), "default">;
  export default all;
}
