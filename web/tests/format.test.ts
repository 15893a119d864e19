import assert from "node:assert/strict";
import { test } from "node:test";

import {
    bytes,
    clock,
    compact,
    count,
    digits,
    duration,
    format,
    seconds,
    share,
    shellCommand,
    tick,
    unbroken,
    words,
} from "../src/format.ts";

function check<T>(of: (input: T) => string, cases: readonly (readonly [T, string])[]): void {
    for (const [input, expected] of cases) assert.equal(of(input), expected, JSON.stringify(input));
}

test("durations have three digits that matter and the unit that suits them", () => {
    check(duration, [
        [0, "0 ms"],
        [1, "1 µs"],
        [999.4, "999 µs"],
        [999.6, "1 ms"],
        [1_263, "1.26 ms"],
        [12_300, "12.3 ms"],
        [999_499, "999 ms"],
        [1_500_000, "1.5 s"],
        [125_000_000, "2 min 5 s"],
        [-1_500, "−1.5 ms"],
    ]);
    check(seconds, [
        [0.4, "0.4 s"],
        [20, "20 s"],
        [23.64, "23.6 s"],
        [59.96, "1 min"],
        [90, "1 min 30 s"],
        [3_600, "1 h"],
        [3_723, "1 h 2 min"],
    ]);
    check(clock, [
        [0, "0 s"],
        [7.5, "7.5 s"],
        [90, "1:30"],
        [3_723, "1:02:03"],
    ]);
});

test("sizes are in powers of 1,000", () => {
    check(bytes, [
        [0, "0 B"],
        [999, "999 B"],
        [999.7, "1 kB"],
        [86_211, "86.2 kB"],
        [31_400_000, "31.4 MB"],
        [1e19, "10,000 PB"],
    ]);
});

test("counts are written in full, with thousands apart", () => {
    check(count, [
        [0, "0"],
        [999, "999"],
        [394_029, "394,029"],
        [1_234_567, "1,234,567"],
        [1.5, "1.5"],
    ]);
    check(compact, [
        [0, "0"],
        [0.5, "0.5"],
        [1_500, "1,500"],
        [25_000, "25k"],
        [3_400_000, "3.4M"],
    ]);
    check(digits, [
        [16_744.71, "16,745"],
        [0.012_34, "0.0123"],
        [1_000, "1,000"],
        [-0.5, "−0.5"],
        [1e-9, "1e-9"],
    ]);
});

test("nearly all is not all, and hardly any is not none", () => {
    check(share, [
        [1, "100 %"],
        [0.999_999, "99.99 %"],
        [0.29, "29 %"],
        [0.000_01, "< 0.01 %"],
        [0, "0 %"],
    ]);
});

test("what is absent is a dash, and one core is one core", () => {
    assert.equal(format(null, "duration"), "–");
    assert.equal(format(undefined, "count"), "–");
    assert.equal(format(Number.NaN, "bytes"), "–");
    assert.equal(format(1, "cores"), "1 core");
    assert.equal(format(0.8, "cores"), "0.8 cores");
    assert.equal(format(0.0303, "cores"), "0.03 cores");
    assert.equal(format(0.004, "cores"), "< 0.01 cores");
    assert.equal(format(0, "cores"), "0 cores");
    assert.equal(format(0.999, "cores"), "1 core");
    assert.equal(format(12.34, "cores"), "12.3 cores");
    assert.equal(format(3_912.2, "count/s"), "3,912/s");
});

test("ticks leave out what the title says", () => {
    assert.equal(tick(2_000_000, "bytes/s"), "2 MB");
    assert.equal(tick(0.2, "cores"), "0.2");
    assert.equal(tick(20_000, "count/s"), "20k");
});

test("a command can be pasted into a shell", () => {
    assert.equal(shellCommand(["plimsoll", "run", "chat.js"]), "plimsoll run chat.js");
    assert.equal(shellCommand(["-e", "URL=ws://h/?a=b c", "it's", ""]), "-e 'URL=ws://h/?a=b c' 'it'\\''s' ''");
});

test("a number and its unit stay on one line", () => {
    const cases = [
        ["p95 of rtt 20.9 ms (80 samples)", ["p95 of rtt ", "20.9 ms", " (80 samples)"]],
        ["held 24 users for 4 s", ["held ", "24 users", " for ", "4 s", ""]],
        ["2 scenarios, 5 min/h", ["2 scenarios, 5 min/h"]],
    ] as const;
    for (const [text, expected] of cases) assert.deepEqual(unbroken(text), expected);
});

test("a name may continue on the next line between its words", () => {
    const cases: [string, string[]][] = [
        ["chat.js", ["chat.js"]],
        ["cable_subscribe_duration", ["cable_", "subscribe_", "duration"]],
        ["bench echo ws://localhost:8080/cable?jid=a", ["bench echo ws://", "localhost:", "8080/", "cable?", "jid=", "a"]],
        ["__VU/", ["__", "VU/"]],
        ["", [""]],
    ];
    for (const [name, expected] of cases) assert.deepEqual(words(name), expected);
});
