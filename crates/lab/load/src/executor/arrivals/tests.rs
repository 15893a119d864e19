//! Curves against the integral, exactly.

use proptest::prelude::*;

use super::*;

const SECS: fn(u64) -> Duration = Duration::from_secs;
const SEC: Duration = Duration::from_secs(1);

fn stages(stages: &[(u64, u64)]) -> Vec<RateStage> {
    stages
        .iter()
        .map(|&(ms, target)| RateStage {
            duration: Duration::from_millis(ms),
            target,
        })
        .collect()
}

fn starts_ms(arrivals: &Arrivals) -> Vec<u128> {
    (0..arrivals.n_total())
        .map(|index| arrivals.start(index).unwrap().as_millis())
        .collect()
}

#[test]
fn a_constant_rate_starts_at_once_and_evenly() {
    let arrivals = Arrivals::constant(4, SEC, SECS(2)).unwrap();
    assert_eq!(starts_ms(&arrivals), [0, 250, 500, 750, 1000, 1250, 1500, 1750]);
    assert_eq!(arrivals.start(8), None);
    let slow = Arrivals::constant(3, SECS(60), SECS(61)).unwrap();
    assert_eq!(starts_ms(&slow), [0, 20_000, 40_000, 60_000]);
}

#[test]
fn rates_are_per_second_whatever_the_time_unit() {
    let slow = Arrivals::constant(30, SECS(60), SECS(61)).unwrap();
    assert_eq!(slow.peak_per_second(), 0.5);
    let up_and_down = Arrivals::ramping(4, SEC, &stages(&[(1_000, 8), (0, 2), (1_000, 2)])).unwrap();
    assert_eq!(up_and_down.peak_per_second(), 8.0);
    for (ms, expected) in [
        (0, 4.0),
        (250, 5.0),
        (999, 7.996),
        (1_000, 2.0),
        (1_500, 2.0),
        (9_000, 2.0),
    ] {
        assert_eq!(
            up_and_down.per_second(Duration::from_millis(ms)),
            expected,
            "{ms}"
        );
    }
}

#[test]
fn a_ramp_starts_when_the_area_is_a_whole_number() {
    let flat = Arrivals::ramping(4, SEC, &stages(&[(1_000, 4)])).unwrap();
    assert_eq!(starts_ms(&flat), [250, 500, 750, 1000]);
    // The area under a line from 0 to 2 per second in 4 s is t²/4.
    let rising = Arrivals::ramping(0, SEC, &stages(&[(4_000, 2)])).unwrap();
    assert_eq!(starts_ms(&rising), [2_000, 2_828, 3_464, 4_000]);
    // A jump, then a flat stage, then silence, then a jump again.
    let jumps = Arrivals::ramping(
        0,
        SEC,
        &stages(&[(0, 2), (1_000, 2), (0, 0), (5_000, 0), (0, 1), (2_000, 1)]),
    );
    assert_eq!(starts_ms(&jumps.unwrap()), [500, 1_000, 7_000, 8_000]);
}

#[test]
fn senseless_curves_are_refused() {
    let ramp = |start, list: &[(u64, u64)]| Arrivals::ramping(start, SEC, &stages(list));
    for (curve, expected) in [
        (ramp(0, &[]), ArrivalsError::NoTime),
        (ramp(5, &[(0, 9)]), ArrivalsError::NoTime),
        (ramp(0, &[(1_000, 0)]), ArrivalsError::NoRate),
        (ramp(0, &[(u64::MAX, 1)]), ArrivalsError::TooLarge),
        (
            ramp(u64::MAX, &[(u64::MAX / 1_000_000, 1)]),
            ArrivalsError::TooLarge,
        ),
        (
            Arrivals::constant(1, Duration::ZERO, SEC),
            ArrivalsError::NoTimeUnit,
        ),
        (Arrivals::constant(0, SEC, SEC), ArrivalsError::NoRate),
        (
            Arrivals::constant(u64::MAX, SEC, SECS(1 << 33)),
            ArrivalsError::TooLarge,
        ),
    ] {
        assert_eq!(curve, Err(expected));
    }
    assert!(Arrivals::constant(1_000_000, SEC, SECS(30 * 24 * 3600)).is_ok());
}

prop_compose! {
    fn curves()(start in 0..6_000_u64, list in prop::collection::vec((0..20_000_u64, 0..6_000_u64), 1..6),
                unit_ms in 1..5_000_u64) -> Option<(u64, Vec<RateStage>, Duration, Arrivals)> {
        let unit = Duration::from_millis(unit_ms);
        let list = stages(&list);
        Some((start, list.clone(), unit, Arrivals::ramping(start, unit, &list).ok()?))
    }
}

/// The area under the curve up to `at`, in iterations.
fn area(start: u64, stages: &[RateStage], unit: Duration, at: Duration) -> f64 {
    let (mut area, mut begin, mut from) = (0.0, 0.0, start as f64);
    for stage in stages {
        let (duration, target) = (stage.duration.as_secs_f64(), stage.target as f64);
        let x = (at.as_secs_f64() - begin).clamp(0.0, duration);
        if duration > 0.0 {
            area += from * x + (target - from) * x * x / (2.0 * duration);
        }
        (begin, from) = (begin + duration, target);
    }
    area / unit.as_secs_f64()
}

proptest! {
    #[test]
    fn each_start_is_where_the_integral_says(curve in curves(), pick in any::<prop::sample::Index>()) {
        let Some((start, stages, unit, arrivals)) = curve else { return Ok(()) };
        if arrivals.n_total() == 0 { return Ok(()) }
        let index = pick.index(usize::try_from(arrivals.n_total()).unwrap()) as u64;
        let at = arrivals.start(index).unwrap();
        let wanted = (index + 1) as f64;
        prop_assert!(area(start, &stages, unit, at) >= wanted - 1e-5);
        let before = area(start, &stages, unit, at.saturating_sub(Duration::from_nanos(10)));
        prop_assert!(before < wanted + 1e-5);
    }

    #[test]
    fn counting_and_starting_agree(curve in curves(), pick in any::<prop::sample::Index>()) {
        let Some((.., arrivals)) = curve else { return Ok(()) };
        if arrivals.n_total() == 0 { return Ok(()) }
        let index = pick.index(usize::try_from(arrivals.n_total()).unwrap()) as u64;
        let at = arrivals.start(index).unwrap();
        prop_assert!(arrivals.n_before(at) <= index);
        prop_assert!(arrivals.n_before(at + Duration::from_nanos(1)) > index);
        prop_assert!(index == 0 || arrivals.start(index - 1).unwrap() <= at);
        prop_assert_eq!(arrivals.n_before(Duration::MAX), arrivals.n_total());
    }

    /// For each stage, and for each second of it, the number of started iterations equals the area, to one iteration.
    #[test]
    fn every_second_has_its_share_at_5000_per_second(targets in prop::collection::vec(4_000..6_000_u64, 1..5)) {
        let list: Vec<_> = targets.iter().map(|&target| RateStage { duration: SECS(3), target }).collect();
        let arrivals = Arrivals::ramping(5_000, SEC, &list).unwrap();
        for second in 0..3 * targets.len() as u64 {
            let n = arrivals.n_before(SECS(second + 1)) - arrivals.n_before(SECS(second));
            let expected = area(5_000, &list, SEC, SECS(second + 1)) - area(5_000, &list, SEC, SECS(second));
            prop_assert!((n as f64 - expected).abs() <= 1.0 + 1e-6, "{} for {}", n, expected);
        }
    }
}

#[test]
fn arrivals_at_random_have_exponential_gaps() {
    let even = Arrivals::constant(1_000, SEC, SECS(20)).unwrap();
    let arrivals = even.at_random(7).unwrap();
    let n = arrivals.n_total();
    // The standard deviation of a Poisson count of 20,000 is 141.
    assert!(n.abs_diff(20_000) < 5 * 141, "{n}");
    let starts: Vec<_> = (0..n).map(|index| arrivals.start(index).unwrap()).collect();
    let gaps: Vec<f64> = starts
        .windows(2)
        .map(|pair| (pair[1] - pair[0]).as_secs_f64())
        .collect();
    let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
    assert!((mean - 0.001).abs() < 5e-5, "{mean}");
    // P(gap > k means) = e^-k.
    for k in 1..=4 {
        let share = gaps.iter().filter(|gap| **gap > 0.001 * f64::from(k)).count() as f64 / gaps.len() as f64;
        assert!((share - (-f64::from(k)).exp()).abs() < 0.02, "{k}: {share}");
    }
}

#[test]
fn a_curve_may_be_cut_off() {
    let ramp = || Arrivals::ramping(0, SEC, &stages(&[(10_000, 10)])).unwrap();
    for arrivals in [ramp(), ramp().at_random(5).unwrap()] {
        let all: Vec<_> = (0..arrivals.n_total())
            .map(|index| arrivals.start(index))
            .collect();
        let (end, n_rest) = (SECS(4), arrivals.n_before(SECS(4)));
        let rest = arrivals.until(end);
        assert_eq!((rest.n_total(), rest.duration()), (n_rest, end));
        assert_eq!((rest.n_before(SECS(9)), rest.start(n_rest)), (n_rest, None));
        let starts: Vec<_> = (0..n_rest).map(|index| rest.start(index)).collect();
        assert_eq!(starts, all[..usize::try_from(n_rest).unwrap()]);
        assert_eq!(rest.clone().until(SECS(20)), rest);
    }
}

#[test]
fn arrivals_at_random_follow_the_rate() {
    let ramp = Arrivals::ramping(0, SEC, &stages(&[(100_000, 1_000)]))
        .unwrap()
        .at_random(3)
        .unwrap();
    // The area of a triangle: a quarter of all in the first half.
    let (half, all) = (ramp.n_before(SECS(50)), ramp.n_total());
    assert!(
        all.abs_diff(50_000) < 5 * 224 && half.abs_diff(12_500) < 5 * 112,
        "{half} of {all}"
    );
}

#[test]
fn too_many_arrivals_at_random_are_refused() {
    let many = Arrivals::constant(1_000_000, SEC, SECS(51)).unwrap();
    assert_eq!(many.at_random(1), Err(ArrivalsError::TooLarge));
}

proptest! {
    #[test]
    fn arrivals_at_random_are_in_order_and_repeat(seed: u64, rate in 1..100_u64, ms in 1..3_000_u64, target in 0..100_u64) {
        let curve = || Arrivals::ramping(rate, SEC, &stages(&[(ms, target), (0, rate), (ms, rate)])).unwrap();
        let arrivals = curve().at_random(seed).unwrap();
        prop_assert_eq!(&arrivals, &curve().at_random(seed).unwrap());
        let starts: Vec<_> = (0..arrivals.n_total()).map(|index| arrivals.start(index).unwrap()).collect();
        prop_assert!(starts.is_sorted());
        prop_assert!(starts.last().is_none_or(|last| *last <= arrivals.duration()));
        prop_assert_eq!(arrivals.start(arrivals.n_total()), None);
        for at in starts.iter().flat_map(|start| [*start, *start + Duration::from_nanos(1)]) {
            let expected = starts.partition_point(|start| *start < at) as u64;
            prop_assert_eq!(arrivals.n_before(at), expected);
        }
    }
}
