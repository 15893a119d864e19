import assert from "node:assert/strict";
import { test } from "node:test";

import { about, againstLoad } from "../src/by-load.ts";
import type { ByLoad, Level } from "../src/summary.ts";

function level(mean: number, p95: number | null, rest: Partial<Level> = {}): Level {
    const latency =
        p95 === null
            ? null
            : { count: 100, min: 1, mean: 1, p50: p95 / 2, p90: p95, p95, p99: p95 * 2, p99_9: p95 * 2, max: p95 * 2 };
    return {
        least: mean,
        most: mean,
        mean,
        start_seconds: 0,
        seconds: 5,
        iterations: 10,
        failed_iterations: 0,
        checks: 0,
        failed_checks: 0,
        requests: 0,
        failed_requests: 0,
        latency,
        losses: null,
        targets: [],
        ...rest,
    };
}

function byLoad(curve: Level[], rest: Partial<ByLoad> = {}): ByLoad {
    return { unit: "users", latency: "rtt", plateaus: [], curve, curve_is_held: false, knee: null, ...rest };
}

test("each chart has the figures of the levels, and the knee has its mark", () => {
    const target = (cores: number, rss_bytes: number | null) => [{ name: "server", cores, rss_bytes }];
    const run = byLoad(
        [
            level(100, 1_000, { targets: target(0.5, 1e7) }),
            level(200, null, { failed_iterations: 5, targets: target(0.9, 2e7) }),
            level(300, 4_000, { iterations: 0, failed_iterations: 2, targets: target(1, null) }),
        ],
        { knee: { load: 200, p95: 1_000, last_p95: 4_000 } },
    );
    const specs = againstLoad(run);
    assert.deepEqual(
        specs.map(({ title }) => title),
        ["rtt against users", "Losses against users", "CPU against users", "Memory against users"],
    );
    const [latency, losses, cpu, memory] = specs.map(({ lines }) => lines.map(({ values }) => values));
    assert.deepEqual(latency?.[1], [1_000, null, 4_000]);
    assert.deepEqual(losses, [[0, 0.5, 1]]);
    assert.deepEqual([cpu, memory], [[[0.5, 0.9, 1]], [[1e7, 2e7, null]]]);
    assert.deepEqual(specs[0]?.x, [100, 200, 300]);
    assert.deepEqual(specs[0]?.marks, [{ x: 200, label: "knee" }]);
    assert.equal(specs[1]?.marks, undefined);
});

test("a chart with lost messages says which of its times are lower bounds", () => {
    const lossy = level(200, 3_000);
    if (lossy.latency) lossy.latency.lower_bounds_from = 3_000;
    const notes = [[level(100, 1_000), lossy], [level(100, 1_000), level(200, 3_000)]].map(
        (curve) => againstLoad(byLoad(curve))[0]?.note,
    );
    assert.deepEqual(notes, ["Messages were lost: times of 3 ms and more are lower bounds.", undefined]);
});

test("a run with one load has no such charts", () => {
    assert.deepEqual(againstLoad(byLoad([])), []);
    assert.deepEqual(againstLoad(byLoad([level(10, 5)])), []);
});

test("what a point is depends on whether loads were held", () => {
    const curve = [level(10, 5), level(20, 6)];
    assert.match(about(byLoad(curve)), /one of 2 bands/);
    assert.match(about(byLoad(curve, { curve_is_held: true })), /that was held/);
});
