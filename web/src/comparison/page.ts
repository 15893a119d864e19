// The page of several runs: the first is what the others are compared with.

import { Chart, type Spec } from "../chart/chart.ts";
import { h, table } from "../dom.ts";
import { format, moment, seconds, shellCommand, type Unit } from "../format.ts";
import { checkShare, scaleOf, trends, unitOf } from "../metrics.ts";
import { doubtOf } from "../section/headline.ts";
import { grid, type Section, section, smallGrid } from "../section/section.ts";
import type { Comparison, Difference, Judgement, Metric, Summary } from "../summary.ts";
import { curves, load, PERCENTILES, type Percentile, resources, trend } from "./overlays.ts";
import { change, changeText, type Run, signedChange } from "./runs.ts";

export function top(runs: Run[], comparisons: Comparison[]): HTMLElement[] {
    const worst = WORST_FIRST.find((verdict) => comparisons.some((comparison) => comparison.verdict === verdict));
    const headlines = comparisons.map(({ headline, candidate }) =>
        comparisons.length > 1 ? `${candidate.label}: ${headline}` : headline,
    );
    const sentence = headlines.length > 0 ? capital(headlines.join(". ")) : `${runs.length} runs side by side`;
    const head = h(
        "div",
        { class: "headline" },
        h("p", { class: "facts" }, worst ? badge(worst) : h("span", { class: "badge same" }, "Comparison")),
        h("h1", {}, sentence),
    );
    const doubtful = runs.filter(({ data }) => data.summary.generator.doubtful);
    const warning = h(
        "div",
        { class: "warning", role: "alert" },
        h("h2", {}, "Doubtful runs"),
        h(
            "p",
            {},
            `${doubtful.map(({ label, data }) => `${label}: ${doubtOf(data.summary.generator)}`).join(". ")}. These figures do not describe the target alone.`,
        ),
    );
    return doubtful.length > 0 ? [warning, head, overview(runs)] : [head, overview(runs)];
}

const WORST_FIRST: readonly Judgement[] = ["worse", "inconclusive", "better", "equal"];

const WORDS: Record<Judgement, [word: string, className: string]> = {
    better: ["Better", "pass"],
    worse: ["Worse", "fail"],
    equal: ["Equal", "same"],
    inconclusive: ["Inconclusive", "unknown"],
};

function badge(verdict: Judgement): HTMLElement {
    const [word, className] = WORDS[verdict];
    return h("span", { class: `badge ${className}` }, word);
}

function capital(sentence: string): string {
    return sentence.charAt(0).toUpperCase() + sentence.slice(1);
}

export function sections(runs: Run[], comparisons: Comparison[]): Section[] {
    const found = [
        judged(comparisons),
        latency(runs),
        loads(runs),
        usage(runs),
        figures(runs),
        environments(runs),
    ];
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
        h("span", { class: `badge ${run.data.headline.verdict}` }, run.data.headline.verdict),
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

/** What statistics say about the differences of the sides. */
function judged(comparisons: Comparison[]): Section | null {
    const [first] = comparisons;
    if (!first) return null;
    const parts = comparisons.flatMap((comparison) => {
        const remarks = [...comparison.obstacles, ...comparison.advice, ...comparison.notices];
        return [
            remarks.length > 0 && h("ul", { class: "notices" }, ...remarks.map((remark) => h("li", {}, remark))),
            differences(comparison.differences, comparison.baseline.label, comparison.candidate.label),
        ];
    });
    return section("differences", "Differences", h("p", { class: "note" }, first.legend), ...parts);
}

function differences(found: Difference[], one: string, other: string): HTMLElement | null {
    if (found.length === 0) return null;
    const rows = found.map((difference) => {
        const { metric, figure, baseline, candidate, change, interval, verdict, reason } = difference;
        const unit = UNITS[difference.unit];
        const signed = (value: number) => signedChange(value, difference.unit, figure);
        return [
            `${metric} ${figure}`,
            format(baseline, unit),
            format(candidate, unit),
            change === null ? "–" : signed(change),
            interval === null ? unknown(difference) : interval.map(signed).join(" … "),
            h("span", {}, badge(verdict), reason !== null && h("span", { class: "change" }, reason)),
        ];
    });
    const columns = [
        { label: "figure" },
        { label: one, numeric: true },
        { label: other, numeric: true },
        { label: "change", numeric: true },
        { label: "true change", numeric: true },
        { label: "verdict" },
    ];
    return table(`${other} beside ${one}`, columns, rows);
}

/** Counts have no interval; other figures without one say too little. */
function unknown({ unit }: Difference): string {
    return unit === "number" ? "–" : "cannot tell";
}

const UNITS: Record<Difference["unit"], Unit> = {
    microseconds: "duration",
    per_second: "count/s",
    bytes: "bytes",
    share: "share",
    number: "plain",
};

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
        table("Differences are bold", [{ label: "" }, ...runs.map(({ label }) => ({ label }))], rows),
    );
}
