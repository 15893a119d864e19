// Charts with one line per run.

import { nines } from "../axis.ts";
import type { Line, Spec } from "../chart/chart.ts";
import { format, type Unit } from "../format.ts";
import { figureOf, scaleOf, unitOf } from "../metrics.ts";
import type { Summary, Values } from "../summary.ts";
import { hasEvents, hasValues, middles, padded, perSecond, track } from "../timeline.ts";
import { joined, type Run } from "./runs.ts";

/** The percentiles that can be chosen. */
export const PERCENTILES = ["p50", "p90", "p95", "p99", "max"] as const;
export type Percentile = (typeof PERCENTILES)[number];

/** One figure of a trend over time. */
export function trend(runs: Run[], name: string, percentile: Percentile): Spec | null {
    const first = runs.map(({ data }) => data.summary.metrics[name]).find((metric) => metric !== undefined);
    if (!first) return null;
    const scale = scaleOf(first.contains);
    const unit = unitOf(first.contains);
    return overTime(
        runs,
        `${name}, ${percentile === "p50" ? "median" : percentile} over time`,
        unit,
        "log",
        300,
        (summary) => {
            const found = track(summary.timeline, name, "trend");
            const metric = summary.metrics[name];
            if (!found || metric?.type !== "trend") return null;
            const values = found[percentile].map((value) => (value === null ? null : value * scale));
            return [values, figureOf(metric.values, percentile, metric.contains)];
        },
    );
}

/** The whole distribution. */
export function curves(runs: Run[], name: string): Spec | null {
    const known = runs.flatMap((run) => {
        const points = run.data.curves[name];
        const metric = run.data.summary.metrics[name];
        return points && metric ? [{ run, points, metric }] : [];
    });
    const [first] = known;
    if (!first) return null;
    const scale = scaleOf(first.metric.contains);
    const { x, values } = joined(
        known.map(({ points }) => ({
            x: points.map(([percentile]) => nines(percentile)),
            values: points.map(([, value]) => value * scale),
        })),
    );
    return {
        title: `${name}, all samples`,
        note: "The share of samples up to each duration. From one label to the next, ten times fewer samples are slower.",
        horizontal: { kind: "percentile" },
        x,
        lines: known.map(({ run }, at) => lineOf(run, values[at] ?? [], "")),
        unit: unitOf(first.metric.contains),
        vertical: "log",
        height: 300,
    };
}

/** Users, throughput and failures. */
export function load(runs: Run[]): Spec[] {
    const seconds = (summary: Summary) => summary.metadata.duration_seconds;
    const counter = (title: string, name: string, unit: Unit) =>
        overTime(runs, title, unit, "linear", undefined, (summary) => {
            const found = track(summary.timeline, name, "counter");
            const metric = summary.metrics[name];
            if (!hasEvents(found?.counts) || metric?.type !== "counter") return null;
            return [
                perSecond(found.counts, summary.timeline, seconds(summary)),
                `${format(metric.values.rate, unit)} on average`,
            ];
        });
    const specs = [
        overTime(runs, "Users", "count", "linear", undefined, (summary) => [
            summary.timeline.vus,
            `up to ${format(Math.max(0, ...summary.timeline.vus), "count")}`,
        ]),
        overTime(runs, "Iterations per second", "count/s", "linear", undefined, (summary) =>
            hasEvents(summary.timeline.iterations)
                ? [
                      perSecond(summary.timeline.iterations, summary.timeline, seconds(summary)),
                      `${format(summary.iterations.complete, "count")} in all`,
                  ]
                : null,
        ),
        counter("Messages received per second", "ws_msgs_received", "count/s"),
        counter("HTTP requests per second", "http_reqs", "count/s"),
        overTime(runs, "Failed iterations per second", "count/s", "linear", undefined, (summary) =>
            hasEvents(summary.timeline.failed)
                ? [
                      perSecond(summary.timeline.failed, summary.timeline, seconds(summary)),
                      `${format(summary.iterations.failed, "count")} in all`,
                  ]
                : null,
        ),
    ];
    return specs.filter((spec): spec is Spec => spec !== null);
}

/** CPU and memory of what was watched first in each run. */
export function resources(runs: Run[]): Spec[] {
    const usage = (title: string, name: string, unit: Unit) =>
        overTime(runs, title, unit, "linear", undefined, ({ targets, timeline }) => {
            const values = targets.find((target) => hasValues(target.series[name]))?.series[name];
            if (!hasValues(values)) return null;
            const most = Math.max(...values.map((value) => value ?? 0));
            return [padded(values, timeline.n_intervals), `up to ${format(most, unit)}`];
        });
    return [
        usage("CPU of the target", "cpu_cores", "cores"),
        usage("Memory of the target", "rss_bytes", "bytes"),
    ].filter((spec): spec is Spec => spec !== null);
}

/** One line for each run that has it; null when none has. */
function overTime(
    runs: Run[],
    title: string,
    unit: Unit,
    vertical: Spec["vertical"],
    height: number | undefined,
    of: (summary: Summary) => [values: Values, total: string] | null,
): Spec | null {
    const known = runs.flatMap((run) => {
        const found = of(run.data.summary);
        return found && hasValues(found[0]) ? [{ run, values: found[0], total: found[1] }] : [];
    });
    if (known.length === 0) return null;
    const { x, values } = joined(
        known.map(({ run, values }) => {
            const { timeline, metadata } = run.data.summary;
            return { x: middles(timeline, metadata.duration_seconds), values };
        }),
    );
    const summaries = runs.map(({ data }) => data.summary);
    return {
        title,
        horizontal: {
            kind: "time",
            intervalSeconds: Math.min(...summaries.map(({ timeline }) => timeline.interval_seconds)),
            endSeconds: Math.max(...summaries.map(({ metadata }) => metadata.duration_seconds)),
        },
        x,
        lines: known.map(({ run, total }, at) => lineOf(run, values[at] ?? [], total)),
        unit,
        vertical,
        ...(height === undefined ? {} : { height }),
    };
}

function lineOf({ label, ink, dash }: Run, values: Line["values"], total: string): Line {
    return { label, ink, values, total, ...(dash ? { dash } : {}) };
}
