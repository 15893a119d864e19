// What the program says of a run that goes on.

import type { Search } from "../line/search.ts";
import { seconds } from "../format.ts";
import type { PageData } from "../summary.ts";

/** What was ordered. */
export interface Mood {
    isPaused: boolean;
    isEnding: boolean;
}

/** What the plan says of the present moment, and of each interval. */
export interface Planned {
    /** When the last iteration begins; null is never, or not known. */
    end_seconds: number | null;
    users: number | null;
    arrivals_per_second: number | null;
    /** Users in each interval; empty if the plan has no number of users. */
    users_over_time: number[];
}

/** How far a run is, as a share and in words; null where its end is not planned. */
export function progress({ end_seconds: end }: Planned, elapsed: number): { share: number; words: string } | null {
    if (end === null || end <= 0) return null;
    if (elapsed >= end) return { share: 1, words: `${seconds(end)} as planned; the last iterations end` };
    return {
        share: elapsed / end,
        words: `${seconds(Math.round(elapsed))} of ${seconds(end)}, ${seconds(Math.ceil(end - elapsed))} left`,
    };
}

/** The newest state: everything up to now, so that a tab that comes late misses nothing. */
export interface State {
    mood?: Mood;
    run?: PageData;
    planned?: Planned;
    /** The steps of a search that are over; null before the first one is. */
    search?: Search | null;
    /** How its current step goes. */
    present?: string;
    /** The report is there. */
    over?: boolean;
}

/** What the page says first. */
export function word(mood: Mood | null, isConnected: boolean, hasBegun: boolean): string {
    if (!isConnected) return "not connected";
    if (mood?.isEnding) return "ending";
    if (mood?.isPaused) return "paused";
    return hasBegun ? "running" : "creating virtual users";
}
