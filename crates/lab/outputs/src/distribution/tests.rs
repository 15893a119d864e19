//! The three forms of a trend, against the samples themselves.

use proptest::prelude::*;

use super::*;

const EXPONENTIAL: TrendStyle = TrendStyle::Exponential { millisecond: 1.0 };

fn of(style: TrendStyle, contains: Contains, samples: impl IntoIterator<Item = f64>) -> Distribution {
    let mut trend = Distribution::new(style, contains);
    samples.into_iter().for_each(|sample| trend.add(sample));
    trend
}

#[test]
fn few_and_many_samples_have_the_same_figures() {
    for n in [1, FEW, FEW + 1, 10 * FEW] {
        let trend = of(TrendStyle::Figures, Contains::Time, (1..=n).map(|n| n as f64));
        let is_few = matches!(trend.values, Values::Few(..));
        assert_eq!(is_few, n <= FEW);
        let (count, median) = trend
            .with_histogram(|histogram| (histogram.count(), histogram.value_at_quantile(0.5)))
            .unwrap();
        assert_eq!((count, trend.count), (n as u64, n as u64));
        let median = median.as_secs_f64() * 1e3;
        let exact = n.div_ceil(2) as f64;
        assert!((median - exact).abs() <= exact * 0.001, "{n}: {median}");
    }
}

#[test]
fn explicit_buckets_include_their_upper_bound() {
    let trend = of(
        TrendStyle::Explicit,
        Contains::Time,
        [-1.0, 0.0, 5.0, 5.1, 10_000.0, 10_000.1],
    );
    let Values::Explicit(counts) = trend.values else {
        panic!()
    };
    assert_eq!(counts, [2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1]);
}

#[test]
fn durations_are_in_the_unit_of_the_database_and_numbers_are_not() {
    let seconds = TrendStyle::Exponential { millisecond: 1e-3 };
    for (contains, sum) in [
        (Contains::Time, 3.0),
        (Contains::Default, 3_000.0),
        (Contains::Data, 3_000.0),
    ] {
        let trend = of(seconds, contains, [1_000.0, 2_000.0]);
        assert_eq!((trend.sum, trend.min), (sum, sum / 3.0), "{contains:?}");
    }
}

#[test]
fn what_is_no_positive_number_has_a_place_too() {
    let samples = [0.0, -0.0, f64::NAN, -8.0, f64::INFINITY, f64::MIN_POSITIVE];
    let trend = of(EXPONENTIAL, Contains::Default, samples);
    let Values::Exponential(buckets) = trend.values else {
        panic!()
    };
    assert_eq!(buckets.n_zero, 3);
    assert_eq!(buckets.negative, [(23, 1)].into());
    assert_eq!(buckets.positive.len(), 2);
}

proptest! {
    #[test]
    fn an_exponential_bucket_holds_what_is_within_its_bounds(value in 1e-9..1e12_f64) {
        let base = 2_f64.powf(0.125);
        let lower = base.powi(index(value));
        // Powers are not exact.
        prop_assert!(value > lower * (1.0 - 1e-9), "{value} > {lower}");
        prop_assert!(value <= lower * base * (1.0 + 1e-9), "{value} <= {}", lower * base);
    }

    #[test]
    fn powers_of_two_end_their_bucket(power in -30..60_i32) {
        prop_assert_eq!(index(2_f64.powi(power)), power * 8 - 1);
    }
}
