// What is around the content: the bar with the mark, the list of sections, and the switch of colours.

import { h, svg } from "./dom.ts";
import type { Section } from "./section/section.ts";
import { themeSwitch } from "./theme.ts";

/** What is true of the figures of our own runs. */
const OF_OUR_FIGURES =
    "Percentiles cover all samples and are accurate to 0.1 %; they are never averages of other percentiles.";

/** Fills the page. `top` has no headings to link to. `truth` says at the end what the figures are. */
export function frame(name: string, top: (HTMLElement | null)[], sections: Section[], truth = OF_OUR_FIGURES): void {
    const links = sections.map(({ id, title }) => h("li", {}, h("a", { href: `#${id}` }, title)));
    // Where this page is one of many.
    const { list } = document.body.dataset;
    const bar = h(
        "header",
        { class: "bar" },
        h(
            "div",
            { class: "bar-row" },
            h("span", { class: "brand" }, logo(), h("span", {}, "plimsoll")),
            h("span", { class: "run-name" }, name),
            list !== undefined && h("a", { class: "all-runs", href: list }, "All runs"),
            themeSwitch(),
        ),
        h("nav", { "aria-label": "Sections" }, h("ul", {}, ...links)),
    );
    const main = h("main", { id: "content" }, ...top, ...sections.map(({ element }) => element));
    const skip = h("a", { class: "skip", href: "#content" }, "Skip to the results");
    document.body.replaceChildren(skip, bar, main, footer(truth), ...document.querySelectorAll("script"));
    follow(sections, links);
}

function footer(truth: string): HTMLElement {
    return h("footer", {}, h("p", {}, `${truth} This page works offline.`));
}

/** The mark that is painted on hulls: a ring, and the line that must stay above the water. */
function logo(): SVGElement {
    return svg(
        "svg",
        { class: "logo", viewBox: "0 0 32 32", width: 26, height: 26, "aria-hidden": "true" },
        svg("circle", { cx: 16, cy: 16, r: 9.5, fill: "none", stroke: "currentColor", "stroke-width": 3.5 }),
        svg("path", { d: "M1.5 16h29", stroke: "currentColor", "stroke-width": 3.5 }),
    );
}

/** Marks the section that is being read. */
function follow(sections: Section[], links: HTMLElement[]): void {
    const visible = new Set<string>();
    const observer = new IntersectionObserver(
        (entries) => {
            for (const { target, isIntersecting } of entries) {
                if (isIntersecting) visible.add(target.id);
                else visible.delete(target.id);
            }
            const first = sections.findIndex(({ id }) => visible.has(id));
            links.forEach((link, at) => link.firstElementChild?.toggleAttribute("aria-current", at === first));
        },
        { rootMargin: "-15% 0px -55% 0px" },
    );
    for (const { element } of sections) observer.observe(element);
}
