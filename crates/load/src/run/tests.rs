//! Whole runs in virtual and real time.

use std::sync::Mutex;

use super::*;
use crate::{
    executor::Stage,
    vu::{Iteration, IterationContext, Vu},
};

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
    let plan = RampingVus::new(
        n_vus,
        vec![Stage {
            duration,
            target: n_vus,
        }],
    )
    .unwrap();
    RunConfig {
        plan: plan.graceful_stop(Duration::ZERO),
        n_workers: NonZeroUsize::new(2).unwrap(),
    }
}

#[tokio::test]
async fn users_are_spread_over_real_workers_and_interrupted_at_the_end() {
    let users = Waiting::default();
    let config = config(5, Duration::from_millis(20));
    let result = run(
        config,
        Registry::new(),
        Arc::new(users.clone()),
        |_| {},
        std::future::pending(),
    )
    .await
    .unwrap();
    assert_eq!(
        result.iterations,
        Iterations {
            n_complete: 0,
            n_interrupted: 5
        }
    );
    assert_eq!((result.max_vus, result.failures.count()), (5, 0));
    assert!(result.duration >= Duration::from_millis(20));
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
    let config = config(3, Duration::from_secs(3600));
    let users = Waiting::default();
    let threads = Arc::clone(&users.threads);
    let all_started = async {
        while threads.lock().unwrap().len() < 3 {
            tokio::task::yield_now().await;
        }
    };
    let result = run(config, Registry::new(), Arc::new(users), |_| {}, all_started)
        .await
        .unwrap();
    assert_eq!(
        result.iterations,
        Iterations {
            n_complete: 0,
            n_interrupted: 3
        }
    );
}

#[tokio::test]
async fn a_shutdown_before_the_start_is_an_empty_result() {
    let config = config(3, Duration::from_secs(3600));
    let users = Arc::new(Waiting::default());
    let result = run(config, Registry::new(), users, |_| {}, std::future::ready(()))
        .await
        .unwrap();
    assert_eq!(result.iterations.n_complete, 0);
}

#[tokio::test]
async fn a_name_clash_with_a_built_in_metric_is_refused() {
    let mut registry = Registry::new();
    registry.rate("iterations").unwrap();
    let config = config(1, Duration::from_secs(1));
    let error = run(
        config,
        registry,
        Arc::new(Waiting::default()),
        |_| {},
        std::future::ready(()),
    )
    .await
    .unwrap_err();
    assert!(matches!(error, RunError::Metric(_)), "{error}");
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
    let config = config(4, Duration::from_millis(20));
    let result = run(
        config,
        Registry::new(),
        Arc::new(Busy),
        |_| {},
        std::future::pending(),
    )
    .await
    .unwrap();
    assert!(result.iterations.n_complete > 4);
    assert_eq!(result.iterations.n_interrupted, 0);
}
