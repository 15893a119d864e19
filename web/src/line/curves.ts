// The steps of a search as charts: each objective against the load, and what the target used. Pure.

import type { Horizontal, Line, Spec } from "../chart/chart.ts";
import { format, type Unit } from "../format.ts";
import { INKS } from "../ink.ts";
import { type Limit, LOADS, type Search, type Step } from "./search.ts";

/** From this ratio of the greatest to the least value on, a linear axis would press the small ones flat. */
const WIDE = 20;

/** One chart for each objective, in their order: a point for each step, and what is allowed. */
export function objectives(search: Search): Spec[] {
    const steps = byLoad(search);
    return search.limits.flatMap((limit, at): Spec[] => {
        const { unit, factor } = UNITS[limit.measure];
        const values = steps.map((step) => {
            const value = step.objectives[at]?.value;
            return typeof value === "number" ? value * factor : null;
        });
        const measured = values.filter((value) => value !== null);
        if (measured.length === 0) return [];
        const lines = VERDICTS.flatMap(({ verdict, label, ink }): Line[] => {
            const own = values.map((value, step) => (steps[step]?.verdict === verdict ? value : null));
            const isThere = own.some((value) => value !== null);
            return isThere ? [{ label, ink, points: true, values: own }] : [];
        });
        const allowed = limit.limit * factor;
        lines.push({
            label: "limit",
            ink: "muted",
            dash: [6, 4],
            bare: true,
            values: steps.map(() => allowed),
            total: format(allowed, unit),
        });
        return [
            {
                title: `${limit.title} against ${LOADS[search.unit]}`,
                note: search.objectives[at] ?? "",
                horizontal: horizontal(search),
                x: steps.map(({ load }) => load),
                lines,
                unit,
                vertical: scale(limit, [...measured, allowed]),
                height: HEIGHT,
            },
        ];
    });
}

/** CPU and memory of what was watched, and the CPU of the generator, against the load. */
export function uses(search: Search): Spec[] {
    const steps = byLoad(search);
    const names = [...new Set(steps.flatMap((step) => step.targets.map(({ name }) => name)))];
    const of = (name: string, value: (use: Step["targets"][number]) => number) =>
        steps.map((step) => {
            const use = step.targets.find((use) => use.name === name);
            return use ? value(use) : null;
        });
    const cpu = names.map((name, at): Line => {
        return { label: name, ink: INKS[at] ?? "muted", points: true, values: of(name, (use) => use.cpu_cores) };
    });
    const memory = names.map((name, at): Line => {
        return { label: name, ink: INKS[at] ?? "muted", points: true, values: of(name, (use) => use.rss_bytes) };
    });
    cpu.push({
        label: "generator",
        ink: "muted",
        points: true,
        values: steps.map((step) => step.generator_cpu_cores),
    });
    const chart = (title: string, unit: Unit, lines: Line[]): Spec => ({
        title: `${title} against ${LOADS[search.unit]}`,
        horizontal: horizontal(search),
        x: steps.map(({ load }) => load),
        lines,
        unit,
        vertical: "linear",
    });
    const charts = [chart("CPU", "cores", cpu), ...(memory.length > 0 ? [chart("Memory", "bytes", memory)] : [])];
    return steps.length > 0 ? charts : [];
}

/** CSS pixels: these are what the page is about. */
const HEIGHT = 240;

const UNITS: Record<Limit["measure"], { unit: Unit; factor: number }> = {
    milliseconds: { unit: "duration", factor: 1000 },
    bytes: { unit: "bytes", factor: 1 },
    share: { unit: "share", factor: 1 },
    number: { unit: "plain", factor: 1 },
};

const VERDICTS = [
    { verdict: "held", label: "held", ink: "good" },
    { verdict: "broke", label: "broke", ink: "bad" },
    { verdict: "generator", label: "generator was the bottleneck", ink: "muted" },
] as const;

function byLoad({ steps }: Search): Step[] {
    return [...steps].sort((one, other) => one.load - other.load);
}

function horizontal({ unit }: Search): Horizontal {
    return { kind: "number", label: LOADS[unit], unit: "count" };
}

function scale({ measure }: Limit, values: number[]): "linear" | "log" {
    const above = values.filter((value) => value > 0);
    const isWide = Math.max(...above) / Math.min(...above) > WIDE;
    return measure === "milliseconds" && above.length > 0 && isWide ? "log" : "linear";
}
