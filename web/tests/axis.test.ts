import assert from "node:assert/strict";
import { test } from "node:test";

import { logTicks, nines } from "../src/axis.ts";

test("ticks of logarithmic axes are round, and as many as there is room for", () => {
    assert.deepEqual(logTicks(100, 1_000, 8), [100, 200, 500, 1_000]);
    assert.deepEqual(logTicks(90, 110_000, 7), [100, 300, 1_000, 3_000, 10_000, 30_000, 100_000]);
    assert.deepEqual(logTicks(90, 110_000, 4), [100, 1_000, 10_000, 100_000]);
    assert.deepEqual(logTicks(1, 1e8, 4), [1, 1_000, 1e6]);
    assert.deepEqual(logTicks(0, 10, 4), []);
});

test("each further nine is as wide as the one before", () => {
    assert.equal(nines(0), -0);
    assert.ok(Math.abs(nines(99.9) - 3) < 1e-9);
    assert.ok(Math.abs(nines(99.99) - 4) < 1e-6);
    assert.ok(Number.isFinite(nines(100)));
});
