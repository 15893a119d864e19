// The machines of a fleet side by side: how much each did, and whether it can be trusted.

import { type Column, h, table } from "../dom.ts";
import { digits, format, seconds, share, signed } from "../format.ts";
import type { Agent, RunData } from "../summary.ts";
import { type Section, section } from "./section.ts";

interface Figure extends Column {
    title: string;
    of: (agent: Agent) => string;
    /** When it is known; without it, always. */
    known?: "so far" | "at the end";
}

const FIGURES: Figure[] = [
    { label: "share", title: "Its planned share of the load", of: (agent) => share(agent.share) },
    { label: "users", title: "Most virtual users that it had at once", of: (agent) => format(agent.vus_max, "count") },
    { label: "iterations", title: "Iterations that ran to their end", of: (agent) => format(agent.iterations, "count") },
    {
        label: "cores",
        title: "Cores that it used on average, of those of its machine",
        of: (agent) => `${digits(agent.cores)} of ${format(agent.machine_cores, "count")}`,
    },
    {
        label: "busiest worker",
        title: "Share of a core in its busiest second",
        of: (agent) => share(agent.busiest_worker_share),
        known: "at the end",
    },
    {
        label: "late by (p99)",
        title: "By how much its 95th percentiles may be too high",
        of: (agent) => ms(agent.lateness_bound_ms),
        known: "at the end",
    },
    {
        label: "late by (max)",
        title: "The greatest delay of a tick of any of its workers",
        of: (agent) => ms(agent.lateness_max_ms ?? null),
        known: "so far",
    },
    {
        label: "clock",
        title: "How far its clock is ahead of the coordinator's",
        of: ({ clock }) => `${signed(clock.offset_ms * 1000)} ± ${ms(clock.uncertainty_ms)}`,
    },
    {
        label: "start",
        title: "How long after the common start its load began",
        of: ({ clock }) => (clock.start_skew_ms === null ? "–" : signed(clock.start_skew_ms * 1000)),
    },
];

/** When the agents are looked at: while they make load, or after that, when all is known of them. */
export type Moment = NonNullable<Figure["known"]>;

export function agents({ summary }: RunData, moment: Moment = "at the end"): Section | null {
    const agents = summary.agents ?? [];
    if (agents.length === 0) return null;
    const size = agents.length > TALL ? "tall" : "";
    const columns = [{ label: "agent" }, ...figuresOf(moment).map(({ label, title }) => ({ label, title, numeric: true }))];
    const rows = agents.map((agent) => row(agent, moment));
    return section("agents", "Agents", table(caption(agents), columns, rows, size));
}

function figuresOf(moment: Moment): Figure[] {
    return FIGURES.filter(({ known }) => known === undefined || known === moment);
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

function row(agent: Agent, moment: Moment): (HTMLElement | string)[] {
    const state = stateOf(agent);
    const name = h(
        "span",
        { title: `Plimsoll ${agent.version}` },
        agent.name,
        state && h("span", { class: "agent-state bad", title: agent.reasons.join("\n") || null }, state),
    );
    return [name, ...figures(agent, moment)];
}

/** What is wrong with it; null if nothing is. */
export function stateOf({ lost_at_seconds, doubtful }: Agent): string | null {
    if (lost_at_seconds !== null) return `lost at ${seconds(Math.round(lost_at_seconds))}`;
    return doubtful ? "doubtful" : null;
}

/** The cells after the name. */
export function figures(agent: Agent, moment: Moment): string[] {
    return figuresOf(moment).map(({ of }) => of(agent));
}

function ms(value: number | null): string {
    return format(value === null ? null : value * 1000, "duration");
}
