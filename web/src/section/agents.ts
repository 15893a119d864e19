// The machines of a fleet side by side: how much each did, and whether it can be trusted.

import { h, table } from "../dom.ts";
import { digits, format, seconds, share, signed } from "../format.ts";
import type { Agent, RunData } from "../summary.ts";
import { type Section, section } from "./section.ts";

const COLUMNS = [
    { label: "agent" },
    { label: "share", numeric: true, title: "Its planned share of the load" },
    { label: "users", numeric: true, title: "Most virtual users that it had at once" },
    { label: "iterations", numeric: true, title: "Iterations that ran to their end" },
    { label: "cores", numeric: true, title: "Cores that it used on average, of those of its machine" },
    { label: "busiest worker", numeric: true, title: "Share of a core in its busiest second" },
    { label: "late by (p99)", numeric: true, title: "By how much its 95th percentiles may be too high" },
    { label: "clock", numeric: true, title: "How far its clock is ahead of the coordinator's" },
    { label: "start", numeric: true, title: "How long after the common start its load began" },
];

export function agents({ summary }: RunData): Section | null {
    const agents = summary.agents ?? [];
    if (agents.length === 0) return null;
    const size = agents.length > TALL ? "tall" : "";
    return section("agents", "Agents", table(caption(agents), COLUMNS, agents.map(row), size));
}

/** A longer table scrolls by itself. */
const TALL = 12;

/** How many there were, and how many of them lack something. */
export function caption(agents: Agent[]): string {
    const nLost = agents.filter((agent) => agent.lost_at_seconds !== null).length;
    const nDoubtful = agents.filter((agent) => agent.doubtful).length;
    return [
        `${format(agents.length, "count")} ${agents.length === 1 ? "agent" : "agents"}`,
        nLost > 0 && `${format(nLost, "count")} lost`,
        nDoubtful > 0 && `${format(nDoubtful, "count")} doubtful`,
    ]
        .filter(Boolean)
        .join(", ");
}

function row(agent: Agent): (HTMLElement | string)[] {
    const state = stateOf(agent);
    const name = h(
        "span",
        { title: `Plimsoll ${agent.version}` },
        agent.name,
        state && h("span", { class: "agent-state bad", title: agent.reasons.join("\n") || null }, state),
    );
    return [name, ...figures(agent)];
}

/** What is wrong with it; null if nothing is. */
export function stateOf({ lost_at_seconds, doubtful }: Agent): string | null {
    if (lost_at_seconds !== null) return `lost at ${seconds(Math.round(lost_at_seconds))}`;
    return doubtful ? "doubtful" : null;
}

/** The cells after the name. */
export function figures(agent: Agent): string[] {
    const { offset_ms, uncertainty_ms, start_skew_ms } = agent.clock;
    const ms = (value: number | null) => format(value === null ? null : value * 1000, "duration");
    return [
        share(agent.share),
        format(agent.vus_max, "count"),
        format(agent.iterations, "count"),
        `${digits(agent.cores)} of ${format(agent.machine_cores, "count")}`,
        share(agent.busiest_worker_share),
        ms(agent.lateness_bound_ms),
        `${signed(offset_ms * 1000)} ± ${ms(uncertainty_ms)}`,
        start_skew_ms === null ? "–" : signed(start_skew_ms * 1000),
    ];
}
