//! One load run: workers are started, driven through the schedule, and their metrics merged once per second.
//!
//! Each worker is a thread with a current-thread runtime that owns the virtual users with its remainder of the id
//! (round robin, so that a ramp loads all workers evenly). The run loop owns the total. Workers send it deltas over a
//! bounded channel, and recording a sample takes no lock.

use std::{future::Future, num::NonZeroUsize, sync::Arc, thread};

use tokio::sync::{mpsc, watch};

use crate::{
    generator::Monitor,
    metrics::{MetricSet, Registry, SampleSender, Selector, built_in::Execution},
    plan::Plan,
    threshold::Thresholds,
    vu::{Lifecycle, VuFactory},
    watch::Sampling,
};

mod account;
mod agent;
mod clock;
mod combined;
mod control;
mod error;
mod failures;
mod handle;
mod iterations;
mod part;
mod presence;
mod progress;
mod result;
mod roster;
mod run_loop;
mod scene;
mod shift;
mod slots;
mod steward;
mod stretch;
mod total;
mod virtual_user;
mod worker;

pub use self::{
    agent::{AgentProgress, ClockOffset, Glances},
    combined::{Combined, Mismatch},
    control::{Control, ControlError, State},
    error::RunError,
    failures::Failures,
    handle::RunHandle,
    iterations::Iterations,
    part::{LastPart, Part, SceneStanding, Standing},
    presence::{Presence, Users},
    progress::{Progress, ScenarioProgress},
    result::{RunEnd, RunResult, StageFailure},
    stretch::Stretch,
};
use self::{
    run_loop::RunLoop,
    scene::Scene,
    total::Total,
    worker::{Command, Wires, Worker},
};

/// What to run.
#[derive(Clone, Debug)]
pub struct RunConfig {
    /// The schedule of the virtual users.
    pub plan: Plan,
    /// Worker threads. [`default_workers`] is one per core.
    pub n_workers: NonZeroUsize,
    /// The control, for a run that is paused or scaled from outside. Otherwise [`Control::of`] the plan.
    pub control: Control,
    /// Receivers of single samples. Usually none.
    pub samples: Vec<SampleSender>,
    /// The sampling of targets, which is told when the load begins. The caller asks for the accounts.
    pub sampling: Option<Arc<Sampling>>,
    /// The monitor of the generator. A clone may end a period during the run; then [`RunResult::generator`] is the
    /// rest.
    pub monitor: Monitor,
}

impl RunConfig {
    /// The settings for this plan on all cores, without a controller.
    pub fn new(plan: Plan) -> Self {
        Self {
            n_workers: default_workers(),
            control: Control::of(&plan),
            samples: Vec::new(),
            sampling: None,
            monitor: Monitor::new(),
            plan,
        }
    }
}

/// One worker per core that this process may use.
pub fn default_workers() -> NonZeroUsize {
    thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
}

/// The number of virtual users created before the run starts.
pub fn planned_vus(plan: &Plan) -> u64 {
    roster::planned_vus(&plan.scenarios)
}

/// The most virtual users at the same moment (k6's `maxVUs`).
pub fn max_vus(plan: &Plan) -> u64 {
    roster::max_vus(&plan.scenarios)
}

/// Deltas that may wait for the run loop, per worker. When the queue is full, a worker keeps its delta and sends a
/// larger one a second later, so nothing is lost.
const REPORTS_PER_WORKER: usize = 4;

/// Virtual users that are ordered from one worker and not created yet. When the queue is full, the steward waits.
const ORDERS_PER_WORKER: usize = 16;

/// A run with all its parts, before its workers start.
struct Prepared {
    run_loop: RunLoop,
    workers: Vec<(Worker, Wires)>,
}

fn prepare(config: RunConfig, mut registry: Registry) -> Result<Prepared, RunError> {
    let execution = Execution::register(&mut registry)?;
    register_expected_responses(&config.plan, &mut registry);
    let thresholds = Thresholds::new(&config.plan.thresholds, &mut registry)?;
    let registry = Arc::new(registry);
    let (plan, n_workers) = (Arc::new(config.plan), config.n_workers.get());
    let roster: Arc<[_]> = roster::roster(&plan.scenarios).into();
    let scenes = plan
        .scenarios
        .iter()
        .map(|scenario| Scene::new(scenario.clone(), &config.control));
    let scenes: Arc<[Scene]> = scenes.collect();
    let (run, monitor) = (RunHandle::new(), config.monitor);
    let (command_sender, commands) = watch::channel(Command::Prepare);
    let (report_sender, reports) = mpsc::channel(n_workers * REPORTS_PER_WORKER);
    let (order_senders, orders): (Vec<_>, Vec<_>) =
        (0..n_workers).map(|_| mpsc::channel(ORDERS_PER_WORKER)).unzip();
    let workers = orders.into_iter().enumerate().map(|(number, orders)| {
        let worker = Worker {
            number,
            n_workers,
            plan: Arc::clone(&plan),
            roster: Arc::clone(&roster),
            scenes: Arc::clone(&scenes),
            metrics: MetricSet::new(Arc::clone(&registry)),
            samples: config.samples.clone(),
            execution,
            run: run.clone(),
            monitor: monitor.clone(),
        };
        let wires = Wires {
            commands: commands.clone(),
            orders,
            reports: report_sender.clone(),
        };
        (worker, wires)
    });
    let workers = workers.collect();
    let total = Total::new(
        MetricSet::new(registry),
        execution,
        run.clone(),
        n_workers,
        &plan,
        Arc::clone(&scenes),
        config.samples,
    );
    let run_loop = RunLoop {
        plan,
        scenes,
        run,
        control: config.control,
        thresholds,
        total,
        reports,
        commands: command_sender,
        orders: order_senders,
        monitor,
        sampling: config.sampling,
    };
    Ok(Prepared { run_loop, workers })
}

/// Registers the only sub-metric that k6 has by default: the duration of requests with an expected response.
fn register_expected_responses(plan: &Plan, registry: &mut Registry) {
    let name = "expected_response";
    let wanted = plan.system_tags.contains(name);
    if let Some(duration) = registry.find("http_req_duration").filter(|_| wanted) {
        let selector = Selector::new([(name.to_owned(), "true".to_owned())].into());
        registry.sub_metric(duration, &selector);
    }
}

/// Runs the plan to its end, or until `shutdown` completes. In that case running iterations are interrupted at once (k6
/// does so on the first interrupt), and the result still has all measurements.
///
/// `observe` is called about once per second and should return quickly. All planned virtual users are created before
/// the first one starts, and setup runs between the two. Pass `&mut ()` for a run without setup and teardown.
///
/// # Errors
/// Workers or virtual users cannot be created, or a threshold names an unknown metric. Failing iterations are results,
/// not errors.
pub async fn run(
    config: RunConfig,
    registry: Registry,
    factory: Arc<dyn VuFactory>,
    lifecycle: &mut dyn Lifecycle,
    observe: impl FnMut(&Progress<'_>),
    shutdown: impl Future<Output = ()>,
) -> Result<RunResult, RunError> {
    let Prepared { run_loop, workers } = prepare(config, registry)?;
    let threads = workers
        .into_iter()
        .map(|(worker, wires)| worker.spawn(Arc::clone(&factory), wires))
        .collect::<Result<Vec<_>, _>>()?;
    let outcome = run_loop.drive(lifecycle, observe, shutdown).await;
    let n_panicked = threads
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
mod simulation;
#[cfg(test)]
mod tests;
