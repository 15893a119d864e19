//! Knees of planted curves: flat, kinked, noisy.

use super::*;
use crate::Distribution;

/// Levels at 100, 200, … users with these 95th percentiles, in milliseconds.
fn curve(p95_ms: &[f64]) -> Vec<Level> {
    (1..)
        .zip(p95_ms)
        .map(|(n, ms)| Level {
            mean: f64::from(n) * 100.0,
            latency: Some(Distribution {
                count: 1_000,
                p95: (ms * 1e3) as u64,
                ..Distribution::default()
            }),
            ..Level::default()
        })
        .collect()
}

#[test]
fn a_knee_is_found_where_it_was_planted_and_nowhere_else() {
    for (what, p95_ms, expected) in [
        ("flat", &[5.0; 8][..], None),
        ("a kink", &[5.0, 5.1, 5.0, 5.2, 5.1, 8.0, 13.0, 21.0], Some(500.0)),
        (
            "a kink on a slope",
            &[5.0, 5.5, 6.0, 6.5, 7.0, 15.0, 40.0, 90.0],
            Some(500.0),
        ),
        (
            "an explosion",
            &[4.0, 4.2, 4.1, 4.3, 4.5, 30.0, 400.0, 5_000.0],
            Some(500.0),
        ),
        ("five levels", &[5.0, 5.0, 5.1, 9.0, 18.0], Some(300.0)),
        (
            "a queue: in proportion from a load on",
            &[13.5, 15.6, 11.1, 9.2, 28.1, 52.4, 82.4, 105.8],
            Some(400.0),
        ),
        ("a slow growth", &[3.2, 3.5, 4.9, 4.6, 7.1, 9.9], None),
        (
            "in proportion",
            &[5.0, 10.0, 15.0, 20.0, 25.0, 30.0, 35.0, 40.0],
            None,
        ),
        (
            "exponential all the way",
            &[1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0],
            None,
        ),
        ("a small rise", &[5.0, 5.0, 5.0, 5.0, 5.0, 5.4, 5.8, 6.2], None),
        (
            "only the last level",
            &[5.0, 5.0, 5.0, 5.0, 5.0, 5.0, 5.0, 50.0],
            None,
        ),
        ("one slow level", &[5.0, 5.0, 5.0, 40.0, 5.0, 5.0, 5.0, 5.0], None),
        ("falling", &[40.0, 30.0, 20.0, 10.0, 9.0, 8.0, 7.0, 6.0], None),
        ("too few levels", &[5.0, 5.0, 9.0, 20.0], None),
        ("nothing", &[], None),
    ] {
        let found = find(&curve(p95_ms)).map(|knee| knee.load);
        assert_eq!(found, expected, "{what}");
    }
}

#[test]
fn levels_with_few_samples_say_nothing() {
    let mut levels = curve(&[5.0, 5.1, 5.0, 5.2, 5.1, 8.0, 13.0, 21.0]);
    for level in &mut levels[5..] {
        level.latency.as_mut().unwrap().count = LEAST_SAMPLES - 1;
    }
    assert_eq!(find(&levels), None);
}

/// Curves around a flat line, and around one in proportion to the load, with noise of up to a factor of two.
#[test]
fn noise_has_no_knee() {
    let mut random = numbers();
    let mut n_found = 0;
    for _ in 0..4_000 {
        for slope in [0.0, 1.0] {
            let spread = 1.0 + random();
            let p95_ms: Vec<f64> = (1..=8)
                .map(|n| (10.0 + slope * f64::from(n)) * spread.powf(2.0 * random() - 1.0))
                .collect();
            n_found += usize::from(find(&curve(&p95_ms)).is_some());
        }
    }
    assert!(n_found <= 4, "{n_found} of 8,000");
}

/// Kinks with the noise of a real percentile, some per cent.
#[test]
fn a_knee_survives_a_little_noise() {
    let mut random = numbers();
    let planted = [5.0, 5.1, 5.2, 5.3, 5.4, 9.0, 16.0, 30.0];
    for _ in 0..500 {
        let p95_ms = planted.map(|ms| ms * (0.95 + 0.1 * random()));
        let found = find(&curve(&p95_ms)).map(|knee| knee.load);
        assert!(matches!(found, Some(400.0 | 500.0)), "{found:?} in {p95_ms:?}");
    }
}

/// Reproducible numbers from 0 to 1 (xorshift64).
fn numbers() -> impl FnMut() -> f64 {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1_u64 << 53) as f64
    }
}
