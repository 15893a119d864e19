//! Runs that are scaled and paused from outside.

use std::time::Duration;

use crate::{
    executor::Executor,
    plan::Plan,
    run::{
        ControlError, RunEnd,
        simulation::{Actors, Simulation, constant_vus, secs},
    },
};

fn simulation(vus: u32, max_vus: u32, duration: Option<Duration>, actors: &Actors) -> Simulation {
    let executor = Executor::ExternallyControlled {
        vus,
        max_vus,
        duration,
    };
    Simulation::of(Plan::single(executor), actors.clone())
}

#[tokio::test(start_paused = true)]
async fn the_controller_says_how_many_run() {
    let actors = Actors::that_take(secs(3));
    let simulation = simulation(2, 3, Some(secs(30)), &actors);
    let control = simulation.config.control.clone();
    let script = async {
        tokio::time::sleep(Duration::from_millis(4_500)).await;
        control.scale(Some(5), Some(5)).unwrap();
        tokio::time::sleep(secs(6)).await;
        control.scale(Some(1), None).unwrap();
        tokio::time::sleep(secs(5)).await;
        control.pause().unwrap();
        tokio::time::sleep(secs(6)).await;
        control.resume();
    };
    let (outcome, ()) = tokio::join!(simulation.run(), script);
    assert_eq!(outcome.active_vus[..4], [2; 4]);
    assert_eq!(outcome.active_vus[4..10], [5; 6]);
    assert_eq!(outcome.active_vus[10..16], [1; 6]);
    // Paused at 15.5 s: the iteration that began at 15 s ends normally, and the next one begins at 21.5 s.
    assert_eq!(outcome.active_vus[18..20], [0; 2]);
    let first = actors.seen().into_iter().filter(|seen| seen.vu == 1);
    let begun: Vec<_> = first.map(|seen| seen.begun_ms).collect();
    assert_eq!(
        begun,
        [0, 3_000, 6_000, 9_000, 12_000, 15_000, 21_500, 24_500, 27_500]
    );
    assert_eq!(outcome.result.max_vus, 5);
    // Four of five users were removed in the middle of an iteration, and the end came in the middle of one.
    assert_eq!(outcome.result.iterations.n_interrupted, 4 + 1);
    assert_eq!(outcome.ms(), 30_000);
}

#[tokio::test(start_paused = true)]
async fn without_a_duration_it_goes_on_until_it_is_stopped() {
    let actors = Actors::that_take(secs(60));
    let simulation = Simulation {
        shutdown_after: Some(secs(590)),
        ..simulation(1, 1, None, &actors)
    };
    let outcome = simulation.run().await;
    assert_eq!(outcome.result.end, RunEnd::Shutdown);
    assert_eq!(outcome.counts(), (9, 1));
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_paused_starts_when_it_is_resumed() {
    let actors = Actors::that_take(secs(1));
    let plan = Plan {
        paused: true,
        ..Plan::single(constant_vus(1, secs(5), secs(0)))
    };
    let simulation = Simulation::of(plan, actors.clone());
    let control = simulation.config.control.clone();
    let begin = tokio::time::Instant::now();
    let resume = async {
        tokio::time::sleep(secs(100)).await;
        assert_eq!(actors.seen().len(), 0);
        control.resume();
    };
    let (outcome, ()) = tokio::join!(simulation.run(), resume);
    assert_eq!((outcome.counts(), outcome.ms()), ((5, 0), 5_000));
    assert_eq!(begin.elapsed().as_secs(), 105);
    assert_eq!(control.pause(), Err(ControlError::NotControlled));
}

#[tokio::test]
async fn impossible_wishes_are_refused() {
    let simulation = simulation(2, 3, None, &Actors::that_take(secs(1)));
    let control = simulation.config.control;
    let out_of_range = |vus, max_vus| Err(ControlError::OutOfRange { vus, max_vus });
    assert_eq!(control.scale(Some(4), None), out_of_range(4, 3));
    assert_eq!(control.scale(None, Some(1)), out_of_range(2, 1));
    assert_eq!(control.scale(Some(0), Some(0)), out_of_range(0, 0));
    assert_eq!(control.scale(Some(0), None), Ok(()));
}
