import assert from "node:assert/strict";
import { test } from "node:test";

import { type Planned, progress } from "../src/live/state.ts";

test("progress is told where the end is planned", () => {
    const cases: [number | null, number, number | null, string | null][] = [
        [null, 10, null, null],
        [0, 10, null, null],
        [40, 10, 0.25, "10 s of 40 s, 30 s left"],
        [40, 39.5, 39.5 / 40, "40 s of 40 s, 1 s left"],
        [40, 40, 1, "40 s as planned; the last iterations end"],
        [40, 55, 1, "40 s as planned; the last iterations end"],
    ];
    for (const [end_seconds, elapsed, share, words] of cases) {
        const planned: Planned = { end_seconds, users: null, arrivals_per_second: null, users_over_time: [] };
        const found = progress(planned, elapsed);
        assert.deepEqual([found?.share ?? null, found?.words ?? null], [share, words]);
    }
});
