//! Histograms: exact counts, bounded error, no lost samples.

use super::*;

const US: fn(u64) -> Duration = Duration::from_micros;

fn histogram(samples_us: &[u64]) -> Histogram {
    let mut histogram = Histogram::new();
    for &us in samples_us {
        histogram.record(US(us));
    }
    histogram
}

#[test]
fn is_empty_at_first() {
    let empty = Histogram::new();
    assert!(empty.is_empty());
    assert_eq!(
        (empty.count(), empty.min(), empty.max(), empty.sum()),
        (0, Duration::ZERO, Duration::ZERO, Duration::ZERO)
    );
    assert_eq!(empty.mean_us().to_bits(), 0.0f64.to_bits());
    assert_eq!(empty.value_at_quantile(0.99), Duration::ZERO);
}

#[test]
fn has_the_documented_size() {
    assert_eq!(
        Histogram::new().buckets.distinct_values() * size_of::<u64>(),
        23 * 1024 * 8
    );
}

#[test]
fn count_sum_min_and_max_are_exact() {
    let all = histogram(&[7, 123_457, 3]);
    assert_eq!(
        (all.count(), all.sum(), all.min(), all.max()),
        (3, US(123_467), US(3), US(123_457))
    );
}

#[test]
fn rounds_to_the_nearest_microsecond() {
    for (ns, us) in [(0, 0), (499, 0), (500, 1), (1_499, 1), (1_500, 2)] {
        let mut one = Histogram::new();
        one.record(Duration::from_nanos(ns));
        assert_eq!(one.max(), US(us), "{ns} ns");
    }
}

#[test]
fn quantiles_are_within_a_thousandth() {
    let uniform = histogram(&(1..=100_000).collect::<Vec<_>>());
    for (quantile, expected_us) in [
        (0.0, 1.0),
        (0.5, 50_000.0),
        (0.95, 95_000.0),
        (0.999, 99_900.0),
        (1.0, 100_000.0),
    ] {
        let found_us = uniform.value_at_quantile(quantile).as_micros() as f64;
        assert!(
            (found_us - expected_us).abs() <= expected_us * 0.001,
            "{quantile}: {found_us}"
        );
    }
}

#[test]
fn percentiles_between_samples_are_interpolated() {
    let check = |samples_us: &[u64], percent, expected_us: f64| {
        let found_us = histogram(samples_us).interpolated_us(percent);
        let is_near = (found_us - expected_us).abs() <= expected_us * 0.001;
        assert!(is_near, "p({percent}) of {samples_us:?}: {found_us}");
    };
    check(&[], 50.0, 0.0);
    check(&[7], 99.0, 7.0);
    check(&[100, 200], 50.0, 150.0);
    check(&[1_000, 2_000, 3_000, 4_000], 50.0, 2_500.0);
    check(&[1_000, 2_000, 3_000, 4_000], 75.5, 3_265.0);
    check(&[1_000, 2_000, 3_000, 4_000], 100.0, 4_000.0);
    check(&[1_000, 2_000, 3_000, 4_000], 0.0, 1_000.0);
    let uniform: Vec<_> = (0..=100_000).collect();
    for percent in [0.1, 33.3, 50.0, 95.0, 99.99, 100.0] {
        check(&uniform, percent, percent * 1_000.0);
    }
}

/// The percentile of all samples, as k6 computes it.
fn percentile_us(samples_us: &[u64], percent: f64) -> f64 {
    let mut sorted = samples_us.to_vec();
    sorted.sort_unstable();
    let position = percent / 100.0 * (sorted.len() - 1) as f64;
    let [lower, upper] = [position.floor(), position.ceil()].map(|at| sorted[at as usize] as f64);
    lower + (upper - lower) * position.fract()
}

/// Samples that share buckets.
fn scattered(n: usize) -> Vec<u64> {
    (0..n as u64)
        .map(|at| 1_000_003 + at * at * 7_919 % 1_000_000)
        .collect()
}

#[test]
fn percentiles_of_few_samples_are_exact() {
    for n in [1, 2, 3, 20, MOST_EXACT - 1, MOST_EXACT] {
        let samples = scattered(n);
        let (one, other) = samples.split_at(n / 3);
        let mut merged = histogram(one);
        merged.merge(&histogram(other));
        let mut both = histogram(&[5, 70]);
        let begun = both.clone();
        both.merge(&histogram(&samples[..n.min(MOST_EXACT - 2)]));
        let since = both.since(&begun);
        for percent in [0.0, 12.5, 50.0, 90.0, 95.0, 99.0, 99.9, 100.0] {
            let expected = percentile_us(&samples, percent);
            for found in [&histogram(&samples), &merged] {
                assert_eq!(
                    found.interpolated_us(percent).to_bits(),
                    expected.to_bits(),
                    "{n}: {percent}"
                );
            }
            if n <= MOST_EXACT - 2 {
                assert_eq!(
                    since.interpolated_us(percent).to_bits(),
                    expected.to_bits(),
                    "{n}: {percent}"
                );
            }
        }
        let mut sorted = samples.clone();
        sorted.sort_unstable();
        for (at, &us) in sorted.iter().enumerate() {
            assert_eq!(merged.n_at_or_above(US(us)), (n - at) as u64);
            assert_eq!(merged.value_at_quantile((at + 1) as f64 / n as f64), US(us));
        }
        assert_eq!(merged.exact(), Some(sorted));
        assert_eq!(
            (since.min(), since.max()),
            (
                histogram(&samples[..n.min(MOST_EXACT - 2)]).min(),
                histogram(&samples[..n.min(MOST_EXACT - 2)]).max()
            )
        );
    }
}

#[test]
fn one_sample_more_is_known_within_a_thousandth() {
    let samples = scattered(MOST_EXACT + 1);
    let (one, other) = samples.split_at(100);
    let mut merged = histogram(one);
    merged.merge(&histogram(other));
    for found in [histogram(&samples), merged] {
        assert_eq!((found.exact(), found.first_us.len()), (None, MOST_EXACT));
        for percent in [0.0, 50.0, 95.0, 100.0] {
            let (found, expected) = (found.interpolated_us(percent), percentile_us(&samples, percent));
            assert!(
                (found - expected).abs() <= expected * 0.001,
                "{percent}: {found} of {expected}"
            );
        }
    }
}

#[test]
fn a_value_counts_in_the_bucket_that_begins_at_or_below_it() {
    let buckets = Histogram::new().buckets;
    for shift in 0..31 {
        for us in [(1 << shift) - 1, 1 << shift, (1 << shift) + (1 << shift) / 3] {
            assert_eq!(
                Histogram::lowest_of_bucket(us),
                buckets.lowest_equivalent(us),
                "{us}"
            );
        }
    }
}

#[test]
fn a_quantile_never_leaves_the_recorded_range() {
    let one = histogram(&[1_000_001]);
    assert_eq!(one.value_at_quantile(0.5), US(1_000_001));
}

#[test]
fn too_long_durations_are_counted_and_kept_exact() {
    let mut long = histogram(&[10]);
    long.record_n(HIGHEST * 2, 3);
    long.record(HIGHEST);
    assert_eq!(
        (long.count(), long.n_saturated(), long.max()),
        (5, 3, HIGHEST * 2)
    );
    assert!(long.value_at_quantile(0.9) >= HIGHEST);
    assert_eq!(long.n_at_or_above(HIGHEST), 4);
    long.record(Duration::MAX);
    assert_eq!(long.n_saturated(), 4);
}

#[test]
fn counts_what_is_at_or_above_a_threshold() {
    let some = histogram(&[10, 20_000, 19_000, 40_000]);
    for (threshold_us, expected) in [(0, 4), (10, 4), (11, 3), (20_000, 2), (50_000, 0)] {
        assert_eq!(
            some.n_at_or_above(US(threshold_us)),
            expected,
            "{threshold_us} µs"
        );
    }
}

#[test]
fn merging_equals_recording_together() {
    let (mut left, right) = (
        histogram(&[5, 900, HIGHEST.as_micros() as u64 + 1_000_000]),
        histogram(&[2, 70_000]),
    );
    left.merge(&right);
    left.merge(&Histogram::new());
    let together = histogram(&[5, 900, HIGHEST.as_micros() as u64 + 1_000_000, 2, 70_000]);
    assert_eq!(left.buckets, together.buckets);
    assert_eq!(
        (left.n_saturated, left.sum_us, left.min_us, left.max_us),
        (
            together.n_saturated,
            together.sum_us,
            together.min_us,
            together.max_us
        )
    );
}

#[test]
fn clearing_forgets_all() {
    let mut used = histogram(&[5, 900]);
    used.clear();
    used.record_n(US(3), 0);
    assert!(used.is_empty());
    used.record(US(8));
    assert_eq!((used.min(), used.max()), (US(8), US(8)));
}

#[test]
fn what_came_after_an_older_state_can_be_told() {
    let beyond = HIGHEST.as_micros() as u64 + 1_000_000;
    for (before, after) in [
        (&[][..], &[7, 900][..]),
        (&[1, 5, 70_000], &[8, 900, 900]),
        (&[5], &[]),
        (&[900, beyond], &[900]),
        (&[900], &[3, beyond]),
    ] {
        let earlier = histogram(before);
        let mut all = earlier.clone();
        all.merge(&histogram(after));
        let (later, expected) = (all.since(&earlier), histogram(after));
        assert_eq!(
            (later.count(), later.sum(), later.n_saturated()),
            (expected.count(), expected.sum(), expected.n_saturated())
        );
        assert_eq!(later.value_at_quantile(0.5), expected.value_at_quantile(0.5));
        let is_near = |a: Duration, b: Duration| a.abs_diff(b) <= b / 1000;
        assert!(is_near(later.min(), expected.min()), "{before:?} {after:?}");
        assert!(is_near(later.max(), expected.max()), "{before:?} {after:?}");
    }
}
