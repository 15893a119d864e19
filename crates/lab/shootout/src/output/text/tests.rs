//! Tests of the text for people, line by line.

use expect_test::{Expect, expect};

use super::*;
use crate::outcome::{
    Workload,
    examples::{broadcast_step, connect_step, echo_step, faulty_step},
};

fn check(it: &Step, expected: &Expect) {
    let outcome = crate::outcome::examples::outcome(Workload::Broadcast, Vec::new());
    expected.assert_eq(&step(it, &outcome.setting));
}

#[test]
fn a_good_step() {
    check(
        &broadcast_step(),
        &expect![[r#"
            clients:  1000    95per-delivery:  95ms    min-delivery:   1ms    median-delivery:  48ms    max-delivery: 101ms
                last delivery p50 50.5 ms, p95 95.0 ms, p99 99.0 ms, max 100 ms; listeners p50 33.4 ms, p95 63.4 ms, p99 66.0 ms, max 66.7 ms
                100 sent, 0 unacknowledged; 100000 of 100000 delivered, 0 lost, 0 duplicated, 0 out of order
                acknowledgement (sender's rtt) p50 25.2 ms, p95 47.5 ms, p99 49.5 ms, max 50.0 ms
                in flight: 4 broadcasts at most, 3.9 on average (--concurrent 4)
                in 0.50 s: generator 0.26 s CPU (52 %), target 0.31 s CPU (62 %), 35.0 MB
        "#]],
    );
}

#[test]
fn a_bad_step() {
    check(
        &faulty_step(),
        &expect![[r#"
            clients:  1000    95per-delivery: >95ms    min-delivery:   1ms    median-delivery:  48ms    max-delivery: >101ms
                last delivery p50 50.5 ms, p95 > 95.0 ms, p99 > 99.0 ms, max > 100 ms; listeners p50 33.4 ms, p95 63.4 ms, p99 > 66.0 ms, max > 66.7 ms
                100 sent, 2 unacknowledged; 99993 of 100000 delivered (1 late), 7 lost, 3 duplicated, 4 out of order
                acknowledgement (sender's rtt) p50 25.2 ms, p95 47.5 ms, p99 49.5 ms, max 50.0 ms
                in flight: 4 broadcasts at most, 3.9 on average (--concurrent 4)
                in 0.50 s: generator 0.26 s CPU (52 %), target 0.31 s CPU (62 %), 35.0 MB
                4 failed: connection refused (3), timed out in the HTTP upgrade (1)
                1 dropped: disconnected by the server: too_slow (1)
                DOUBTFUL: the load generator was the bottleneck, so these figures do not describe the target alone
                its workers were too busy
        "#]],
    );
}

#[test]
fn an_echo_step() {
    check(
        &echo_step(),
        &expect![[r#"
            clients:  1000    95per-rtt:  76ms    min-rtt:   0ms    median-rtt:  30ms    max-rtt: 1382ms
                round trip p50 25.2 ms, p95 47.5 ms, p99 49.5 ms, max 50.0 ms
                100 sent, 0 unanswered
                in 0.50 s: generator 0.26 s CPU (52 %), target 0.31 s CPU (62 %), 35.0 MB
        "#]],
    );
}

#[test]
fn a_connect_step() {
    check(
        &connect_step(),
        &expect![[r#"
            clients:  1000    95per-rtt:  76ms    min-rtt:   0ms    median-rtt:  30ms    max-rtt: 1382ms
                1000 ready in this step: p50 50.1 ms, p95 95.0 ms, p99 99.0 ms, max 100 ms; TCP p95 47.5 ms; upgrade p95 23.8 ms; welcome p95 950 µs; subscribe p95 23.8 ms
                in 0.40 s: generator 0.21 s CPU (52 %), target 0.13 s CPU (32 %), 34.5 MB
        "#]],
    );
    check(
        &Step {
            rtt: None,
            ..connect_step()
        },
        &expect![[r#"
            clients:  1000    no samples
                1000 ready in this step: p50 50.1 ms, p95 95.0 ms, p99 99.0 ms, max 100 ms; TCP p95 47.5 ms; upgrade p95 23.8 ms; welcome p95 950 µs; subscribe p95 23.8 ms
                in 0.40 s: generator 0.21 s CPU (52 %), target 0.13 s CPU (32 %), 34.5 MB
        "#]],
    );
}

#[test]
fn the_first_line_is_that_of_websocket_bench() {
    // The lines of AnyCable 1.0 in its published results of 2020-06-30.
    let line = |n_clients, ms: [u64; 4]| {
        let [percentile, min, median, max] = ms.map(Duration::from_millis);
        headline(&Step {
            n_clients,
            rtt: Some(crate::samples::Rtt {
                percentile,
                min,
                median,
                max,
            }),
            ..echo_step()
        })
    };
    assert_eq!(
        line(1000, [196, 2, 33, 252]),
        "clients:  1000    95per-rtt: 196ms    min-rtt:   2ms    median-rtt:  33ms    max-rtt: 252ms"
    );
    assert_eq!(
        line(10_000, [1033, 3, 248, 2671]),
        "clients: 10000    95per-rtt: 1033ms    min-rtt:   3ms    median-rtt: 248ms    max-rtt: 2671ms"
    );
}

#[test]
fn durations_have_three_digits() {
    let check = |us, expected| assert_eq!(micros(us), expected);
    check(0, "0 µs");
    check(999, "999 µs");
    check(1_000, "1.00 ms");
    check(12_345, "12.3 ms");
    check(123_456, "123 ms");
    check(1_234_567, "1.23 s");
}

#[test]
fn milliseconds_are_rounded_half_up() {
    let check = |us, expected| assert_eq!(millis(Duration::from_micros(us)), expected);
    check(499, 0);
    check(500, 1);
    check(1_499, 1);
}
