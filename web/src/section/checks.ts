// All checks with their answers; those that failed first.

import { h, table } from "../dom.ts";
import { format } from "../format.ts";
import type { Check, RunData } from "../summary.ts";
import { mark, type Section, section } from "./section.ts";

export function checks({ summary }: RunData): Section | null {
    if (summary.checks.length === 0) return null;
    const hasGroups = summary.checks.some((check) => check.group !== "");
    const sorted = [...summary.checks].sort((a, b) => share(a) - share(b));
    const rows = sorted.map((check) => [
        h("span", {}, mark(check.fails === 0), " ", check.name),
        ...(hasGroups ? [check.group.split("::").filter(Boolean).join(" › ")] : []),
        format(check.passes, "count"),
        format(check.fails, "count"),
        meter(share(check)),
    ]);
    const nFailed = sorted.filter((check) => check.fails > 0).length;
    const caption =
        nFailed === 0 ? "All checks passed every time" : `${nFailed} of ${rows.length} checks failed at least once`;
    return section(
        "checks",
        "Checks",
        table(
            caption,
            [
                { label: "check" },
                ...(hasGroups ? [{ label: "group" }] : []),
                { label: "passed", numeric: true },
                { label: "failed", numeric: true },
                { label: "share", numeric: true },
            ],
            rows,
        ),
    );
}

function share({ passes, fails }: Check): number {
    return passes + fails > 0 ? passes / (passes + fails) : 1;
}

function meter(value: number): HTMLElement {
    const bar = h("i", { class: "meter", "aria-hidden": "true" });
    bar.style.setProperty("--share", String(value));
    return h("span", { class: "metered" }, bar, format(value, "share"));
}
