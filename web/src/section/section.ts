// The frame of a section: a heading that can be linked to.

import { h } from "../dom.ts";

export interface Section {
    id: string;
    title: string;
    element: HTMLElement;
}

type Child = Node | string | null | undefined | false;

export function section(id: string, title: string, ...children: Child[]): Section {
    const element = h(
        "section",
        { id, "aria-labelledby": `${id}-title` },
        h("h2", { id: `${id}-title` }, title),
        ...children,
    );
    return { id, title, element };
}

/** Charts or cards beside each other where there is room. */
export function grid(...children: Child[]): HTMLElement {
    return h("div", { class: "grid" }, ...children);
}

/** The same for many small ones. */
export function smallGrid(...children: Child[]): HTMLElement {
    return h("div", { class: "grid small" }, ...children);
}

/** A mark that does not depend on colour. */
export function mark(holds: boolean): HTMLElement {
    return h(
        "span",
        { class: holds ? "mark good" : "mark bad" },
        holds ? "✓" : "✗",
        h("span", { class: "heard" }, holds ? " passed" : " failed"),
    );
}
