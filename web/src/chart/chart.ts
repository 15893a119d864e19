// A chart on the page: its title, legend, canvas, and the same numbers as a table. What is drawn is a `Spec`, plain
// data; `update` takes a new one, for pages that change while a run goes on.

import uPlot from "uplot";

import { h, table } from "../dom.ts";
import { format, type Unit } from "../format.ts";
import type { Ink } from "../ink.ts";
import { onThemeChange } from "../theme.ts";
import { options, strokes } from "./options.ts";
import type { Heat } from "../heat.ts";

/** One line, or one cloud of points. */
export interface Line {
    label: string;
    ink: Ink;
    /** Null is a gap; undefined is not: another line has a point there. */
    values: readonly (number | null | undefined)[];
    dash?: number[];
    /** Fill the area below. */
    area?: boolean;
    /** Draw points and no line. */
    points?: boolean;
    /** Never draw its points: it is not a measurement. */
    bare?: boolean;
    /** A line of the surface's colour around it, for what lies on a heatmap. */
    halo?: boolean;
    /** The figure of the whole run, which the legend shows while the pointer is elsewhere. */
    total?: string;
    /** Whether to draw the line across intervals without a reading. */
    spans?: boolean;
    /** Begin without it. */
    hidden?: boolean;
}

/** What the horizontal axis is. */
export type Horizontal =
    | { kind: "time"; intervalSeconds: number; endSeconds: number }
    | { kind: "percentile" }
    | { kind: "number"; label: string; unit: Unit };

/** A place on the horizontal axis, and the words beside its line. */
export interface Mark {
    x: number;
    label: string;
}

/** Everything that a chart shows. */
export interface Spec {
    title: string;
    /** A sentence below the title. */
    note?: string;
    horizontal: Horizontal;
    /** Ascending. */
    x: readonly number[];
    lines: Line[];
    unit: Unit;
    vertical: "linear" | "log";
    heat?: Heat | null;
    /** Places on the horizontal axis that are marked with a line and words. */
    marks?: readonly Mark[];
    /** CSS pixels. */
    height?: number;
}

/** All charts over time move and zoom together. */
const SYNC = "time";

/** CSS pixels of a chart that says nothing else. */
const HEIGHT = 180;

/** Up to so many points are each drawn, as a line alone would hide how few they are. */
export const FEW_POINTS = 40;

export class Chart {
    readonly element: HTMLElement;
    private readonly legend = h("div", { class: "legend" });
    private readonly canvas: HTMLElement;
    private readonly details: HTMLDetailsElement;
    private plot: uPlot | null = null;
    private hidden = new Set<string>();
    private values: HTMLElement[] = [];
    private where = h("span", { class: "legend-where" });

    constructor(private spec: Spec) {
        this.canvas = h("div", {
            class: "canvas",
            tabindex: 0,
            role: "img",
            "aria-label": `Chart: ${spec.title}. The arrow keys move between values; the table below has the numbers.`,
        });
        this.details = h("details", { class: "data" }, h("summary", {}, "Data as a table"));
        this.details.addEventListener("toggle", () => this.fillTable());
        this.element = h(
            "figure",
            { class: "chart" },
            h(
                "figcaption",
                {},
                h("span", { class: "chart-title" }, spec.title),
                spec.note && h("span", { class: "note" }, spec.note),
            ),
            this.legend,
            this.canvas,
            this.details,
        );
        for (const line of spec.lines) if (line.hidden) this.hidden.add(line.label);
        this.canvas.addEventListener("keydown", (event) => this.onKey(event));
        this.canvas.addEventListener("blur", () => this.plot?.setCursor({ left: -10, top: -10 }));
        new ResizeObserver(() => this.resize()).observe(this.canvas);
        onThemeChange(() => this.plot?.redraw(false, true));
        addEventListener("beforeprint", () => this.resize());
        this.drawLegend();
        // For tests and for people with a console: the numbers that are drawn.
        (this.element as HTMLElement & { chart?: Chart }).chart = this;
    }

    /** What is drawn. */
    data(): Spec {
        return this.spec;
    }

    /** Draws something else; hidden lines stay hidden. */
    update(spec: Spec): void {
        const isSame = sameShape(this.spec, spec);
        this.spec = spec;
        const [title, note] = [...(this.element.querySelector("figcaption")?.children ?? [])];
        if (title) title.textContent = spec.title;
        if (note) note.textContent = spec.note ?? "";
        if (isSame && this.plot) {
            this.plot.setData(aligned(spec));
        } else {
            this.plot?.destroy();
            this.plot = null;
            this.resize();
        }
        this.drawLegend();
        this.fillTable();
    }

    private resize(): void {
        const width = this.canvas.clientWidth;
        const height = this.spec.height ?? HEIGHT;
        if (width === 0) return;
        if (this.plot) {
            if (this.plot.width !== width) this.plot.setSize({ width, height });
            return;
        }
        const sync = this.spec.horizontal.kind === "time" ? SYNC : null;
        const setup = options(() => this.spec, { width, height, sync, onCursor: () => this.readOut() });
        this.plot = new uPlot(setup, aligned(this.spec), this.canvas);
        for (const label of this.hidden) this.show(label, false);
    }

    private show(label: string, show: boolean): void {
        strokes(this.spec.lines).forEach(({ line }, at) => {
            if (line.label === label) this.plot?.setSeries(at + 1, { show });
        });
    }

    private drawLegend(): void {
        this.values = this.spec.lines.map((line) => h("span", { class: "legend-value" }, line.total ?? ""));
        const isAlone = this.spec.lines.length === 1;
        const entries = this.spec.lines.map((line, at) => {
            const swatch = h("i", {
                class: `swatch ${line.points ? "dot" : ""} ${line.dash ? "dashed" : ""}`,
                "aria-hidden": "true",
            });
            swatch.style.setProperty("--swatch", `var(--${line.ink})`);
            const inside = [swatch, line.label, this.values[at] ?? null];
            if (isAlone) return h("span", { class: "legend-entry" }, ...inside);
            const isOn = !this.hidden.has(line.label);
            const button = h(
                "button",
                { type: "button", class: "legend-entry", "aria-pressed": String(isOn) },
                ...inside,
            );
            button.addEventListener("click", () => {
                const show = this.hidden.has(line.label);
                if (show) this.hidden.delete(line.label);
                else this.hidden.add(line.label);
                button.setAttribute("aria-pressed", String(show));
                this.show(line.label, show);
            });
            return button;
        });
        this.where.textContent = "";
        this.legend.replaceChildren(...entries, this.where);
    }

    /** Writes what is under the cursor into the legend. */
    private readOut(): void {
        const at = this.plot?.cursor.idx;
        const isPointing = typeof at === "number" && (this.plot?.cursor.left ?? -1) >= 0;
        const drawn = strokes(this.spec.lines);
        this.spec.lines.forEach((line, i) => {
            const cell = this.values[i];
            // Of a line without a point here, the nearest one.
            const own = this.plot?.cursor.idxs?.[drawn.findIndex((stroke) => stroke.line === line) + 1];
            const value = line.values[own ?? at ?? 0];
            if (cell) cell.textContent = isPointing ? format(value, this.spec.unit) : (line.total ?? "");
        });
        this.where.textContent = isPointing ? place(this.spec, at) : "";
    }

    private onKey(event: KeyboardEvent): void {
        const step = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity }[event.key];
        const plot = this.plot;
        if (step === undefined || !plot) return;
        event.preventDefault();
        const last = this.spec.x.length - 1;
        const known = plot.cursor.idx ?? -1;
        const next = Math.max(0, Math.min(last, step === Infinity ? last : step === -Infinity ? 0 : known + step));
        plot.setCursor({ left: plot.valToPos(this.spec.x[next] ?? 0, "x"), top: plot.over.clientHeight / 2 });
    }

    /** The table is made when it is looked at: some have thousands of cells. */
    private fillTable(): void {
        if (!this.details.open) return;
        const { spec } = this;
        const columns = [
            { label: head(spec.horizontal) },
            ...spec.lines.map((line) => ({ label: line.label, numeric: true })),
        ];
        const rows = spec.x.map((_, at) => [
            place(spec, at),
            ...spec.lines.map((line) => format(line.values[at], spec.unit)),
        ]);
        this.details.querySelector(".table")?.remove();
        this.details.append(table(spec.title, columns, rows, "tall"));
    }
}

function aligned(spec: Spec): uPlot.AlignedData {
    // A logarithmic axis has no zero; half a microsecond is less than anything that was measured.
    const y = (value: number | null | undefined) =>
        spec.vertical === "log" && typeof value === "number" ? Math.max(value, 0.5) : value;
    return [[...spec.x], ...strokes(spec.lines).map(({ line }) => line.values.map(y))];
}

/** Whether the same plot can show it, with other numbers. */
function sameShape(one: Spec, other: Spec): boolean {
    const shape = (spec: Spec) =>
        JSON.stringify([
            spec.unit,
            spec.vertical,
            spec.horizontal,
            spec.height,
            Boolean(spec.heat),
            spec.lines.map(({ label, ink, dash, area, points, halo }) => [label, ink, dash, area, points, halo]),
            spec.x.length <= FEW_POINTS,
        ]);
    return shape(one) === shape(other);
}

function head(horizontal: Horizontal): string {
    if (horizontal.kind === "time") return "time";
    return horizontal.kind === "percentile" ? "percentile" : horizontal.label;
}

/** The position of a point for people: `12–13 s`, `p99.9`, `150 users`. */
export function place(spec: Spec, at: number): string {
    const x = spec.x[at] ?? 0;
    const { horizontal } = spec;
    switch (horizontal.kind) {
        case "time": {
            const { intervalSeconds: width } = horizontal;
            const from = Math.floor(x / width) * width;
            return timeRange(from, from + width);
        }
        case "percentile":
            return `p${+(100 * (1 - 10 ** -x)).toFixed(6)}`;
        case "number":
            return `${format(x, horizontal.unit)} ${horizontal.label}`;
    }
}

function timeRange(from: number, to: number): string {
    if (to <= 60) return `${from}–${to} s`;
    const two = (n: number) => String(n).padStart(2, "0");
    const at = (s: number) => {
        const [hours, minutes, rest] = [Math.floor(s / 3600), Math.floor(s / 60) % 60, s % 60];
        return hours > 0 ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`;
    };
    return `${at(from)}–${at(to)}`;
}
