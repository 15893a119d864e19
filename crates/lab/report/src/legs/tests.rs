//! Legs: seconds with one load join, no sample is lost, and memory is bounded.

use std::sync::Arc;

use plimsoll_load::{
    metrics::{CheckId, RateId, Registry, TrendId},
    run::{Iterations, Users},
};

use super::*;

struct Run {
    total: MetricSet,
    rtt: TrendId,
    failed: RateId,
    check: CheckId,
    legs: Legs,
}

impl Run {
    fn new() -> Self {
        let mut registry = Registry::new();
        Self {
            rtt: registry.trend("rtt").unwrap(),
            failed: registry.rate("http_req_failed").unwrap(),
            check: registry.check("is there"),
            total: MetricSet::new(Arc::new(registry)),
            legs: Legs::new(None),
        }
    }

    /// A stretch from `start` to `end`, in milliseconds.
    fn add(&mut self, (start, end): (u64, u64), users: Users, samples_us: &[u64]) {
        let mut metrics = self.total.empty();
        for &us in samples_us {
            metrics.record(self.rtt, Duration::from_micros(us));
            metrics.rate(self.failed, us > 1_000);
            metrics.check(self.check, us < 2_000);
        }
        self.total.merge(&metrics);
        self.legs.add(&Stretch {
            start: Duration::from_millis(start),
            end: Duration::from_millis(end),
            iterations: Iterations {
                n_complete: samples_us.len() as u64,
                n_interrupted: 0,
            },
            users,
            metrics,
            ..Stretch::empty(&self.total)
        });
    }

    /// The legs as `start–end: lowest to highest load, samples`.
    fn shown(&self) -> Vec<String> {
        let legs = self.legs.iter().map(|leg| {
            let n = leg.samples("rtt").map_or(0, |samples| samples.count());
            let steady = if leg.is_steady { "" } else { ", unsteady" };
            format!(
                "{}–{} s: {} to {}, {n}{steady}",
                leg.start.as_secs_f64(),
                leg.end.as_secs_f64(),
                leg.range.0,
                leg.range.1
            )
        });
        legs.collect()
    }
}

const SECOND: Duration = Duration::from_secs(1);

fn steady(n: u32) -> Users {
    Users::steady(n, SECOND)
}

/// The users of a second in which their number rose evenly from `from` to `to`.
fn rising(from: u32, to: u32) -> Users {
    let mut presence = plimsoll_load::run::Presence::default();
    presence.set(Duration::ZERO, from);
    for n in from..to {
        presence.set(SECOND * (n - from) / (to - from), n + 1);
    }
    presence.take(SECOND)
}

#[test]
fn a_load_that_is_held_is_one_leg_and_a_ramp_is_one_per_second() {
    let mut run = Run::new();
    run.add((0, 1_000), rising(0, 100), &[1]);
    run.add((1_000, 2_000), rising(100, 200), &[2, 2]);
    for second in 2..12 {
        run.add((second * 1_000, (second + 1) * 1_000), steady(200), &[3, 3, 3]);
    }
    run.add((12_000, 13_000), steady(199), &[4]);
    run.add((13_000, 14_000), steady(197), &[5]);
    run.add((14_000, 14_050), steady(0), &[6]);
    assert_eq!(
        run.shown(),
        [
            "0–1 s: 1 to 100, 1, unsteady",
            "1–2 s: 101 to 200, 2, unsteady",
            "2–13 s: 199 to 200, 31",
            // With the samples of the last moments, in which the last iterations ended.
            "13–14 s: 197 to 197, 2",
        ]
    );
}

#[test]
fn late_samples_belong_to_the_leg_of_their_second() {
    let mut run = Run::new();
    run.add((0, 1_000), steady(1), &[1]);
    run.add((1_000, 2_000), steady(9), &[2]);
    run.add((0, 1_000), Users::default(), &[3, 4]);
    assert_eq!(run.shown(), ["0–1 s: 1 to 1, 3", "1–2 s: 9 to 9, 1"]);
}

#[test]
fn failures_are_counted_with_all_of_their_kind() {
    let mut run = Run::new();
    run.add((0, 1_000), steady(1), &[1, 1_500, 3_000]);
    let events = run.legs.iter().next().unwrap().events;
    assert_eq!((events.requests, events.failed_requests), (3, 2));
    assert_eq!((events.checks, events.failed_checks), (3, 1));
    assert_eq!(events.iterations, 3);
}

#[test]
fn a_long_ramp_loses_no_sample_and_keeps_its_order() {
    let mut run = Run::new();
    for second in 0..2_000_u32 {
        let users = rising(second * 10, (second + 1) * 10);
        run.add(
            (u64::from(second) * 1_000, u64::from(second + 1) * 1_000),
            users,
            &[u64::from(second)],
        );
    }
    let legs: Vec<_> = run.legs.iter().collect();
    assert!(legs.len() <= MAX_LEGS, "{}", legs.len());
    let mut all = Histogram::new();
    for pair in legs.windows(2) {
        assert_eq!(pair[0].end, pair[1].start);
        assert!(pair[0].mean < pair[1].mean);
    }
    for leg in &legs {
        assert!(leg.seconds() <= 24.0, "{}", leg.seconds());
        all.merge(&leg.samples("rtt").unwrap());
    }
    let total = run.total.trend(run.rtt).unwrap();
    assert_eq!((all.count(), all.sum()), (2_000, total.sum()));
    assert_eq!(all.interpolated_us(95.0), total.interpolated_us(95.0));
}

#[test]
fn a_plateau_survives_when_legs_are_merged() {
    let mut run = Run::new();
    for second in 0..1_000_u32 {
        let users = match second {
            400..500 => steady(4_000),
            _ => rising(second * 10, (second + 1) * 10),
        };
        run.add(
            (u64::from(second) * 1_000, u64::from(second + 1) * 1_000),
            users,
            &[7],
        );
    }
    let held: Vec<_> = run.legs.iter().filter(|leg| leg.seconds() >= 100.0).collect();
    assert_eq!(held.len(), 1);
    // The last seconds of the rise are within 1 %.
    let (least, most) = held[0].range;
    assert!(
        held[0].is_steady && least >= 3_960.0 && most == 4_000.0,
        "{:?}",
        held[0].range
    );
}

#[test]
fn many_samples_of_many_trends_are_bounded_and_the_rarest_trends_go_first() {
    let mut registry = Registry::new();
    let trends: Vec<_> = (0..60)
        .map(|n| registry.trend(&format!("trend_{n}")).unwrap())
        .collect();
    let total = MetricSet::new(Arc::new(registry));
    let mut legs = Legs::new(None);
    let mut state = 1_u64;
    for second in 0..40 {
        let mut metrics = total.empty();
        for (n, &trend) in trends.iter().enumerate() {
            for _ in 0..100 * (n + 1) {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                metrics.record(trend, Duration::from_micros((state >> 33) % 3_000_000_000));
            }
        }
        legs.add(&Stretch {
            start: Duration::from_secs(second),
            end: Duration::from_secs(second + 1),
            users: steady(second as u32 * 10),
            metrics,
            ..Stretch::empty(&total)
        });
        assert!(legs.n_bytes() <= MAX_BYTES, "{}", legs.n_bytes());
    }
    let count = |name: &str| -> u64 {
        let samples = legs.iter().filter_map(|leg| leg.samples(name));
        samples.map(|samples| samples.count()).sum()
    };
    assert_eq!((count("trend_59"), count("trend_0")), (40 * 6_000, 0));
    assert!(legs.iter().count() >= LEAST_LEGS);
}
