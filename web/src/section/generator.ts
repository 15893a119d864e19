// Whether the generator itself can be trusted.

import { Chart, type Spec } from "../chart/chart.ts";
import { h } from "../dom.ts";
import { format } from "../format.ts";
import type { Generator, RunData, Summary } from "../summary.ts";
import { hasValues, padded } from "../timeline.ts";
import { overTime } from "./load.ts";
import { mark, type Section, section, smallGrid } from "./section.ts";

export function generator({ summary }: RunData): Section {
    const { generator } = summary;
    const verdict = generator.doubtful
        ? "The figures are doubtful: see the warning at the top."
        : "It was not the bottleneck, so the figures describe the target.";
    return section(
        "generator",
        "Load generator",
        h("p", {}, mark(!generator.doubtful), " ", verdict),
        facts([
            ["CPU", `${format(generator.cores, "cores")}, ${format(generator.cpu_seconds, "seconds")} in all`],
            ["Busiest worker", `${format(generator.busiest_worker_share, "share")} of a core in its busiest second`],
            ["95th percentile too high by", bound(generator)],
            ["Lateness of its clock", lateness(generator)],
            ["Waited for a CPU", of(generator.waiting_share, "of the time")],
            ["Machine idle", format(generator.machine_idle_share, "share")],
            ["A program waited for a CPU", of(generator.machine?.pressure_share, "of the time")],
            ["Other programs", generator.machine?.other_programs],
        ]),
        smallGrid(...generatorSpecs(summary).map((spec) => new Chart(spec).element)),
    );
}

function of(share: number | null | undefined, what: string): string | null {
    return share == null ? null : `${format(share, "share")} ${what}`;
}

/** Of the 95th percentile of latencies; single ones may be later, as the maximum of the lateness shows. */
function bound({ lateness_bound_ms }: Generator): string | null {
    return lateness_bound_ms == null ? null : `at most ${format(lateness_bound_ms * 1000, "duration")}`;
}

function lateness({ lateness }: Generator): string {
    if (lateness.count === 0) return "–";
    const { p50, p99, max } = lateness;
    return `median ${format(p50, "duration")}, p99 ${format(p99, "duration")}, at most ${format(max, "duration")}`;
}

export function generatorSpecs(summary: Summary): Spec[] {
    const { timeline, generator } = summary;
    const charts = [
        ["CPU of the generator", "cores", "cpu_cores", "ink-4"],
        ["Largest lateness of its clock", "duration", "lateness_max_us", "ink-3"],
        ["Memory of the generator", "bytes", "rss_bytes", "ink-4"],
    ] as const;
    return charts.flatMap(([title, unit, name, ink]) => {
        const values = generator.series[name];
        if (!hasValues(values)) return [];
        const most = Math.max(...values.map((value) => value ?? 0));
        const line = {
            label: "generator",
            ink,
            values: padded(values, timeline.n_intervals),
            total: `up to ${format(most, unit)}`,
        };
        return [{ ...overTime(summary, timeline, title, unit), lines: [line] }];
    });
}

/** Names with what they are; those that are not known are left out. */
export function facts(entries: [name: string, value: string | null | undefined][]): HTMLElement {
    const known = entries.filter(([, value]) => value && value !== "–");
    return h(
        "dl",
        { class: "facts-list" },
        ...known.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value ?? ""))),
    );
}
