declare module "k6/timers" {
  export function setTimeout<A extends any[]>(run: (...args: A) => void, ms?: number, ...args: A): number;
  export function clearTimeout(id?: number): void;
  export function setInterval<A extends any[]>(run: (...args: A) => void, ms?: number, ...args: A): number;
  export function clearInterval(id?: number): void;
  const all: Omit<typeof import("k6/timers"), "default">;
  export default all;
}
