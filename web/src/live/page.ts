// A run that goes on: the charts of its report, which grow, and at its end the report itself.

import { h } from "../dom.ts";
import { frame } from "../frame.ts";
import { agents } from "../section/agents.ts";
import { errors } from "../section/errors.ts";
import { tiles } from "../section/headline.ts";
import { overTime } from "../section/latency.ts";
import { loadSpecs } from "../section/load.ts";
import { resourceSpecs } from "../section/resources.ts";
import { grid, type Section, section, smallGrid } from "../section/section.ts";
import { thresholds } from "../section/thresholds.ts";
import type { RunData } from "../summary.ts";
import { Charts } from "./charts.ts";
import { about, Controls, type Link } from "./controls.ts";
import { Glance } from "./glance.ts";
import { Searching } from "./search.ts";
import type { Planned, State } from "./state.ts";

export function live(data: DOMStringMap): void {
    const subject = about(data);
    const controls = new Controls(subject);
    const glance = new Glance();
    const figures = h("div", {});
    const boxes = { latency: h("div", {}), load: smallGrid(), resources: smallGrid() };
    const texts = { agents: h("div", {}), thresholds: h("div", {}), errors: h("div", {}) };
    const sections = {
        latency: section("latency", "Latency", grid(boxes.latency, subject.link && beside(subject.link))),
        load: section("load", "Load", boxes.load),
        resources: section("resources", "Resources", boxes.resources),
        agents: section("agents", "Agents", texts.agents),
        thresholds: section("thresholds", "Thresholds", texts.thresholds),
        errors: section("errors", "Errors", texts.errors),
    };
    const charts = {
        latency: new Charts(boxes.latency),
        load: new Charts(boxes.load),
        resources: new Charts(boxes.resources),
    };
    frame(subject.name, [controls.element, glance.element, figures], Object.values(sections));
    for (const section of Object.values(sections)) reveal(section, false);

    function draw(run: RunData, planned: Planned | undefined): void {
        const { summary, highlights } = run;
        if (planned) glance.show(summary, planned);
        figures.replaceChildren(tiles(run, true));
        const main = highlights.latency === null ? null : overTime(run, highlights.latency);
        reveal(sections.latency, charts.latency.show(main ? [main] : []));
        reveal(sections.load, charts.load.show(loadSpecs(summary, planned?.users_over_time)));
        reveal(sections.resources, charts.resources.show(resourceSpecs(summary)));
        reveal(sections.agents, fill(texts.agents, agents(run, "so far")));
        reveal(sections.thresholds, fill(texts.thresholds, thresholds(run)));
        reveal(sections.errors, fill(texts.errors, errors(run)));
    }

    const searching = new Searching(subject.name, controls.element);
    const source = new EventSource("states");
    source.addEventListener("open", () => controls.connected(true));
    // The browser tries again by itself.
    source.addEventListener("error", () => controls.connected(false));
    source.addEventListener("message", ({ data }) => {
        const state = JSON.parse(data as string) as State;
        if (state.over) {
            source.close();
            location.replace("report");
            return;
        }
        const [run] = state.run?.runs ?? [];
        if (run) draw(run, state.planned);
        if (state.search !== undefined) searching.show(state.search, state.present ?? "");
        const elapsed = run?.summary.metadata.duration_seconds ?? (state.search === null ? 0 : since(state.search?.started_at));
        if (state.mood) controls.show(state.mood, elapsed);
    });
}

/** Seconds since a moment of this machine's clock. */
function since(moment: string | undefined): number | null {
    return moment === undefined ? null : (Date.now() - Date.parse(moment)) / 1000;
}

/** Another page that belongs to the run, in a frame. */
function beside({ url, name }: Link): HTMLElement {
    const address = new URL(url);
    // Under another name of this machine it would be a page of others, whose cookies browsers keep out of frames.
    if (location.hostname === "localhost") address.hostname = location.hostname;
    return h("iframe", { class: "beside", src: address.href, title: name });
}

/** A section that has nothing to show is not there, and nothing leads to it. */
function reveal({ id, element }: Section, isShown: boolean): void {
    element.hidden = !isShown;
    document.querySelector(`nav a[href="#${id}"]`)?.parentElement?.toggleAttribute("hidden", !isShown);
}

/** What a section of the report shows, without its heading, which is there already. Whether there is any. */
function fill(box: HTMLElement, made: Section | null): boolean {
    const [, ...content] = [...(made?.element.children ?? [])];
    const [shown, fresh] = [box.children[0], content[0]];
    if (content.length === 1 && box.children.length === 1 && isTable(shown) && isTable(fresh)) renew(shown, fresh);
    else box.replaceChildren(...content);
    return made !== null;
}

function isTable(element: Element | undefined): element is Element {
    return element?.classList.contains("table") ?? false;
}

/** Gives a table the content of another. It keeps the focus, and the place to which it was scrolled. */
function renew(shown: Element, fresh: Element): void {
    for (const { name, value } of fresh.attributes) shown.setAttribute(name, value);
    shown.replaceChildren(...fresh.children);
}
