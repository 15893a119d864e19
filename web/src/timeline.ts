// What a run's intervals say, as numbers to draw. Pure.

import type { Mark } from "./chart/chart.ts";
import type { Summary, Timeline, Track, Values } from "./summary.ts";

/**
 * The middle of each interval in seconds since the start; of the last one, the middle of what the run filled of it.
 */
export function middles(timeline: Timeline, durationSeconds: number): number[] {
    const { interval_seconds: width, n_intervals } = timeline;
    return Array.from({ length: n_intervals }, (_, i) => i * width + covered(timeline, durationSeconds, i) / 2);
}

/** Seconds of the i-th interval that the run filled. */
function covered(timeline: Timeline, durationSeconds: number, i: number): number {
    const width = timeline.interval_seconds;
    const rest = durationSeconds - i * width;
    return rest > 0 ? Math.min(width, rest) : width;
}

/** Less of an interval than this share says little about a rate: one event in 10 ms is not 100 per second. */
const LEAST_COVER = 0.25;

/** Events per second of each interval; null where the run's end left too little of one. */
export function perSecond(counts: number[], timeline: Timeline, durationSeconds: number): Values {
    return counts.map((count, i) => {
        const seconds = covered(timeline, durationSeconds, i);
        const isSliver = i > 0 && seconds < timeline.interval_seconds * LEAST_COVER;
        return isSliver ? null : count / seconds;
    });
}

/** The share of true answers per interval; null without answers. */
export function shares(track: { passes: number[]; totals: number[] }): Values {
    return track.totals.map((total, i) => (total > 0 ? (track.passes[i] ?? 0) / total : null));
}

/** How often the answer was no. */
export function fails(track: { passes: number[]; totals: number[] }): number[] {
    return track.totals.map((total, i) => total - (track.passes[i] ?? 0));
}

/** A metric's track, when the timeline has one of this type. */
export function track<T extends Track["type"]>(
    timeline: Timeline,
    name: string,
    type: T,
): Extract<Track, { type: T }> | null {
    const found = timeline.metrics[name];
    return found?.type === type ? (found as Extract<Track, { type: T }>) : null;
}

/** Whether there is anything to draw. */
export function hasValues(values: Values | undefined): values is Values {
    return values !== undefined && values.some((value) => value !== null);
}

/** Whether anything ever happened. */
export function hasEvents(counts: number[] | undefined): counts is number[] {
    return counts !== undefined && counts.some((count) => count > 0);
}

/** The same length as the timeline, so that all lines of a chart have as many points. */
export function padded(values: Values, length: number): Values {
    return Array.from({ length }, (_, i) => values[i] ?? null);
}

/** Longer commands are cut in charts; the notices have all of them. */
const LONGEST_LABEL = 24;

/** The commands of `--at`, at the time at which each began. */
export function marks({ commands }: Pick<Summary, "commands">): Mark[] {
    return (commands ?? []).map(({ at_seconds: x, command }) => {
        const line = command.trim().replaceAll(/\s+/g, " ");
        return { x, label: line.length > LONGEST_LABEL ? `${line.slice(0, LONGEST_LABEL - 1)}…` : line };
    });
}
