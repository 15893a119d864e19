import assert from "node:assert/strict";
import { test } from "node:test";

import type { Timeline } from "../src/summary.ts";
import { fails, marks, middles, padded, perSecond, shares } from "../src/timeline.ts";

function timeline(interval_seconds: number, n_intervals: number): Timeline {
    return { interval_seconds, n_intervals, vus: [], iterations: [], failed: [], metrics: {}, heat_bins_per_octave: 8 };
}

test("a point stands in the middle of what the run filled of its interval", () => {
    assert.deepEqual(middles(timeline(2, 3), 5), [1, 3, 4.5]);
    assert.deepEqual(middles(timeline(1, 2), 2), [0.5, 1.5]);
});

test("rates are per second of what the run filled", () => {
    assert.deepEqual(perSecond([10, 20, 5], timeline(2, 3), 5), [5, 10, 5]);
});

test("the sliver at a run's end says nothing about a rate", () => {
    assert.deepEqual(perSecond([10, 1], timeline(1, 2), 1.1), [10, null]);
    assert.deepEqual(perSecond([3], timeline(1, 1), 0.1), [30]);
});

test("shares are absent where nobody asked", () => {
    const track = { passes: [1, 0, 3], totals: [2, 0, 3] };
    assert.deepEqual(shares(track), [0.5, null, 1]);
    assert.deepEqual(fails(track), [1, 0, 0]);
    assert.deepEqual(padded([1, 2], 3), [1, 2, null]);
});

test("commands are marked at their time, with as many words as fit", () => {
    assert.deepEqual(marks({}), []);
    const commands = [
        { command: "pkill -9  redis\n", at_seconds: 5.01 },
        { command: "systemctl restart redis-server", at_seconds: 7 },
    ];
    assert.deepEqual(marks({ commands }), [
        { x: 5.01, label: "pkill -9 redis" },
        { x: 7, label: "systemctl restart redis…" },
    ]);
});
