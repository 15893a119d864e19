// What the program says of a run that goes on.

import type { Search } from "../line/search.ts";
import type { PageData } from "../summary.ts";

/** What was ordered. */
export interface Mood {
    isPaused: boolean;
    isEnding: boolean;
}

/** The newest state: everything up to now, so that a tab that comes late misses nothing. */
export interface State {
    mood?: Mood;
    run?: PageData;
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
