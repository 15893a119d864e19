declare module "k6/experimental/csv" {
  import type { File } from "k6/experimental/fs";
  export interface Options {
    /** Default: a comma. */
    delimiter?: string;
    skipFirstLine?: boolean;
    /** Index of the first record, from 0. */
    fromLine?: number;
    /** Index of the last record. */
    toLine?: number;
    /** The first record names the fields of the others. */
    asObjects?: boolean;
  }
  type Record = { [name: string]: string };
  /** All records in a SharedArray. Only in the init context. */
  export function parse(file: File, options: Options & { asObjects: true }): Promise<readonly Record[]>;
  export function parse(file: File, options?: Options): Promise<readonly string[][]>;
  /** Reads one record after the other. Only in the init context; `next` also during the run. */
  export class Parser {
    constructor(file: File, options?: Options);
    next(): Promise<{ done: boolean; value: any }>;
  }
  const all: Omit<typeof import("k6/experimental/csv"), "default">;
  export default all;
}
