// The page of one run, or of several that are compared, whose data is in the page itself; of a search of the load line;
// of a run that goes on; or the list of runs that were kept.

import "uplot/dist/uPlot.min.css";
import "./style/tokens.css";
import "./style/page.css";
import "./style/chart.css";
import "./style/live.css";
import "./style/history.css";

import { sections, top } from "./comparison/page.ts";
import { named } from "./comparison/runs.ts";
import { frame } from "./frame.ts";
import { history } from "./history/page.ts";
import { type Imported, imported } from "./history/imported.ts";
import type { Kept } from "./history/kept.ts";
import { line } from "./line/page.ts";
import type { Search } from "./line/search.ts";
import { live } from "./live/page.ts";
import type { PageData, RunData } from "./summary.ts";
import { agents } from "./section/agents.ts";
import { byLoad } from "./section/by-load.ts";
import { checks } from "./section/checks.ts";
import { environment } from "./section/environment.ts";
import { errors } from "./section/errors.ts";
import { generator } from "./section/generator.ts";
import { headline, notices, saturation, tiles } from "./section/headline.ts";
import { latency } from "./section/latency.ts";
import { load } from "./section/load.ts";
import { metrics } from "./section/metrics.ts";
import { parts } from "./section/parts.ts";
import { resources } from "./section/resources.ts";
import type { Section } from "./section/section.ts";
import { thresholds } from "./section/thresholds.ts";

const SECTIONS = [
    byLoad,
    thresholds,
    latency,
    load,
    resources,
    errors,
    checks,
    parts,
    metrics,
    agents,
    generator,
    environment,
];

function page(run: RunData): void {
    // What did not succeed at all is explained by its causes; the charts of failures come after them.
    const order = run.highlights.nothing_succeeded ? [errors, ...SECTIONS.filter((make) => make !== errors)] : SECTIONS;
    const found = order.map((make) => make(run)).filter((section): section is Section => section !== null);
    frame(run.summary.metadata.name, [saturation(run), headline(run), tiles(run), notices(run)], found);
}

function comparison(data: PageData): void {
    const runs = named(data.runs);
    const comparisons = data.comparisons ?? [];
    frame("comparison", top(runs, comparisons), sections(runs, comparisons));
}

function finished(data: PageData): void {
    const [run] = data.runs;
    if (data.runs.length > 1) comparison(data);
    else if (run) page(run);
}

function json(element: HTMLElement | null | undefined): unknown {
    return JSON.parse(element?.textContent ?? "null");
}

const [running, kept, searched, foreign] = ["live", "kept", "line", "imported"].map((id) => document.getElementById(id));
if (running) live(running.dataset);
else if (searched) line(json(searched) as Search);
else if (foreign) imported(json(foreign) as Imported);
else if (kept) history(json(kept) as Kept);
else finished(json(document.getElementById("data")) as PageData);
