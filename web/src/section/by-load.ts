// The first charts of a run with several loads: what it came to at each of them.

import { about, againstLoad } from "../by-load.ts";
import { Chart } from "../chart/chart.ts";
import { h } from "../dom.ts";
import type { RunData } from "../summary.ts";
import { grid, type Section, section } from "./section.ts";

export function byLoad({ summary }: RunData): Section | null {
    const found = summary.by_load;
    const specs = found ? againstLoad(found) : [];
    if (!found || specs.length === 0) return null;
    const charts = specs.map((spec) => new Chart(spec).element);
    return section("by-load", "By load", h("p", { class: "note" }, about(found)), grid(...charts));
}
