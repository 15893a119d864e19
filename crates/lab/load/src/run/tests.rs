//! Whole runs: in virtual time by topic, and a few with real threads.

use std::{sync::Mutex, time::Duration};

use super::{simulation::constant_vus, *};
use crate::vu::{Iteration, IterationContext, Vu, VuId};

mod closed;
mod controlled;
mod lifecycle;
mod open;
mod samples;
mod scenarios;
mod split;

/// A user's number and the name of its thread.
type Place = (u32, Option<String>);

/// Users that write down which thread they ran on and then wait forever.
#[derive(Clone, Default)]
struct Waiting {
    threads: Arc<Mutex<Vec<Place>>>,
}

impl VuFactory for Waiting {
    fn create(&self, _: VuId) -> Result<Box<dyn Vu>, String> {
        Ok(Box::new(self.clone()))
    }
}

impl Vu for Waiting {
    fn iterate<'a>(&'a mut self, context: &'a mut IterationContext) -> Iteration<'a> {
        let thread = thread::current().name().map(str::to_owned);
        self.threads.lock().unwrap().push((context.vu.get(), thread));
        Box::pin(std::future::pending())
    }
}

fn config(n_vus: u32, duration: Duration) -> RunConfig {
    RunConfig {
        n_workers: NonZeroUsize::new(2).unwrap(),
        ..RunConfig::new(Plan::single(constant_vus(n_vus, duration, Duration::ZERO)))
    }
}

/// A run with real threads and no observer.
async fn run_for_real(
    config: RunConfig,
    factory: impl VuFactory + 'static,
    shutdown: impl Future<Output = ()>,
) -> RunResult {
    run(
        config,
        Registry::new(),
        Arc::new(factory),
        &mut (),
        |_| {},
        shutdown,
    )
    .await
    .unwrap()
}

#[tokio::test]
async fn users_are_spread_over_real_workers_and_interrupted_at_the_end() {
    let users = Waiting::default();
    // Long enough for the threads of a busy machine to begin.
    let duration = Duration::from_millis(500);
    let result = run_for_real(config(5, duration), users.clone(), std::future::pending()).await;
    assert_eq!(
        (result.iterations.n_complete, result.iterations.n_interrupted),
        (0, 5)
    );
    assert_eq!((result.max_vus, result.failures.count()), (5, 0));
    assert_eq!(result.end, RunEnd::Complete);
    assert!(result.duration >= duration);
    assert!(!result.generator.lateness.is_empty());
    let mut threads = users.threads.lock().unwrap().clone();
    threads.sort_unstable();
    let worker = |number| Some(format!("load-worker-{number}"));
    assert_eq!(
        threads,
        [
            (1, worker(0)),
            (2, worker(1)),
            (3, worker(0)),
            (4, worker(1)),
            (5, worker(0))
        ]
    );
}

#[tokio::test]
async fn a_shutdown_ends_the_run_early_and_keeps_its_figures() {
    let users = Waiting::default();
    let threads = Arc::clone(&users.threads);
    let all_started = async {
        while threads.lock().unwrap().len() < 3 {
            tokio::task::yield_now().await;
        }
    };
    let result = run_for_real(config(3, Duration::from_secs(3600)), users, all_started).await;
    assert_eq!(
        (result.iterations.n_complete, result.iterations.n_interrupted),
        (0, 3)
    );
    assert_eq!(result.end, RunEnd::Shutdown);
}

#[tokio::test]
async fn a_shutdown_before_the_start_is_an_empty_result() {
    let config = config(3, Duration::from_secs(3600));
    let result = run_for_real(config, Waiting::default(), std::future::ready(())).await;
    assert_eq!(result.iterations.n_complete, 0);
    assert_eq!(result.end, RunEnd::Shutdown);
}

#[tokio::test]
async fn a_name_clash_with_a_built_in_metric_is_refused() {
    let mut registry = Registry::new();
    registry.rate("iterations").unwrap();
    let config = config(1, Duration::from_secs(1));
    let users = Arc::new(Waiting::default());
    let error = run(config, registry, users, &mut (), |_| {}, std::future::ready(()))
        .await
        .unwrap_err();
    assert!(matches!(error, RunError::Metric(_)), "{error}");
}

#[test]
fn the_end_of_a_run_is_sent_whole() {
    let failed = StageFailure::Failed("no database".to_owned());
    let limit = Duration::from_secs(60);
    for (end, expected) in [
        (RunEnd::Complete, r#""complete""#),
        (RunEnd::Shutdown, r#""shutdown""#),
        (RunEnd::ThresholdsCrossed, r#""thresholds_crossed""#),
        (
            RunEnd::Aborted {
                reason: "enough".to_owned(),
            },
            r#"{"aborted":{"reason":"enough"}}"#,
        ),
        (
            RunEnd::SetupFailed(failed),
            r#"{"setup_failed":{"failed":"no database"}}"#,
        ),
        (
            RunEnd::SetupFailed(StageFailure::TimedOut { limit }),
            r#"{"setup_failed":{"timed_out":{"limit":{"secs":60,"nanos":0}}}}"#,
        ),
    ] {
        assert_eq!(serde_json::to_string(&end).unwrap(), expected);
        assert_eq!(serde_json::from_str::<RunEnd>(expected).unwrap(), end);
    }
}

#[test]
fn iterations_and_users_are_sent_whole() {
    let iterations = Iterations {
        n_complete: 5,
        n_interrupted: u64::MAX,
    };
    let json = serde_json::to_string(&iterations).unwrap();
    assert_eq!(serde_json::from_str::<Iterations>(&json).unwrap(), iterations);
    let both = iterations.and(iterations);
    assert_eq!((both.n_complete, both.n_interrupted), (10, u64::MAX));
    let users = Users::steady(7, Duration::from_millis(900));
    let json = serde_json::to_string(&users).unwrap();
    assert_eq!(json, r#"{"peak":7,"least":7,"user_us":6300000,"us":900000}"#);
    assert_eq!(serde_json::from_str::<Users>(&json).unwrap(), users);
}

/// Iterations that never wait.
struct Busy;

impl VuFactory for Busy {
    fn create(&self, _: VuId) -> Result<Box<dyn Vu>, String> {
        Ok(Box::new(Self))
    }
}

impl Vu for Busy {
    fn iterate<'a>(&'a mut self, _: &'a mut IterationContext) -> Iteration<'a> {
        Box::pin(std::future::ready(Ok(())))
    }
}

#[tokio::test]
async fn users_that_never_wait_hold_up_neither_their_neighbours_nor_the_end() {
    let result = run_for_real(config(4, Duration::from_millis(20)), Busy, std::future::pending()).await;
    assert!(result.iterations.n_complete > 4);
    assert_eq!(result.iterations.n_interrupted, 0);
}
