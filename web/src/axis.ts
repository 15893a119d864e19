// Ticks of logarithmic axes. Pure.

/** 1, 2 and 5 times powers of ten inside [min, max], thinned to at most `most`; powers of ten stay longest. */
export function logTicks(min: number, max: number, most: number): number[] {
    if (!(min > 0) || !(max > min)) return [];
    const from = Math.floor(Math.log10(min));
    const to = Math.ceil(Math.log10(max));
    const inside = (steps: number[]) => {
        const ticks: number[] = [];
        for (let exponent = from; exponent <= to; exponent += 1) {
            for (const step of steps) {
                const value = step * 10 ** exponent;
                if (value >= min * 0.999 && value <= max * 1.001) ticks.push(value);
            }
        }
        return ticks;
    };
    const dense = [[1, 2, 5], [1, 3], [1]].map(inside).find((ticks) => ticks.length <= most && ticks.length > 1);
    if (dense) return dense;
    const decades = inside([1]);
    const every = Math.ceil(decades.length / Math.max(1, most));
    return decades.length > 1 ? decades.filter((_, i) => i % every === 0) : [min, Math.sqrt(min * max), max];
}

/** Where a percentile stands on an axis on which each further nine has the same width. */
export function nines(percentile: number): number {
    return -Math.log10(Math.max(1e-9, 1 - percentile / 100));
}

/** The percentiles that such an axis names, with their places on it. */
export const NINES: readonly { at: number; label: string }[] = [0, 50, 90, 95, 99, 99.9, 99.99].map((percentile) => ({
    at: nines(percentile),
    label: `${percentile}`,
}));
