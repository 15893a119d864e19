// Samples by interval and by size, as cells of a heatmap. Pure.

/** One cell: an interval, a range of values, and how much of the heat scale it has, above 0 and up to 1. */
export interface Cell {
    interval: number;
    low: number;
    high: number;
    count: number;
    heat: number;
}

export interface Heat {
    cells: Cell[];
    /** The values that the cells reach over. */
    low: number;
    high: number;
    mostInCell: number;
}

/**
 * Reads `bin, count, bin, count, …` of each interval; bin b covers [2^(b/bins), 2^((b+1)/bins)).
 *
 * Heat is logarithmic: one slow answer among ten thousand is what the map is looked at for.
 */
export function cells(intervals: number[][], binsPerOctave: number): Heat | null {
    const edge = (bin: number) => 2 ** (bin / binsPerOctave);
    const found: Cell[] = [];
    let [low, high, mostInCell] = [Infinity, 0, 0];
    intervals.forEach((pairs, interval) => {
        for (let i = 0; i + 1 < pairs.length; i += 2) {
            const [bin, count] = [pairs[i] as number, pairs[i + 1] as number];
            if (count <= 0) continue;
            const cell = { interval, low: edge(bin), high: edge(bin + 1), count, heat: 0 };
            found.push(cell);
            low = Math.min(low, cell.low);
            high = Math.max(high, cell.high);
            mostInCell = Math.max(mostInCell, count);
        }
    });
    if (found.length === 0) return null;
    const full = Math.log1p(mostInCell);
    for (const cell of found) cell.heat = Math.log1p(cell.count) / full;
    return { cells: found, low, high, mostInCell };
}

/** The colour of a heat above 0 and up to 1, among colours from the coolest to the hottest. */
export function colorOf(heat: number, ramp: readonly string[]): string {
    const at = Math.ceil(heat * ramp.length) - 1;
    return ramp[Math.max(0, Math.min(ramp.length - 1, at))] ?? "transparent";
}
