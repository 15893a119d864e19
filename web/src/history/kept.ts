// The runs that were kept, as the program writes them into the page.

import type { Verdict } from "../summary.ts";

/** What is searched for; what is empty does not matter. */
export interface Search {
    name: string;
    kind: string;
    tag: string;
    verdict: string;
    /** A duration before now, such as `7d`. */
    since: string;
}

export interface KeptRun {
    id: string;
    started_at: string;
    name: string;
    kind: string;
    command: string;
    duration_seconds: number;
    /** Null if another tool's results do not tell it. */
    vus_max: number | null;
    verdict: string;
    /** Whether the generator was the bottleneck. */
    doubtful: boolean;
    figures: string;
    note: string | null;
    tags: string[];
}

/** The runs of one test, oldest first. */
export interface Trend {
    name: string;
    kind: string;
    /** The trend of durations whose p95 is shown. */
    latency: string | null;
    /** The unit of the load lines; null for other tests than searches. */
    unit: string | null;
    runs: TrendRun[];
}

/** What one run found; null is not known. */
export interface TrendRun {
    id: string;
    started_at: string;
    verdict: string;
    doubtful: boolean;
    users: number | null;
    p95_us: number | null;
    is_lower_bound: boolean;
    failed: number | null;
    lost: number | null;
    line: number | null;
    low: number | null;
    high: number | null;
    tags: string[];
    note: string | null;
}

export interface Kept {
    folder: string;
    /** Why there is nothing to show, or not what was asked for. */
    problem: string | null;
    /** Null where only the problem is shown. */
    search: Search | null;
    /** How many runs there are, whatever the search. */
    n_runs: number;
    kinds: string[];
    verdicts: string[];
    tags: string[];
    /** The newest first. */
    runs: KeptRun[];
    /** Whether there are older ones that fit. */
    is_cut: boolean;
    /** How the runs developed, instead of the list. */
    trends?: Trend[];
}

/** Whether anything is left out on purpose. */
export function isFiltered(search: Search): boolean {
    return Object.values(search).some((value) => value !== "");
}

/** How many runs are shown, of how many. */
export function headline({ runs, n_runs, search, is_cut, trends }: Kept): string {
    const noun = n_runs === 1 ? "run" : "runs";
    if (trends) return `Trends of ${trends.length} ${trends.length === 1 ? "test" : "tests"}`;
    if (is_cut) return `The newest ${runs.length} of ${n_runs} ${noun}`;
    return search && isFiltered(search) ? `${runs.length} of ${n_runs} ${noun}` : `${n_runs} ${noun}`;
}

/** The class of the badge with the verdict of a run or of a search. */
export function badgeClass(verdict: string): Verdict | "unknown" {
    switch (verdict) {
        case "pass":
        case "fail":
        case "doubtful":
        case "incomplete":
            return verdict;
        case "inconclusive":
            return "doubtful";
        default:
            return "unknown";
    }
}
