//! Executors whose users begin an iteration when the previous one has ended.

use crate::{
    executor::{Executor, RampingVus, Stage},
    plan::Plan,
    run::simulation::{Actors, Outcome, Simulation, constant_vus, secs},
    vu::IterationError,
};
use std::time::Duration;

fn ramping(start_vus: u32, stages: &[(u64, u32)]) -> Executor {
    let stages = stages.iter().map(|&(duration, target)| Stage {
        duration: secs(duration),
        target,
    });
    Executor::RampingVus(RampingVus::new(start_vus, stages.collect()).unwrap())
}

async fn run(executor: Executor, actors: &Actors) -> Outcome {
    Simulation::of(Plan::single(executor), actors.clone()).run().await
}

#[tokio::test(start_paused = true)]
async fn users_follow_a_ramp() {
    let executor = ramping(1, &[(0, 1), (10, 1), (0, 3), (10, 3), (0, 1), (10, 1)]);
    let outcome = run(executor, &Actors::that_take(Duration::from_millis(2_500))).await;
    // User 1 iterates 12 times in 30 s, users 2 and 3 from 10 s to 20 s.
    assert_eq!(outcome.counts(), (12 + 4 + 4, 0));
    assert_eq!(outcome.counter("iteration_duration"), 20);
    assert_eq!(outcome.counter("iteration_duration_scheduled"), 0);
    assert_eq!(outcome.active_vus[..9], [1; 9]);
    assert_eq!(outcome.active_vus[9..19], [3; 10]);
    assert_eq!(outcome.active_vus[20..29], [1; 9]);
    assert_eq!(outcome.result.max_vus, 3);
}

#[tokio::test(start_paused = true)]
async fn users_are_counted_at_full_seconds() {
    for (ms, is_counted) in [(950, false), (1_050, true)] {
        let executor = constant_vus(2, Duration::from_millis(ms), Duration::ZERO);
        let outcome = run(executor, &Actors::that_take(secs(60))).await;
        let metrics = &outcome.result.metrics;
        let vus = metrics.registry().find("vus").unwrap();
        assert_eq!(metrics.value(vus).is_some(), is_counted, "{ms} ms");
    }
}

#[tokio::test(start_paused = true)]
async fn an_iteration_may_finish_within_its_grace() {
    for (takes_secs, grace_secs, counts, lasted_ms) in [
        (7, 30, (4, 0), 14_000),
        (7, 4, (4, 0), 14_000),
        (7, 3, (2, 2), 13_000),
        (7, 0, (2, 2), 10_000),
        (600, 30, (0, 2), 40_000),
    ] {
        let executor = constant_vus(2, secs(10), secs(grace_secs));
        let outcome = run(executor, &Actors::that_take(secs(takes_secs))).await;
        assert_eq!(
            outcome.counts(),
            counts,
            "{takes_secs} s with {grace_secs} s of grace"
        );
        assert_eq!(outcome.ms(), lasted_ms);
        assert_eq!(outcome.counter("dropped_iterations"), 0);
    }
}

fn shared(vus: u32, iterations: u64, max_secs: u64) -> Executor {
    Executor::SharedIterations {
        vus,
        iterations,
        max_duration: secs(max_secs),
        graceful_stop: secs(30),
    }
}

#[tokio::test(start_paused = true)]
async fn shared_iterations_go_to_who_is_free() {
    // User 1 takes 1 s each, the others 10 s.
    let uneven = Actors::that(|context| {
        let takes = if context.vu.get() == 1 { 1 } else { 10 };
        (secs(takes), Ok(()))
    });
    let outcome = run(shared(3, 8, 600), &uneven).await;
    assert_eq!((outcome.counts(), outcome.ms()), ((8, 0), 10_000));
    let by_user = |vu| uneven.seen().iter().filter(|seen| seen.vu == vu).count();
    assert_eq!([1, 2, 3].map(by_user), [6, 1, 1]);
}

#[tokio::test(start_paused = true)]
async fn what_is_left_of_a_common_store_is_dropped() {
    let outcome = run(shared(2, 10, 7), &Actors::that_take(secs(2))).await;
    // Both begin at 0, 2, 4 and 6 s; the last ones finish in their grace.
    assert_eq!((outcome.counts(), outcome.ms()), ((8, 0), 8_000));
    assert_eq!(outcome.counter("dropped_iterations"), 2);
}

#[tokio::test(start_paused = true)]
async fn each_user_has_a_store_of_its_own() {
    for (max_secs, counts, n_dropped, lasted_ms) in [(600, (15, 0), 0, 10_000), (7, (12, 0), 3, 8_000)] {
        let executor = Executor::PerVuIterations {
            vus: 3,
            iterations: 5,
            max_duration: secs(max_secs),
            graceful_stop: secs(30),
        };
        let outcome = run(executor, &Actors::that_take(secs(2))).await;
        assert_eq!((outcome.counts(), outcome.ms()), (counts, lasted_ms));
        assert_eq!(outcome.counter("dropped_iterations"), n_dropped);
    }
}

#[tokio::test(start_paused = true)]
async fn a_shortest_iteration_pads_shorter_ones() {
    let actors = Actors::that(|context| (secs(context.iteration % 2 * 5), Ok(())));
    let plan = Plan {
        min_iteration_duration: secs(3),
        ..Plan::single(constant_vus(1, secs(16), secs(0)))
    };
    let outcome = Simulation::of(plan, actors.clone()).run().await;
    let begun: Vec<_> = actors.seen().iter().map(|seen| seen.begun_ms).collect();
    assert_eq!(begun, [0, 3_000, 8_000, 11_000]);
    let metrics = &outcome.result.metrics;
    let duration = metrics.registry().find("iteration_duration").unwrap();
    assert!(
        format!("{:?}", metrics.value(duration)).contains("sum_us: 10000000"),
        "the pause is not part of it"
    );
}

#[tokio::test(start_paused = true)]
async fn stopping_interrupts_at_once() {
    let simulation = Simulation {
        shutdown_after: Some(Duration::from_millis(7_500)),
        ..Simulation::of(
            Plan::single(constant_vus(5, secs(100), secs(30))),
            Actors::that_take(secs(3)),
        )
    };
    let outcome = simulation.run().await;
    assert_eq!((outcome.counts(), outcome.ms()), ((10, 5), 7_500));
}

#[tokio::test(start_paused = true)]
async fn failed_iterations_are_complete_and_cut_off_ones_are_not() {
    let actors = Actors::that(|context| match context.vu.get() {
        1 => (secs(1), Err(IterationError::Interrupted)),
        _ => (secs(20), Err(IterationError::new("connection refused"))),
    });
    let outcome = run(shared(3, 3, 10), &actors).await;
    assert_eq!(outcome.counts(), (2, 1));
    let reasons: Vec<_> = outcome.result.failures.reasons().collect();
    assert_eq!(reasons, [("connection refused", 2)]);
}
