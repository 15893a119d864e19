// What went wrong, the most frequent first, each with an example and when.

import { h } from "../dom.ts";
import { format, seconds } from "../format.ts";
import type { ErrorGroup, RunData } from "../summary.ts";
import { type Section, section } from "./section.ts";

/** Open at first; the others are behind one click. */
const SHOWN = 8;

export function errors({ summary }: RunData): Section | null {
    const found = summary.errors;
    if (found.length === 0) return null;
    const duration = Math.max(summary.metadata.duration_seconds, 0.001);
    const total = found.reduce((sum, error) => sum + error.count, 0);
    const items = found.map((error) => item(error, duration));
    const rest = items.slice(SHOWN);
    return section(
        "errors",
        "Errors",
        h(
            "p",
            { class: "note" },
            `${format(total, "count")} in ${found.length} ${found.length === 1 ? "group" : "groups"}.`,
        ),
        h("ol", { class: "errors" }, ...items.slice(0, SHOWN)),
        rest.length > 0 &&
            h(
                "details",
                {},
                h("summary", {}, `${rest.length} more`),
                h("ol", { class: "errors", start: SHOWN + 1 }, ...rest),
            ),
    );
}

function item(error: ErrorGroup, duration: number): HTMLElement {
    const { cause, example, count, first_seconds: first, last_seconds: last } = error;
    return h(
        "li",
        {},
        h(
            "p",
            { class: "error-head" },
            h("strong", { class: "error-count" }, `${format(count, "count")} ×`),
            h("span", { class: "error-cause" }, cause),
        ),
        h("p", { class: "error-when" }, span(first / duration, last / duration), when(first, last)),
        example !== null && example !== cause && h("pre", {}, example),
    );
}

/** When it happened, to a tenth of a second: the terminal says the same, and a log has seconds. */
function when(first: number, last: number): string {
    const [from, to] = [first, last].map((time) => seconds(Math.round(time * 10) / 10));
    return from === to ? `after ${from}` : `from ${from} to ${to}`;
}

/** A strip as long as the run, on which the time from the first to the last is marked. */
function span(from: number, to: number): HTMLElement {
    const strip = h("i", { class: "strip", "aria-hidden": "true" });
    const clamp = (share: number) => Math.max(0, Math.min(1, share));
    strip.style.setProperty("--from", String(clamp(from)));
    strip.style.setProperty("--to", String(clamp(to)));
    return strip;
}
