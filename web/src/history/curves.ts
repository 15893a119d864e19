// The runs of a test as charts: p95, losses, failures, load lines. Pure.

import type { Line, Spec } from "../chart/chart.ts";
import type { Unit } from "../format.ts";
import type { Ink } from "../ink.ts";
import type { Trend, TrendRun } from "./kept.ts";

/** What one chart shows of each run. */
interface Figure {
    title: string;
    unit: Unit;
    ink: Ink;
    value: (run: TrendRun) => number | null;
}

const LOST: Figure = { title: "Lost messages", unit: "count", ink: "bad", value: ({ lost }) => lost };
const FAILED: Figure = { title: "Failed iterations", unit: "share", ink: "bad", value: ({ failed }) => failed };

/** The charts of a test: those of which at least one run has a value. */
export function specs(trend: Trend): Spec[] {
    return figures(trend).flatMap((figure) => {
        const values = trend.runs.map(figure.value);
        if (values.every((value) => value === null)) return [];
        return [spec(trend, figure, values)];
    });
}

function figures({ latency, unit }: Trend): Figure[] {
    if (unit !== null) {
        return [{ title: `Load line, ${unit}`, unit: "count", ink: "ink-1", value: ({ line }) => line }];
    }
    const p95: Figure = {
        title: `p95 of ${latency}`,
        unit: "duration",
        ink: "ink-1",
        value: ({ p95_us }) => p95_us,
    };
    return [...(latency === null ? [] : [p95]), LOST, FAILED];
}

function spec({ runs, unit }: Trend, { title, unit: of, ink, value }: Figure, values: (number | null)[]): Spec {
    const lines: Line[] = [{ label: title, ink, values }];
    if (unit !== null) {
        const end = (label: string, of: (run: TrendRun) => number | null): Line => ({
            label,
            ink: "muted",
            dash: [4, 4],
            bare: true,
            values: runs.map(of),
        });
        lines.push(end("lower end", ({ low }) => low), end("upper end", ({ high }) => high));
    }
    const marks = runs.flatMap(({ tags }, at) => (tags.length > 0 && value !== FAILED.value ? [{ x: at + 1, label: tags.join(", ") }] : []));
    return {
        title,
        horizontal: { kind: "number", label: "run", unit: "count" },
        x: runs.map((_, at) => at + 1),
        lines,
        unit: of,
        vertical: "linear",
        marks,
        height: 150,
    };
}
