//! Whole runs in virtual time: all workers on one thread, with the real run loop, for tests.

use std::{cell::RefCell, time::Duration};

use tokio::task::LocalSet;

use super::{clock::Clock, *};
use crate::{
    executor::Executor,
    vu::{Iteration, IterationContext, IterationError, Vu, VuId},
};

/// An iteration as a virtual user saw it; times in milliseconds since the start of the run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Seen {
    pub(super) begun_ms: u64,
    pub(super) scenario: String,
    pub(super) vu: u32,
    pub(super) iteration: u64,
    pub(super) intended_us: u64,
}

/// What iterations do and how they end.
type Script = Arc<dyn Fn(&IterationContext) -> (Duration, Result<(), IterationError>) + Send + Sync>;

/// Virtual users that wait as a function of the context says, and record that.
#[derive(Clone)]
pub(super) struct Actors {
    script: Script,
    seen: Arc<std::sync::Mutex<Vec<Seen>>>,
}

impl Actors {
    /// Iterations that take this long.
    pub(super) fn that_take(duration: Duration) -> Self {
        Self::that(move |_| (duration, Ok(())))
    }

    pub(super) fn that(
        script: impl Fn(&IterationContext) -> (Duration, Result<(), IterationError>) + Send + Sync + 'static,
    ) -> Self {
        Self {
            script: Arc::new(script),
            seen: Arc::default(),
        }
    }

    /// All iterations that began, in the order of time.
    pub(super) fn seen(&self) -> Vec<Seen> {
        let mut seen = self.seen.lock().unwrap().clone();
        seen.sort();
        seen
    }
}

impl VuFactory for Actors {
    fn create(&self, _: VuId) -> Result<Box<dyn Vu>, String> {
        Ok(Box::new(self.clone()))
    }
}

impl Vu for Actors {
    fn iterate<'a>(&'a mut self, context: &'a mut IterationContext) -> Iteration<'a> {
        let elapsed = context.run.elapsed();
        let intended = elapsed - context.lateness();
        self.seen.lock().unwrap().push(Seen {
            begun_ms: u64::try_from(elapsed.as_millis()).unwrap(),
            scenario: context.scenario.name.clone(),
            vu: context.vu.get(),
            iteration: context.iteration,
            intended_us: u64::try_from(intended.as_micros()).unwrap(),
        });
        let (duration, result) = (self.script)(context);
        Box::pin(async move {
            tokio::time::sleep(duration).await;
            result
        })
    }
}

/// A run to simulate.
pub(super) struct Simulation {
    pub(super) config: RunConfig,
    pub(super) factory: Arc<dyn VuFactory>,
    pub(super) registry: Registry,
    /// When a person ends it.
    pub(super) shutdown_after: Option<Duration>,
}

/// What came of it.
pub(super) struct Outcome {
    pub(super) result: RunResult,
    /// Active virtual users in each second.
    pub(super) active_vus: Vec<u32>,
    /// The progress of the scenarios in each second, abbreviated.
    pub(super) scenarios: Vec<String>,
    /// What an instance would have told in each second, and at its end.
    pub(super) parts: Vec<Part>,
    pub(super) last: LastPart,
}

impl Simulation {
    /// Two workers.
    pub(super) fn of(plan: Plan, factory: impl VuFactory + 'static) -> Self {
        Self {
            config: RunConfig {
                n_workers: NonZeroUsize::new(2).unwrap(),
                ..RunConfig::new(plan)
            },
            factory: Arc::new(factory),
            registry: Registry::new(),
            shutdown_after: None,
        }
    }

    pub(super) async fn try_run(self, lifecycle: &mut dyn Lifecycle) -> Result<Outcome, RunError> {
        let Prepared { run_loop, workers } = prepare(self.config, self.registry)?;
        let (active_vus, scenarios) = (RefCell::new(Vec::new()), RefCell::new(Vec::new()));
        let parts = RefCell::new(Vec::new());
        let observe = |progress: &Progress<'_>| {
            active_vus.borrow_mut().push(progress.active_vus);
            parts.borrow_mut().push(Part::of(progress));
            let each = progress.scenarios.iter().map(brief);
            scenarios.borrow_mut().push(each.collect::<Vec<_>>().join("; "));
        };
        let shutdown = async {
            match self.shutdown_after {
                Some(after) => tokio::time::sleep(after).await,
                None => std::future::pending().await,
            }
        };
        let local = LocalSet::new();
        for (worker, wires) in workers {
            let factory = Arc::clone(&self.factory);
            local.spawn_local(async move { worker.run(&*factory, wires, Clock::Runtime).await });
        }
        let result = local
            .run_until(run_loop.drive(lifecycle, observe, shutdown))
            .await?;
        let parts = parts.into_inner();
        let scenes = parts.last().map(|part| part.standing.scenarios.clone());
        Ok(Outcome {
            last: LastPart::of(&result, scenes.unwrap_or_default()),
            parts,
            result,
            active_vus: active_vus.into_inner(),
            scenarios: scenarios.into_inner(),
        })
    }

    pub(super) async fn run(self) -> Outcome {
        self.try_run(&mut ()).await.unwrap()
    }
}

fn brief(progress: &ScenarioProgress<'_>) -> String {
    let name = &progress.scenario.name;
    format!(
        "{name} {}/{} of {}, {} dropped",
        progress.n_complete, progress.n_under_way, progress.vus, progress.n_dropped
    )
}

impl Outcome {
    /// Complete and interrupted iterations.
    pub(super) fn counts(&self) -> (u64, u64) {
        let Iterations {
            n_complete,
            n_interrupted,
        } = self.result.iterations;
        assert_eq!(self.counter("iterations"), n_complete);
        (n_complete, n_interrupted)
    }

    pub(super) fn counter(&self, name: &str) -> u64 {
        let metrics = &self.result.metrics;
        let id = metrics.registry().find(name).unwrap();
        metrics.value(id).map_or(0, |value| value.n_samples())
    }

    pub(super) fn ms(&self) -> u128 {
        self.result.duration.as_millis()
    }
}

pub(super) fn secs(secs: u64) -> Duration {
    Duration::from_secs(secs)
}

pub(super) fn constant_vus(vus: u32, duration: Duration, graceful_stop: Duration) -> Executor {
    Executor::ConstantVus {
        vus,
        duration,
        graceful_stop,
    }
}
