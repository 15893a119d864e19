//! One load of a search (`plimsoll line bench`): so many clients, who do the same twice, of which the second time counts.
//!
//! A trial is a whole run with connections of its own. Each sample of it is handed over, so that who searches may ask for
//! any percentile.

use std::{sync::Arc, time::Duration};

use plimsoll_load::{generator::Evidence, histogram::Histogram, preflight::Records};

use crate::{
    agent::{Job, Shared},
    connect, exchange,
    interrupt::Interrupt,
    meter::Watched,
    options::{Common, Connect, Exchange, Steps},
    outcome::{Outcome, Setting, Step, Workload},
    remote::Agents,
    run::RunError,
    sink::{Progress, Readings, Sink},
};

/// A workload with any number of clients.
#[derive(Debug, Clone)]
pub enum Trials {
    /// `broadcast` and `echo`.
    Exchange(Box<Exchange>),
    /// `connect`.
    Connect(Box<Connect>),
}

/// A workload with so many clients: one load of a search.
#[derive(Debug, Clone)]
pub struct Load(Trials);

/// The result of a trial.
#[derive(Debug, Clone)]
pub struct Trial {
    /// The times from each send to the sender's answer.
    pub answers: Vec<Duration>,
    /// The times from each broadcast to its arrival at the last listener. A broadcast that did not reach all listeners
    /// counts with the time that was waited for it.
    pub deliveries: Vec<Duration>,
    /// The times from each broadcast to each listener. A missing delivery counts with the time that was waited for it.
    pub listeners: Histogram,
    /// The times from each TCP connect until the client was ready.
    pub connects: Vec<Duration>,
    /// Deliveries that were expected and did not come.
    pub n_lost: u64,
    /// Clients that did not get ready or lost their connections, and messages without an answer, by cause.
    pub failures: Vec<(String, u64)>,
    /// The health of the generator; `None` when no client became ready.
    pub generator: Option<Evidence>,
    /// The health of the generator of each agent, by its name. Empty: this process made the load.
    pub agents: Vec<(Arc<str>, Evidence)>,
    /// Why the times of deliveries say nothing. `None`: they are known well enough.
    pub doubt: Option<String>,
    /// Why a part of the load is missing; `None` if nothing is.
    pub missing: Option<String>,
    /// The resource use of the first watched target.
    pub watched: Option<Watched>,
    /// Length of the part that counts.
    pub elapsed: Duration,
    /// Whether the user ended it.
    pub is_interrupted: bool,
}

/// Steps of a trial of `broadcast` and `echo`: the first one warms up.
const N_STEPS: usize = 2;

impl Trials {
    /// The workload, for people.
    pub fn name(&self) -> String {
        let workload = match self {
            Self::Exchange(options) => options.workload(),
            Self::Connect(_) => Workload::Connect,
        };
        self.common().title(workload)
    }

    /// The records of single messages that a load keeps, without those that depend on the number of clients.
    pub fn records(&self) -> Records {
        match self {
            Self::Exchange(options) => options.records(N_STEPS, 0),
            Self::Connect(_) => Records::default(),
        }
    }

    /// Whether clients say anything.
    pub fn has_messages(&self) -> bool {
        matches!(self, Self::Exchange(_))
    }

    /// Whether messages go to all clients, so that some may be lost.
    pub fn is_broadcast(&self) -> bool {
        matches!(self, Self::Exchange(options) if options.workload() == Workload::Broadcast)
    }

    /// The first watched target, under its own name or as typed.
    pub fn watched(&self) -> Option<String> {
        let target = self.common().watched.first()?;
        Some(target.name.clone().unwrap_or_else(|| target.place.to_string()))
    }

    /// The workload with so many clients.
    pub fn load(&self, n_clients: usize) -> Load {
        let mut trials = self.clone();
        match &mut trials {
            Self::Exchange(options) => options.steps = steps(&options.steps, n_clients, N_STEPS),
            Self::Connect(options) => options.steps = steps(&options.steps, n_clients, 1),
        }
        Load(trials)
    }

    fn common(&self) -> &Common {
        match self {
            Self::Exchange(options) => &options.common,
            Self::Connect(options) => &options.common,
        }
    }
}

impl Load {
    /// Runs it. `agents` have the clients; `None`: this process has them. `observe` gets its progress.
    ///
    /// # Errors
    /// [`RunError`]. A trial without a ready client is not an error but a failed trial.
    pub async fn take(
        &self,
        interrupt: Interrupt,
        agents: Option<Agents>,
        observe: &mut dyn FnMut(Progress),
    ) -> Result<Trial, RunError> {
        let mut keeper = Keeper {
            observe,
            latest: None,
        };
        let outcome = match &self.0 {
            Trials::Exchange(options) => exchange::run(options, interrupt, agents, &mut keeper).await,
            Trials::Connect(options) => connect::run(options, interrupt, agents, &mut keeper).await,
        };
        match outcome {
            Ok(outcome) => Ok(keeper.trial(&outcome)),
            Err(RunError::NobodyReady { causes, .. }) => Ok(Trial {
                failures: causes.by_count(),
                ..Trial::empty()
            }),
            Err(error) => Err(error),
        }
    }
}

impl Shared for Load {
    fn job(&mut self, n_workers: usize) -> Option<Job> {
        Some(match &mut self.0 {
            Trials::Exchange(options) => options.job(n_workers),
            Trials::Connect(options) => options.job(n_workers),
        })
    }

    fn n_workers(&self) -> Option<usize> {
        Some(self.0.common().n_workers)
    }

    fn records_of_agent(&self, n_agents: usize) -> Records {
        match &self.0 {
            Trials::Exchange(options) => {
                options.records(N_STEPS, options.steps.n_first.div_ceil(n_agents.max(1)))
            }
            Trials::Connect(_) => Records::default(),
        }
    }
}

fn steps(steps: &Steps, n_clients: usize, n_steps: usize) -> Steps {
    Steps {
        n_first: n_clients,
        n_more: 0,
        n_steps: Some(n_steps),
        connect_width: steps.connect_width,
    }
}

impl Trial {
    fn empty() -> Self {
        Self {
            answers: Vec::new(),
            deliveries: Vec::new(),
            listeners: Histogram::small(),
            connects: Vec::new(),
            n_lost: 0,
            failures: Vec::new(),
            generator: None,
            agents: Vec::new(),
            doubt: None,
            missing: None,
            watched: None,
            elapsed: Duration::ZERO,
            is_interrupted: false,
        }
    }
}

/// Keeps the last measurement, and the connects of all steps.
struct Keeper<'a> {
    observe: &'a mut dyn FnMut(Progress),
    latest: Option<Readings>,
}

impl Sink for Keeper<'_> {
    fn progress(&mut self, progress: Progress) {
        (self.observe)(progress);
    }

    fn step(&mut self, _: &Step, _: &Setting) {}

    fn note(&mut self, _: &str) {}

    fn measured(&mut self, readings: Readings) {
        let before = self.latest.take();
        let connects = before.map_or_else(Vec::new, |before| before.connects);
        self.latest = Some(Readings {
            connects: connects.into_iter().chain(readings.connects).collect(),
            ..readings
        });
    }
}

impl Keeper<'_> {
    fn trial(self, outcome: &Outcome) -> Trial {
        let mut trial = Trial {
            is_interrupted: outcome.is_interrupted,
            missing: outcome.missing.clone(),
            n_lost: outcome.steps.last().map_or(0, n_lost),
            failures: failures(&outcome.steps),
            ..Trial::empty()
        };
        if let Some(step) = outcome.steps.last() {
            let period = step
                .sampling
                .as_ref()
                .map_or(&step.connect.period, |it| &it.period);
            trial.watched = period.watched;
            trial.elapsed = period.elapsed;
        }
        if let Some(latest) = self.latest {
            trial.answers = latest.answers;
            trial.deliveries = latest.deliveries;
            trial.listeners = latest.listeners;
            trial.connects = latest.connects;
            trial.generator = Some(latest.generator);
            trial.agents = latest.agents;
            trial.doubt = latest.doubt;
        }
        trial
    }
}

fn n_lost(step: &Step) -> u64 {
    let deliveries = step.sampling.as_ref().and_then(|it| it.deliveries.as_ref());
    deliveries.map_or(0, |deliveries| deliveries.counts.n_lost())
}

/// The failures in all steps: a client that fails during the warm-up is missing in the measurement.
fn failures(steps: &[Step]) -> Vec<(String, u64)> {
    let mut failures: Vec<(String, u64)> = steps
        .iter()
        .flat_map(|step| {
            step.connect
                .failures
                .by_count()
                .into_iter()
                .chain(step.drops.by_count())
        })
        .collect();
    let unanswered = steps.iter().filter_map(|step| step.sampling.as_ref());
    let n_unanswered: u64 = unanswered.map(|it| it.n_unanswered).sum();
    if n_unanswered > 0 {
        failures.push(("messages without an answer".to_owned(), n_unanswered));
    }
    failures.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
    failures
}
