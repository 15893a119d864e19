//! The sentence for runs of all shapes.

use super::*;
use crate::{
    agents::tests::three,
    summary::tests::{run, summary},
};

/// The sentence of a run that held 100 users for 45 s, after a change.
#[track_caller]
fn check(change: impl FnOnce(&mut Summary), expected: &str) {
    let mut summary = summary(&run());
    change(&mut summary);
    let highlights = Highlights::of(&summary);
    assert_eq!(course(&summary, &highlights), expected);
}

fn by_load(summary: &mut Summary) -> &mut ByLoad {
    summary.by_load.as_mut().unwrap()
}

fn losses(lost: u64, expected: u64) -> Losses {
    Losses {
        expected,
        lost,
        received: expected - lost,
        ..Losses::default()
    }
}

/// A ramp to 100 users whose highest band has these figures.
fn ramp(summary: &mut Summary, latency: Option<Distribution>) {
    let by_load = by_load(summary);
    by_load.plateaus.clear();
    by_load.curve = vec![
        Level {
            least: 10.0,
            most: 80.0,
            seconds: 40.0,
            ..Level::default()
        },
        Level {
            least: 81.0,
            most: 100.0,
            seconds: 4.5,
            latency,
            ..Level::default()
        },
    ];
}

const LATENCY: Distribution = Distribution {
    count: 4_120,
    min: 1,
    mean: 1.0,
    p50: 1,
    p90: 1,
    p95: 12_200,
    p99: 13_000,
    p99_9: 14_000,
    max: 15_000,
    lower_bounds_from: None,
};

#[test]
fn figures_are_those_of_the_load_beside_them() {
    check(|_| (), "held 100 users for 45 s: p95 of rtt 362 µs (5 samples)");
    check(
        |summary| {
            summary.losses = Some(losses(0, 9_000));
            by_load(summary).plateaus = vec![
                Level {
                    least: 400.0,
                    seconds: 60.0,
                    ..Level::default()
                },
                Level {
                    least: 800.0,
                    seconds: 10.0,
                    latency: Some(LATENCY),
                    losses: Some(losses(1, 4_120)),
                    ..Level::default()
                },
                Level {
                    least: 800.0,
                    seconds: 9.0,
                    ..Level::default()
                },
            ];
        },
        "held 800 users for 10 s: p95 of rtt 12.2 ms (4,120 samples), 1 lost of 4,120",
    );
    check(
        |summary| by_load(summary).plateaus[0].latency = None,
        "held 100 users for 45 s: no sample of rtt",
    );
}

#[test]
fn a_load_that_was_only_reached_is_told_as_that() {
    check(
        |summary| {
            summary.losses = Some(losses(2, 9_000));
            ramp(summary, Some(LATENCY));
        },
        "reached 100 users, held no load: with 81 to 100 users (4.5 s) p95 of rtt 12.2 ms (4,120 samples); in the whole \
         run 2 lost of 9,000",
    );
    check(
        |summary| {
            ramp(summary, None);
            by_load(summary).curve.clear();
        },
        "reached 100 users, held no load in 45 s; in the whole run p95 of rtt 362 µs (5 samples)",
    );
    check(
        |summary| {
            by_load(summary).plateaus.clear();
            summary.timeline.vus = vec![0];
        },
        "no user was active in 45 s",
    );
}

#[test]
fn a_rate_is_told_as_planned_only_if_it_was_reached() {
    for (iterations, expected) in [
        (
            5_000,
            "held 500 iterations/s for 10 s: p95 of rtt 362 µs (5 samples)",
        ),
        (
            4_310,
            "held 431 of 500 planned iterations/s for 10 s: p95 of rtt 362 µs (5 samples)",
        ),
    ] {
        check(
            |summary| {
                let by_load = by_load(summary);
                by_load.unit = LoadUnit::IterationsPerSecond;
                let level = &mut by_load.plateaus[0];
                (level.least, level.most, level.mean) = (500.0, 500.0, 500.0);
                (level.seconds, level.iterations) = (10.0, iterations);
            },
            expected,
        );
    }
}

#[test]
fn a_summary_of_an_older_version_has_only_figures_of_the_whole_run() {
    check(
        |summary| summary.by_load = None,
        "up to 100 users in 45 s; in the whole run p95 of rtt 362 µs (5 samples)",
    );
}

#[test]
fn the_load_of_a_fleet_is_from_the_agents_that_made_it() {
    let lost_at = |second: f64| {
        move |summary: &mut Summary| {
            summary.agents = three();
            summary.agents[1].lost_at_seconds = Some(second);
        }
    };
    check(
        |summary| summary.agents = vec![three().remove(0)],
        "held 100 users from 1 agent for 45 s: p95 of rtt 362 µs (5 samples)",
    );
    check(
        lost_at(12.3),
        "held 100 users from 3 agents for 45 s: p95 of rtt 362 µs (5 samples)",
    );
    check(
        |summary| {
            lost_at(12.3)(summary);
            by_load(summary).plateaus[0].start_seconds = 20.0;
        },
        "held 100 users from 2 agents for 45 s: p95 of rtt 362 µs (5 samples)",
    );
    check(
        |summary| {
            lost_at(12.3)(summary);
            ramp(summary, Some(LATENCY));
        },
        "reached 100 users from 3 agents, held no load: with 81 to 100 users (4.5 s) p95 of rtt 12.2 ms (4,120 samples)",
    );
    check(
        |summary| {
            lost_at(12.3)(summary);
            summary.by_load = None;
        },
        "up to 100 users from 3 agents in 45 s; in the whole run p95 of rtt 362 µs (5 samples)",
    );
}
