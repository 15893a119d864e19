// Which runs are listed: a form whose address can be kept and sent.

import { h } from "../dom.ts";
import { isFiltered, type Kept, type Search } from "./kept.ts";

const TIMES: readonly (readonly [value: string, label: string])[] = [
    ["1h", "in the last hour"],
    ["24h", "in the last day"],
    ["7d", "in the last week"],
    ["30d", "in the last 30 days"],
];

export function filters(kept: Kept, search: Search): HTMLElement {
    return h(
        "form",
        { class: "controls", method: "get", action: kept.trends ? "trends" : "./", role: "search" },
        field(
            "Name",
            h("input", { id: "filter-name", name: "name", type: "search", value: search.name, autocomplete: "off" }),
        ),
        choice("Kind", "kind", plain(kept.kinds), search.kind),
        choice("Result", "verdict", plain(kept.verdicts), search.verdict),
        (kept.tags.length > 0 || search.tag !== "") && choice("Tag", "tag", plain(kept.tags), search.tag),
        choice("Started", "since", TIMES, search.since),
        h("button", { class: "button" }, "Filter"),
        isFiltered(search) && h("a", { href: kept.trends ? "trends" : "./" }, "Show all"),
        kept.trends
            ? h("a", { href: `./${query(search)}` }, "List of these runs")
            : h("a", { href: `trends${query(search)}` }, "Trends of these runs"),
    );
}

/** The search as part of an address. */
function query(search: Search): string {
    const given = Object.entries(search).filter(([, value]) => value !== "");
    return given.length > 0 ? `?${new URLSearchParams(given)}` : "";
}

type Choices = readonly (readonly [value: string, label: string])[];

function plain(values: string[]): Choices {
    return values.map((value) => [value, value] as const);
}

/** One of several, or any; also what is not there any more, if it was asked for. */
function choice(label: string, name: string, known: Choices, chosen: string): HTMLElement {
    const any: Choices = [["", "any"]];
    const missing: Choices = chosen === "" || known.some(([value]) => value === chosen) ? [] : [[chosen, chosen]];
    const options = [...any, ...known, ...missing].map(([value, text]) =>
        h("option", { value, selected: value === chosen }, text),
    );
    return field(label, h("select", { id: `filter-${name}`, name }, ...options));
}

function field(label: string, control: HTMLElement): HTMLElement {
    return h("span", { class: "field" }, h("label", { for: control.id }, label), control);
}
