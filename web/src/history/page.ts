// Runs that were kept: which there are, which of them to open, and which to look at beside each other.

import { h } from "../dom.ts";
import { frame } from "../frame.ts";
import { filters } from "./filters.ts";
import { headline, isFiltered, type Kept } from "./kept.ts";
import { runs } from "./runs.ts";
import { trends } from "./trends.ts";

export function history(kept: Kept): void {
    const truth = "The figures of imported runs are those of the tool that measured them.";
    frame("runs of this machine", [top(kept), problem(kept), ...content(kept)], [], truth);
}

function top(kept: Kept): HTMLElement {
    const title = kept.search === null ? "This page cannot be shown" : headline(kept);
    return h("div", { class: "headline" }, h("p", { class: "facts" }, h("span", {}, kept.folder)), h("h1", {}, title));
}

function problem({ problem, search }: Kept): HTMLElement | null {
    if (problem === null) return null;
    const back = search === null && h("p", {}, h("a", { href: "./" }, "All runs"));
    return h("div", { class: "warning", role: "alert" }, h("p", {}, problem), back);
}

function content(kept: Kept): HTMLElement[] {
    const { search } = kept;
    if (search === null) return [];
    if (kept.n_runs === 0) {
        return [
            h(
                "p",
                {},
                "This folder has no runs yet. Every load command saves its run here, for example: ",
                h("code", {}, "plimsoll demo"),
            ),
        ];
    }
    const controls = filters(kept, search);
    if (kept.trends) return [controls, ...trends(kept.trends)];
    const none = isFiltered(search) && kept.problem === null ? "No run matches." : "";
    return [controls, kept.runs.length > 0 ? runs(kept.runs) : h("p", {}, none)];
}
