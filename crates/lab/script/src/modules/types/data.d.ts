declare module "k6/data" {
  /** A read-only array that all virtual users share. `make` runs once, when the script is read. */
  export class SharedArray<T> {
    constructor(name: string, make: () => T[]);
    readonly length: number;
    readonly [index: number]: T;
    [Symbol.iterator](): IterableIterator<T>;
  }
  export interface SharedArray<T> extends ReadonlyArray<T> {}
  const all: Omit<typeof import("k6/data"), "default">;
  export default all;
}
