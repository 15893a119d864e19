//! Runs by load: which loads were held, and bands of loads.

use std::{sync::Arc, time::Duration};

use plimsoll_load::{
    histogram::Histogram,
    metrics::{MetricSet, Registry},
    run::{Presence, Stretch},
};

use super::*;
use crate::{
    Distribution,
    timeline::{Recorded, Recorder},
};

/// The users at the ends of seconds, from second 0 on; between two of them their number changes evenly. Every user has a
/// sample per second, and its milliseconds are a hundredth of the users.
fn by_load(users: &[u32]) -> (ByLoad, Vec<(f64, u64)>) {
    let mut registry = Registry::new();
    let rtt = registry.trend("rtt").unwrap();
    let total = MetricSet::new(Arc::new(registry));
    let (mut recorder, mut presence) = (Recorder::new(), Presence::default());
    let mut samples = Vec::new();
    presence.set(Duration::ZERO, users[0]);
    for (second, pair) in users.windows(2).enumerate() {
        let start = Duration::from_secs(second as u64);
        let steps = pair[0].abs_diff(pair[1]);
        for step in 1..=steps {
            let n = if pair[1] > pair[0] {
                pair[0] + step
            } else {
                pair[0] - step
            };
            presence.set(start + Duration::from_secs(1) * step / (steps + 1), n);
        }
        let end = start + Duration::from_secs(1);
        let users = presence.take(end);
        let mut metrics = total.empty();
        for _ in 0..pair[1] {
            let us = u64::from(pair[1]) * 10;
            metrics.record(rtt, Duration::from_micros(us));
            samples.push((second as f64, us));
        }
        recorder.add(&Stretch {
            start,
            end,
            users,
            metrics,
            ..Stretch::empty(&total)
        });
    }
    let seconds = (users.len() - 1) as f64;
    let rest = Stretch {
        start: Duration::from_secs_f64(seconds),
        end: Duration::from_secs_f64(seconds),
        ..Stretch::empty(&total)
    };
    let Recorded { timeline, legs, .. } = recorder.finish(&rest);
    let basis = Basis {
        legs: &legs,
        latency: Some("rtt"),
        seconds,
        timeline: &timeline,
        targets: &[],
    };
    (ByLoad::of(&basis, Vec::new()), samples)
}

fn held(by_load: &ByLoad) -> Vec<String> {
    let levels = by_load.plateaus.iter();
    levels
        .map(|level| {
            format!(
                "{} for {} s from {}",
                level.least, level.seconds, level.start_seconds
            )
        })
        .collect()
}

#[test]
fn only_a_load_that_was_held_is_a_plateau() {
    for (what, users, expected) in [
        ("one load", vec![50; 11], &["50 for 10 s from 0"][..]),
        ("a second of one load", vec![50; 2], &["50 for 1 s from 0"]),
        ("a ramp", (0..=20).map(|n| n * 10).collect(), &[]),
        ("a ramp of one second", vec![0, 200], &[]),
        ("a ramp up and down", vec![0, 100, 200, 100, 0], &[]),
        (
            "one second at the top",
            vec![0, 50, 100, 150, 200, 200, 150, 100, 50, 0],
            &[],
        ),
        (
            "two seconds at the top",
            vec![0, 100, 200, 200, 200, 100, 0],
            &["200 for 2 s from 2"],
        ),
        (
            "steps",
            vec![100, 100, 100, 100, 200, 200, 200, 200, 400, 400, 400, 400],
            &["100 for 3 s from 0", "200 for 3 s from 4", "400 for 3 s from 8"],
        ),
        ("a slow ramp", (0..=400).map(|n| 1_000 + n).collect(), &[]),
        ("no users", vec![0; 5], &[]),
    ] {
        let (by_load, _) = by_load(&users);
        assert_eq!(held(&by_load), expected, "{what}");
    }
}

#[test]
fn the_figures_of_a_plateau_are_those_of_its_samples() {
    let (by_load, samples) = by_load(&[0, 100, 200, 200, 200, 200, 100, 0]);
    let held = by_load.held().unwrap();
    assert_eq!((held.least, held.start_seconds, held.seconds), (200.0, 2.0, 3.0));
    let mut histogram = Histogram::new();
    for (second, us) in samples {
        if (2.0..5.0).contains(&second) {
            histogram.record(Duration::from_micros(us));
        }
    }
    assert_eq!(held.latency, Some(Distribution::from(&histogram)));
}

#[test]
fn a_ramp_has_bands_that_add_up_to_the_run() {
    let users: Vec<u32> = (0..=40).map(|n| n * 5).collect();
    let (by_load, samples) = by_load(&users);
    assert!(by_load.held().is_none() && !by_load.curve_is_held);
    assert_eq!(by_load.curve.len(), 8);
    let count = |level: &Level| level.latency.map_or(0, |latency| latency.count);
    assert_eq!(by_load.curve.iter().map(count).sum::<u64>(), samples.len() as u64);
    assert_eq!(by_load.curve.iter().map(|level| level.seconds).sum::<f64>(), 40.0);
    let band = by_load.highest_band().unwrap();
    assert_eq!((band.least, band.most, band.seconds), (175.0, 200.0, 5.0));
    let mut histogram = Histogram::new();
    for (second, us) in samples {
        if second >= 35.0 {
            histogram.record(Duration::from_micros(us));
        }
    }
    assert_eq!(band.latency, Some(Distribution::from(&histogram)));
}

#[test]
fn steps_are_the_curve_of_a_run_and_one_load_has_none() {
    let (steps, _) = by_load(&[100, 100, 100, 100, 200, 200, 200, 200, 400, 400, 400, 400]);
    assert!(steps.curve_is_held);
    let loads: Vec<f64> = steps.curve.iter().map(|level| level.least).collect();
    assert_eq!(loads, [100.0, 200.0, 400.0]);
    let (constant, _) = by_load(&[100; 20]);
    assert_eq!(constant.curve, []);
}
