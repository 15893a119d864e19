// What was sent and what came back, over time.

import { Chart, type Line, type Spec } from "../chart/chart.ts";
import { format, type Unit } from "../format.ts";
import type { RunData, Summary, Timeline, Values } from "../summary.ts";
import type { Ink } from "../ink.ts";
import { fails, hasEvents, marks, middles, perSecond, shares, track } from "../timeline.ts";
import { type Section, section, smallGrid } from "./section.ts";

export function load({ summary }: RunData): Section | null {
    const charts = loadSpecs(summary).map((spec) => new Chart(spec).element);
    return charts.length > 0 ? section("load", "Load", smallGrid(...charts)) : null;
}

/** All charts of the section that have something to show. */
export function loadSpecs(summary: Summary, planned: readonly number[] = []): Spec[] {
    const { timeline } = summary;
    const known = [
        users(summary, timeline, planned),
        failures(summary, timeline),
        ...RATES.map((rates) => events(summary, timeline, rates)),
    ];
    return [...known.filter((spec): spec is Spec => spec !== null), ...others(summary, timeline)];
}

/** A chart over the run's time without its lines. */
export function overTime(summary: Summary, timeline: Timeline, title: string, unit: Unit): Omit<Spec, "lines"> {
    const seconds = summary.metadata.duration_seconds;
    return {
        title,
        horizontal: { kind: "time", intervalSeconds: timeline.interval_seconds, endSeconds: seconds },
        x: middles(timeline, seconds),
        marks: marks(summary),
        unit,
        vertical: "linear",
    };
}

function users(summary: Summary, timeline: Timeline, planned: readonly number[]): Spec {
    const most = Math.max(0, ...timeline.vus);
    return {
        ...overTime(summary, timeline, "Users", "count"),
        lines: [
            {
                label: "active users",
                ink: "ink-1",
                values: timeline.vus,
                area: true,
                total: `up to ${format(most, "count")}`,
            },
            ...(planned.length === timeline.vus.length && planned.length > 0 ? [plan(planned)] : []),
        ],
    };
}

function plan(planned: readonly number[]): Line {
    return { label: "planned", ink: "muted", dash: [6, 4], bare: true, values: planned };
}

interface Rates {
    title: string;
    unit: Unit;
    counters: readonly (readonly [name: string, label: string])[];
}

/** Counters of which people think together. */
const RATES: readonly Rates[] = [
    {
        title: "Messages per second",
        unit: "count/s",
        counters: [
            ["ws_msgs_received", "received"],
            ["ws_msgs_sent", "sent"],
        ],
    },
    { title: "Broadcasts per second", unit: "count/s", counters: [["broadcasts_rcvd", "deliveries"]] },
    {
        title: "HTTP requests per second",
        unit: "count/s",
        counters: [["http_reqs", "requests"]],
    },
    {
        title: "Data per second",
        unit: "bytes/s",
        counters: [
            ["data_received", "received"],
            ["data_sent", "sent"],
        ],
    },
];

const INKS: readonly Ink[] = ["ink-1", "ink-2", "ink-3", "ink-4"];

function events(summary: Summary, timeline: Timeline, { title, unit, counters }: Rates): Spec | null {
    const lines = counters.flatMap(([name, label]) => line(summary, timeline, name, label, unit));
    if (lines.length === 0) return null;
    return {
        ...overTime(summary, timeline, title, unit),
        lines: lines.map((line, at) => ({ ...line, ink: INKS[at] ?? "muted" })),
    };
}

function line(summary: Summary, timeline: Timeline, name: string, label: string, unit: Unit): Line[] {
    const counted = track(timeline, name, "counter");
    const metric = summary.metrics[name];
    if (!hasEvents(counted?.counts)) return [];
    const values = perSecond(counted.counts, timeline, summary.metadata.duration_seconds);
    const total = metric?.type === "counter" ? `${format(metric.values.rate, unit)} on average` : "";
    return [{ label, ink: "ink-1", values, total }];
}

/** Iterations, and everything that says that something went wrong. */
function failures(summary: Summary, timeline: Timeline): Spec | null {
    const seconds = summary.metadata.duration_seconds;
    const rate = (counts: number[]): Values => perSecond(counts, timeline, seconds);
    const mean = (counts: number[]) =>
        `${format(
            counts.reduce((sum, n) => sum + n, 0),
            "count",
        )} in all`;
    const checks = track(timeline, "checks", "rate");
    const requests = track(timeline, "http_req_failed", "rate");
    const found: [string, Ink, number[] | undefined, number[]?][] = [
        ["iterations", "ink-1", timeline.iterations],
        ["failed iterations", "bad", timeline.failed, [6, 3]],
        ["failed checks", "ink-3", checks ? fails(checks) : undefined, [2, 3]],
        ["failed requests", "ink-5", requests?.passes, [8, 3, 2, 3]],
    ];
    const lines = found.flatMap(([label, ink, counts, dash]): Line[] =>
        hasEvents(counts) ? [{ label, ink, values: rate(counts), total: mean(counts), ...(dash ? { dash } : {}) }] : [],
    );
    if (lines.length === 0) return null;
    const title =
        lines.length > 1 || lines[0]?.label !== "iterations"
            ? "Iterations and errors per second"
            : "Iterations per second";
    return { ...overTime(summary, timeline, title, "count/s"), lines };
}

/** Metrics that other charts show, or that say what others do. */
const SHOWN = new Set([
    ...RATES.flatMap(({ counters }) => counters.map(([name]) => name)),
    "iterations",
    "vus",
    "vus_max",
    "checks",
    "http_req_failed",
    "broadcasts_expected",
]);

/** The limit of charts, so that the overview stays one; the table of all metrics has the rest. */
const MOST_OTHERS = 6;

/** What the test itself counts. */
function others(summary: Summary, timeline: Timeline): Spec[] {
    const own = Object.keys(timeline.metrics).filter((name) => !SHOWN.has(name) && !name.includes("{"));
    const charts = own.map((name): Spec | null => {
        const found = timeline.metrics[name];
        const metric = summary.metrics[name];
        if (found?.type === "counter") {
            const unit = metric?.contains === "data" ? "bytes/s" : "count/s";
            const lines = line(summary, timeline, name, name, unit);
            return lines.length > 0 ? { ...overTime(summary, timeline, `${name} per second`, unit), lines } : null;
        }
        if (found?.type === "rate" && hasEvents(found.totals)) {
            const total = metric?.type === "rate" ? `${format(metric.values.rate, "share")} in all` : "";
            return {
                ...overTime(summary, timeline, name, "share"),
                lines: [{ label: name, ink: "ink-4", values: shares(found), total }],
            };
        }
        if (found?.type === "gauge" && found.values.some((value) => value !== null)) {
            return {
                ...overTime(summary, timeline, name, "plain"),
                lines: [{ label: name, ink: "ink-4", values: found.values }],
            };
        }
        return null;
    });
    return charts.filter((spec): spec is Spec => spec !== null).slice(0, MOST_OTHERS);
}
