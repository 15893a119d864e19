// The run as the page gets it: the summary in its second version, without its histograms, and what was prepared
// for the page. Durations are microseconds, sizes bytes, shares 0 to 1; "plain" trends are in thousandths.

export interface PageData {
    runs: RunData[];
    /** Of each run but the first with the first. */
    comparisons?: Comparison[];
}

/** One run. */
export interface RunData {
    /** The name of the run beside others; empty for a run on its own. */
    label: string;
    summary: Summary;
    headline: Headline;
    /** What the page shows first. */
    highlights: Highlights;
    /** Percentiles of trends, decoded from their histograms. */
    curves: Record<string, CurvePoint[]>;
    /** What was left out so that the page stays small. */
    omitted: string[];
}

/** A percentile (0 to 100) and the value that this share of samples does not exceed. */
export type CurvePoint = [percentile: number, value: number];

/** The verdict of a run. */
export type Verdict = "pass" | "fail" | "doubtful" | "incomplete";

export interface Headline {
    verdict: Verdict;
    /** The run in one sentence. */
    sentence: string;
}

export interface Highlights {
    /** Most virtual users that were active at once. */
    users: number;
    /** The trend that tells most about the target. */
    latency: string | null;
    /** The counter that tells most about throughput. */
    throughput: string | null;
    /** The part of the run that the headline is about. */
    level: Level | null;
    /** Whether its load was held. */
    is_held: boolean;
    /** No request, connection or iteration succeeded, so no load was held. */
    nothing_succeeded: boolean;
}

export interface Summary {
    version: number;
    metadata: Metadata;
    environment: Environment;
    plan: { scenarios: Scenario[] };
    end: { cause: string; reason?: string };
    thresholds: Threshold[];
    notices: string[];
    /** Commands of `--at`. */
    commands?: { command: string; at_seconds: number }[];
    iterations: {
        complete: number;
        interrupted: number;
        failed: number;
        failures: { reason: string; count: number }[];
    };
    errors: ErrorGroup[];
    connections?: { attempted: number; failed: number } | null;
    vus_max: number;
    checks: Check[];
    groups: string[];
    breakdown?: Breakdown;
    metrics: Record<string, Metric>;
    losses: Losses | null;
    timeline: Timeline;
    by_load?: ByLoad | null;
    targets: Target[];
    generator: Generator;
    /** The machines that made the load together; absent if it was one. */
    agents?: Agent[];
}

export interface Metadata {
    plimsoll: string;
    command: string[];
    started_at: string;
    duration_seconds: number;
    time_unit: string;
    name: string;
    kind: string;
    id: string;
}

export interface Environment {
    os: string;
    kernel: string;
    arch: string;
    cpu_model: string | null;
    cores: number;
    memory_bytes: number;
    open_files_limit: number | null;
    local_ports: [number, number] | null;
    workers: number;
}

export interface Scenario {
    name: string;
    executor: string;
    description: string;
    start_seconds: number;
    max_vus: number;
    duration_seconds: number | null;
}

export interface Threshold {
    metric: string;
    key: string;
    expression: string;
    aggregation: string;
    value: number | null;
    passed: boolean;
    aborted: boolean;
}

export interface ErrorGroup {
    cause: string;
    example: string | null;
    count: number;
    first_seconds: number;
    last_seconds: number;
}

export interface Check {
    group: string;
    name: string;
    passes: number;
    fails: number;
}

/** A run by scenario and by group. */
export interface Breakdown {
    groups: Part[];
    scenarios: Part[];
}

export interface Part {
    name: string;
    checks: Check[];
    metrics: Record<string, Metric>;
    groups: Part[];
}

export type Contains = "default" | "time" | "data";

export type Metric = { contains: Contains } & (
    | { type: "counter"; values: { count: number; rate: number } }
    | { type: "gauge"; values: { value: number; min: number; max: number } }
    | { type: "rate"; values: { rate: number; passes: number; fails: number } }
    | { type: "trend"; values: Distribution }
);

export interface Distribution {
    count: number;
    min: number;
    mean: number;
    p50: number;
    p90: number;
    p95: number;
    p99: number;
    p99_9: number;
    max: number;
    /** From here on, figures are lower bounds: samples of lost messages count with the time that was waited. */
    lower_bounds_from?: number;
}

export interface Losses {
    expected: number;
    received: number;
    lost: number;
    duplicated: number;
    out_of_order: number;
}

/** A run by load. */
export interface ByLoad {
    unit: "users" | "iterations_per_second";
    /** The trend whose figures the levels have. */
    latency: string | null;
    /** The loads that were held, in the order of time. */
    plateaus: Level[];
    /** The run at rising loads: its plateaus, or bands of loads. */
    curve: Level[];
    curve_is_held: boolean;
    /** Where p95 begins to rise clearly faster. */
    knee: { load: number; p95: number; last_p95: number } | null;
}

/** The part of a run at one load, or at loads in a range. */
export interface Level {
    least: number;
    most: number;
    mean: number;
    start_seconds: number;
    seconds: number;
    iterations: number;
    failed_iterations: number;
    checks: number;
    failed_checks: number;
    requests: number;
    failed_requests: number;
    latency: Distribution | null;
    losses: Losses | null;
    targets: { name: string; cores: number | null; rss_bytes: number | null }[];
}

/** The i-th interval is [i·Δ, (i+1)·Δ) since the start of the first virtual user. */
export interface Timeline {
    interval_seconds: number;
    n_intervals: number;
    vus: number[];
    iterations: number[];
    failed: number[];
    metrics: Record<string, Track>;
    heat_bins_per_octave: number;
}

export type Track = CounterTrack | GaugeTrack | RateTrack | TrendTrack;

export interface CounterTrack {
    type: "counter";
    counts: number[];
}

export interface GaugeTrack {
    type: "gauge";
    values: Values;
}

export interface RateTrack {
    type: "rate";
    passes: number[];
    totals: number[];
}

export interface TrendTrack {
    type: "trend";
    counts: number[];
    means: Values;
    p50: Values;
    p90: Values;
    p95: Values;
    p99: Values;
    max: Values;
    /** Per interval: bin, count, bin, count, … */
    heat?: number[][];
}

/** Numbers, or null where there was nothing to measure. */
export type Values = (number | null)[];

export interface Target {
    name: string;
    what: string;
    cpu_seconds?: number | null;
    cores?: number | null;
    rss_max_bytes?: number | null;
    pss_max_bytes?: number | null;
    /** The memory that one more user takes, with its interval, from the loads that were held. */
    rss_per_user?: { bytes: number; low: number; high: number; plateaus: number } | null;
    /** Why there is no such figure. */
    no_rss_per_user?: string | null;
    cores_max?: number | null;
    missed?: number;
    series_left_out?: number;
    no_fits?: NoFit[];
    series: Record<string, Values>;
    fits: Fit[];
    ended: { seconds: number; reason: string } | null;
}

/** Why there is no line. */
export interface NoFit {
    of: string;
    against: string;
    reason: string;
}

/** A line through the intervals: `of` = intercept + slope · `against`. */
export interface Fit {
    of: string;
    against: string;
    intercept: number;
    slope: number;
    /** Standard error of the slope. */
    slope_error: number;
    n: number;
}

export interface Generator {
    cpu_seconds: number;
    cores: number;
    busiest_worker_share: number;
    machine_idle_share: number | null;
    lateness: Distribution;
    /** By how much latencies may be too high because of the generator, in ms. Missing in older summaries. */
    lateness_bound_ms?: number | null;
    waiting_share?: number | null;
    doubtful: boolean;
    doubt?: { kind: string; text: string } | null;
    machine?: { other_programs: string | null; pressure_share: number | null } | null;
    reasons: string[];
    series: Record<string, Values>;
}

/** A load generator of a fleet. */
export interface Agent {
    name: string;
    version: string;
    machine_cores: number;
    share: number;
    vus_max: number;
    iterations: number;
    /** Cores used on average. */
    cores: number;
    busiest_worker_share: number;
    lateness_bound_ms: number | null;
    /** The greatest delay of a tick; unknown in older files. */
    lateness_max_ms?: number | null;
    clock: {
        /** Ahead of the coordinator's. */
        offset_ms: number;
        uncertainty_ms: number;
        /** After the common start; null if its load never began. */
        start_skew_ms: number | null;
    };
    /** Null if it stayed. */
    lost_at_seconds: number | null;
    doubtful: boolean;
    reasons: string[];
}

/** What statistics say about the differences of two sides. */
export interface Comparison {
    /** The verdict in one line, with the figures that it is about. */
    headline: string;
    /** The verdict in words. */
    words: string;
    /** How to read the table. */
    legend: string;
    verdict: Judgement;
    baseline: Side;
    candidate: Side;
    /** Why the figures cannot be compared. */
    obstacles: string[];
    notices: string[];
    /** What to do about an inconclusive comparison. */
    advice: string[];
    differences: Difference[];
}

/** The runs of a side, under the name that people gave them. */
export interface Side {
    label: string;
}

export type Judgement = "worse" | "better" | "equal" | "inconclusive";

export interface Difference {
    metric: string;
    figure: string;
    unit: "microseconds" | "per_second" | "bytes" | "share" | "number";
    baseline: number;
    candidate: number;
    /** How much more the candidate has: a ratio; of shares and exact counts a difference. */
    change: number | null;
    /** Where the true change lies. */
    interval: [low: number, high: number] | null;
    verdict: Judgement;
    reason: string | null;
}
