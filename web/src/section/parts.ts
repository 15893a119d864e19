// The plan, and the run by scenario and by group.

import { h, table } from "../dom.ts";
import { format, seconds } from "../format.ts";
import type { Check, Part, RunData, Scenario } from "../summary.ts";
import { checkShare, figureOf } from "../metrics.ts";
import { type Section, section } from "./section.ts";

export function parts({ summary }: RunData): Section | null {
    const { scenarios } = summary.plan;
    const inside = [
        planned(scenarios),
        byScenario(summary.breakdown?.scenarios ?? [], scenarios),
        byGroup(summary.breakdown?.groups ?? []),
    ];
    return inside.some((part) => part !== null) ? section("scenarios", "Scenarios", ...inside) : null;
}

function planned(scenarios: Scenario[]): HTMLElement | null {
    if (scenarios.length === 0) return null;
    const rows = scenarios.map((scenario) => [
        scenario.name,
        scenario.executor,
        scenario.description,
        scenario.start_seconds > 0 ? `after ${seconds(scenario.start_seconds)}` : "at once",
        scenario.duration_seconds === null ? "–" : seconds(scenario.duration_seconds),
        format(scenario.max_vus, "count"),
    ]);
    return table(
        "The plan",
        [
            { label: "scenario" },
            { label: "executor" },
            { label: "load" },
            { label: "starts" },
            { label: "lasts", numeric: true },
            { label: "most users", numeric: true },
        ],
        rows,
    );
}

/** In the order of the plan, as in the table above. */
function byScenario(parts: Part[], planned: Scenario[]): HTMLElement | null {
    const order = new Map(planned.map(({ name }, at) => [name, at]));
    const place = ({ name }: Part) => order.get(name) ?? order.size;
    const sorted = [...parts].sort((one, other) => place(one) - place(other));
    const named = sorted.map((part) => [part.name, part] as const);
    return figures("By scenario", "scenario", named, ["iteration_duration", ...OF_STEPS]);
}

function byGroup(parts: Part[]): HTMLElement | null {
    const flat = (parts: Part[], path: string): (readonly [string, Part])[] =>
        parts.flatMap((part) => {
            const name = path === "" ? part.name : `${path} › ${part.name}`;
            return [[name, part] as const, ...flat(part.groups, name)];
        });
    return figures("By group", "group", flat(parts, ""), ["group_duration"]);
}

/** A row for each part. All rows show the same metric: the first of `candidates` that any part has. */
function figures(
    caption: string,
    what: string,
    parts: (readonly [string, Part])[],
    candidates: readonly string[],
): HTMLElement | null {
    if (parts.length === 0) return null;
    const has = ([, part]: readonly [string, Part], metric: string) => trendOf(part, metric) !== null;
    const metric = candidates.find((candidate) => parts.some((part) => has(part, candidate))) ?? candidates[0] ?? "";
    const rows = parts.map(([name, part]) => {
        const iterations = part.metrics["iterations"];
        const of = trendOf(part, metric);
        return [
            name,
            iterations?.type === "counter"
                ? format(iterations.values.count, "count")
                : of
                  ? format(of.count, "count")
                  : "–",
            ...(["p50", "p95", "p99", "max"] as const).map((key) => (of ? figureOf(of, key, "time") : "–")),
            checksOf(part.checks),
        ];
    });
    return table(
        `${caption}: ${metric.replaceAll("_", " ")}`,
        [
            { label: what },
            { label: "times", numeric: true },
            { label: "median", numeric: true },
            { label: "p95", numeric: true },
            { label: "p99", numeric: true },
            { label: "max", numeric: true },
            { label: "checks passed", numeric: true },
        ],
        rows,
    );
}

/** What the steps of a bench measure, the most important first. */
const OF_STEPS = ["listener_delivery", "rtt", "connect"] as const;

function trendOf(part: Part, name: string) {
    const metric = part.metrics[name];
    return metric?.type === "trend" && metric.values.count > 0 ? metric.values : null;
}

function checksOf(checks: Check[]): string | HTMLElement {
    const held = checkShare(checks);
    if (held === null) return "–";
    return h("span", { class: held < 1 ? "bad" : null }, format(held, "share"));
}
