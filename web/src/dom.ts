// Elements in one line. Text always becomes text nodes, so nothing of a run is ever read as HTML.

import { words } from "./format.ts";

type Child = Node | string | null | undefined | false;

type Attributes = Record<string, string | number | boolean | null | undefined>;

/** An HTML element; attributes that are false or absent are left out. */
export function h<K extends keyof HTMLElementTagNameMap>(
    tag: K,
    attributes: Attributes = {},
    ...children: Child[]
): HTMLElementTagNameMap[K] {
    const element = document.createElement(tag);
    attach(element, attributes, children);
    return element;
}

/** An SVG element. */
export function svg(tag: string, attributes: Attributes = {}, ...children: Child[]): SVGElement {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    attach(element, attributes, children);
    return element;
}

function attach(element: Element, attributes: Attributes, children: Child[]): void {
    for (const [name, value] of Object.entries(attributes)) {
        if (value === null || value === undefined || value === false) continue;
        element.setAttribute(name, value === true ? "" : String(value));
    }
    element.append(
        ...children.filter((child): child is Node | string => child !== null && child !== undefined && child !== false),
    );
}

/** A name that continues on the next line between its words, and within a word only if there is no other way. */
export function breakable(name: string): Child[] {
    return words(name).flatMap((word, at) => (at === 0 ? [word] : [h("wbr"), word]));
}

/** A column of a table: its heading, and whether its cells are numbers. */
export interface Column {
    label: string;
    numeric?: boolean;
    /** For people who hover or listen. */
    title?: string;
}

/** Tables with so few columns are not stretched over the page, where the eye would lose the row. */
const NARROW = 5;

/** A table that scrolls by itself when the window is narrow. The first cell of a row is its heading. */
export function table(caption: string, columns: Column[], rows: Child[][], className = ""): HTMLElement {
    const head = columns.map(({ label, numeric, title }) =>
        h("th", { scope: "col", class: numeric ? "num" : null, title }, label),
    );
    const body = rows.map((cells) =>
        h(
            "tr",
            {},
            ...cells.map((cell, at) => {
                const numeric = columns[at]?.numeric ? "num" : null;
                if (at > 0) return h("td", { class: numeric }, cell);
                return h("th", { scope: "row" }, ...(typeof cell === "string" ? breakable(cell) : [cell]));
            }),
        ),
    );
    return h(
        "div",
        {
            class: `table ${columns.length <= NARROW ? "narrow" : ""} ${className}`.replaceAll(/ +/g, " ").trim(),
            tabindex: 0,
            role: "region",
            "aria-label": caption,
        },
        h(
            "table",
            {},
            h("caption", { class: "quiet" }, caption),
            h("thead", {}, h("tr", {}, ...head)),
            h("tbody", {}, ...body),
        ),
    );
}
