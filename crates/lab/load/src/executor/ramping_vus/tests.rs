//! Schedules against straight lines.

use proptest::prelude::*;

use super::*;

const SECS: fn(u64) -> Duration = Duration::from_secs;

/// Stages as (seconds, target).
fn ramping(start_vus: u32, stages: &[(u64, u32)]) -> RampingVus {
    let stages = stages
        .iter()
        .map(|&(secs, target)| Stage {
            duration: SECS(secs),
            target,
        })
        .collect();
    RampingVus::new(start_vus, stages).unwrap()
}

fn check_planned(start_vus: u32, stages: &[(u64, u32)], expected: &[(u64, u32)]) {
    let plan = ramping(start_vus, stages);
    for &(ms, n_vus) in expected {
        assert_eq!(
            plan.n_planned(Duration::from_millis(ms)),
            n_vus,
            "at {ms} ms of {start_vus}, {stages:?}"
        );
    }
}

#[test]
fn steps_come_when_the_line_reaches_them() {
    check_planned(
        0,
        &[(10, 5)],
        &[
            (0, 0),
            (1_999, 0),
            (2_000, 1),
            (4_000, 2),
            (9_999, 4),
            (10_000, 0),
        ],
    );
    check_planned(5, &[(10, 0)], &[(0, 5), (1_999, 5), (2_000, 4), (9_999, 1)]);
    check_planned(3, &[(10, 3)], &[(0, 3), (9_999, 3), (10_000, 0)]);
}

#[test]
fn a_stage_without_duration_is_a_jump() {
    let stages = [(0, 10), (5, 10), (0, 2), (5, 2)];
    check_planned(
        1,
        &stages,
        &[(0, 10), (4_999, 10), (5_000, 2), (9_999, 2), (10_000, 0)],
    );
    assert_eq!(ramping(1, &stages).max_vus(), 10);
    assert_eq!(ramping(7, &[(0, 2), (1, 2), (0, 9)]).max_vus(), 9);
    assert_eq!(ramping(7, &[(0, 2), (1, 2)]).max_vus(), 7);
}

#[test]
fn a_chat_of_three_stages_ramps_as_written() {
    let stages = [(40, 5), (70, 20), (10, 0)];
    check_planned(
        2,
        &stages,
        &[
            (0, 2),
            (13_333, 2),
            (13_334, 3),
            (40_000, 5),
            (110_000, 20),
            (110_500, 19),
        ],
    );
    assert_eq!(
        (ramping(2, &stages).max_vus(), ramping(2, &stages).max_duration()),
        (20, SECS(150))
    );
}

#[test]
fn senseless_schedules_are_refused() {
    let stage = |secs, target| Stage {
        duration: Duration::from_secs(secs),
        target,
    };
    for (start_vus, stages, expected) in [
        (0, vec![stage(10, 0)], ScheduleError::NoVus),
        (1, vec![], ScheduleError::NoTime),
        (1, vec![stage(0, 5)], ScheduleError::NoTime),
        (
            1,
            vec![stage(1, MAX_VUS + 1)],
            ScheduleError::TooManyVus { n_vus: MAX_VUS + 1 },
        ),
        (
            1,
            vec![stage(u64::MAX, 1), stage(u64::MAX, 1)],
            ScheduleError::TooLong,
        ),
        (1, vec![stage(u64::MAX, 1)], ScheduleError::TooLong),
    ] {
        assert_eq!(
            RampingVus::new(start_vus, stages.clone()),
            Err(expected),
            "{start_vus} {stages:?}"
        );
    }
}

/// Windows as (start, stop, interrupt) in seconds.
fn check_windows(plan: &RampingVus, index: u32, expected: &[(u64, u64, u64)]) {
    let expected: Vec<_> = expected
        .iter()
        .map(|&(start, stop, interrupt)| Window {
            start: SECS(start),
            stop: SECS(stop),
            interrupt: SECS(interrupt),
        })
        .collect();
    assert_eq!(plan.windows(index), expected, "user {index}");
}

#[test]
fn the_highest_user_stops_first_and_gracefully() {
    let plan = ramping(2, &[(10, 2), (10, 0), (60, 0)]);
    check_windows(&plan, 0, &[(0, 20, 50)]);
    check_windows(&plan, 1, &[(0, 15, 45)]);
    check_windows(&plan, 2, &[]);
}

#[test]
fn the_end_of_the_run_bounds_the_ramp_down() {
    let plan = ramping(2, &[(10, 2), (10, 0)]).graceful_stop(SECS(5));
    check_windows(&plan, 0, &[(0, 20, 25)]);
    check_windows(&plan, 1, &[(0, 15, 25)]);
    check_windows(&plan.graceful_ramp_down(Duration::ZERO), 1, &[(0, 15, 15)]);
}

#[test]
fn a_user_that_returns_in_time_is_not_interrupted() {
    let stages = [(10, 1), (0, 0), (20, 0), (0, 1), (10, 1)];
    check_windows(&ramping(1, &stages), 0, &[(0, 10, 70), (30, 40, 70)]);
    check_windows(
        &ramping(1, &stages).graceful_ramp_down(SECS(20)),
        0,
        &[(0, 10, 60), (30, 40, 60)],
    );
    check_windows(
        &ramping(1, &stages).graceful_ramp_down(SECS(19)),
        0,
        &[(0, 10, 29), (30, 40, 59)],
    );
}

#[test]
fn stages_that_join_are_one_window() {
    check_windows(&ramping(3, &[(10, 1), (10, 3)]), 0, &[(0, 20, 50)]);
    check_windows(&ramping(3, &[(10, 1), (10, 3)]), 1, &[(0, 10, 50), (15, 20, 50)]);
    check_windows(&ramping(3, &[(10, 1), (10, 3)]), 2, &[(0, 5, 35)]);
}

prop_compose! {
    fn plans()(start_vus in 0..40_u32, stages in prop::collection::vec((0..5_000_u64, 0..40_u32), 1..6),
               ramp_down_ms in 0..4_000_u64, stop_ms in 0..4_000_u64) -> Option<RampingVus> {
        let stages = stages.iter().map(|&(ms, target)| Stage { duration: Duration::from_millis(ms), target });
        let plan = RampingVus::new(start_vus, stages.collect()).ok()?;
        let (ramp_down, stop) = (Duration::from_millis(ramp_down_ms), Duration::from_millis(stop_ms));
        Some(plan.graceful_ramp_down(ramp_down).graceful_stop(stop))
    }
}

proptest! {
    #[test]
    fn windows_and_planned_numbers_agree(plan in plans(), per_mille in 0..1_100_u32) {
        let Some(plan) = plan else { return Ok(()) };
        let at = plan.duration() * per_mille / 1000;
        let active = |index| plan.windows(index).iter().any(|window| (window.start..window.stop).contains(&at));
        let n_planned = plan.n_planned(at);
        prop_assert!(n_planned <= plan.max_vus());
        for index in 0..plan.max_vus() {
            prop_assert_eq!(active(index), index < n_planned, "user {} at {:?}", index, at);
        }
    }

    #[test]
    fn windows_are_ordered_and_within_the_run(plan in plans(), index in 0..40_u32) {
        let Some(plan) = plan else { return Ok(()) };
        let windows = plan.windows(index);
        let is_only_touched = windows.len() == 1 && windows[0].start == windows[0].stop;
        prop_assert!(is_only_touched || windows.iter().all(|window| window.start < window.stop));
        prop_assert!(windows.iter().all(|window| window.stop <= plan.duration()));
        prop_assert_eq!(windows.is_empty(), index >= plan.max_vus());
        prop_assert!(windows.windows(2).all(|pair| pair[0].stop < pair[1].start));
        for window in &windows {
            prop_assert!(window.stop <= window.interrupt && window.interrupt <= plan.max_duration());
        }
    }

    #[test]
    fn each_step_is_within_a_nanosecond_of_the_line(from in 0..500_u32, target in 0..500_u32, ms in 1..600_000_u64) {
        let plan = RampingVus::new(from, vec![Stage { duration: Duration::from_millis(ms), target }]);
        let Ok(plan) = plan else { return Ok(()) };
        let difference = from.abs_diff(target);
        for n in 1..difference {
            let k = if from < target { from + n } else { from - n };
            let exact_ns = u128::from(ms) * 1_000_000 * u128::from(n) / u128::from(difference);
            let at = Duration::from_nanos(u64::try_from(exact_ns).unwrap());
            prop_assert_eq!(plan.n_planned(at + Duration::from_nanos(1)), k);
            prop_assert!(plan.n_planned(at.saturating_sub(Duration::from_nanos(1))).abs_diff(k) == 1);
        }
    }
}
