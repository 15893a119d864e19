// Every metric of the run as a number.

import { h, table } from "../dom.ts";
import { format, type Unit } from "../format.ts";
import { COLUMNS, figureOf, unitOf } from "../metrics.ts";
import type { Metric, RunData } from "../summary.ts";
import { type Section, section } from "./section.ts";

type Of<T extends Metric["type"]> = Extract<Metric, { type: T }>;

export function metrics({ summary }: RunData): Section | null {
    const of = <T extends Metric["type"]>(type: T) =>
        Object.entries(summary.metrics).filter((entry): entry is [string, Of<T>] => entry[1].type === type);
    const small = [counters(of("counter")), rates(of("rate")), gauges(of("gauge"))].filter((part) => part !== null);
    const large = trends(of("trend"));
    if (large === null && small.length === 0) return null;
    return section("metrics", "All metrics", large, h("div", { class: "tables" }, ...small));
}

function trends(found: [string, Of<"trend">][]): HTMLElement | null {
    if (found.length === 0) return null;
    const rows = found.map(([name, { contains, values }]) => [
        name,
        format(values.count, "count"),
        ...COLUMNS.map(({ key }) => (values.count > 0 ? figureOf(values, key, contains) : "–")),
    ]);
    return table(
        "Distributions",
        [
            { label: "metric" },
            { label: "samples", numeric: true },
            ...COLUMNS.map(({ label }) => ({ label, numeric: true })),
        ],
        rows,
    );
}

function counters(found: [string, Of<"counter">][]): HTMLElement | null {
    if (found.length === 0) return null;
    const unit = (metric: Metric): Unit => (metric.contains === "data" ? "bytes" : "count");
    const rows = found.map(([name, metric]) => [
        name,
        format(metric.values.count, unit(metric)),
        format(metric.values.rate, `${unit(metric)}/s` as Unit),
    ]);
    return table(
        "Counters",
        [{ label: "metric" }, { label: "in all", numeric: true }, { label: "per second", numeric: true }],
        rows,
    );
}

function rates(found: [string, Of<"rate">][]): HTMLElement | null {
    if (found.length === 0) return null;
    const rows = found.map(([name, { values }]) => [
        name,
        format(values.rate, "share"),
        format(values.passes, "count"),
        format(values.fails, "count"),
    ]);
    return table(
        "Shares",
        [
            { label: "metric" },
            { label: "share", numeric: true },
            { label: "yes", numeric: true },
            { label: "no", numeric: true },
        ],
        rows,
    );
}

function gauges(found: [string, Of<"gauge">][]): HTMLElement | null {
    if (found.length === 0) return null;
    const unit = (metric: Metric): Unit => (metric.contains === "default" ? "plain" : unitOf(metric.contains));
    const rows = found.map(([name, metric]) => {
        const { value, min, max } = metric.values;
        return [name, ...[value, min, max].map((number) => format(number, unit(metric)))];
    });
    return table(
        "Levels",
        [
            { label: "metric" },
            { label: "last", numeric: true },
            { label: "lowest", numeric: true },
            { label: "highest", numeric: true },
        ],
        rows,
    );
}
