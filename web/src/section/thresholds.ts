// What had to hold, and whether it did.

import { table } from "../dom.ts";
import { format } from "../format.ts";
import { thresholdValue } from "../metrics.ts";
import type { RunData, Threshold } from "../summary.ts";
import { mark, type Section, section } from "./section.ts";

export function thresholds({ summary }: RunData): Section | null {
    if (summary.thresholds.length === 0) return null;
    // What failed is looked for first.
    const sorted = [...summary.thresholds].sort((a, b) => Number(a.passed) - Number(b.passed));
    const rows = sorted.map(({ metric, key, expression, aggregation, value, passed, aborted }) => {
        const [number, unit] = thresholdValue(value ?? Number.NaN, summary.metrics[key], aggregation);
        return [
            `${metric}: ${expression}`,
            value === null ? "no data" : format(number, unit),
            value === null && passed ? "–" : mark(passed),
            aborted ? "ended the run" : "",
        ];
    });
    const caption = counted(sorted);
    const hasEnded = sorted.some((threshold) => threshold.aborted);
    const columns = [
        { label: "condition" },
        { label: "was", numeric: true },
        { label: "passed" },
        ...(hasEnded ? [{ label: "" }] : []),
    ];
    return section(
        "thresholds",
        "Thresholds",
        table(caption, columns, hasEnded ? rows : rows.map((row) => row.slice(0, 3))),
    );
}

/** How many held, failed, or had nothing to judge by. */
function counted(thresholds: Threshold[]): string {
    const nFailed = thresholds.filter(({ passed }) => !passed).length;
    const nEmpty = thresholds.filter(({ passed, value }) => passed && value === null).length;
    const all = thresholds.length;
    const empty = nEmpty > 0 ? `, ${nEmpty} without data` : "";
    if (all === 1) return nEmpty > 0 ? "The threshold has no data" : `The threshold ${nFailed === 0 ? "passed" : "failed"}`;
    if (nFailed > 0) return `${nFailed} of ${all} thresholds failed${empty}`;
    return nEmpty > 0 ? `${all - nEmpty} of ${all} thresholds passed${empty}` : `All ${all} thresholds passed`;
}
