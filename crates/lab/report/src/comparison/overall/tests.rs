//! Advice for inconclusive comparisons.

use super::*;
use crate::comparison::tests::difference;

const SERIES: Series = Series { runs: 3, seconds: 60 };

/// An inconclusive figure with these runs that would decide it.
fn open(figure: &str, suffices: Option<Series>) -> Difference {
    Difference {
        suffices,
        ..difference("rtt", figure, Verdict::Inconclusive, Some([-0.3, 0.3]))
    }
}

#[track_caller]
fn check(differences: &[Difference], expected: &[&str]) {
    assert_eq!(advice(differences, false), expected);
}

#[test]
fn the_advised_runs_decide_all_figures_that_can_be_decided() {
    let longer = Series {
        runs: 1,
        seconds: 120,
    };
    check(
        &[open("p50", Some(SERIES)), open("p95", Some(longer))],
        &[
            "3 runs of 120 s on each side, in turn, would decide rtt p50, p95, if the noise and the change stay as they are",
        ],
    );
    check(
        &[
            open("p50", Some(longer)),
            difference("rtt", "p95", Verdict::Equal, None),
        ],
        &[
            "one run of 120 s on each side, in turn, would decide rtt p50, if the noise and the change stay as they are",
        ],
    );
}

#[test]
fn figures_that_no_reasonable_runs_decide_are_named() {
    let absurd = Difference {
        interval: None,
        reason: Some(ABSURD.to_owned()),
        ..open("p95", None)
    };
    check(
        &[open("p50", None), absurd],
        &[
            "at this noise not even 12 runs of 300 s on each side would decide rtt p50, p95; run nothing else on the \
           machine, or load it for longer latencies",
        ],
    );
    check(
        &[open("p50", Some(SERIES)), open("p95", None)],
        &[
            "3 runs of 60 s on each side, in turn, would decide rtt p50, if the noise and the change stay as they are",
            "at this noise not even 12 runs of 300 s on each side would decide rtt p95; run nothing else on the machine, \
             or load it for longer latencies",
        ],
    );
}

#[test]
fn nothing_is_advised_about_figures_that_decide_nothing_or_have_no_samples() {
    let mut tail = open("p99", Some(SERIES));
    tail.decisive = false;
    let empty = Difference {
        interval: None,
        reason: Some("a run has no samples for most of its time".to_owned()),
        ..open("p50", None)
    };
    check(&[tail, empty], &[]);
}

#[test]
fn obstacles_come_before_noise() {
    assert_eq!(
        advice(&[open("p50", Some(SERIES))], true),
        ["repeat the runs with equal plans, on one machine, to their end"]
    );
}
