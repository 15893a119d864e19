import assert from "node:assert/strict";
import { test } from "node:test";

import { badgeClass, headline, isFiltered, type Kept, type Search, type Trend, type TrendRun } from "../src/history/kept.ts";
import { specs } from "../src/history/curves.ts";

const ANY: Search = { name: "", kind: "", tag: "", verdict: "", since: "" };

const NONE: Kept = {
    folder: "/data",
    problem: null,
    search: ANY,
    n_runs: 0,
    kinds: [],
    verdicts: [],
    tags: [],
    runs: [],
    is_cut: false,
};

const RUN = {
    id: "1",
    started_at: "2026-11-22T10:03:04.123Z",
    name: "chat.js",
    kind: "k6",
    command: "plimsoll run chat.js",
    duration_seconds: 20,
    vus_max: 1,
    verdict: "pass",
    doubtful: false,
    figures: "",
    note: null,
    tags: [],
};

test("the headline says how many runs are shown, of how many", () => {
    const cases: [Partial<Kept>, string][] = [
        [{}, "0 runs"],
        [{ n_runs: 1, runs: [RUN] }, "1 run"],
        [{ n_runs: 7, runs: [RUN], search: { ...ANY, kind: "k6" } }, "1 of 7 runs"],
        [{ n_runs: 900, runs: [RUN, RUN], is_cut: true }, "The newest 2 of 900 runs"],
    ];
    for (const [change, expected] of cases) assert.equal(headline({ ...NONE, ...change }), expected);
});

test("a search without anything leaves all", () => {
    assert.equal(isFiltered(ANY), false);
    assert.equal(isFiltered({ ...ANY, since: "7d" }), true);
});

test("every verdict has its colour, and another word is no good news", () => {
    assert.deepEqual(
        ["pass", "fail", "doubtful", "incomplete", "inconclusive", "found"].map(badgeClass),
        ["pass", "fail", "doubtful", "incomplete", "doubtful", "unknown"],
    );
});

test("the charts of a test are those of which some run has a value", () => {
    const run: TrendRun = {
        id: "1",
        started_at: "2026-11-22T10:03:04.123Z",
        verdict: "pass",
        doubtful: false,
        users: 5,
        p95_us: 2000,
        is_lower_bound: false,
        failed: 0,
        lost: null,
        line: null,
        low: null,
        high: null,
        tags: [],
        note: null,
    };
    const drawn = (trend: Partial<Trend>) =>
        specs({ name: "a.js", kind: "k6", latency: "rtt", unit: null, runs: [run, run], ...trend }).map(
            ({ title, lines, marks }) => [title, lines.map(({ values }) => values), marks?.map(({ label }) => label)],
        );
    assert.deepEqual(drawn({ runs: [run, { ...run, p95_us: null, tags: ["main", "v2"] }] }), [
        ["p95 of rtt", [[2000, null]], ["main, v2"]],
        ["Failed iterations", [[0, 0]], []],
    ]);
    assert.deepEqual(drawn({ latency: null, runs: [{ ...run, p95_us: null, lost: 3 }] })[0], ["Lost messages", [[3]], []]);
    const search = { ...run, p95_us: null, failed: null, line: 240, low: 230, high: null };
    assert.deepEqual(drawn({ kind: "line", latency: null, unit: "users", runs: [search] }), [
        ["Load line, users", [[240], [230], [null]], []],
    ]);
    assert.deepEqual(drawn({ latency: null, runs: [{ ...run, p95_us: null, failed: null }] }), []);
});
