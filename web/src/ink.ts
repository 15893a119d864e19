// Names of colours; which they are in each theme stands in `style/tokens.css`.

/** What a line is drawn with. */
export type Ink = "ink-1" | "ink-2" | "ink-3" | "ink-4" | "ink-5" | "ink-6" | "good" | "bad" | "muted" | "text";

/** Colours that all readers can distinguish, in the order of their use. */
export const INKS: readonly Ink[] = ["ink-1", "ink-2", "ink-3", "ink-4", "ink-5", "ink-6"];
