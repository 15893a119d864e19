// The page of a search: how much the target carries, what broke, and each step that says so.

import { Chart } from "../chart/chart.ts";
import { h, table } from "../dom.ts";
import { format, moment } from "../format.ts";
import { frame } from "../frame.ts";
import { badgeClass } from "../history/kept.ts";
import { again } from "../section/environment.ts";
import { grid, type Section, section, smallGrid } from "../section/section.ts";
import { objectives, uses } from "./curves.ts";
import { LOADS, type Search, type Step } from "./search.ts";

export function line(search: Search): void {
    frame(search.name, [headline(search), notices(search)], [...soFar(search), conditions(search)]);
}

/** What the steps of a search say, also while it goes on. */
export function soFar(search: Search): Section[] {
    const sections = [curves(search), resources(search), steps(search), failures(search)];
    return sections.filter((found): found is Section => found !== null);
}

/** The verdicts of searches that earlier versions kept, by their ends. */
const OF_ENDS: Record<Search["result"]["end"], NonNullable<Search["result"]["verdict"]>> = {
    found: "pass",
    max: "pass",
    generator: "inconclusive",
    nothing_holds: "fail",
    degraded: "fail",
    inconclusive: "inconclusive",
    interrupted: "incomplete",
};

function headline({ result, started_at, steps, plimsoll }: Search): HTMLElement {
    const verdict = result.verdict ?? OF_ENDS[result.end];
    const outcome = badgeClass(verdict);
    const facts = ["load line", moment(started_at), `${format(steps.length, "count")} steps`, `Plimsoll ${plimsoll}`];
    return h(
        "div",
        { class: `headline ${outcome}` },
        h(
            "p",
            { class: "facts" },
            h("span", { class: `badge ${outcome}` }, verdict),
            ...facts.map((fact) => h("span", {}, fact)),
        ),
        h("h1", {}, result.headline),
        h("p", { class: "lead" }, result.sentence),
    );
}

function notices({ notices }: Search): HTMLElement | null {
    if (notices.length === 0) return null;
    return h("ul", { class: "notices" }, ...notices.map((notice) => h("li", {}, notice)));
}

function curves(search: Search): Section | null {
    const charts = objectives(search);
    if (charts.length === 0) return null;
    const said = search.default_objectives ? "No objectives were given, so these are the defaults." : "";
    return section(
        "objectives",
        "Objectives",
        h("p", { class: "note" }, `Each point is the steady part of a step. ${said}`),
        grid(...charts.map((spec) => new Chart(spec).element)),
    );
}

function resources(search: Search): Section | null {
    const charts = uses(search);
    if (charts.length === 0) return null;
    return section("resources", "Resources", smallGrid(...charts.map((spec) => new Chart(spec).element)));
}

function steps({ steps, limits, unit }: Search): Section | null {
    if (steps.length === 0) return null;
    const targets = steps.find((step) => step.targets.length > 0)?.targets.map(({ name }) => name) ?? [];
    const columns = [
        { label: "step" },
        { label: LOADS[unit], numeric: true },
        ...limits.map(({ title }) => ({ label: title, numeric: true })),
        ...targets.flatMap((name) => [
            { label: `CPU of ${name}`, numeric: true },
            { label: `memory of ${name}`, numeric: true },
        ]),
        { label: "verdict" },
    ];
    const rows = steps.map((step, at) => [
        String(at + 1),
        format(step.load, "count"),
        ...limits.map((_, objective) => judged(step, objective)),
        ...targets.flatMap((_, target) => [
            format(step.targets[target]?.cpu_cores, "cores"),
            format(step.targets[target]?.rss_bytes, "bytes"),
        ]),
        verdict(step),
    ]);
    return section("steps", "Steps", table("All steps, in their order", columns, rows));
}

function judged({ objectives }: Step, at: number): string | HTMLElement {
    const found = objectives[at];
    if (!found) return "–";
    return found.held ? found.shown : h("span", { class: "bad" }, found.shown);
}

function verdict({ verdict, reasons }: Step): HTMLElement {
    const outcome = { held: "pass", broke: "fail", generator: "doubtful" }[verdict];
    const why = reasons.length > 0 && ` ${reasons.join("; ")}`;
    return h("div", { class: "verdict" }, h("span", { class: `badge ${outcome}` }, verdict), why);
}

/** Causes of failed iterations in all steps together. */
function failures({ steps }: Search): Section | null {
    const counts = new Map<string, number>();
    for (const { reason, count } of steps.flatMap((step) => step.failures)) {
        counts.set(reason, (counts.get(reason) ?? 0) + count);
    }
    if (counts.size === 0) return null;
    const rows = [...counts].sort(([, one], [, other]) => other - one);
    const columns = [{ label: "reason" }, { label: "failed", numeric: true }];
    return section(
        "errors",
        "Errors",
        table(
            "Causes of failed iterations in all steps",
            columns,
            rows.map(([reason, count]) => [reason, format(count, "count")]),
        ),
    );
}

function conditions({ command }: Search): Section {
    return section("again", "Run it again", again(command));
}
