import assert from "node:assert/strict";
import { test } from "node:test";

import { checkShare, COLUMNS, figureOf, thresholdValue, trends } from "../src/metrics.ts";
import type { Contains, Metric, Summary } from "../src/summary.ts";

function trend(contains: Contains, count = 1): Metric {
    return {
        contains,
        type: "trend",
        values: { count, min: 1, mean: 1, p50: 1, p90: 1, p95: 1, p99: 1, p99_9: 1, max: 1 },
    };
}

const counter: Metric = { contains: "data", type: "counter", values: { count: 1, rate: 1 } };

test("what tells most comes first, and what the generator does comes late", () => {
    const metrics = {
        "rtt{scenario:chat}": trend("time"),
        iteration_duration: trend("time"),
        rtt: trend("time"),
        connecting: trend("time"),
        queue: trend("default"),
        unused: trend("time", 0),
        data_sent: counter,
    };
    const names = trends({ metrics } as unknown as Summary, "rtt");
    assert.deepEqual(names, ["rtt", "connecting", "rtt{scenario:chat}", "iteration_duration", "queue"]);
});

test("figures of lost messages are lower bounds, and so is their mean", () => {
    const values = { count: 9, min: 40, mean: 900, p50: 50, p90: 70, p95: 1_998, p99: 2_000, p99_9: 2_000, max: 2_500 };
    const shown = (more: object) =>
        COLUMNS.map(({ key }) => figureOf({ ...values, ...more }, key, "time")).join(", ");
    assert.equal(shown({}), "900 µs, 40 µs, 50 µs, 70 µs, 2 ms, 2 ms, 2 ms, 2.5 ms");
    assert.equal(
        shown({ lower_bounds_from: 2_000 }),
        "> 900 µs, 40 µs, 50 µs, 70 µs, > 2 ms, > 2 ms, > 2 ms, > 2.5 ms",
    );
});

test("the figures of thresholds are in their own units", () => {
    assert.deepEqual(thresholdValue(5.16, trend("time"), "p(95)"), [5_160, "duration"]);
    assert.deepEqual(thresholdValue(7, trend("time"), "count"), [7, "count"]);
    assert.deepEqual(thresholdValue(3, trend("default"), "avg"), [3, "plain"]);
    assert.deepEqual(thresholdValue(1_000, counter, "rate"), [1_000, "bytes/s"]);
    assert.deepEqual(thresholdValue(1_000, counter, "count"), [1_000, "bytes"]);
});

test("the share of checks counts answers and not checks", () => {
    assert.equal(checkShare([]), null);
    assert.equal(
        checkShare([
            { passes: 1, fails: 1 },
            { passes: 2, fails: 0 },
        ]),
        0.75,
    );
});
