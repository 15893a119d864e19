// The marks of places on the horizontal axis: dashed lines from top to bottom, with words beside them.

import type uPlot from "uplot";

import { palette } from "../theme.ts";
import type { Mark, Spec } from "./chart.ts";

/** CSS pixels from one line of words to the next. */
const LINE = 15;

/** So many marks have their words below each other, so that those of neighbours can be read; the next one begins at the top. */
const ROWS = 3;

export function marks(plot: uPlot, spec: Spec): void {
    spec.marks?.forEach((mark, at) => draw(plot, mark, at % ROWS));
}

function draw(plot: uPlot, { x: value, label }: Mark, row: number): void {
    const { ctx, bbox } = plot;
    const pixels = devicePixelRatio;
    const x = Math.round(plot.valToPos(value, "x", true));
    if (x < bbox.left || x > bbox.left + bbox.width) return;
    ctx.save();
    ctx.strokeStyle = palette().text;
    ctx.lineWidth = pixels;
    ctx.setLineDash([4 * pixels, 4 * pixels]);
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    ctx.font = `${12 * pixels}px system-ui, sans-serif`;
    ctx.textBaseline = "top";
    ctx.textAlign = "left";
    // Beside the line where there is more room.
    const isRight = x > bbox.left + bbox.width / 2;
    const { width } = ctx.measureText(label);
    const [left, top] = [isRight ? x - 6 * pixels - width : x + 6 * pixels, bbox.top + (2 + LINE * row) * pixels];
    // So that lines of the chart do not strike it through.
    ctx.fillStyle = `${palette().surface}d8`;
    ctx.fillRect(left - pixels, top - pixels, width + 2 * pixels, (LINE - 1) * pixels);
    ctx.fillStyle = palette().text;
    ctx.fillText(label, left, top);
    ctx.restore();
}
