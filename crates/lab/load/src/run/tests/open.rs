//! Executors whose iterations start at scheduled times.

use std::time::Duration;

use crate::{
    executor::{Arrivals, Executor, OpenModel, RateStage, WhenLate},
    plan::Plan,
    run::simulation::{Actors, Outcome, Simulation, secs},
    vu::VuFactory,
};

const MS: fn(u64) -> Duration = Duration::from_millis;

fn constant(rate: u64, duration_secs: u64, pre_allocated_vus: u32, max_vus: u32) -> Executor {
    Executor::ConstantArrivalRate(OpenModel {
        arrivals: Arrivals::constant(rate, secs(1), secs(duration_secs)).unwrap(),
        pre_allocated_vus,
        max_vus,
        graceful_stop: secs(30),
        when_late: WhenLate::Drop,
    })
}

async fn run(executor: Executor, actors: &Actors) -> Outcome {
    Simulation::of(Plan::single(executor), actors.clone()).run().await
}

#[tokio::test(start_paused = true)]
async fn iterations_start_on_the_schedule_whatever_they_take() {
    let actors = Actors::that(|context| (MS(10 * (context.scenario_iteration % 37)), Ok(())));
    let outcome = run(constant(100, 3, 50, 50), &actors).await;
    let intended: Vec<_> = actors.seen().iter().map(|seen| seen.intended_us).collect();
    let expected: Vec<_> = (0..300).map(|n| n * 10_000).collect();
    assert_eq!(intended, expected);
    assert_eq!(
        (outcome.counts(), outcome.counter("dropped_iterations")),
        ((300, 0), 0)
    );
    assert_eq!(outcome.counter("iteration_duration_scheduled"), 300);
}

/// "What it must show" 5: started iterations per second within 1 % of the curve, over each stage, at 5,000/s.
#[tokio::test(start_paused = true)]
async fn five_thousand_per_second_follow_the_curve_over_each_stage() {
    let stages = [(2, 5_000), (2, 5_000), (2, 2_500), (1, 0), (2, 6_000)];
    let list: Vec<_> = stages
        .iter()
        .map(|&(duration, target)| RateStage {
            duration: secs(duration),
            target,
        })
        .collect();
    let arrivals = Arrivals::ramping(0, secs(1), &list).unwrap();
    let executor = Executor::RampingArrivalRate(OpenModel {
        arrivals: arrivals.clone(),
        pre_allocated_vus: 40,
        max_vus: 40,
        graceful_stop: secs(30),
        when_late: WhenLate::Drop,
    });
    let actors = Actors::that_take(MS(4));
    let outcome = run(executor, &actors).await;
    let seen = actors.seen();
    assert_eq!(outcome.counter("dropped_iterations"), 0);
    let mut intended_us: Vec<_> = seen.iter().map(|seen| seen.intended_us).collect();
    intended_us.sort_unstable();
    let exact: Vec<_> = (0..arrivals.n_total())
        .map(|n| arrivals.start(n).unwrap().as_micros() as u64)
        .collect();
    assert!(
        intended_us
            .iter()
            .zip(&exact)
            .all(|(one, other)| one.abs_diff(*other) <= 1)
    );
    assert_eq!(intended_us.len(), exact.len());
    // Within the resolution of the event loop's clock.
    assert!(
        seen.iter()
            .all(|seen| seen.begun_ms * 1000 < seen.intended_us + 2_000)
    );
    let (mut begin, mut from) = (0, 0);
    for (duration, target) in stages {
        let end = begin + duration * 1_000;
        let n = seen
            .iter()
            .filter(|seen| (begin..end).contains(&seen.begun_ms))
            .count() as f64;
        let expected = (from + target) as f64 / 2.0 * duration as f64;
        assert!(
            (n / expected - 1.0).abs() < 0.01,
            "{n} instead of {expected} from {begin} ms on"
        );
        (begin, from) = (end, target);
    }
}

#[tokio::test(start_paused = true)]
async fn what_nobody_is_free_for_is_dropped() {
    // One user that takes 250 ms can do four of ten per second: at 0, 300, 600 and 900 ms of each 300 ms cycle.
    let actors = Actors::that_take(MS(250));
    let outcome = run(constant(10, 3, 1, 1), &actors).await;
    assert_eq!(
        (outcome.counts(), outcome.counter("dropped_iterations")),
        ((10, 0), 20)
    );
    let intended: Vec<_> = actors
        .seen()
        .iter()
        .map(|seen| seen.intended_us / 1_000)
        .collect();
    assert_eq!(
        intended,
        [0, 300, 600, 900, 1_200, 1_500, 1_800, 2_100, 2_400, 2_700]
    );
    let notice = &outcome.result.notices[..];
    assert!(
        notice.len() == 1 && notice[0].contains("insufficient VUs, reached 1 active VUs"),
        "{notice:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn users_are_added_while_iterations_are_dropped() {
    // A stall: no iteration ends during the run.
    let actors = Actors::that_take(secs(20));
    let outcome = run(constant(10, 3, 2, 12), &actors).await;
    assert_eq!(outcome.result.max_vus, 12);
    let n_begun = actors.seen().len() as u64;
    assert_eq!(n_begun, 12);
    assert_eq!(outcome.counter("dropped_iterations"), 30 - n_begun);
    let mut users: Vec<_> = actors.seen().iter().map(|seen| seen.vu).collect();
    users.sort_unstable();
    assert_eq!(users, (1..=12).collect::<Vec<_>>());
}

#[tokio::test(start_paused = true)]
async fn one_fast_user_is_enough_although_timers_are_coarse() {
    let outcome = run(constant(5_000, 1, 1, 1), &Actors::that_take(Duration::ZERO)).await;
    assert_eq!(
        (outcome.counts(), outcome.counter("dropped_iterations")),
        ((5_000, 0), 0)
    );
}

/// "What it must show" 4: a stall of 2 s is in the latency that counts from the schedule.
#[tokio::test(start_paused = true)]
async fn a_stall_shows_in_the_latency_from_the_schedule() {
    // Nothing ends between 2 s and 4 s.
    let actors = Actors::that(|context| {
        let now = context.run.elapsed();
        let takes = if (secs(2)..secs(4)).contains(&now) {
            secs(4) - now
        } else {
            MS(1)
        };
        (takes, Ok(()))
    });
    let outcome = run(constant(500, 10, 1_100, 1_100), &actors).await;
    assert_eq!(
        (outcome.counts(), outcome.counter("dropped_iterations")),
        ((5_000, 0), 0)
    );
    let metrics = &outcome.result.metrics;
    let id = metrics.registry().find("iteration_duration_scheduled").unwrap();
    let Some(crate::metrics::Value::Trend(histogram)) = metrics.value(id) else {
        panic!()
    };
    // A fifth of the iterations waits, evenly from 2 s down to nothing; so 1 % wait longer than 1.9 s.
    let exact = [
        (histogram.max(), 2_000.0),
        (histogram.value_at_quantile(0.99), 1_900.0),
    ];
    for (found, exact_ms) in exact {
        assert!(
            (found.as_secs_f64() * 1e3 / exact_ms - 1.0).abs() < 0.01,
            "{found:?} for {exact_ms} ms"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_user_that_cannot_be_made_ends_the_growth_only() {
    struct Few(Actors);
    impl VuFactory for Few {
        fn create(&self, vu: crate::vu::VuId) -> Result<Box<dyn crate::vu::Vu>, String> {
            if vu.get() > 2 {
                Err("out of memory".to_owned())
            } else {
                self.0.create(vu)
            }
        }
    }
    let simulation = Simulation::of(
        Plan::single(constant(10, 3, 1, 9)),
        Few(Actors::that_take(secs(20))),
    );
    let outcome = simulation.run().await;
    assert_eq!(outcome.counts(), (2, 0));
    assert_eq!(outcome.counter("dropped_iterations"), 28);
    let reasons: Vec<_> = outcome.result.failures.reasons().collect();
    assert_eq!(
        reasons,
        [("another virtual user could not be created: out of memory", 1)]
    );
}

/// Ten in the first second, each taking half of one, with at most `max_vus` users.
fn patient(max_vus: u32, graceful_stop: Duration) -> Executor {
    Executor::ConstantArrivalRate(OpenModel {
        arrivals: Arrivals::constant(10, secs(1), secs(1)).unwrap(),
        pre_allocated_vus: 1,
        max_vus,
        graceful_stop,
        when_late: WhenLate::Wait,
    })
}

#[tokio::test(start_paused = true)]
async fn arrivals_that_are_kept_start_late_and_not_never() {
    let actors = Actors::that_take(MS(500));
    let outcome = run(patient(1, secs(60)), &actors).await;
    let seen = actors.seen();
    let begun: Vec<_> = seen.iter().map(|seen| seen.begun_ms).collect();
    let intended: Vec<_> = seen.iter().map(|seen| seen.intended_us).collect();
    assert_eq!(begun, (0..10).map(|n| n * 500).collect::<Vec<_>>());
    assert_eq!(intended, (0..10).map(|n| n * 100_000).collect::<Vec<_>>());
    assert_eq!(
        (outcome.counts(), outcome.counter("dropped_iterations")),
        ((10, 0), 0)
    );
}

#[tokio::test(start_paused = true)]
async fn arrivals_that_are_kept_end_with_their_scenario() {
    let actors = Actors::that_take(MS(500));
    let outcome = run(patient(1, secs(1)), &actors).await;
    let n_begun = actors.seen().len() as u64;
    assert_eq!((n_begun, outcome.counter("dropped_iterations")), (4, 6));
}

#[tokio::test(start_paused = true)]
async fn arrivals_that_are_kept_get_more_users() {
    let actors = Actors::that_take(MS(500));
    let outcome = run(patient(8, secs(60)), &actors).await;
    let latest = actors
        .seen()
        .iter()
        .map(|seen| seen.begun_ms * 1_000 - seen.intended_us)
        .max();
    assert!(latest.is_some_and(|us| us < 20_000), "{latest:?}");
    assert_eq!(
        (outcome.counts(), outcome.counter("dropped_iterations")),
        ((10, 0), 0)
    );
}
