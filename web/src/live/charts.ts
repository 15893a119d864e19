// Charts that grow: each is made once, and given what is new.

import { Chart, type Spec } from "../chart/chart.ts";

export class Charts {
    private readonly charts = new Map<string, Chart>();

    /** They are put into `box`. */
    constructor(private readonly box: HTMLElement) {}

    /** Shows these, in this order; those with the same title as before are the same. Whether there are any. */
    show(specs: Spec[]): boolean {
        for (const [title, chart] of this.charts) {
            if (specs.some((spec) => spec.title === title)) continue;
            chart.element.remove();
            this.charts.delete(title);
        }
        specs.forEach((spec, at) => {
            const known = this.charts.get(spec.title);
            if (known) known.update(spec);
            const chart = known ?? new Chart(spec);
            this.charts.set(spec.title, chart);
            // Moving an element that is in its place would take the focus from it.
            if (this.box.children[at] !== chart.element) this.box.insertBefore(chart.element, this.box.children[at] ?? null);
        });
        return specs.length > 0;
    }
}
