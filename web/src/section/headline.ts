// The first screen: what the run came to in one sentence, and its figures at a glance.

import { h, svg } from "../dom.ts";
import { format, moment, seconds, type Unit, unbroken } from "../format.ts";
import { checkShare, type FigureKey, figureOf } from "../metrics.ts";
import type { Generator, RunData, Summary, Values } from "../summary.ts";
import { hasValues, padded, perSecond, track } from "../timeline.ts";

export function headline({ summary, headline }: RunData): HTMLElement {
    const { metadata } = summary;
    const facts = [
        KINDS[metadata.kind],
        moment(metadata.started_at),
        seconds(rounded(metadata.duration_seconds)),
        `Plimsoll ${metadata.plimsoll}`,
    ];
    return h(
        "div",
        { class: `headline ${headline.verdict}` },
        h(
            "p",
            { class: "facts" },
            h("span", { class: `badge ${headline.verdict}` }, headline.verdict),
            ...facts.filter(Boolean).map((fact) => h("span", {}, fact as string)),
        ),
        h(
            "h1",
            {},
            ...unbroken(headline.sentence).map((piece, at) =>
                at % 2 === 1 ? h("span", { class: "unbroken" }, piece) : piece,
            ),
        ),
    );
}

const KINDS: Record<string, string> = {
    k6: "k6 script",
    artillery: "Artillery file",
    wsdirector: "wsdirector scenario",
    demo: "demo",
    bench: "benchmark",
};

/** The limit of causes; the page shows further ones on request. Reason: the headline stays on the first screen of a phone. */
const SHOWN_REASONS = 1;

/** What a doubt means for the reader, by its kind. */
const MEANINGS: Record<string, string> = {
    busy: "This program could not offer more load, so the figures below do not describe the target alone. The target may carry more load, and answer faster, than this page shows. Use a larger machine, or fewer users, and run again.",
    late: "This program read replies late, so the latencies below contain its own delay. The target may answer faster than this page shows. Run the generator on a machine of its own, and run again.",
    dropped:
        "Fewer iterations started than planned, because all virtual users waited for the target. The latencies below lack the iterations that would have waited longest. Allow more users, or plan a lower rate.",
};

/** Why the figures are doubtful, as a sentence; null if they are not. Summaries of older versions had one doubt only. */
export function doubtOf({ doubtful, doubt }: Generator): string | null {
    if (!doubtful) return null;
    const text = doubt?.text ?? "the load generator was the bottleneck";
    return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Shown before everything else: no figure below means what it seems to. */
export function saturation({ summary }: RunData): HTMLElement | null {
    const { doubt, reasons } = summary.generator;
    const sentence = doubtOf(summary.generator);
    if (sentence === null) return null;
    return h(
        "div",
        { class: "warning", role: "alert" },
        h("h2", {}, sentence),
        h("p", {}, MEANINGS[doubt?.kind ?? "busy"] ?? ""),
        ...list(reasons),
    );
}

/** A bench has reasons for each of its steps, which are much alike. */
function list(reasons: string[]): HTMLElement[] {
    const items = reasons.map((reason) => h("li", {}, reason));
    const rest = items.splice(SHOWN_REASONS);
    return [
        ...(items.length > 0 ? [h("ul", {}, ...items)] : []),
        ...(rest.length > 0 ? [h("details", {}, h("summary", {}, `${rest.length} more`), h("ul", {}, ...rest))] : []),
    ];
}

export function notices({ summary, omitted }: RunData): HTMLElement | null {
    const all = [...summary.notices, ...omitted];
    if (all.length === 0) return null;
    return h("ul", { class: "notices" }, ...all.map((notice) => h("li", {}, notice)));
}

interface Tile {
    label: string;
    value: string;
    detail?: string | undefined;
    trend?: Values | undefined;
    isBad?: boolean;
}

/** Figures that people look for first; those that the run does not have are not there. */
export function tiles(run: RunData, goesOn = false): HTMLElement {
    const { summary, highlights } = run;
    const first = goesOn ? present : users;
    const failures = [failedRequests, failedConnections, failed];
    const makers = highlights.nothing_succeeded
        ? [first, ...failures, cpu, memory]
        : [first, latency, throughput, delivered, checks, ...failures, cpu, memory];
    const found = makers.map((tile) => tile(run));
    return h(
        "ul",
        { class: "tiles", "aria-label": "Key figures" },
        ...found.filter((tile): tile is Tile => tile !== null).map((tile) => element(tile, summary)),
    );
}

function element({ label, value, detail, trend, isBad }: Tile, summary: Summary): HTMLElement {
    return h(
        "li",
        { class: isBad ? "tile bad" : "tile" },
        h("span", { class: "tile-label" }, label),
        h("strong", { class: "tile-value" }, value),
        h("span", { class: "tile-detail" }, detail ?? ""),
        hasValues(trend) && summary.timeline.n_intervals > 2 && sparkline(trend),
    );
}

function sparkline(values: Values): SVGElement {
    const [width, height] = [120, 24];
    const top = Math.max(...values.map((value) => value ?? 0), Number.MIN_VALUE);
    const step = width / Math.max(1, values.length - 1);
    const points: string[] = [];
    values.forEach((value, at) => {
        if (value !== null)
            points.push(`${(at * step).toFixed(1)} ${(height - 1 - (value / top) * (height - 2)).toFixed(1)}`);
    });
    return svg(
        "svg",
        { class: "sparkline", viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", "aria-hidden": "true" },
        svg("path", { d: `M${points.join("L")}`, fill: "none", "vector-effect": "non-scaling-stroke" }),
    );
}

function users({ summary, highlights }: RunData): Tile {
    const { timeline, by_load } = summary;
    const { level, is_held } = highlights;
    const whole = seconds(rounded(summary.metadata.duration_seconds));
    if (level && is_held && by_load?.unit === "users") {
        return {
            label: "Users held",
            value: format(Math.floor(level.least), "count"),
            detail: `for ${seconds(rounded(level.seconds))} of ${whole}`,
            trend: timeline.vus,
        };
    }
    return {
        label: "Users at the peak",
        value: format(highlights.users, "count"),
        detail: by_load?.unit === "users" ? `not held, in ${whole}` : `in ${whole}`,
        trend: timeline.vus,
    };
}

/** The users of a run that goes on: what it held is known at its end only. */
function present({ summary, highlights }: RunData): Tile {
    return {
        label: "Users now",
        value: format(summary.timeline.vus.at(-1) ?? 0, "count"),
        detail: `up to ${format(highlights.users, "count")} so far`,
        trend: summary.timeline.vus,
    };
}

/** Whole seconds for times that are long enough, tenths for those above a second, hundredths for shorter ones, as in the sentence. */
function rounded(seconds: number): number {
    if (seconds < 1) return Math.round(seconds * 100) / 100;
    return seconds < 10 ? Math.round(seconds * 10) / 10 : Math.round(seconds);
}

/** The percentile of the sentence, with that of the whole run beside it. */
function latency({ summary, highlights }: RunData): Tile | null {
    const name = highlights.latency;
    const metric = name === null ? undefined : summary.metrics[name];
    if (name === null || metric?.type !== "trend") return null;
    const part = summary.by_load?.latency === name ? highlights.level : null;
    const values = part?.latency ?? metric.values;
    const figure = (key: FigureKey) => figureOf(values, key, "time");
    const others = `median ${figure("p50")}, p99 ${figure("p99")}`;
    return {
        label: `${name}, p95`,
        value: figure("p95"),
        detail: part?.latency ? `${others}; whole run ${figureOf(metric.values, "p95", "time")}` : others,
        trend: track(summary.timeline, name, "trend")?.p95,
    };
}

const THROUGHPUTS: Record<string, string> = {
    ws_msgs_received: "Messages received",
    http_reqs: "HTTP requests",
    iterations: "Iterations",
};

function throughput({ summary, highlights }: RunData): Tile | null {
    const name = highlights.throughput;
    const metric = name === null ? undefined : summary.metrics[name];
    if (name === null || metric?.type !== "counter") return null;
    const counted = track(summary.timeline, name, "counter");
    const { timeline, metadata } = summary;
    return {
        label: THROUGHPUTS[name] ?? name,
        value: format(metric.values.rate, "count/s"),
        detail: `${format(metric.values.count, "count")} in all`,
        trend: counted ? perSecond(counted.counts, timeline, metadata.duration_seconds) : undefined,
    };
}

function delivered({ summary }: RunData): Tile | null {
    const { losses } = summary;
    if (!losses) return null;
    const extra = [
        losses.duplicated > 0 && `${format(losses.duplicated, "count")} twice`,
        losses.out_of_order > 0 && `${format(losses.out_of_order, "count")} out of order`,
    ].filter(Boolean);
    return {
        label: "Messages lost",
        value: format(losses.lost, "count"),
        detail: [`of ${format(losses.expected, "count")}`, ...extra].join(", "),
        isBad: losses.lost > 0,
    };
}

function checks({ summary }: RunData): Tile | null {
    const held = checkShare(summary.checks);
    if (held === null) return null;
    const fails = summary.checks.reduce((sum, check) => sum + check.fails, 0);
    return {
        label: "Checks passed",
        value: format(held, "share"),
        detail:
            fails > 0
                ? `${format(fails, "count")} failed`
                : `all ${format(
                      summary.checks.reduce((sum, check) => sum + check.passes, 0),
                      "count",
                  )}`,
        isBad: fails > 0,
    };
}

function failedRequests({ summary }: RunData): Tile | null {
    const metric = summary.metrics["http_req_failed"];
    if (metric?.type !== "rate" || metric.values.passes === 0) return null;
    const { passes, fails } = metric.values;
    return failures("Requests failed", passes, passes + fails);
}

function failedConnections({ summary }: RunData): Tile | null {
    const { connections } = summary;
    if (!connections?.failed) return null;
    return failures("Connections failed", connections.failed, connections.attempted);
}

function failures(label: string, failed: number, all: number): Tile {
    return { label, value: format(failed, "count"), detail: `of ${format(all, "count")}`, isBad: true };
}

function failed({ summary }: RunData): Tile | null {
    const { complete, failed } = summary.iterations;
    if (complete === 0) return null;
    return {
        label: "Iterations failed",
        value: format(failed, "count"),
        detail: `of ${format(complete, "count")}`,
        isBad: failed > 0,
        trend: failed > 0 ? summary.timeline.failed : undefined,
    };
}

function cpu(run: RunData): Tile | null {
    const target = run.summary.targets.find((target) => typeof target.cores === "number");
    if (!target) return null;
    const series = target.series["cpu_cores"];
    return {
        label: `CPU of ${target.name}`,
        value: format(target.cores, "cores"),
        detail: hasValues(series) ? `up to ${peak(series, "cores")}` : undefined,
        trend: series && padded(series, run.summary.timeline.n_intervals),
    };
}

function memory({ summary }: RunData): Tile | null {
    const target = summary.targets.find((target) => typeof target.rss_max_bytes === "number");
    if (!target) return null;
    const perUser = target.rss_per_user;
    return {
        label: `Memory of ${target.name}`,
        value: format(target.rss_max_bytes, "bytes"),
        detail: perUser
            ? `${format(perUser.low, "bytes")} to ${format(perUser.high, "bytes")} per user`
            : undefined,
        trend: target.series["rss_bytes"],
    };
}

function peak(values: Values, unit: Unit): string {
    return format(Math.max(...values.map((value) => value ?? 0)), unit);
}
