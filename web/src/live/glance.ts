// What a person looks for first while a run goes on: how far it is, whether it holds, and what fails.

import { h } from "../dom.ts";
import { format } from "../format.ts";
import { thresholdValue } from "../metrics.ts";
import { mark } from "../section/section.ts";
import type { Summary, Threshold } from "../summary.ts";
import { type Planned, progress } from "./state.ts";

/** Thresholds and causes that are shown; the sections below have all. */
const SHOWN = 3;

export class Glance {
    readonly element: HTMLElement;
    private readonly bar = h("progress", { max: 1, value: 0, "aria-label": "Progress of the run" });
    private readonly words = h("p", { class: "glance-time" });
    private readonly plan = h("p", {});
    private readonly thresholds = h("ul", { class: "glance-list", "aria-label": "Thresholds" });
    private readonly causes = h("ul", { class: "glance-list", "aria-label": "Failures" });

    constructor() {
        this.element = h("div", { class: "glance" }, this.bar, this.words, this.plan, this.thresholds, this.causes);
        this.element.hidden = true;
    }

    show(summary: Summary, planned: Planned): void {
        this.element.hidden = false;
        const found = progress(planned, summary.metadata.duration_seconds);
        this.bar.hidden = found === null;
        this.bar.value = found?.share ?? 0;
        this.words.textContent = found?.words ?? "";
        this.plan.textContent = plan(summary, planned);
        const failedFirst = [...summary.thresholds].sort((a, b) => Number(a.passed) - Number(b.passed));
        this.thresholds.replaceChildren(
            ...rest(
                failedFirst.map((threshold) => judged(threshold, summary)),
                "thresholds",
            ),
        );
        this.causes.replaceChildren(
            ...rest(
                summary.errors.map(({ cause, count }) => h("li", {}, h("strong", {}, `${format(count, "count")} ×`), ` ${cause}`)),
                "errors",
            ),
        );
    }
}

/** Planned and real users, and the planned rate. */
function plan(summary: Summary, { users, arrivals_per_second: rate }: Planned): string {
    const active = summary.timeline.vus.at(-1);
    const words = [
        active !== undefined && users !== null && `${format(active, "count")} users active, ${format(users, "count")} planned`,
        rate !== null && `${format(rate, "plain")} iterations/s planned`,
    ];
    return words.filter(Boolean).join(" · ");
}

function judged({ metric, key, expression, aggregation, value, passed }: Threshold, summary: Summary): HTMLElement {
    const condition = ` ${metric}: ${expression}`;
    if (value === null) return h("li", {}, `–${condition}, no data yet`);
    const [number, unit] = thresholdValue(value, summary.metrics[key], aggregation);
    return h("li", {}, mark(passed), condition, h("span", { class: "note" }, `, now ${format(number, unit)}`));
}

function rest(items: HTMLElement[], section: string): HTMLElement[] {
    const more = items.length - SHOWN;
    if (more <= 0) return items;
    return [...items.slice(0, SHOWN), h("li", {}, h("a", { href: `#${section}` }, `${more} more`))];
}
