// The table of runs: each leads to its report, and those that are chosen are compared.

import { breakable, h, table } from "../dom.ts";
import { format, moment, seconds } from "../format.ts";
import { badgeClass, type KeptRun } from "./kept.ts";

/** As many as a comparison takes. */
const FEWEST = 2;
const MOST = 12;

const COLUMNS = [
    { label: "run" },
    { label: "result" },
    { label: "started" },
    { label: "kind" },
    { label: "users", numeric: true },
    { label: "time", numeric: true },
    { label: "figures" },
    { label: "tags and note" },
];

export function runs(found: KeptRun[]): HTMLElement {
    const button = h("button", { class: "button" }, "Compare");
    const note = h("span", { role: "status" });
    const form = h(
        "form",
        { method: "get", action: "compare" },
        table("Runs, the newest first", COLUMNS, found.map(row), "runs"),
        h("p", { class: "controls compare" }, button, note),
    );
    const draw = () => {
        const n = form.querySelectorAll("input:checked").length;
        button.disabled = n < FEWEST || n > MOST;
        note.textContent = button.disabled
            ? `${n} chosen; choose ${FEWEST} to ${MOST} runs`
            : `${n} chosen; the oldest is the baseline`;
    };
    form.addEventListener("change", draw);
    draw();
    return form;
}

function row(run: KeptRun): (HTMLElement | string)[] {
    const started = moment(run.started_at);
    return [
        h(
            "span",
            { class: "choice" },
            h("input", { type: "checkbox", name: "run", value: run.id, "aria-label": `Compare ${run.name}, ${started}` }),
            h("a", { href: `run?id=${encodeURIComponent(run.id)}`, title: run.command }, ...breakable(run.name || "unnamed")),
        ),
        h(
            "span",
            { class: "badges" },
            h("span", { class: `badge ${badgeClass(run.verdict)}` }, run.verdict),
            run.doubtful && run.verdict !== "doubtful" && h("span", { class: "badge unknown" }, "doubtful"),
        ),
        started,
        run.kind,
        format(run.vus_max, "count"),
        seconds(run.duration_seconds),
        run.figures,
        h("span", { class: "badges" }, ...run.tags.map((tag) => h("span", { class: "badge same" }, tag)), run.note),
    ];
}
