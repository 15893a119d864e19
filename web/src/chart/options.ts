// How uPlot is set up to draw a `Spec`: scales, axes, lines, and the heat below them.

import uPlot from "uplot";

import { logTicks, NINES } from "../axis.ts";
import { clock, tick } from "../format.ts";
import { palette } from "../theme.ts";
import { FEW_POINTS, type Line, type Spec } from "./chart.ts";
import { heatmap } from "./heatmap.ts";
import { marks } from "./mark.ts";

/** What belongs to the place and not to the data. */
export interface Setting {
    width: number;
    height: number;
    /** Charts with the same key share their cursor and their zoom. */
    sync: string | null;
    onCursor: () => void;
}

const FONT = "12px system-ui, sans-serif";

/** CSS pixels between two ticks of the vertical axis. */
const TICK_SPACE = 34;

export function options(spec: () => Spec, setting: Setting): uPlot.Options {
    const { horizontal, vertical, lines } = spec();
    return {
        width: setting.width,
        height: setting.height,
        // Room for the last label of the horizontal axis.
        padding: [8, 24, 0, 0],
        legend: { show: false },
        scales: {
            x: { time: false, range: (_, min, max) => horizontalRange(spec(), min, max) },
            y: {
                distr: vertical === "log" ? 3 : 1,
                range: (_, min, max) => verticalRange(spec(), min, max),
            },
        },
        axes: [horizontalAxis(horizontal, spec), verticalAxis(spec)],
        series: [{}, ...strokes(lines).map((stroke) => series(stroke, spec))],
        cursor: {
            y: false,
            points: { size: 7, width: 2 },
            drag: { x: horizontal.kind === "time", y: false, setScale: true },
            ...(setting.sync === null
                ? {}
                : { sync: { key: setting.sync, setSeries: false, scales: ["x", null] as [string, null] } }),
        },
        hooks: {
            setCursor: [setting.onCursor],
            drawAxes: [(plot) => heatmap(plot, spec())],
            draw: [(plot) => marks(plot, spec())],
        },
    };
}

function horizontalRange(spec: Spec, min: number | null, max: number | null): uPlot.Range.MinMax {
    const { horizontal, x } = spec;
    const [first, last] = [x[0] ?? 0, x.at(-1) ?? 1];
    // The user zoomed in on a part.
    const isWhole = min === null || max === null || (min <= first && max >= last);
    if (!isWhole) return [min, max];
    switch (horizontal.kind) {
        case "time":
            return [0, Math.max(horizontal.endSeconds, last)];
        case "percentile":
            return [0, Math.max(last, 1)];
        case "number":
            return [0, last > 0 ? last * 1.03 : 1];
    }
}

function verticalRange(spec: Spec, min: number | null, max: number | null): uPlot.Range.MinMax {
    if (spec.vertical === "log") {
        const low = Math.min(spec.heat?.low ?? Infinity, min && min > 0 ? min : Infinity);
        const high = Math.max(spec.heat?.high ?? 0, max ?? 0);
        if (!Number.isFinite(low) || high <= 0) return [1, 10];
        // At least a factor of four, so that the noise of a steady run does not look like a storm.
        const missing = Math.max(1, Math.sqrt(4 / (high / low)));
        return [low / missing / 1.1, high * missing * 1.1];
    }
    const top = max ?? 0;
    const bottom = Math.min(min ?? 0, 0);
    return [bottom, top > 0 ? top * 1.08 : 1];
}

function axis(): uPlot.Axis {
    return {
        stroke: () => palette().muted,
        font: FONT,
        grid: { stroke: () => palette().grid, width: 1 },
        ticks: { show: false },
        gap: 6,
    };
}

function horizontalAxis(horizontal: Spec["horizontal"], spec: () => Spec): uPlot.Axis {
    const common = { ...axis(), size: 30, grid: { show: false }, space: 56 };
    switch (horizontal.kind) {
        case "time":
            return {
                ...common,
                incrs: [0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 43_200, 86_400],
                values: (_, splits) => splits.map(clock),
            };
        case "percentile":
            return {
                ...common,
                grid: { stroke: () => palette().grid, width: 1 },
                splits: (_plot, _axis, _min, max) => NINES.map(({ at }) => at).filter((at) => at <= max + 1e-9),
                values: (_, splits) =>
                    splits.map((at) => NINES.find((nine) => Math.abs(nine.at - at) < 1e-9)?.label ?? ""),
            };
        case "number":
            return {
                ...common,
                values: (_, splits) => splits.map((value) => tick(value, horizontal.unit)),
                label: horizontal.label,
                labelFont: FONT,
                labelSize: 20,
                labelGap: 0,
                size: 26,
                space: spec().x.length > 0 ? 50 : 80,
            };
    }
}

function verticalAxis(spec: () => Spec): uPlot.Axis {
    const { vertical, unit } = spec();
    const most = (plot: uPlot) => Math.max(2, Math.floor(plot.bbox.height / uPlot.pxRatio / TICK_SPACE));
    return {
        ...axis(),
        size: (_, values) => Math.max(44, 14 + 6.6 * Math.max(0, ...(values ?? []).map((value) => value.length))),
        space: TICK_SPACE,
        ...(vertical === "log"
            ? { splits: (plot: uPlot, _axis: number, min: number, max: number) => logTicks(min, max, most(plot)) }
            : {}),
        ...(unit === "count" ? { incrs: WHOLE_STEPS } : {}),
        filter: (_, splits) => splits,
        values: (_, splits) => splits.map((value) => tick(value, unit)),
    };
}

/** Users are whole numbers. */
const WHOLE_STEPS = Array.from({ length: 12 }, (_, exponent) => [1, 2, 5].map((step) => step * 10 ** exponent)).flat();

/** A line as it is drawn: those with a halo twice, first wider and in the surface's colour. */
export interface Stroke {
    line: Line;
    isHalo: boolean;
}

export function strokes(lines: Line[]): Stroke[] {
    return lines.flatMap((line) => [...(line.halo ? [{ line, isHalo: true }] : []), { line, isHalo: false }]);
}

/** From so many points on, lines are thin and whole. */
const MANY_POINTS = 150;

function series({ line, isHalo }: Stroke, spec: () => Spec): uPlot.Series {
    if (isHalo) {
        const surface = () => `${palette().surface}b0`;
        return { label: line.label, scale: "y", stroke: surface, width: 6, points: { show: false } };
    }
    const color = () => palette().color(line.ink);
    const isSparse = spec().x.length <= FEW_POINTS;
    const points: uPlot.Series.Points = line.points
        ? { show: true, size: 6, width: 1.5, stroke: color, fill: () => palette().surface }
        : { show: isSparse && !line.bare, size: 5, stroke: color, fill: color };
    return {
        label: line.label,
        scale: "y",
        stroke: color,
        width: spec().x.length <= MANY_POINTS ? 2 : 1.5,
        ...(line.points ? { paths: () => null } : {}),
        ...(line.spans ? { spanGaps: true } : {}),
        // Dashes of a line that goes up and down at each point are noise.
        ...(line.dash && spec().x.length <= MANY_POINTS ? { dash: line.dash } : {}),
        // Colours of lines are six hexadecimal digits; two more are their opacity.
        ...(line.area ? { fill: () => `${palette().color(line.ink)}26` } : {}),
        points,
        value: () => "",
    };
}
