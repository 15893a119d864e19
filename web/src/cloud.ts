// A series against the load, interval by interval. Pure.

import type { Values } from "./summary.ts";

export interface Point {
    x: number;
    y: number;
    /** There were more users before; what they took is kept, so this says nothing of what users need. */
    isFalling: boolean;
}

/** The intervals by their load. `fallsMatter` where memory of a higher load may remain. */
export function cloud(load: Values, values: Values, fallsMatter: boolean): Point[] {
    let most = 0;
    const points = load.flatMap((x, at): Point[] => {
        if (x === null) return [];
        const isFalling = fallsMatter && x < most;
        most = Math.max(most, x);
        const y = values[at] ?? null;
        return y === null ? [] : [{ x, y, isFalling }];
    });
    return points.sort((a, b) => a.x - b.x);
}
