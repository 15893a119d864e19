//! One worker: starts, stops and interrupts on time.

use std::{cell::RefCell, time::Duration};

use super::*;
use crate::{
    executor::Stage,
    histogram::Histogram,
    metrics::Registry,
    run::Iterations,
    vu::{Iteration, IterationContext, IterationError},
};

const SECS: fn(u64) -> Duration = Duration::from_secs;

/// A virtual user whose iterations take a fixed time, and what they end with.
#[derive(Clone)]
struct Sleeper {
    takes: Duration,
    result: Result<(), IterationError>,
}

impl Vu for Sleeper {
    fn iterate<'a>(&'a mut self, _: &'a mut IterationContext) -> Iteration<'a> {
        Box::pin(async {
            tokio::time::sleep(self.takes).await;
            self.result.clone()
        })
    }
}

struct Factory<F>(F);

impl<F: Fn(VuId) -> Result<Box<dyn Vu>, String> + Send + Sync> VuFactory for Factory<F> {
    fn create(&self, vu: VuId) -> Result<Box<dyn Vu>, String> {
        (self.0)(vu)
    }
}

fn sleepers(takes: Duration) -> Factory<impl Fn(VuId) -> Result<Box<dyn Vu>, String> + Send + Sync> {
    Factory(move |_| {
        Ok(Box::new(Sleeper {
            takes,
            result: Ok(()),
        }) as Box<dyn Vu>)
    })
}

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

fn worker(plan: RampingVus) -> Worker {
    let mut registry = Registry::new();
    let built_in = BuiltIn::register(&mut registry).unwrap();
    let metrics = MetricSet::new(Arc::new(registry));
    Worker {
        number: 0,
        n_workers: 1,
        plan,
        metrics,
        built_in,
        monitor: Monitor::new(),
    }
}

/// Everything that a single worker reported, in virtual time.
#[derive(Debug, Default)]
struct Outcome {
    /// Active users at each report.
    active_vus: Vec<u32>,
    iterations: Iterations,
    reasons: Vec<(String, u64)>,
    n_durations: u64,
    lasted: Duration,
    failed: Option<String>,
}

/// Runs one worker with all users of `plan`; stops it after `stop_after`.
async fn outcome(plan: RampingVus, factory: &dyn VuFactory, stop_after: Option<Duration>) -> Outcome {
    let start = Instant::now();
    let worker = worker(plan);
    let built_in = worker.built_in;
    let (commander, commands) = watch::channel(Command::Start(start));
    let (sender, mut reports) = mpsc::channel(1);
    let outcome = RefCell::new(Outcome::default());
    let run = async {
        worker.run(factory, commands, &sender).await;
        drop(sender);
    };
    let collect = async {
        while let Some(report) = reports.recv().await {
            outcome.borrow_mut().add(report, built_in);
        }
    };
    let stop = async {
        if let Some(after) = stop_after {
            tokio::time::sleep(after).await;
            commander.send_replace(Command::Stop);
        }
    };
    LocalSet::new()
        .run_until(async { tokio::join!(run, collect, stop) })
        .await;
    Outcome {
        lasted: start.elapsed(),
        ..outcome.into_inner()
    }
}

impl Outcome {
    fn add(&mut self, report: Report, built_in: BuiltIn) {
        match report {
            Report::Ready => {}
            Report::Failed(error) => self.failed = Some(error.to_string()),
            Report::Delta(delta) => {
                self.active_vus.push(delta.active_vus);
                self.iterations.n_complete += delta.iterations.n_complete;
                self.iterations.n_interrupted += delta.iterations.n_interrupted;
                self.n_durations += delta
                    .metrics
                    .trend(built_in.iteration_duration)
                    .map_or(0, Histogram::count);
                assert_eq!(
                    delta.metrics.counter(built_in.iterations),
                    delta.iterations.n_complete
                );
                self.reasons
                    .extend(delta.failures.reasons().map(|(reason, n)| (reason.to_owned(), n)));
            }
        }
    }

    fn counts(&self) -> (u64, u64) {
        (self.iterations.n_complete, self.iterations.n_interrupted)
    }
}

#[tokio::test(start_paused = true)]
async fn users_follow_the_schedule() {
    let plan = ramping(1, &[(0, 1), (10, 1), (0, 3), (10, 3), (0, 1), (10, 1)]);
    let outcome = outcome(plan, &sleepers(Duration::from_millis(2_500)), None).await;
    // User 1 iterates 12 times in 30 s, users 2 and 3 from 10 s to 20 s.
    assert_eq!(outcome.counts(), (12 + 4 + 4, 0));
    assert_eq!(outcome.n_durations, 20);
    assert_eq!(outcome.active_vus[1..9], [1; 8]);
    assert_eq!(outcome.active_vus[10..19], [3; 9]);
    assert_eq!(outcome.active_vus[20..28], [1; 8]);
    assert_eq!(outcome.active_vus.last(), Some(&0));
}

#[tokio::test(start_paused = true)]
async fn an_iteration_may_finish_within_its_grace() {
    let plan = || ramping(2, &[(10, 2)]);
    for (takes_secs, grace_secs, counts, lasted_secs) in [
        (7, 30, (4, 0), 14),
        (7, 4, (4, 0), 14),
        (7, 3, (2, 2), 13),
        (7, 0, (2, 2), 10),
        (600, 30, (0, 2), 40),
    ] {
        let plan = plan().graceful_stop(SECS(grace_secs));
        let outcome = outcome(plan, &sleepers(SECS(takes_secs)), None).await;
        assert_eq!(
            outcome.counts(),
            counts,
            "{takes_secs} s with {grace_secs} s of grace"
        );
        assert_eq!(outcome.lasted.as_secs(), lasted_secs);
    }
}

#[tokio::test(start_paused = true)]
async fn stopping_interrupts_at_once() {
    let outcome = outcome(
        ramping(5, &[(100, 5)]),
        &sleepers(SECS(3)),
        Some(Duration::from_millis(7_500)),
    )
    .await;
    assert_eq!(outcome.counts(), (10, 5));
    assert_eq!(outcome.lasted.as_millis(), 7_500);
}

#[tokio::test(start_paused = true)]
async fn failed_iterations_are_complete_and_counted_by_reason() {
    let failing = Factory(|_| {
        let result = Err(IterationError::new("connection refused"));
        Ok(Box::new(Sleeper {
            takes: SECS(20),
            result,
        }) as Box<dyn Vu>)
    });
    let outcome = outcome(ramping(3, &[(10, 3)]), &failing, None).await;
    assert_eq!(outcome.counts(), (3, 0));
    assert_eq!(outcome.reasons, [("connection refused".to_owned(), 3)]);
}

#[tokio::test(start_paused = true)]
async fn a_panic_ends_one_user_only() {
    struct Panics;
    impl Vu for Panics {
        fn iterate<'a>(&'a mut self, _: &'a mut IterationContext) -> Iteration<'a> {
            panic!("as the test wants it")
        }
    }
    let factory = Factory(|vu: VuId| match vu.get() {
        1 => Ok(Box::new(Panics) as Box<dyn Vu>),
        _ => Ok(Box::new(Sleeper {
            takes: SECS(5),
            result: Ok(()),
        }) as Box<dyn Vu>),
    });
    let outcome = outcome(ramping(2, &[(10, 2)]), &factory, None).await;
    assert_eq!(outcome.counts(), (2, 1));
    assert_eq!(
        outcome.reasons,
        [("the virtual user panicked (a defect of its code)".to_owned(), 1)]
    );
    assert_eq!(outcome.active_vus.last(), Some(&0));
}

#[tokio::test(start_paused = true)]
async fn a_user_that_cannot_be_made_is_reported() {
    let factory = Factory(|vu: VuId| {
        if vu.get() == 2 {
            Err("no such file".to_owned())
        } else {
            sleepers(SECS(1)).0(vu)
        }
    });
    let outcome = outcome(ramping(3, &[(10, 3)]), &factory, None).await;
    assert_eq!(
        outcome.failed.as_deref(),
        Some("cannot make virtual user 2: no such file")
    );
}

#[tokio::test(start_paused = true)]
async fn ids_and_iterations_count_as_in_k6() {
    struct Notes(Arc<std::sync::Mutex<Vec<(u32, u64)>>>);
    impl Vu for Notes {
        fn iterate<'a>(&'a mut self, context: &'a mut IterationContext) -> Iteration<'a> {
            self.0.lock().unwrap().push((context.vu.get(), context.iteration));
            Box::pin(async {
                tokio::time::sleep(SECS(4)).await;
                Ok(())
            })
        }
    }
    let notes = Arc::default();
    let factory = Factory({
        let notes = Arc::clone(&notes);
        move |_| Ok(Box::new(Notes(Arc::clone(&notes))) as Box<dyn Vu>)
    });
    outcome(ramping(2, &[(8, 2)]), &factory, None).await;
    let mut seen = notes.lock().unwrap().clone();
    seen.sort_unstable();
    assert_eq!(seen, [(1, 0), (1, 1), (2, 0), (2, 1)]);
}
