// A search that goes on: the steps so far, and how the current one goes.

import { h } from "../dom.ts";
import { frame } from "../frame.ts";
import { soFar } from "../line/page.ts";
import type { Search } from "../line/search.ts";

export class Searching {
    private readonly present = h("p", { class: "lead", role: "status" }, "The first step begins.");
    private nSteps = -1;

    constructor(
        private readonly name: string,
        private readonly controls: HTMLElement,
    ) {}

    /** Charts are made anew only when a step has been added. */
    show(search: Search | null, present: string): void {
        if (present !== "") this.present.textContent = present;
        const nSteps = search?.steps.length ?? 0;
        if (nSteps === this.nSteps) return;
        this.nSteps = nSteps;
        frame(this.name, [this.controls, this.present], search ? soFar(search) : []);
    }
}
