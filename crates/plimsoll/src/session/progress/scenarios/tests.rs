//! The lines of all executors, in all states.

use expect_test::{Expect, expect};
use plimsoll_load::plan::{Options, Plan};
use serde_json::{Value, json};

use super::*;

/// Compares lines. `counts`: users, iterations in progress, complete and dropped.
fn check(scenario: &Value, moments: &[(u64, [u32; 4])], width: usize, expected: &Expect) {
    let options = json!({ "scenarios": { "chat": scenario } });
    let plan = Plan::from_options(&Options::from_json(&options).unwrap().options).unwrap();
    let lines = moments
        .iter()
        .map(|&(ms, [vus, n_under_way, n_complete, n_dropped])| {
            let progress = ScenarioProgress {
                scenario: &plan.scenarios[0],
                vus,
                n_under_way,
                n_complete: n_complete.into(),
                n_dropped: n_dropped.into(),
            };
            lines(&[progress], Duration::from_millis(ms), width)
        });
    expected.assert_eq(&lines.collect::<String>());
}

#[test]
fn looping_users_have_a_time() {
    check(
        &json!({ "executor": "constant-vus", "vus": 10, "duration": "30s", "startTime": "5s" }),
        &[
            (1_100, [10, 0, 0, 0]),
            (5_000, [10, 10, 0, 0]),
            (12_500, [10, 10, 99, 0]),
            (35_100, [10, 3, 200, 0]),
            (37_100, [10, 0, 203, 0]),
        ],
        100,
        &expect![[r#"
            chat • [----------------------------------------]  waiting 03.9s
            chat   [----------------------------------------]  10 VUs  00.0s/30.0s
            chat   [=========>------------------------------]  10 VUs  07.5s/30.0s
            chat ↓ [========================================]  10 VUs  30.0s/30.0s
            chat ✓ [========================================]  10 VUs  30.0s/30.0s
        "#]],
    );
    check(
        &json!({ "executor": "ramping-vus", "stages": [{ "duration": "90s", "target": 100 }] }),
        &[(1_100, [100, 2, 0, 0]), (91_000, [100, 100, 5_000, 0])],
        100,
        &expect![[r#"
            chat   [----------------------------------------]  002/100 VUs  00m01.1s/01m30.0s
            chat ↓ [========================================]  100/100 VUs  01m30.0s/01m30.0s
        "#]],
    );
    check(
        &json!({ "executor": "externally-controlled", "vus": 2, "maxVUs": 5, "duration": 0 }),
        &[(3_700_100, [5, 2, 10, 0])],
        100,
        &expect![[r#"
            chat   [----------------------------------------]  2/5 VUs  1h01m40s
        "#]],
    );
}

#[test]
fn counted_iterations_are_shown() {
    check(
        &json!({ "executor": "shared-iterations", "vus": 4, "iterations": 200, "maxDuration": "1h" }),
        &[(1_100, [4, 4, 7, 0]), (2_100, [4, 0, 200, 0])],
        100,
        &expect![[r#"
            chat   [>---------------------------------------]  4 VUs  0h00m01s/1h00m00s  007/200 shared iters
            chat ✓ [========================================]  4 VUs  0h00m02s/1h00m00s  200/200 shared iters
        "#]],
    );
    check(
        &json!({ "executor": "per-vu-iterations", "vus": 4, "iterations": 5, "maxDuration": "10s" }),
        &[
            (1_100, [4, 4, 7, 0]),
            (10_100, [4, 4, 12, 0]),
            (11_000, [4, 0, 12, 8]),
        ],
        100,
        &expect![[r#"
            chat   [=============>--------------------------]  4 VUs  01.1s/10.0s  07/20 iters, 5 per VU
            chat ↓ [========================================]  4 VUs  10.0s/10.0s  12/20 iters, 5 per VU
            chat ✓ [========================================]  4 VUs  10.0s/10.0s  12/20 iters, 5 per VU
        "#]],
    );
}

#[test]
fn arrivals_have_a_rate() {
    check(
        &json!({ "executor": "constant-arrival-rate", "rate": 90, "timeUnit": "1m", "duration": "20s", "preAllocatedVUs": 5,
                 "maxVUs": 100 }),
        &[(1_100, [5, 1, 1, 0]), (5_100, [12, 12, 3, 4])],
        100,
        &expect![[r#"
            chat   [=>--------------------------------------]  1/5 VUs  01.1s/20.0s  1.50 iters/s
            chat   [=========>------------------------------]  12/12 VUs  05.1s/20.0s  1.50 iters/s
        "#]],
    );
    check(
        &json!({ "executor": "ramping-arrival-rate", "preAllocatedVUs": 5, "stages": [{ "duration": "10s", "target": 50 }] }),
        &[(5_000, [5, 5, 100, 0]), (12_000, [5, 0, 250, 0])],
        100,
        &expect![[r#"
            chat   [===================>--------------------]  5/5 VUs  05.0s/10.0s  25.00 iters/s
            chat ✓ [========================================]  0/5 VUs  10.0s/10.0s  50.00 iters/s
        "#]],
    );
}

#[test]
fn a_narrow_terminal_gets_a_shorter_line() {
    let scenario = json!({ "executor": "constant-vus", "vus": 10, "duration": "30s" });
    for (width, expected) in [
        (
            45,
            expect![[r#"
            chat   [====>----------]  10 VUs  10.0s/30.0s
        "#]],
        ),
        (
            30,
            expect![[r#"
            chat   [ 33%]  10 VUs  10.0s/3
        "#]],
        ),
        (
            12,
            expect![[r#"
            chat   [ 33%
        "#]],
        ),
    ] {
        check(&scenario, &[(10_000, [10, 10, 0, 0])], width, &expected);
    }
}
