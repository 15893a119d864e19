declare module "k6/execution" {
  export const instance: {
    readonly iterationsInterrupted: number;
    readonly iterationsCompleted: number;
    readonly vusActive: number;
    readonly vusInitialized: number;
    /** Milliseconds. */
    readonly currentTestRunDuration: number;
  };
  export const scenario: {
    readonly name: string;
    readonly executor: string;
    readonly iterationInInstance: number;
    readonly iterationInTest: number;
    /** Milliseconds of Unix time. */
    readonly startTime: number;
    /** From 0 to 1. */
    readonly progress: number;
  };
  export const test: {
    /** Ends the run. */
    abort(reason?: string): never;
    /** Marks the run as failed; it goes on. */
    fail(reason?: string): void;
    /** The options of all layers together. */
    readonly options: any;
  };
  export const vu: {
    readonly idInInstance: number;
    readonly idInTest: number;
    readonly iterationInInstance: number;
    readonly iterationInScenario: number;
    readonly tags: { [name: string]: any };
    readonly metrics: {
      readonly tags: { [name: string]: any };
      readonly metadata: { [name: string]: any };
    };
  };
  const all: Omit<typeof import("k6/execution"), "default">;
  export default all;
}
