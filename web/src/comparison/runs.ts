// The runs of a comparison: what they are called, and their lines on one axis. Pure.

import type { Difference, RunData, Values } from "../summary.ts";
import { type Ink, INKS } from "../ink.ts";

export interface Run {
    data: RunData;
    /** The name of the file, of the saved run, or of its side. */
    label: string;
    ink: Ink;
    /** From the seventh run on, colours come again. */
    dash?: number[];
}

export function named(runs: RunData[]): Run[] {
    return runs.map((data, at) => {
        const isRepeated = at >= INKS.length;
        return {
            data,
            label: data.label || `${data.summary.metadata.name} (${at + 1})`,
            ink: INKS[at % INKS.length] ?? "muted",
            ...(isRepeated ? { dash: [6, 3] } : {}),
        };
    });
}

export interface Points {
    x: readonly number[];
    values: Values;
}

/** All points on one ascending axis. Where a line has no point of its own, it has `undefined`, which is no gap. */
export function joined(lines: Points[]): { x: number[]; values: (number | null | undefined)[][] } {
    const x = [...new Set(lines.flatMap((line) => line.x))].sort((a, b) => a - b);
    const values = lines.map((line) => {
        const known = new Map(line.x.map((x, at) => [x, line.values[at] ?? null]));
        return x.map((x) => known.get(x));
    });
    return { x, values };
}

/** How much more or less than the first: a share of it, or null where there is nothing to divide by. */
export function change(first: number | null | undefined, other: number | null | undefined): number | null {
    if (typeof first !== "number" || typeof other !== "number" || first === 0) return null;
    return (other - first) / Math.abs(first);
}

/** `+12 %`, `−3.4 %`, `±0 %`, `×3.2`. */
export function changeText(change: number | null): string {
    if (change === null) return "";
    if (change >= 2) return `×${(1 + change).toFixed(1)}`;
    const percent = Math.abs(change * 100);
    const digits = percent < 9.95 ? percent.toFixed(1) : percent.toFixed(0);
    return Number(digits) === 0 ? "±0 %" : `${change < 0 ? "−" : "+"}${digits} %`;
}

/** A change as the statistics have it: ratios in percent, large ones as multiples, shares in points of percent, exact counts as numbers. */
export function signedChange(value: number, unit: Difference["unit"], figure: string): string {
    const isCount = unit === "number" && EXACT.has(figure);
    if (!isCount && unit !== "share" && value >= MULTIPLE) {
        const times = 1 + value;
        return `×${times < 100 ? Number(times.toPrecision(3)) : Math.round(times)}`;
    }
    const size = Math.abs(isCount ? value : value * 100);
    const digits = isCount || size >= 9.95 ? size.toFixed(0) : size.toFixed(1);
    const what = isCount ? "" : unit === "share" ? " pt" : " %";
    const sign = Number(digits) === 0 ? "" : value < 0 ? "−" : "+";
    return `${sign}${Number(digits) === 0 ? "0" : digits}${what}`;
}

/** From here on people read a multiple more easily than thousands of percent. */
const MULTIPLE = 9;

/** Figures that are counted to the last one. */
const EXACT = new Set(["lost", "duplicated"]);
