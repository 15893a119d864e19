declare module "k6/secrets" {
  export interface Source {
    /** Rejects if the source does not have the key. */
    get(key: string): Promise<string>;
  }
  /** The secret of the default source. */
  export function get(key: string): Promise<string>;
  /** The source of this name. */
  export function source(name: string): Source;
  const all: Omit<typeof import("k6/secrets"), "default">;
  export default all;
}
