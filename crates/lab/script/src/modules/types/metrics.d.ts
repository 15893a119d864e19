declare module "k6/metrics" {
  export type Tags = { [name: string]: string | number | boolean };
  export class Counter {
    constructor(name: string, isTime?: boolean);
    readonly name: string;
    /** Adds to the sum. */
    add(value: number | boolean, tags?: Tags): void;
  }
  export class Gauge {
    constructor(name: string, isTime?: boolean);
    readonly name: string;
    /** Sets the value. */
    add(value: number | boolean, tags?: Tags): void;
  }
  export class Rate {
    constructor(name: string, isTime?: boolean);
    readonly name: string;
    /** Records one true or false. */
    add(value: number | boolean, tags?: Tags): void;
  }
  export class Trend {
    /** With `isTime`, values are milliseconds. */
    constructor(name: string, isTime?: boolean);
    readonly name: string;
    add(value: number | boolean, tags?: Tags): void;
  }
  const all: Omit<typeof import("k6/metrics"), "default">;
  export default all;
}
