/** The options of a run: `export const options: Options = { … }`. */
declare module "k6/options" {
  /** A time such as "30s", "1m30s", or a number of milliseconds. */
  export type Duration = string | number;

  export interface Stage {
    /** The time until the target is reached. */
    duration: Duration;
    /** The number of virtual users, or of iterations per `timeUnit`. */
    target: number;
  }

  export interface ScenarioBase {
    /** The exported function that an iteration calls. Default: `default`. */
    exec?: string;
    startTime?: Duration;
    gracefulStop?: Duration;
    env?: { [name: string]: string };
    tags?: { [name: string]: string };
    options?: { browser?: { [name: string]: unknown } };
  }

  export interface SharedIterations extends ScenarioBase {
    executor: "shared-iterations";
    vus?: number;
    iterations?: number;
    maxDuration?: Duration;
  }

  export interface PerVuIterations extends ScenarioBase {
    executor: "per-vu-iterations";
    vus?: number;
    iterations?: number;
    maxDuration?: Duration;
  }

  export interface ConstantVus extends ScenarioBase {
    executor: "constant-vus";
    vus?: number;
    duration: Duration;
  }

  export interface RampingVus extends ScenarioBase {
    executor: "ramping-vus";
    stages: Stage[];
    startVUs?: number;
    gracefulRampDown?: Duration;
  }

  export interface ConstantArrivalRate extends ScenarioBase {
    executor: "constant-arrival-rate";
    /** Iterations per `timeUnit`. */
    rate: number;
    duration: Duration;
    preAllocatedVUs: number;
    timeUnit?: Duration;
    maxVUs?: number;
  }

  export interface RampingArrivalRate extends ScenarioBase {
    executor: "ramping-arrival-rate";
    stages: Stage[];
    preAllocatedVUs: number;
    startRate?: number;
    timeUnit?: Duration;
    maxVUs?: number;
  }

  export interface ExternallyControlled extends ScenarioBase {
    executor: "externally-controlled";
    duration: Duration;
    vus?: number;
    maxVUs?: number;
  }

  export type Scenario =
    | SharedIterations
    | PerVuIterations
    | ConstantVus
    | RampingVus
    | ConstantArrivalRate
    | RampingArrivalRate
    | ExternallyControlled;

  export type Threshold = string | { threshold: string; abortOnFail?: boolean; delayAbortEval?: Duration };

  export interface Options {
    vus?: number;
    duration?: Duration;
    iterations?: number;
    stages?: Stage[];
    scenarios?: { [name: string]: Scenario };
    /** Conditions of metrics: `{ http_req_duration: ["p(95)<300"] }`. */
    thresholds?: { [metric: string]: Threshold | Threshold[] };
    paused?: boolean;
    setupTimeout?: Duration;
    teardownTimeout?: Duration;
    minIterationDuration?: Duration;
    noConnectionReuse?: boolean;
    noVUConnectionReuse?: boolean;
    noCookiesReset?: boolean;
    insecureSkipTLSVerify?: boolean;
    throw?: boolean;
    discardResponseBodies?: boolean;
    userAgent?: string;
    batch?: number;
    batchPerHost?: number;
    rps?: number;
    maxRedirects?: number;
    httpDebug?: string;
    hosts?: { [name: string]: string };
    blacklistIPs?: string[];
    blockHostnames?: string[];
    dns?: { ttl?: string; select?: string; policy?: string };
    localIPs?: string;
    tlsVersion?: string | { min?: string; max?: string };
    tlsCipherSuites?: string[];
    tlsAuth?: { domains?: string[]; cert: string; key: string; password?: string }[];
    tags?: { [name: string]: string };
    systemTags?: string[];
    summaryTrendStats?: string[];
    summaryTimeUnit?: string;
    metricSamplesBufferSize?: number;
    consoleOutput?: string;
    executionSegment?: string;
    executionSegmentSequence?: string;
    noUsageReport?: boolean;
    cloud?: { [name: string]: unknown };
    ext?: { [name: string]: unknown };
  }
}
