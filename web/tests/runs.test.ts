import assert from "node:assert/strict";
import { test } from "node:test";

import { change, changeText, joined } from "../src/comparison/runs.ts";

test("lines of runs share an axis, and only what was not measured is a gap", () => {
    const { x, values } = joined([
        { x: [1, 3], values: [10, null] },
        { x: [2, 3], values: [20, 30] },
    ]);
    assert.deepEqual(x, [1, 2, 3]);
    assert.deepEqual(values, [
        [10, undefined, null],
        [undefined, 20, 30],
    ]);
});

test("changes are shares of the first figure", () => {
    const cases: [number | null, number | null, string][] = [
        [100, 112, "+12 %"],
        [100, 96.6, "−3.4 %"],
        [100, 100.01, "±0 %"],
        [10, 32, "×3.2"],
        [0, 5, ""],
        [null, 5, ""],
    ];
    for (const [first, other, expected] of cases) assert.equal(changeText(change(first, other)), expected);
});
