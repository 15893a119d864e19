declare module "k6/encoding" {
  /** Default: `std`, with padding. */
  export type Variant = "std" | "rawstd" | "url" | "rawurl";
  export function b64encode(input: string | ArrayBuffer | ArrayBufferView, variant?: Variant): string;
  export function b64decode(input: string, variant?: Variant): ArrayBuffer;
  /** With "s", the result is a text. */
  export function b64decode(input: string, variant: Variant | undefined, format: "s"): string;
  const all: Omit<typeof import("k6/encoding"), "default">;
  export default all;
}
