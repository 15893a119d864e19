// The page of several runs: the first is what the others are compared with.

import { Chart, type Spec } from "../chart/chart.ts";
import { h, table } from "../dom.ts";
import { format, moment, seconds, shellCommand, type Unit } from "../format.ts";
import { checkShare, scaleOf, trends, unitOf } from "../metrics.ts";
import { grid, type Section, section, smallGrid } from "../section/section.ts";
import type { ComparisonData, Metric, Summary } from "../summary.ts";
import { curves, load, PERCENTILES, type Percentile, resources, trend } from "./overlays.ts";
import { change, changeText, type Run } from "./runs.ts";

export function top(runs: Run[], comparison: ComparisonData | null): HTMLElement[] {
    const sentence =
        comparison?.verdict.sentence ?? `${runs.length} runs beside each other; differences are from the first`;
    const outcome = comparison?.verdict.outcome ?? "same";
    const head = h(
        "div",
        { class: "headline" },
        h(
            "p",
            { class: "facts" },
            h("span", { class: `badge ${outcome}` }, comparison ? WORDS[outcome] : "Comparison"),
        ),
        h("h1", {}, sentence),
    );
    const saturated = runs.filter(({ data }) => data.summary.generator.saturated);
    const warning = h(
        "div",
        { class: "warning", role: "alert" },
        h("h2", {}, "The load generator was the bottleneck"),
        h(
            "p",
            {},
            `In ${saturated.map(({ label }) => label).join(", ")}: figures of these runs are not the target's alone, so they are no measure of a difference.`,
        ),
    );
    return saturated.length > 0 ? [warning, head, overview(runs)] : [head, overview(runs)];
}

const WORDS: Record<ComparisonData["verdict"]["outcome"], string> = {
    better: "Better",
    worse: "Worse",
    same: "No difference",
    unknown: "Not comparable",
};

export function sections(runs: Run[], comparison: ComparisonData | null): Section[] {
    const found = [judged(comparison), latency(runs), loads(runs), usage(runs), figures(runs), environments(runs)];
    return found.filter((section): section is Section => section !== null);
}

interface Figure {
    label: string;
    unit: Unit;
    of: (summary: Summary, run: Run) => number | null | undefined;
}

/** The runs with the figures that people ask for first. */
function overview(runs: Run[]): HTMLElement {
    const name = runs[0]?.data.highlights.latency ?? null;
    const latency = (key: "p50" | "p95" | "p99") => (summary: Summary) => {
        const metric = name === null ? undefined : summary.metrics[name];
        return metric?.type === "trend" ? metric.values[key] : null;
    };
    const figures: Figure[] = [
        { label: "users", unit: "count", of: (_, run) => run.data.highlights.users },
        { label: `${name} median`, unit: "duration", of: latency("p50") },
        { label: `${name} p95`, unit: "duration", of: latency("p95") },
        { label: `${name} p99`, unit: "duration", of: latency("p99") },
        {
            label: "iterations",
            unit: "count/s",
            of: ({ iterations, metadata }) => iterations.complete / metadata.duration_seconds,
        },
        { label: "failed", unit: "count", of: ({ iterations }) => iterations.failed },
        { label: "lost", unit: "count", of: ({ losses }) => losses?.lost },
        { label: "checks", unit: "share", of: ({ checks }) => checkShare(checks) },
        { label: "CPU", unit: "cores", of: ({ targets }) => targets[0]?.cores },
        { label: "memory", unit: "bytes", of: ({ targets }) => targets[0]?.rss_max_bytes },
    ];
    const shown = figures.filter(({ of }) => runs.some((run) => typeof of(run.data.summary, run) === "number"));
    const rows = runs.map((run) => [
        h("span", { class: "run-label" }, swatch(run), run.label),
        h(
            "span",
            {},
            moment(run.data.summary.metadata.started_at),
            h("span", { class: "change" }, seconds(run.data.summary.metadata.duration_seconds)),
        ),
        h("span", { class: `badge ${run.data.verdict.outcome}` }, run.data.verdict.word),
        ...shown.map(({ unit, of }) => cell(runs, run, unit, of)),
    ]);
    const columns = [
        { label: "run" },
        { label: "started" },
        { label: "verdict" },
        ...shown.map(({ label }) => ({ label, numeric: true })),
    ];
    return table("The runs", columns, rows);
}

function cell(runs: Run[], run: Run, unit: Unit, of: Figure["of"]): HTMLElement {
    const [first] = runs;
    const value = of(run.data.summary, run);
    const difference = first && run !== first ? changeText(change(of(first.data.summary, first), value)) : "";
    return h("span", {}, format(value, unit), difference !== "" && h("span", { class: "change" }, difference));
}

function swatch({ ink, dash }: Run): HTMLElement {
    const mark = h("i", { class: dash ? "swatch dashed" : "swatch", "aria-hidden": "true" });
    mark.style.setProperty("--swatch", `var(--${ink})`);
    return mark;
}

/** What statistics say about the differences. */
function judged(comparison: ComparisonData | null): Section | null {
    if (!comparison || comparison.rows.length === 0) return null;
    const rows = comparison.rows.map(({ name, base, other, difference, judgement }) => [
        name,
        base,
        other,
        difference,
        h("span", { class: `badge ${judgement}` }, WORDS[judgement]),
    ]);
    const columns = [
        { label: "figure" },
        { label: "before", numeric: true },
        { label: "after", numeric: true },
        { label: "difference", numeric: true },
        { label: "judgement" },
    ];
    return section("differences", "Differences", table("Differences with their confidence", columns, rows));
}

function latency(runs: Run[]): Section | null {
    const names = [...new Set(runs.flatMap(({ data }) => trends(data.summary, data.highlights.latency)))];
    const [first] = names;
    if (first === undefined) return null;
    let [name, percentile]: [string, Percentile] = [first, "p95"];
    const frame = grid();
    const draw = () => {
        const specs = [trend(runs, name, percentile), curves(runs, name)].filter((spec): spec is Spec => spec !== null);
        frame.replaceChildren(...specs.map((spec) => new Chart(spec).element));
    };
    const metric = select("Metric", "compared-metric", names, name, (chosen) => {
        name = chosen;
        draw();
    });
    const figure = select("Percentile", "compared-percentile", PERCENTILES, percentile, (chosen) => {
        percentile = chosen as Percentile;
        draw();
    });
    draw();
    return section("latency", "Latency", h("p", { class: "controls" }, ...metric, ...figure), frame);
}

function select(
    label: string,
    id: string,
    values: readonly string[],
    value: string,
    choose: (value: string) => void,
): HTMLElement[] {
    const control = h(
        "select",
        { id },
        ...values.map((name) => h("option", { value: name, selected: name === value }, name)),
    );
    control.addEventListener("change", () => choose(control.value));
    return [h("label", { for: id }, label), control];
}

function loads(runs: Run[]): Section | null {
    const specs = load(runs);
    return specs.length > 0
        ? section("load", "Load", smallGrid(...specs.map((spec) => new Chart(spec).element)))
        : null;
}

function usage(runs: Run[]): Section | null {
    const specs = resources(runs);
    return specs.length > 0
        ? section("resources", "Resources", grid(...specs.map((spec) => new Chart(spec).element)))
        : null;
}

/** The figure of a metric that stands for it in a table. */
function figureOf(metric: Metric | undefined): [number, Unit] | null {
    switch (metric?.type) {
        case "trend":
            return metric.values.count > 0
                ? [metric.values.p95 * scaleOf(metric.contains), unitOf(metric.contains)]
                : null;
        case "counter":
            return [metric.values.rate, metric.contains === "data" ? "bytes/s" : "count/s"];
        case "rate":
            return [metric.values.rate, "share"];
        default:
            return null;
    }
}

function figures(runs: Run[]): Section | null {
    const names = [...new Set(runs.flatMap(({ data }) => Object.keys(data.summary.metrics)))].sort();
    const rows = names.flatMap((name) => {
        const found = runs.map(({ data }) => figureOf(data.summary.metrics[name]));
        const known = found.find((figure) => figure !== null);
        if (!known) return [];
        const isTrend = runs.some(({ data }) => data.summary.metrics[name]?.type === "trend");
        const cells = runs.map((run) => cell(runs, run, known[1], (summary) => figureOf(summary.metrics[name])?.[0]));
        return [[isTrend ? `${name}, p95` : name, ...cells]];
    });
    if (rows.length === 0) return null;
    return section(
        "metrics",
        "All metrics",
        table(
            "95th percentiles, rates and shares",
            [{ label: "metric" }, ...runs.map(({ label }) => ({ label, numeric: true }))],
            rows,
        ),
    );
}

/** Where the runs ran; what differs is what a difference may come from. */
function environments(runs: Run[]): Section {
    const facts: [string, (summary: Summary) => string][] = [
        ["Plimsoll", ({ metadata }) => metadata.plimsoll],
        [
            "system",
            ({ environment }) => [environment.os, environment.kernel, environment.arch].filter(Boolean).join(" "),
        ],
        ["processor", ({ environment }) => environment.cpu_model ?? "–"],
        ["cores", ({ environment }) => format(environment.cores, "count")],
        ["memory", ({ environment }) => format(environment.memory_bytes, "bytes")],
        ["open files", ({ environment }) => format(environment.open_files_limit, "count")],
        ["generator busy", ({ generator }) => format(generator.busiest_worker_share, "share")],
        ["command", ({ metadata }) => shellCommand(metadata.command)],
    ];
    const rows = facts.map(([name, of]) => {
        const values = runs.map(({ data }) => of(data.summary));
        const differs = new Set(values).size > 1;
        return [name, ...values.map((value) => (differs ? h("strong", {}, value) : value))];
    });
    return section(
        "environment",
        "Environment",
        table("What differs is bold", [{ label: "" }, ...runs.map(({ label }) => ({ label }))], rows),
    );
}
