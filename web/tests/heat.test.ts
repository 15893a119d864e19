import assert from "node:assert/strict";
import { test } from "node:test";

import { cells, colorOf } from "../src/heat.ts";

test("bins become ranges of values, with a heat that grows with the logarithm of the count", () => {
    const heat = cells([[], [0, 1, 8, 99]], 8);
    assert.ok(heat);
    assert.deepEqual([heat.low, heat.mostInCell], [1, 99]);
    assert.deepEqual(
        heat.cells.map(({ interval, low, count }) => [interval, low, count]),
        [
            [1, 1, 1],
            [1, 2, 99],
        ],
    );
    assert.ok(Math.abs(heat.high - 2 ** (9 / 8)) < 1e-9);
    assert.equal(heat.cells[1]?.heat, 1);
    assert.ok(Math.abs((heat.cells[0]?.heat ?? 0) - Math.log(2) / Math.log(100)) < 1e-9);
});

test("no samples are no map", () => {
    assert.equal(cells([], 8), null);
    assert.equal(cells([[], [3, 0]], 8), null);
});

test("every heat has a colour", () => {
    const ramp = ["cool", "warm", "hot"];
    assert.deepEqual(
        [0.001, 0.34, 0.67, 1].map((heat) => colorOf(heat, ramp)),
        ["cool", "warm", "hot", "hot"],
    );
});
