import assert from "node:assert/strict";
import { test } from "node:test";

import { change, changeText, joined, signedChange } from "../src/comparison/runs.ts";

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

test("changes of statistics are ratios, points, or numbers", () => {
    assert.equal(signedChange(0.314, "microseconds", "p95"), "+31 %");
    assert.equal(signedChange(-0.0204, "per_second", "rate"), "−2.0 %");
    assert.equal(signedChange(0.012, "share", "failed"), "+1.2 pt");
    assert.equal(signedChange(0.0002, "bytes", "memory"), "0 %");
    assert.equal(signedChange(41, "number", "lost"), "+41");
    assert.equal(signedChange(8.94, "microseconds", "p95"), "+894 %");
    assert.equal(signedChange(9, "microseconds", "p95"), "×10");
    assert.equal(signedChange(11.34, "microseconds", "p95"), "×12.3");
    assert.equal(signedChange(999, "microseconds", "p95"), "×1000");
});
