//! Phases as arrivals and as executors.

use super::*;

const SECS: fn(u64) -> Duration = Duration::from_secs;

fn phase(secs: u64, kind: Kind) -> Phase {
    Phase {
        name: None,
        duration: SECS(secs),
        kind,
        spacing: Spacing::Even,
        max_vusers: None,
    }
}

fn rate(rate: f64) -> Rate {
    Rate::per_second(rate).unwrap()
}

#[test]
fn phases_have_their_arrivals() {
    let check = |secs, kind, n: u64, starts: &[(u64, u64)]| {
        let arrivals = phase(secs, kind).arrivals().unwrap();
        assert_eq!(arrivals.as_ref().map_or(0, Arrivals::n_total), n, "{kind:?}");
        for &(index, ms) in starts {
            let start = arrivals.as_ref().unwrap().start(index).unwrap();
            assert_eq!(start, Duration::from_millis(ms), "{kind:?} {index}");
        }
    };
    check(
        30,
        Kind::Rate(rate(10.0)),
        300,
        &[(0, 0), (1, 100), (299, 29_900)],
    );
    check(10, Kind::Rate(rate(0.5)), 5, &[(0, 0), (1, 2_000), (4, 8_000)]);
    check(100, Kind::Rate(rate(0.1)), 10, &[(9, 90_000)]);
    check(10, Kind::Rate(rate(0.0)), 0, &[]);
    check(10, Kind::Count(4), 4, &[(0, 0), (1, 2_500), (3, 7_500)]);
    check(10, Kind::Count(0), 0, &[]);
    check(10, Kind::Pause, 0, &[]);
    check(10, Kind::Ramp(rate(0.0), rate(10.0)), 50, &[(49, 10_000)]);
    check(10, Kind::Ramp(rate(10.0), rate(20.0)), 150, &[]);
    check(10, Kind::Ramp(rate(0.0), rate(0.0)), 0, &[]);
}

#[test]
fn rates_have_bounds() {
    for (number, is_rate) in [
        (-0.1, false),
        (0.0, true),
        (1e9, true),
        (1e10, false),
        (f64::NAN, false),
    ] {
        assert_eq!(Rate::per_second(number).is_some(), is_rate, "{number}");
    }
    let absurd = phase(31_536_000, Kind::Rate(rate(1e9))).arrivals();
    assert_eq!(absurd, Err(ArrivalsError::TooLarge));
}

#[test]
fn arrivals_at_random_follow_the_rate_but_not_a_count() {
    let n_total = |kind| {
        let phase = Phase {
            spacing: Spacing::Poisson { seed: 5 },
            ..phase(100, kind)
        };
        phase.arrivals().unwrap().map_or(0, |arrivals| arrivals.n_total())
    };
    // Five standard deviations around the mean.
    for kind in [Kind::Rate(rate(100.0)), Kind::Ramp(rate(0.0), rate(200.0))] {
        let n = n_total(kind);
        assert!(n != 10_000 && n.abs_diff(10_000) < 500, "{kind:?}: {n}");
    }
    assert_eq!(n_total(Kind::Count(123)), 123);
    assert_eq!(n_total(Kind::Rate(rate(0.0))), 0);
}

#[test]
fn closed_phases_hold_a_number_of_users() {
    let check = |kind, at_secs: &[(u64, u32)]| {
        let phase = phase(10, kind);
        assert_eq!(phase.arrivals(), Ok(None));
        let scenario = phase.scenario(0, SECS(5), SECS(100)).unwrap();
        let Executor::RampingVus(plan) = scenario.as_ref().unwrap().executor.clone() else {
            panic!("{scenario:?}");
        };
        for &(secs, n) in at_secs {
            assert_eq!(plan.n_planned(SECS(secs)), n, "{kind:?} at {secs}");
        }
        let window = plan.windows(0)[0];
        assert_eq!(window.interrupt, SECS(95), "{kind:?}");
        window.stop
    };
    let stop = check(Kind::Users(7), &[(0, 7), (9, 7), (10, 0)]);
    assert_eq!(stop, SECS(10));
    check(Kind::RampingUsers(0, 10), &[(0, 0), (5, 5), (9, 9)]);
    // The last user of a ramp down to zero begins nothing at its end.
    assert_eq!(check(Kind::RampingUsers(10, 0), &[(0, 10), (5, 5)]), SECS(10));
    assert!(
        phase(10, Kind::Users(0))
            .scenario(0, SECS(0), SECS(9))
            .unwrap()
            .is_none()
    );
}

#[test]
fn a_limit_cuts_phases_off() {
    for (kind, n_planned) in [
        (Kind::Rate(rate(5.0)), 20),
        (Kind::Count(50), 20),
        (Kind::Users(7), 7),
        (Kind::RampingUsers(0, 10), 4),
    ] {
        let scenario = phase(10, kind).scenario(0, SECS(5), SECS(9)).unwrap().unwrap();
        assert_eq!(scenario.executor.n_planned_vus(), n_planned, "{kind:?}");
        assert_eq!(scenario.executor.max_duration(), Some(SECS(4)), "{kind:?}");
        assert_eq!(
            phase(10, kind).scenario(0, SECS(9), SECS(9)),
            Ok(None),
            "{kind:?}"
        );
    }
}

#[test]
fn users_may_stay_until_the_limit() {
    let phase = phase(10, Kind::Rate(rate(1.0)));
    let scenario = phase.scenario(3, SECS(20), SECS(100)).unwrap().unwrap();
    assert_eq!(
        (scenario.name.as_str(), scenario.start_time),
        ("phase-3", SECS(20))
    );
    assert_eq!(scenario.executor.max_duration(), Some(SECS(80)));
    assert_eq!(scenario.executor.n_planned_vus(), 10);
}
