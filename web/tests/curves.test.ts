import assert from "node:assert/strict";
import { test } from "node:test";

import { objectives, uses } from "../src/line/curves.ts";
import type { Search, Step } from "../src/line/search.ts";

function step(load: number, rtt: number | null, verdict: Step["verdict"]): Step {
    return {
        load,
        verdict,
        objectives: [
            { objective: "rtt p(95)<500", value: rtt, shown: `${rtt}ms`, held: verdict === "held" },
            { objective: "errors==0", value: 0, shown: "0", held: true },
        ],
        reasons: [],
        failures: [],
        targets: [{ name: ":8080", cpu_cores: load / 1000, rss_bytes: load * 1000 }],
        generator_cpu_cores: 0.5,
    };
}

function search(steps: Step[]): Search {
    return {
        plimsoll: "0.1.0",
        command: ["plimsoll", "line"],
        name: "chat.js",
        started_at: "2026-11-22T10:00:00Z",
        unit: "users",
        objectives: ["rtt p(95)<500", "errors==0"],
        limits: [
            { title: "rtt p(95)", measure: "milliseconds", limit: 500 },
            { title: "errors", measure: "number", limit: 0 },
        ],
        default_objectives: false,
        result: { end: "found", holds: null, breaks: null, headline: "", sentence: "" },
        steps,
        notices: [],
    };
}

test("steps are points by their load and verdict, beside what is allowed, in the unit of the axis", () => {
    const [rtt, errors] = objectives(
        search([step(10, 2, "held"), step(1280, 612, "broke"), step(640, 80, "held"), step(1300, null, "generator")]),
    );
    assert.deepEqual(rtt?.x, [10, 640, 1280, 1300]);
    assert.deepEqual(
        rtt.lines.map(({ label, values }) => [label, values]),
        [
            ["held", [2000, 80_000, null, null]],
            ["broke", [null, null, 612_000, null]],
            ["limit", [500_000, 500_000, 500_000, 500_000]],
        ],
    );
    assert.equal(rtt.lines.at(-1)?.total, "500 ms");
    assert.equal(rtt.vertical, "log", "2 ms and 612 ms");
    assert.equal(errors?.vertical, "linear");
    assert.deepEqual(
        errors.lines.map(({ label }) => label),
        ["held", "broke", "generator was the bottleneck", "limit"],
    );
});

test("an objective that was never measured has no chart", () => {
    assert.equal(objectives(search([step(10, null, "broke")])).length, 1);
    assert.equal(objectives(search([])).length, 0);
});

test("what targets used stands against the load, beside the generator", () => {
    const [cpu, memory, ...others] = uses(search([step(20, 1, "held"), step(10, 1, "held")]));
    assert.deepEqual(
        cpu?.lines.map(({ label, values }) => [label, values]),
        [
            [":8080", [0.01, 0.02]],
            ["generator", [0.5, 0.5]],
        ],
    );
    assert.deepEqual(memory?.lines.map(({ values }) => values), [[10_000, 20_000]]);
    assert.deepEqual(others, []);
    const blind = search([{ ...step(10, 1, "held"), targets: [] }]);
    assert.equal(uses(blind).length, 1, "only the generator");
});
