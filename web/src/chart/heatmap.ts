// Cells of a heatmap, drawn below the lines of a chart over time.

import type uPlot from "uplot";

import { colorOf } from "../heat.ts";
import { palette } from "../theme.ts";
import type { Spec } from "./chart.ts";

export function heatmap(plot: uPlot, spec: Spec): void {
    const { heat, horizontal } = spec;
    if (!heat || horizontal.kind !== "time") return;
    const { ctx, bbox } = plot;
    const width = horizontal.intervalSeconds;
    const ramp = palette().heat;
    const [left, right] = [bbox.left, bbox.left + bbox.width];
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    for (const cell of heat.cells) {
        // Whole pixels, so that no seams show between neighbours.
        const x0 = Math.round(plot.valToPos(cell.interval * width, "x", true));
        const x1 = Math.round(plot.valToPos((cell.interval + 1) * width, "x", true));
        if (x1 < left || x0 > right) continue;
        const y0 = Math.round(plot.valToPos(cell.high, "y", true));
        const y1 = Math.round(plot.valToPos(cell.low, "y", true));
        ctx.fillStyle = colorOf(cell.heat, ramp);
        ctx.fillRect(x0, y0, Math.max(1, x1 - x0), Math.max(1, y1 - y0));
    }
    ctx.restore();
}
