// What had to hold, and whether it did.

import { table } from "../dom.ts";
import { format } from "../format.ts";
import { thresholdValue } from "../metrics.ts";
import type { RunData } from "../summary.ts";
import { mark, type Section, section } from "./section.ts";

export function thresholds({ summary }: RunData): Section | null {
    if (summary.thresholds.length === 0) return null;
    // What failed is looked for first.
    const sorted = [...summary.thresholds].sort((a, b) => Number(a.passed) - Number(b.passed));
    const rows = sorted.map(({ metric, key, expression, aggregation, value, passed, aborted }) => {
        const [number, unit] = thresholdValue(value ?? Number.NaN, summary.metrics[key], aggregation);
        return [
            `${metric}: ${expression}`,
            value === null ? (summary.metrics[key] ? "no samples" : "–") : format(number, unit),
            mark(passed),
            aborted ? "ended the run" : "",
        ];
    });
    const nFailed = sorted.filter((threshold) => !threshold.passed).length;
    const caption =
        rows.length === 1
            ? `The threshold ${nFailed === 0 ? "passed" : "failed"}`
            : nFailed === 0
              ? `All ${rows.length} thresholds passed`
              : `${nFailed} of ${rows.length} thresholds failed`;
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
