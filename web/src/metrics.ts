// Which metrics of a run are shown, in which order, and how their numbers read. Pure.

import { format, type Unit } from "./format.ts";
import type { Contains, Distribution, Metric, Summary } from "./summary.ts";

/** Trends of plain numbers and of bytes are kept in thousandths. */
export function scaleOf(contains: Contains): number {
    return contains === "time" ? 1 : 1e-3;
}

export function unitOf(contains: Contains): Unit {
    return contains === "time" ? "duration" : contains === "data" ? "bytes" : "plain";
}

/** The names of trends with samples: the chosen one first, then durations before numbers, and parts after wholes. */
export function trends(summary: Summary, first: string | null): string[] {
    const rank = (name: string, metric: Metric) =>
        name === first ? 0 : metric.contains === "time" ? (name.startsWith("iteration_") ? 2 : 1) : 3;
    return Object.entries(summary.metrics)
        .filter(([, metric]) => metric.type === "trend" && metric.values.count > 0)
        .sort(([a, one], [b, other]) => rank(a, one) - rank(b, other) || (a < b ? -1 : 1))
        .map(([name]) => name);
}

/** The figures of a distribution that are durations or numbers. */
export type FigureKey = Exclude<keyof Distribution, "count" | "lower_bounds_from">;

/** How close to the bound a figure counts as one: samples are known within 0.1 %. */
const BOUND_WITHIN = 0.999;

/** A figure for readers; one that is a lower bound, because of lost messages, has a `>`. */
export function figureOf(values: Distribution, key: FigureKey, contains: Contains): string {
    const from = values.lower_bounds_from;
    const value = values[key];
    const text = format(value * scaleOf(contains), unitOf(contains));
    // The mean contains every time that is too short.
    const isBound = from !== undefined && (key === "mean" || value >= from * BOUND_WITHIN);
    return isBound ? `> ${text}` : text;
}

/** The figures of a distribution that tables show. */
export const COLUMNS: readonly { key: FigureKey; label: string }[] = [
    { key: "mean", label: "mean" },
    { key: "min", label: "min" },
    { key: "p50", label: "median" },
    { key: "p90", label: "p90" },
    { key: "p95", label: "p95" },
    { key: "p99", label: "p99" },
    { key: "p99_9", label: "p99.9" },
    { key: "max", label: "max" },
];

/** The share of checks that held, over all of them; null without any. */
export function checkShare(checks: { passes: number; fails: number }[]): number | null {
    const passes = checks.reduce((sum, check) => sum + check.passes, 0);
    const total = checks.reduce((sum, check) => sum + check.passes + check.fails, 0);
    return total > 0 ? passes / total : null;
}

/** What the figure that a threshold compares is measured in; thresholds use milliseconds, the page microseconds. */
export function thresholdValue(value: number, metric: Metric | undefined, aggregation: string): [number, Unit] {
    if (metric?.type === "trend" && aggregation !== "count") {
        return metric.contains === "time" ? [value * 1e3, "duration"] : [value, unitOf(metric.contains)];
    }
    if (metric?.type === "rate") return [value, "share"];
    if (metric?.type === "counter" && aggregation === "rate") {
        return [value, metric.contains === "data" ? "bytes/s" : "count/s"];
    }
    return [value, metric?.contains === "data" ? "bytes" : "count"];
}
