//! One load run: workers are started, driven through the schedule, and their metrics merged once per second.
//!
//! Each worker is a thread with a current-thread runtime that owns the virtual users with its remainder of
//! the id (round robin, so that a ramp touches all workers evenly). The run loop owns the total; workers hand it
//! deltas over a bounded channel, and nobody takes a lock to record a sample.

use std::{
    future::Future,
    io,
    num::NonZeroUsize,
    sync::Arc,
    thread,
    time::{Duration, SystemTime},
};

use tokio::sync::{mpsc, watch};

use crate::{
    executor::RampingVus,
    generator::{Evidence, Monitor},
    metrics::{Contains, CounterId, GaugeId, MetricSet, RegisterError, Registry, TrendId},
    vu::{VuFactory, VuId},
};

mod account;
mod failures;
mod run_loop;
mod total;
mod virtual_user;
mod worker;

pub use self::failures::Failures;
use self::{
    run_loop::RunLoop,
    total::Total,
    worker::{Command, Worker},
};

/// What to run.
#[derive(Clone, Debug)]
pub struct RunConfig {
    /// Which virtual users are active when.
    pub plan: RampingVus,
    /// Worker threads; [`default_workers`] is one per core.
    pub n_workers: NonZeroUsize,
}

/// One worker per core that this process may use.
pub fn default_workers() -> NonZeroUsize {
    thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
}

/// The state of a run, about once per second, for people who watch it.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    /// Time since the start.
    pub elapsed: Duration,
    /// Virtual users that run iterations now, those that finish their last one included.
    pub active_vus: u32,
    /// Virtual users that exist.
    pub max_vus: u32,
    /// Iterations that ended by themselves.
    pub n_iterations_complete: u64,
    /// Iterations that were interrupted.
    pub n_interrupted: u64,
    /// All metrics since the start.
    pub metrics: &'a MetricSet,
}

/// What a run came to.
#[derive(Debug)]
pub struct RunResult {
    /// All metrics, the built-in `iterations`, `iteration_duration`, `vus` and `vus_max` included.
    pub metrics: MetricSet,
    /// When the first virtual user started.
    pub started_at: SystemTime,
    /// From the start to the end of the last iteration.
    pub duration: Duration,
    /// How iterations ended.
    pub iterations: Iterations,
    /// Virtual users that existed.
    pub max_vus: u32,
    /// Why iterations failed.
    pub failures: Failures,
    /// What the generator itself did; give it to [`crate::generator::judge`] together with the latency that is
    /// reported.
    pub generator: Evidence,
}

/// How the iterations of a run ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Iterations {
    /// By themselves, well or with an error.
    pub n_complete: u64,
    /// Dropped by the schedule or by a shutdown; these are in no other metric.
    pub n_interrupted: u64,
}

/// Why a run could not be done.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A metric of the caller has the name of a built-in one.
    #[error(transparent)]
    Metric(#[from] RegisterError),
    /// The system refused a thread or an event loop.
    #[error("cannot start a worker: {0}")]
    Worker(#[from] io::Error),
    /// A virtual user could not be made.
    #[error("cannot make virtual user {vu}: {reason}")]
    Vu {
        /// Which one.
        vu: VuId,
        /// What its factory said.
        reason: String,
    },
    /// A worker ended with a panic: a defect of this program.
    #[error("a worker panicked, so the figures of this run are incomplete")]
    WorkerPanicked,
}

/// Handles of the metrics that every run records (k6's names and meanings).
#[derive(Clone, Copy, Debug)]
struct BuiltIn {
    iterations: CounterId,
    iteration_duration: TrendId,
    vus: GaugeId,
    vus_max: GaugeId,
}

impl BuiltIn {
    fn register(registry: &mut Registry) -> Result<Self, RegisterError> {
        Ok(Self {
            iterations: registry.counter("iterations", Contains::Default)?,
            iteration_duration: registry.trend("iteration_duration")?,
            vus: registry.gauge("vus", Contains::Default)?,
            vus_max: registry.gauge("vus_max", Contains::Default)?,
        })
    }
}

/// Deltas that may wait for the run loop, per worker. When the queue is full, a worker keeps its delta and sends
/// a larger one a second later, so nothing is lost.
const REPORTS_PER_WORKER: usize = 4;

/// Runs the plan to its end, or until `shutdown` completes; then running iterations are interrupted at once (k6
/// does the same on the first interrupt) and the result still holds everything that was measured.
///
/// `observe` is called about once per second and should return quickly. All virtual users are made before the
/// first one starts.
///
/// # Errors
/// When workers or virtual users cannot be made. Failing iterations are results, not errors.
pub async fn run(
    config: RunConfig,
    mut registry: Registry,
    factory: Arc<dyn VuFactory>,
    observe: impl FnMut(&Progress<'_>),
    shutdown: impl Future<Output = ()>,
) -> Result<RunResult, RunError> {
    let built_in = BuiltIn::register(&mut registry)?;
    let registry = Arc::new(registry);
    let monitor = Monitor::new();
    let n_workers = config.n_workers.get();
    let (command_sender, commands) = watch::channel(Command::Prepare);
    let (report_sender, reports) = mpsc::channel(n_workers * REPORTS_PER_WORKER);
    let workers = (0..n_workers)
        .map(|number| {
            let worker = Worker {
                number,
                n_workers,
                plan: config.plan.clone(),
                metrics: MetricSet::new(Arc::clone(&registry)),
                built_in,
                monitor: monitor.clone(),
            };
            worker.spawn(Arc::clone(&factory), commands.clone(), report_sender.clone())
        })
        .collect::<Result<Vec<_>, _>>()?;
    drop(report_sender);

    let total = Total::new(
        MetricSet::new(registry),
        built_in,
        n_workers,
        config.plan.max_vus(),
    );
    let outcome = RunLoop::new(total, reports, command_sender, monitor)
        .drive(observe, shutdown)
        .await;
    let n_panicked = workers
        .into_iter()
        .map(thread::JoinHandle::join)
        .filter(Result::is_err)
        .count();
    if n_panicked > 0 {
        Err(RunError::WorkerPanicked)
    } else {
        outcome
    }
}

#[cfg(test)]
mod tests;
