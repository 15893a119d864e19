// What a search of the load line came to: the JSON of `plimsoll line`, which docs/reference/line.md describes.

export interface Level {
    load: number;
    held: number;
    broke: number;
    generator: number;
}

export interface Judged {
    objective: string;
    value: number | null;
    shown: string;
    held: boolean;
}

export interface TargetUse {
    name: string;
    cpu_cores: number;
    rss_bytes: number;
}

export interface Step {
    load: number;
    verdict: "held" | "broke" | "generator";
    objectives: Judged[];
    reasons: string[];
    failures: { reason: string; count: number }[];
    targets: TargetUse[];
    generator_cpu_cores: number;
}

/** What an objective measures, and what it compares with. */
export interface Limit {
    title: string;
    measure: "milliseconds" | "bytes" | "share" | "number";
    limit: number;
}

export interface Search {
    plimsoll: string;
    command: string[];
    name: string;
    started_at: string;
    unit: "users" | "rate" | "clients" | "scale";
    objectives: string[];
    limits: Limit[];
    default_objectives: boolean;
    result: {
        /** Missing in searches of earlier versions. */
        verdict?: "pass" | "fail" | "inconclusive" | "incomplete";
        end: "found" | "max" | "generator" | "nothing_holds" | "degraded" | "inconclusive" | "interrupted";
        holds: Level | null;
        breaks: Level | null;
        headline: string;
        sentence: string;
    };
    steps: Step[];
    notices: string[];
}

/** What a load counts, for axes and tables. */
export const LOADS: Record<Search["unit"], string> = {
    users: "users",
    rate: "iterations per second",
    clients: "clients",
    scale: "scale",
};
