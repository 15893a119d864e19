// A run against its load: latency, losses, and what the targets used. Pure.

import type { Line, Spec } from "./chart/chart.ts";
import { format, type Unit } from "./format.ts";
import { INKS, type Ink } from "./ink.ts";
import type { ByLoad, Level } from "./summary.ts";

/** CSS pixels: these are looked at first. */
const HEIGHT = 200;

/** From this ratio of the greatest to the least value on, a linear axis would press the small ones flat. */
const WIDE = 20;

const UNITS: Record<ByLoad["unit"], string> = {
    users: "users",
    iterations_per_second: "planned iterations per second",
};

/** What each point is. */
export function about({ unit, curve, curve_is_held }: ByLoad): string {
    const what = UNITS[unit];
    return curve_is_held
        ? `Each point is a number of ${what} that was held, with all samples of that time.`
        : `Each point is the part of the run with ${what} in one of ${curve.length} bands, with all samples of that part.`;
}

/** All charts that have something to show; none for a run with one load. */
export function againstLoad(byLoad: ByLoad): Spec[] {
    if (byLoad.curve.length < 2) return [];
    return [latency, losses, cpu, memory].flatMap((make) => make(byLoad) ?? []);
}

function spec({ unit, curve }: ByLoad, title: string, of: Unit, lines: Line[]): Spec {
    return {
        title: `${title} against ${UNITS[unit]}`,
        horizontal: { kind: "number", label: UNITS[unit], unit: "count" },
        x: curve.map(({ mean }) => mean),
        lines,
        unit: of,
        vertical: "linear",
        height: HEIGHT,
    };
}

function latency(byLoad: ByLoad): Spec | null {
    const { curve, knee } = byLoad;
    if (byLoad.latency === null || curve.every(({ latency }) => latency === null)) return null;
    const line = (key: "p50" | "p95" | "p99", label: string, ink: Ink, dash?: number[]): Line => ({
        label,
        ink,
        values: curve.map(({ latency }) => latency?.[key] ?? null),
        spans: true,
        ...(dash ? { dash } : {}),
    });
    const lines = [line("p50", "median", "text"), line("p95", "p95", "ink-2"), line("p99", "p99", "ink-3", [7, 4])];
    const above = lines.flatMap(({ values }) => values.filter((value) => typeof value === "number" && value > 0));
    const isWide = Math.max(...(above as number[])) / Math.min(...(above as number[])) > WIDE;
    const notes = [
        knee &&
            `Beyond about ${format(Math.round(knee.load), "count")} ${UNITS[byLoad.unit]}, p95 rises clearly faster: from ${format(knee.p95, "duration")} to ${format(knee.last_p95, "duration")}.`,
        bounds(curve),
    ].filter((note) => note !== null);
    return {
        ...spec(byLoad, byLoad.latency, "duration", lines),
        ...(notes.length > 0 ? { note: notes.join(" ") } : {}),
        ...(knee ? { marks: [{ x: knee.load, label: "knee" }] } : {}),
        vertical: isWide ? "log" : "linear",
    };
}

/** What lost messages do to the lines; null if nothing was lost. */
function bounds(curve: Level[]): string | null {
    const found = curve.flatMap(({ latency }) => latency?.lower_bounds_from ?? []);
    if (found.length === 0) return null;
    const least = format(Math.min(...found), "duration");
    return `Messages were lost: times of ${least} and more are lower bounds.`;
}

/** Shares of what failed; a run in which nothing failed shows that. */
function losses(byLoad: ByLoad): Spec | null {
    const { curve } = byLoad;
    const found: [label: string, ink: Ink, of: (level: Level) => [failed: number, all: number]][] = [
        ["failed iterations", "bad", (level) => [level.failed_iterations, level.iterations]],
        ["failed checks", "ink-3", (level) => [level.failed_checks, level.checks]],
        ["failed requests", "ink-5", (level) => [level.failed_requests, level.requests]],
        ["lost messages", "ink-2", ({ losses }) => [losses?.lost ?? 0, losses?.expected ?? 0]],
    ];
    const lines = found.flatMap(([label, ink, of]): Line[] => {
        const counts = curve.map(of);
        const [failed, all] = [0, 1].map((at) => counts.reduce((sum, pair) => sum + (pair[at] ?? 0), 0));
        if (!all) return [];
        return [
            {
                label,
                ink,
                // A failure without a complete iteration is more than all.
                values: counts.map(([failed, all]) => (all > 0 ? Math.min(1, failed / all) : failed > 0 ? 1 : null)),
                spans: true,
                total: `${format(failed, "count")} of ${format(all, "count")}`,
            },
        ];
    });
    return lines.length > 0 ? spec(byLoad, "Losses", "share", lines) : null;
}

function cpu(byLoad: ByLoad): Spec | null {
    return used(byLoad, "CPU", "cores", "cores");
}

function memory(byLoad: ByLoad): Spec | null {
    return used(byLoad, "Memory", "bytes", "rss_bytes");
}

function used(byLoad: ByLoad, title: string, unit: Unit, key: "cores" | "rss_bytes"): Spec | null {
    const { curve } = byLoad;
    const names = [...new Set(curve.flatMap(({ targets }) => targets.map(({ name }) => name)))];
    const lines = names.flatMap((name, at): Line[] => {
        const values = curve.map(({ targets }) => targets.find((target) => target.name === name)?.[key] ?? null);
        if (values.every((value) => value === null)) return [];
        return [{ label: name, ink: INKS[at] ?? "muted", values, spans: true }];
    });
    return lines.length > 0 ? spec(byLoad, title, unit, lines) : null;
}
