// How p95, losses and load lines developed over the runs of each test.

import { Chart } from "../chart/chart.ts";
import { h, table } from "../dom.ts";
import { format, moment } from "../format.ts";
import { smallGrid } from "../section/section.ts";
import { specs } from "./curves.ts";
import { badgeClass, type Trend } from "./kept.ts";

export function trends(found: Trend[]): HTMLElement[] {
    if (found.length === 0) return [h("p", {}, "No test has two runs here, so there is nothing to compare.")];
    return [
        ...found.map(section),
        h(
            "p",
            { class: "note" },
            "A change from run to run is no verdict: equal runs differ, too. Choose two to twelve runs in the list to have them judged.",
        ),
    ];
}

function section(trend: Trend): HTMLElement {
    const { name, kind, runs } = trend;
    const charts = specs(trend).map((spec) => new Chart(spec).element);
    return h(
        "section",
        { class: "trend" },
        h("h2", {}, `${name || "unnamed"} (${kind}), ${runs.length} runs`),
        smallGrid(...charts),
        h("details", {}, h("summary", {}, "The runs"), runTable(trend)),
    );
}

function runTable({ name, unit, latency, runs }: Trend): HTMLElement {
    const result =
        unit === null ? [latency === null ? "p95" : `p95 of ${latency}`, "lost", "failed"] : [`line, ${unit}`];
    const columns = [
        { label: "run", numeric: true },
        { label: "started" },
        { label: "result" },
        { label: "users", numeric: true },
        ...result.map((label) => ({ label, numeric: true })),
        { label: "tags and note" },
    ];
    const rows = runs.map((run, at) => [
        String(at + 1),
        h("a", { href: `run?id=${encodeURIComponent(run.id)}` }, moment(run.started_at)),
        h("span", { class: `badge ${badgeClass(run.verdict)}` }, run.verdict),
        format(run.users, "count"),
        ...(unit === null
            ? [
                  `${run.is_lower_bound ? "> " : ""}${format(run.p95_us, "duration")}`,
                  format(run.lost, "count"),
                  format(run.failed, "share"),
              ]
            : [format(run.line, "count")]),
        h("span", { class: "badges" }, ...run.tags.map((tag) => h("span", { class: "badge same" }, tag)), run.note),
    ]);
    return table(`Runs of ${name}, the oldest first`, columns, rows);
}
