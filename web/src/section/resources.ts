// What the watched targets used: over time, and against the load, with the line that was fitted.

import { Chart, type Line, type Spec } from "../chart/chart.ts";
import { cloud } from "../cloud.ts";
import { h } from "../dom.ts";
import { count, format, seconds, type Unit } from "../format.ts";
import type { Fit, RunData, Summary, Target, Timeline, Values } from "../summary.ts";
import { INKS } from "../ink.ts";
import { hasValues, padded, perSecond } from "../timeline.ts";
import { overTime } from "./load.ts";
import { type Section, section, smallGrid } from "./section.ts";

export function resources({ summary }: RunData): Section | null {
    const { targets, timeline } = summary;
    if (targets.length === 0) return null;
    const parts = targets.map((target) => part(summary, timeline, target));
    return section("resources", targets.length === 1 ? `Resources of ${targets[0]?.name}` : "Resources", ...parts);
}

function part(summary: Summary, timeline: Timeline, target: Target): HTMLElement {
    const charts = [usage, against, rest].flatMap((make) => make(summary, timeline, target));
    const isAlone = summary.targets.length === 1;
    return h(
        "div",
        { class: "target" },
        !isAlone && h("h3", {}, target.name),
        h("p", { class: "note" }, [target.what, ...totals(target)].join(" · ")),
        target.ended &&
            h("p", { class: "warning small" }, `Gone after ${seconds(target.ended.seconds)}: ${target.ended.reason}`),
        ...fitted(target).map((sentence) => h("p", { class: "fit" }, sentence)),
        smallGrid(...charts.map((spec) => new Chart(spec).element)),
    );
}

/** All charts, for a page that shows them while they grow. */
export function resourceSpecs(summary: Summary): Spec[] {
    const { targets, timeline } = summary;
    return targets.flatMap((target) =>
        [usage, rest]
            .flatMap((make) => make(summary, timeline, target))
            .map((spec) => (targets.length === 1 ? spec : { ...spec, title: `${target.name}: ${spec.title}` })),
    );
}

function totals(target: Target): string[] {
    const found: [number | null | undefined, Unit, string][] = [
        [target.cores, "cores", "on average"],
        [target.cpu_seconds, "seconds", "of CPU time"],
        [target.rss_max_bytes, "bytes", "of memory at most"],
        [target.pss_max_bytes, "bytes", "of it its own (PSS)"],
    ];
    return found
        .filter(([value]) => typeof value === "number")
        .map(([value, unit, what]) => `${format(value, unit)} ${what}`);
}

interface Group {
    title: string;
    unit: Unit;
    series: readonly (readonly [name: string, label: string])[];
}

const USAGE: readonly Group[] = [
    { title: "CPU", unit: "cores", series: [["cpu_cores", "cores"]] },
    {
        title: "Memory",
        unit: "bytes",
        series: [
            ["rss_bytes", "resident (RSS)"],
            ["pss_bytes", "its own (PSS)"],
            ["memory_current_bytes", "with page cache"],
        ],
    },
];

/** Levels and rates beside CPU and memory; of the network, bytes per second. */
const REST: readonly Group[] = [
    {
        title: "Open files and sockets",
        unit: "count",
        series: [
            ["open_files", "open files"],
            ["sockets", "sockets"],
        ],
    },
    {
        title: "Network per second",
        unit: "bytes/s",
        series: [
            ["network_received_bytes", "received"],
            ["network_sent_bytes", "sent"],
        ],
    },
    {
        title: "Threads and processes",
        unit: "count",
        series: [
            ["threads", "threads"],
            ["processes", "processes"],
        ],
    },
];

function usage(summary: Summary, timeline: Timeline, target: Target): Spec[] {
    return USAGE.flatMap((group) => chart(summary, timeline, target, group, true));
}

function rest(summary: Summary, timeline: Timeline, target: Target): Spec[] {
    const named = new Set([...USAGE, ...REST].flatMap(({ series }) => series.map(([name]) => name)));
    const scraped = Object.keys(target.series)
        .filter((name) => !named.has(name))
        .slice(0, MOST_SCRAPED)
        .map((name): Group => ({
            title: name,
            unit: name.endsWith("bytes") ? "bytes" : "plain",
            series: [[name, name]],
        }));
    return [...REST, ...scraped].flatMap((group) => chart(summary, timeline, target, group, false));
}

/** A server may export hundreds of metrics. */
const MOST_SCRAPED = 12;

function chart(summary: Summary, timeline: Timeline, target: Target, group: Group, area: boolean): Spec[] {
    const lines = group.series.flatMap(([name, label], at): Line[] => {
        const values = target.series[name];
        if (!hasValues(values)) return [];
        const most = Math.max(...values.map((value) => value ?? 0));
        return [
            {
                label,
                ink: INKS[at] ?? "muted",
                values: padded(values, timeline.n_intervals),
                area: area && at === 0,
                // What is slow to find out is not looked at in each interval.
                spans: true,
                total: `up to ${format(most, group.unit)}`,
            },
        ];
    });
    return lines.length > 0 ? [{ ...overTime(summary, timeline, group.title, group.unit), lines }] : [];
}

const OF: Record<string, { title: string; unit: Unit; label: string }> = {
    cpu_cores: { title: "CPU", unit: "cores", label: "CPU" },
    rss_bytes: { title: "Memory", unit: "bytes", label: "memory (RSS)" },
    pss_bytes: { title: "Memory of its own", unit: "bytes", label: "memory (PSS)" },
};

const AGAINST: Record<string, { title: string; label: string; unit: Unit; one: string }> = {
    vus: { title: "users", label: "users", unit: "count", one: "user" },
    iterations_per_second: {
        title: "iterations per second",
        label: "iterations per second",
        unit: "count",
        one: "iteration per second",
    },
};

/** One chart per fitted line: the intervals as points, those apart that the line is not made from. */
function against(summary: Summary, timeline: Timeline, target: Target): Spec[] {
    return inOrder(target.fits).flatMap((fit) => {
        const [of, by] = [OF[fit.of], AGAINST[fit.against]];
        const values = target.series[fit.of];
        const load = loadOf(fit, timeline, summary);
        if (!of || !by || !hasValues(values) || load === null) return [];
        const points = cloud(load, values, fit.against === "vus");
        if (points.length < 3) return [];
        const x = points.map(({ x }) => x);
        const hasFallen = points.some(({ isFalling }) => isFalling);
        return [
            {
                title: `${of.title} against ${by.title}`,
                note: `Each point is ${format(timeline.interval_seconds, "seconds")} of the run.`,
                horizontal: { kind: "number", label: by.label, unit: by.unit },
                x,
                lines: [
                    {
                        label: of.label,
                        ink: "ink-1",
                        points: true,
                        values: points.map(({ y, isFalling }) => (isFalling ? null : y)),
                    },
                    ...(hasFallen
                        ? [
                              {
                                  label: "while users left",
                                  ink: "muted" as const,
                                  points: true,
                                  values: points.map(({ y, isFalling }) => (isFalling ? y : null)),
                              },
                          ]
                        : []),
                    {
                        label: "fitted",
                        ink: "ink-2",
                        bare: true,
                        values: x.map((x) => fit.intercept + fit.slope * x),
                        total: slope(fit, of.unit, by.one),
                    },
                ],
                unit: of.unit,
                vertical: "linear",
            },
        ];
    });
}

function loadOf(fit: Fit, timeline: Timeline, summary: Summary): Values | null {
    switch (fit.against) {
        case "vus":
            return timeline.vus;
        case "iterations_per_second":
            return perSecond(timeline.iterations, timeline, summary.metadata.duration_seconds);
        default:
            return null;
    }
}

/** What one more user costs, with the standard error, of which two digits say all. */
function slope(fit: Fit, unit: Unit, one: string): string {
    const [each, error] = [fit.slope, Number(fit.slope_error.toPrecision(2))];
    return unit === "cores"
        ? `${format(each * 100, "plain")} % ± ${format(error * 100, "plain")} % of a core per ${one}`
        : `${format(each, unit)} ± ${format(error, unit)} per ${one}`;
}

/** As the charts over time are. */
function inOrder<T extends { of: string }>(fits: T[]): T[] {
    const order = Object.keys(OF);
    return [...fits].sort((a, b) => order.indexOf(a.of) - order.indexOf(b.of));
}

/** Whether a slope is noise: without an effect, nineteen of twenty slopes lie within twice the standard error. */
function isNoise({ slope, slope_error }: Fit): boolean {
    return Math.abs(slope) < 2 * slope_error;
}

/** What comes with the load, in words. */
function fitted(target: Target): string[] {
    const lines = inOrder(target.fits).flatMap((fit) => {
        const [of, by] = [OF[fit.of], AGAINST[fit.against]];
        if (!of || !by) return [];
        const growth =
            isNoise(fit)
                ? `no significant growth with ${by.title}`
                : `${format(Math.max(0, fit.intercept), of.unit)} at rest and ${slope(fit, of.unit, by.one)}`;
        return [`${of.title}: ${growth} (a line through ${count(fit.n)} intervals; ± is its standard error).`];
    });
    const absent = inOrder(target.no_fits ?? []).flatMap(({ of, against, reason }) => {
        const [known, by] = [OF[of], AGAINST[against]];
        return known && by ? [`${known.title} against ${by.title}: no line: ${reason}.`] : [];
    });
    return [...memoryPerUser(target), ...lines, ...absent];
}

/** The memory of one more user, or why that is not known. */
function memoryPerUser({ rss_per_user: found, no_rss_per_user: reason }: Target): string[] {
    if (found) {
        const [each, low, high] = [found.bytes, found.low, found.high].map((bytes) => format(bytes, "bytes"));
        return [
            `Memory per user: ${each} (${low} to ${high} with 95 % confidence, from ${count(found.plateaus)} loads that were held).`,
        ];
    }
    return reason ? [`No memory per user: ${reason}.`] : [];
}
