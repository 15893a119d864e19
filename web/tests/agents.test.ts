import assert from "node:assert/strict";
import { test } from "node:test";

import { caption, figures, stateOf } from "../src/section/agents.ts";
import type { Agent } from "../src/summary.ts";

const FIRST: Agent = {
    name: "a1",
    version: "0.1.0",
    machine_cores: 4,
    share: 0.34,
    vus_max: 34,
    iterations: 12_345,
    cores: 1.52,
    busiest_worker_share: 0.62,
    lateness_bound_ms: 0.81,
    lateness_max_ms: 12.5,
    clock: { offset_ms: 12.4, uncertainty_ms: 0.85, start_skew_ms: 1.2 },
    lost_at_seconds: null,
    doubtful: false,
    reasons: [],
};

const LOST: Agent = { ...FIRST, name: "a2", lost_at_seconds: 12.3 };

const DOUBTFUL: Agent = {
    ...FIRST,
    name: "a3",
    lateness_bound_ms: null,
    clock: { offset_ms: -3.41, uncertainty_ms: 0.05, start_skew_ms: null },
    doubtful: true,
};

test("an agent has the figures of its machine", () => {
    assert.deepEqual(figures(FIRST, "at the end"), [
        "34 %",
        "34",
        "12,345",
        "1.52 of 4",
        "62 %",
        "810 µs",
        "+12.4 ms ± 850 µs",
        "+1.2 ms",
    ]);
    assert.deepEqual(figures(DOUBTFUL, "at the end").slice(5), ["–", "−3.41 ms ± 50 µs", "–"]);
});

test("while an agent makes load, it has no figures that are judged at the end", () => {
    assert.deepEqual(figures(FIRST, "so far"), ["34 %", "34", "12,345", "1.52 of 4", "12.5 ms", "+12.4 ms ± 850 µs", "+1.2 ms"]);
});

test("lost and doubtful agents are told", () => {
    for (const [agent, state] of [
        [FIRST, null],
        [LOST, "lost at 12 s"],
        [DOUBTFUL, "doubtful"],
        [{ ...LOST, doubtful: true }, "lost at 12 s"],
    ] as const) {
        assert.equal(stateOf(agent), state);
    }
    for (const [agents, text] of [
        [[FIRST], "1 agent"],
        [[FIRST, LOST, DOUBTFUL], "3 agents, 1 lost, 1 doubtful"],
    ] as const) {
        assert.equal(caption([...agents]), text);
    }
});
