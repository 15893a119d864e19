// A run of another tool: its figures as the tool printed them.

import { h, table } from "../dom.ts";
import { format, moment, seconds } from "../format.ts";
import { frame } from "../frame.ts";
import { mark, section } from "../section/section.ts";

export interface Imported {
    tool: "k6" | "artillery";
    file: string;
    started_at: string;
    is_time_of_file: boolean;
    is_of_samples: boolean;
    duration_seconds: number | null;
    metrics: Record<string, { is_time: boolean; figures: Record<string, number> }>;
    thresholds: { metric: string; expression: string; holds: boolean }[];
}

/** Figures that are no durations, whatever the metric. */
const COUNTS = ["count", "rate", "passes", "fails"];

export function imported(run: Imported): void {
    const tool = run.tool === "k6" ? "k6" : "Artillery";
    const facts = [
        `${run.is_time_of_file ? "file of" : "started"} ${moment(run.started_at)}`,
        run.duration_seconds !== null && seconds(run.duration_seconds),
        run.is_of_samples ? `figures of all samples that ${tool} wrote` : `figures as ${tool} printed them`,
    ];
    const top = h(
        "div",
        { class: "headline" },
        h("p", { class: "facts" }, ...facts.map((fact) => fact && h("span", {}, fact))),
        h("h1", {}, `Imported from ${tool}: ${run.file}`),
    );
    const judged = run.thresholds.map(({ metric, expression, holds }) =>
        h("li", {}, mark(holds), ` ${metric} ${expression}`),
    );
    const sections = [section("metrics", "Metrics", figures(run))];
    if (judged.length > 0) sections.unshift(section("thresholds", "Thresholds", h("ul", { class: "plain" }, ...judged)));
    frame(run.file, [top], sections, `${tool} measured these figures, and Plimsoll did not check them.`);
}

function figures({ metrics }: Imported): HTMLElement {
    const names = [...new Set(Object.values(metrics).flatMap(({ figures }) => Object.keys(figures)))];
    const columns = [{ label: "metric" }, ...names.map((label) => ({ label, numeric: true }))];
    const rows = Object.entries(metrics).map(([name, { is_time, figures }]) => [
        name,
        ...names.map((figure) => {
            const value = figures[figure];
            if (value === undefined) return "";
            return is_time && !COUNTS.includes(figure) ? format(value * 1000, "duration") : format(value, "plain");
        }),
    ]);
    return table("All metrics", columns, rows);
}
