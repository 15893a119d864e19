//! Functions before the first iteration and after the last one, and early ends of a run.

use std::{cell::RefCell, num::NonZeroUsize, rc::Rc, time::Duration};

use crate::{
    metrics::{Contains, Recorder, Registry},
    plan::Plan,
    run::{
        RunEnd, RunHandle, StageFailure,
        simulation::{Actors, Simulation, constant_vus, secs},
    },
    threshold::{Rule, Rules},
    vu::{IterationError, Lifecycle, StageFuture},
};

/// Takes its time, and notes when it was called.
struct Stages {
    setup: (Duration, Result<(), String>),
    teardown: (Duration, Result<(), String>),
    calls: Rc<RefCell<Vec<&'static str>>>,
}

impl Stages {
    fn new() -> Self {
        Self {
            setup: (secs(2), Ok(())),
            teardown: (secs(2), Ok(())),
            calls: Rc::default(),
        }
    }

    fn perform<'a>(
        &'a self,
        name: &'static str,
        stage: &'a (Duration, Result<(), String>),
        metrics: &Recorder,
    ) -> StageFuture<'a> {
        self.calls.borrow_mut().push(name);
        metrics.count(Registry::new().counter("unused", Contains::Default).unwrap(), 1);
        Box::pin(async {
            tokio::time::sleep(stage.0).await;
            stage.1.clone()
        })
    }
}

impl Lifecycle for Stages {
    fn setup(&mut self, metrics: Recorder, _: RunHandle) -> StageFuture<'_> {
        self.perform("setup", &self.setup, &metrics)
    }

    fn teardown(&mut self, metrics: Recorder, _: RunHandle) -> StageFuture<'_> {
        self.perform("teardown", &self.teardown, &metrics)
    }
}

fn plan() -> Plan {
    Plan::single(constant_vus(1, secs(5), secs(0)))
}

fn simulation(plan: Plan) -> Simulation {
    let mut registry = Registry::new();
    // The first counter, which the stages count.
    registry.counter("stages", Contains::Default).unwrap();
    Simulation {
        registry,
        ..Simulation::of(plan, Actors::that_take(secs(1)))
    }
}

#[tokio::test(start_paused = true)]
async fn setup_and_teardown_are_around_the_run_and_not_in_its_time() {
    let mut stages = Stages::new();
    let outcome = simulation(plan()).try_run(&mut stages).await.unwrap();
    assert_eq!(*stages.calls.borrow(), ["setup", "teardown"]);
    assert_eq!((outcome.counts(), outcome.ms()), ((5, 0), 5_000));
    assert_eq!(outcome.counter("stages"), 2);
    let plan = Plan {
        has_setup: false,
        has_teardown: false,
        ..plan()
    };
    let mut stages = Stages::new();
    simulation(plan).try_run(&mut stages).await.unwrap();
    assert_eq!(stages.calls.borrow().len(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_failed_setup_ends_the_run_before_it_starts() {
    let limit = secs(60);
    for (setup, failure) in [
        (
            (secs(1), Err("no users".to_owned())),
            StageFailure::Failed("no users".to_owned()),
        ),
        ((secs(61), Ok(())), StageFailure::TimedOut { limit }),
    ] {
        let mut stages = Stages {
            setup,
            ..Stages::new()
        };
        let outcome = simulation(plan()).try_run(&mut stages).await.unwrap();
        assert_eq!(outcome.result.end, RunEnd::SetupFailed(failure));
        assert_eq!((outcome.counts(), outcome.counter("stages")), ((0, 0), 1));
        assert_eq!(*stages.calls.borrow(), ["setup"]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_failed_teardown_leaves_the_result() {
    let mut stages = Stages {
        teardown: (secs(61), Ok(())),
        ..Stages::new()
    };
    let outcome = simulation(plan()).try_run(&mut stages).await.unwrap();
    assert_eq!(outcome.result.end, RunEnd::Complete);
    assert_eq!(
        outcome.result.teardown_failure,
        Some(StageFailure::TimedOut { limit: secs(60) })
    );
    assert_eq!(outcome.counts(), (5, 0));
}

#[tokio::test(start_paused = true)]
async fn a_user_may_end_the_run_or_mark_it_as_failed() {
    let actors = Actors::that(|context| {
        let result = match context.iteration {
            1 => {
                context.run.mark_failed("odd");
                Ok(())
            }
            3 => {
                context.run.abort("enough");
                Err(IterationError::Interrupted)
            }
            _ => Ok(()),
        };
        (secs(1), result)
    });
    let mut stages = Stages::new();
    let simulation = Simulation {
        factory: std::sync::Arc::new(actors),
        ..simulation(plan())
    };
    let outcome = simulation.try_run(&mut stages).await.unwrap();
    assert_eq!(
        outcome.result.end,
        RunEnd::Aborted {
            reason: "enough".to_owned()
        }
    );
    assert_eq!(outcome.result.marked_failed.as_deref(), Some("odd"));
    assert_eq!((outcome.counts(), outcome.ms()), ((3, 1), 3_000));
    assert_eq!(*stages.calls.borrow(), ["setup", "teardown"]);
}

/// A worker ends when it aborts the run, so the run loop sees both at once, and takes either first: usually the abort,
/// hence many runs.
#[tokio::test(start_paused = true)]
async fn an_abort_counts_when_the_workers_end_before_it_is_heard() {
    for _ in 0..256 {
        let actors = Actors::that(|context| {
            context.run.abort("enough");
            (Duration::ZERO, Err(IterationError::Interrupted))
        });
        let plan = Plan::single(constant_vus(1, secs(600), secs(0)));
        let mut simulation = Simulation::of(plan, actors);
        simulation.config.n_workers = NonZeroUsize::MIN;
        let reason = "enough".to_owned();
        assert_eq!(simulation.run().await.result.end, RunEnd::Aborted { reason });
    }
}

#[tokio::test(start_paused = true)]
async fn a_crossed_threshold_may_end_the_run() {
    let rule = |expression: &str, abort_on_fail, delay_secs| Rule {
        expression: expression.parse().unwrap(),
        abort_on_fail,
        delay_abort_eval: secs(delay_secs),
    };
    let plan = Plan {
        thresholds: Rules::from([
            (
                "iterations".to_owned(),
                vec![rule("count<3", false, 0), rule("count<100", true, 0)],
            ),
            ("iteration_duration".to_owned(), vec![rule("max<500", true, 7)]),
        ]),
        ..Plan::single(constant_vus(1, secs(600), secs(0)))
    };
    let outcome = simulation(plan).run().await;
    assert_eq!(outcome.result.end, RunEnd::ThresholdsCrossed);
    // Evaluated every 2 s, a moment after the full second.
    assert_eq!(outcome.ms(), 8_100);
    let findings: Vec<_> = outcome
        .result
        .thresholds
        .iter()
        .map(|finding| (finding.expression.as_str(), finding.passed, finding.aborted))
        .collect();
    assert_eq!(
        findings,
        [
            ("max<500", false, true),
            ("count<3", false, false),
            ("count<100", true, false)
        ]
    );
}
