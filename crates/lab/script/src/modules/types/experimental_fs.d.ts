declare module "k6/experimental/fs" {
  export interface File {
    readonly path: string;
    /** Fills the array from the position on. The number of bytes, or null at the end of the file. */
    read(into: Uint8Array): Promise<number | null>;
    /** Moves the position and gives the new one. `End` is the last byte. */
    seek(offset: number, whence: number): Promise<number>;
    stat(): Promise<{ name: string; size: number }>;
  }
  export const SeekMode: { readonly Start: 0; readonly Current: 1; readonly End: 2 };
  /** Only in the init context: `const file = await open("users.csv")`. The content is in memory once for all users. */
  export function open(path: string): Promise<File>;
  const all: Omit<typeof import("k6/experimental/fs"), "default">;
  export default all;
}
