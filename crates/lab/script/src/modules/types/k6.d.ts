declare module "k6" {
  /** Records a sample of `checks` for each condition; true if all conditions hold. */
  export function check<T>(
    value: T,
    conditions: { [name: string]: ((value: T) => unknown) | string | number | boolean | null | undefined },
    tags?: { [name: string]: string | number | boolean },
  ): boolean;
  /** Ends the iteration as failed. */
  export function fail(reason?: string): never;
  /** Calls a function as a group of this name; returns its result. */
  export function group<T>(name: string, run: () => T): T;
  /** Makes the numbers of `Math.random` the same in every run. */
  export function randomSeed(seed: number): void;
  /** Waits for this many seconds. */
  export function sleep(seconds: number): void;
  const all: Omit<typeof import("k6"), "default">;
  export default all;
}
