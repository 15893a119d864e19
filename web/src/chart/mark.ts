// The mark of a place on the horizontal axis: a dashed line from top to bottom, with words beside it.

import type uPlot from "uplot";

import { palette } from "../theme.ts";
import type { Spec } from "./chart.ts";

export function mark(plot: uPlot, spec: Spec): void {
    const { mark } = spec;
    if (!mark) return;
    const { ctx, bbox } = plot;
    const pixels = devicePixelRatio;
    const x = Math.round(plot.valToPos(mark.x, "x", true));
    if (x < bbox.left || x > bbox.left + bbox.width) return;
    ctx.save();
    ctx.strokeStyle = palette().text;
    ctx.fillStyle = palette().text;
    ctx.lineWidth = pixels;
    ctx.setLineDash([4 * pixels, 4 * pixels]);
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    ctx.font = `${12 * pixels}px system-ui, sans-serif`;
    ctx.textBaseline = "top";
    // Beside the line where there is more room.
    const isRight = x > bbox.left + bbox.width / 2;
    ctx.textAlign = isRight ? "right" : "left";
    ctx.fillText(mark.label, x + (isRight ? -6 : 6) * pixels, bbox.top + 2 * pixels);
    ctx.restore();
}
