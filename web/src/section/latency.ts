// How long things took: over time as a heatmap with percentiles, and over all samples up to the rarest.

import { nines } from "../axis.ts";
import { Chart, type Line, type Spec } from "../chart/chart.ts";
import { h } from "../dom.ts";
import { format } from "../format.ts";
import { cells } from "../heat.ts";
import { COLUMNS, figureOf, scaleOf, trends, unitOf } from "../metrics.ts";
import type { RunData, Values } from "../summary.ts";
import type { Ink } from "../ink.ts";
import { marks, middles, track } from "../timeline.ts";
import { grid, type Section, section } from "./section.ts";

export function latency(run: RunData): Section | null {
    const names = trends(run.summary, run.highlights.latency);
    const [first] = names;
    if (first === undefined) return null;
    const charts = specs(run, first).map((spec) => new Chart(spec));
    const figures = h("div", { class: "figures" }, ...distribution(run, first));
    const frame = grid(...charts.map((chart) => chart.element));
    const chooser = choice(names, (name) => {
        figures.replaceChildren(...distribution(run, name));
        const next = specs(run, name);
        // Which of the two charts there are depends on the metric.
        if (
            next.length === charts.length &&
            next.every((spec, at) => spec.horizontal.kind === charts[at]?.data().horizontal.kind)
        ) {
            next.forEach((spec, at) => charts[at]?.update(spec));
            return;
        }
        charts.splice(0, charts.length, ...next.map((spec) => new Chart(spec)));
        frame.replaceChildren(...charts.map((chart) => chart.element));
    });
    return section("latency", "Latency", chooser, figures, frame);
}

/** Which metric is shown; nothing to choose is no control. */
function choice(names: string[], choose: (name: string) => void): HTMLElement | null {
    if (names.length < 2) return null;
    const select = h("select", { id: "latency-metric" }, ...names.map((name) => h("option", { value: name }, name)));
    select.addEventListener("change", () => choose(select.value));
    return h("p", { class: "controls" }, h("label", { for: "latency-metric" }, "Metric"), select);
}

function specs(run: RunData, name: string): Spec[] {
    return [overTime(run, name), curve(run, name)].filter((spec): spec is Spec => spec !== null);
}

const LINES: readonly {
    key: "p50" | "p95" | "p99" | "max";
    label: string;
    ink: Ink;
    dash?: number[];
    hidden?: boolean;
}[] = [
    { key: "p50", label: "median", ink: "text" },
    { key: "p95", label: "p95", ink: "ink-2" },
    { key: "p99", label: "p99", ink: "ink-3", dash: [7, 4] },
    { key: "max", label: "max", ink: "muted", dash: [2, 3], hidden: true },
];

/** The lines and the map of one metric. */
export function overTime({ summary }: RunData, name: string): Spec | null {
    const { timeline, metadata } = summary;
    const found = track(timeline, name, "trend");
    const metric = summary.metrics[name];
    if (!found || metric?.type !== "trend") return null;
    const scale = scaleOf(metric.contains);
    const unit = unitOf(metric.contains);
    const heat = found.heat ? cells(found.heat, timeline.heat_bins_per_octave) : null;
    if (heat && scale !== 1) {
        heat.low *= scale;
        heat.high *= scale;
        for (const cell of heat.cells) {
            cell.low *= scale;
            cell.high *= scale;
        }
    }
    const lines = LINES.map(({ key, label, ink, dash, hidden }): Line => ({
        label,
        ink,
        values: scaled(found[key], scale),
        halo: heat !== null,
        total: figureOf(metric.values, key, metric.contains),
        ...(dash ? { dash } : {}),
        ...(hidden ? { hidden } : {}),
    }));
    return {
        title: `${name} over time`,
        note: heat
            ? "Stronger colours mean more samples. Lines are percentiles of each interval."
            : "Percentiles of each interval.",
        horizontal: {
            kind: "time",
            intervalSeconds: timeline.interval_seconds,
            endSeconds: metadata.duration_seconds,
        },
        x: middles(timeline, metadata.duration_seconds),
        marks: marks(summary),
        lines,
        unit,
        vertical: "log",
        heat,
        height: 300,
    };
}

function scaled(values: Values, scale: number): Values {
    return scale === 1 ? values : values.map((value) => (value === null ? null : value * scale));
}

function curve({ summary, curves }: RunData, name: string): Spec | null {
    const points = curves[name];
    const metric = summary.metrics[name];
    if (!points || points.length < 2 || metric?.type !== "trend") return null;
    const scale = scaleOf(metric.contains);
    return {
        title: `${name}, all ${format(metric.values.count, "count")} samples`,
        note: "The share of samples up to each duration. From one label to the next, ten times fewer samples are slower.",
        horizontal: { kind: "percentile" },
        x: points.map(([percentile]) => nines(percentile)),
        lines: [{ label: "all samples", ink: "ink-1", area: true, values: points.map(([, value]) => value * scale) }],
        unit: unitOf(metric.contains),
        vertical: "log",
        height: 300,
    };
}

/** The figures of the whole run as a row of small facts. */
function distribution({ summary }: RunData, name: string): HTMLElement[] {
    const metric = summary.metrics[name];
    if (metric?.type !== "trend") return [];
    const { values, contains } = metric;
    return [
        figure("samples", format(values.count, "count")),
        ...COLUMNS.map(({ key, label }) => figure(label, figureOf(values, key, contains))),
    ];
}

function figure(label: string, value: string): HTMLElement {
    return h("span", { class: "figure" }, h("span", { class: "figure-label" }, label), h("b", {}, value));
}
