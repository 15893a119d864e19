//! A parsed test, on its way to a run.

use std::{collections::BTreeMap, fmt, rc::Rc, sync::Arc, time::Duration};

use plimsoll_load::{
    executor::Executor,
    metrics::{Recorder, Registry},
    plan::Plan,
    run::RunHandle,
    vu::{Lifecycle, StageFuture, VuFactory},
};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{
    ensure::Ensure,
    payload::{Order, Payload},
    phase::{Phase, PhaseError},
    processor::Instance,
    program::{Program, ScenarioFlow},
    user::{Activity, Factory, Numbers, User},
};

/// The end of endless tests. Reason: longer than any run, and an instant that far away still fits into every clock.
const FOR_EVER: Duration = Duration::from_secs(10 * 365 * 24 * 3600);

/// A test.
#[derive(Debug)]
pub struct Test {
    pub(super) program: Arc<Program>,
    pub(super) registry: Registry,
    pub(super) ensure: Ensure,
    pub(super) max_duration: Option<Duration>,
    /// Whether figures of endpoints are in the JSON report only.
    pub(super) hides_endpoints: bool,
    pub(super) warnings: Vec<String>,
    pub(super) publications: Vec<Publication>,
    pub(super) slack: Option<Slack>,
    /// The places of files whose paths depend on the user.
    pub(super) late_files: Vec<String>,
}

/// A message to Slack at the end of a run.
#[derive(Clone, PartialEq, Eq)]
pub struct Slack {
    /// The URL that takes the message, a secret.
    pub webhook: String,
    /// Whether only runs with an exit code other than 0 are told.
    pub on_failure_only: bool,
}

/// Without the URL.
impl fmt::Debug for Slack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Slack")
            .field("on_failure_only", &self.on_failure_only)
            .finish_non_exhaustive()
    }
}

/// Where figures go during the run, because the file asks for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Publication {
    /// An output of samples.
    Samples {
        /// As in `--out`.
        output: &'static str,
        /// The output's variables of the environment, over the system's.
        environment: BTreeMap<String, String>,
    },
    /// Figures of each period.
    Gateway(Gateway),
}

/// A Pushgateway of Prometheus.
#[derive(Clone, PartialEq, Eq)]
pub struct Gateway {
    /// Its URL, which may hold user and password.
    pub url: String,
    /// The group of the run's figures.
    pub job: String,
    /// The beginning of the names of metrics.
    pub prefix: String,
    /// The labels of all figures.
    pub labels: Vec<(String, String)>,
    /// A PEM file of authorities; `None` for the system's.
    pub authorities: Option<String>,
}

/// Without the URL.
impl fmt::Debug for Gateway {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gateway")
            .field("prefix", &self.prefix)
            .field("labels", &self.labels)
            .field("authorities", &self.authorities)
            .finish_non_exhaustive()
    }
}

/// What a run needs of a test.
pub struct Users {
    /// All metrics.
    pub registry: Registry,
    /// Makes the virtual users.
    pub factory: Arc<dyn VuFactory>,
    /// What is done around the run.
    pub stages: Stages,
    /// The numbers of users.
    pub activity: Arc<Activity>,
}

/// `before` and `after`.
pub struct Stages {
    program: Arc<Program>,
    activity: Arc<Activity>,
    numbers: Option<Arc<Numbers>>,
    /// The functions of `before` and `after`, created at their first call.
    instance: Option<Rc<dyn Instance>>,
    /// The variables that `before` has set, as JSON.
    set: Option<Arc<str>>,
}

/// The numbers of one instance's users.
#[derive(Serialize, Deserialize)]
struct Counts {
    peak: u32,
    n_following: u64,
}

impl Test {
    /// What has no effect here, each with its place.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Where figures go during the run.
    pub fn publications(&self) -> &[Publication] {
        &self.publications
    }

    /// The message to Slack, if the file asks for one.
    pub fn slack(&self) -> Option<&Slack> {
        self.slack.as_ref()
    }

    /// Whether the figures of single endpoints are in the JSON report only.
    pub fn hides_endpoints(&self) -> bool {
        self.hides_endpoints
    }

    /// The phases.
    pub fn phases(&self) -> &[Phase] {
        &self.program.phases
    }

    /// What must hold at the end.
    pub fn ensure(&self) -> &Ensure {
        &self.ensure
    }

    /// The plan of arrivals.
    ///
    /// # Errors
    /// A phase is too large for a schedule.
    pub fn plan(&self) -> Result<Plan, PhaseError> {
        let limit = self.max_duration.unwrap_or(FOR_EVER);
        let (mut scenarios, mut start) = (Vec::new(), Duration::ZERO);
        for (position, phase) in self.phases().iter().enumerate() {
            if start < limit {
                let scenario = phase.scenario(position, start, limit)?;
                scenarios.extend(scenario.map(|mut scenario| {
                    scenario.exec = position.to_string();
                    scenario
                }));
            }
            start = start.saturating_add(phase.duration);
        }
        Ok(Plan {
            // Artillery has no limits for these; a day is a limit that users do not reach.
            setup_timeout: STAGE_TIME,
            teardown_timeout: STAGE_TIME,
            has_setup: self.program.before.is_some(),
            has_teardown: self.program.after.is_some(),
            ..Plan::new(scenarios)
        })
    }

    /// The number of users that should have arrived until `elapsed` after the start, without those of closed phases.
    pub fn n_due(&self, elapsed: Duration) -> u64 {
        let elapsed = elapsed.min(self.max_duration.unwrap_or(elapsed));
        let (mut start, mut n_due) = (Duration::ZERO, 0);
        for phase in self.phases() {
            if let Ok(Some(arrivals)) = phase.arrivals() {
                n_due += arrivals.n_before(elapsed.saturating_sub(start));
            }
            start = start.saturating_add(phase.duration);
        }
        n_due
    }

    /// Why several instances cannot make this run together as one instance would.
    pub fn obstacles(&self) -> Vec<String> {
        let phases = self.phases();
        let is_closed = phases.iter().any(Phase::is_closed);
        let limited = phases
            .iter()
            .enumerate()
            .filter(|(_, phase)| phase.max_vusers.is_some());
        let limited = limited.map(|(at, _)| {
            format!(
                "config.phases[{at}]: `maxVusers` limits the active users of all machines together, whose number no \
                 machine knows; remove it, or hold a number of users with `users`"
            )
        });
        limited.chain(self.obstacles_of_users(is_closed)).collect()
    }

    /// Why several instances cannot make any load of this test together, whatever its phases are. In a closed load a new user
    /// follows one who has gone.
    pub fn obstacles_of_users(&self, is_closed: bool) -> Vec<String> {
        let is_sequential = |payload: &Payload| payload.order == Order::Sequence;
        let has_order = is_closed && self.program.payloads.iter().any(is_sequential);
        let ordered = has_order.then(|| {
            "config.payload: the `order` sequence is that of arrivals, and users of a phase with `users` follow each \
             other on every machine; use the order random, or an arrival rate"
                .to_owned()
        });
        let late = self.late_files.iter().map(|place| {
            format!("{place}: the path depends on the user, so it is unknown which files other machines need; write the path")
        });
        ordered.into_iter().chain(late).collect()
    }

    /// Prepares a run.
    pub fn users(&self) -> Users {
        self.users_with(None)
    }

    /// Prepares the part of one of several instances, whose users have their places among those of all. `plan` is the plan of
    /// all instances: that of the phases, or one scenario in their place.
    pub fn part_of_users(&self, plan: &Plan) -> Users {
        let arrivals_of = |is_wanted: &dyn Fn(&str) -> bool| -> u64 {
            let scenarios = plan.scenarios.iter();
            let wanted = scenarios.filter(|scenario| is_wanted(&scenario.exec));
            let counts = wanted.map(|scenario| match &scenario.executor {
                Executor::ConstantArrivalRate(open) | Executor::RampingArrivalRate(open) => {
                    open.arrivals.n_total()
                }
                _ => 0,
            });
            counts.sum()
        };
        let mut next = u64::from(self.program.before.is_some());
        let mut firsts = Vec::new();
        for at in 0..self.phases().len() {
            firsts.push(next);
            next += arrivals_of(&|exec| exec == at.to_string());
        }
        firsts.push(next + arrivals_of(&|exec| exec.parse::<usize>().is_err()));
        self.users_with(Some(Arc::new(Numbers { firsts })))
    }

    fn users_with(&self, numbers: Option<Arc<Numbers>>) -> Users {
        let activity = Arc::<Activity>::default();
        Users {
            registry: self.registry.clone(),
            factory: Arc::new(Factory {
                program: Arc::clone(&self.program),
                activity: Arc::clone(&activity),
                numbers: numbers.clone(),
            }),
            stages: Stages {
                program: Arc::clone(&self.program),
                activity: Arc::clone(&activity),
                numbers,
                instance: None,
                set: None,
            },
            activity,
        }
    }
}

/// The time limit of `before` and `after`.
const STAGE_TIME: Duration = Duration::from_secs(24 * 3600);

impl Lifecycle for Stages {
    fn setup(&mut self, metrics: Recorder, run: RunHandle) -> StageFuture<'_> {
        Box::pin(async move {
            let program = Arc::clone(&self.program);
            let Some(stage) = &program.before else {
                return Ok(());
            };
            let number = self.numbers.as_ref().map(|_| 0);
            let own: Map<_, _> = self
                .perform(stage, (metrics, run), number)
                .await?
                .into_iter()
                .collect();
            self.set = Some(Value::Object(own.clone()).to_string().into());
            program.extend_globals(own);
            Ok(())
        })
    }

    fn shared(&self) -> Option<Arc<str>> {
        self.set.clone()
    }

    fn share(&mut self, data: Arc<str>) {
        match serde_json::from_str::<Map<_, _>>(&data) {
            Ok(own) => self.program.extend_globals(own),
            Err(error) => tracing::warn!("The variables of `before` cannot be read: {error}."),
        }
        self.set = Some(data);
    }

    fn outcome(&self) -> Option<String> {
        let counts = Counts {
            peak: self.activity.peak(),
            n_following: self.activity.n_following(),
        };
        serde_json::to_string(&counts).ok()
    }

    fn add_outcome(&mut self, outcome: &str) -> Result<(), String> {
        let counts: Counts = serde_json::from_str(outcome).map_err(|error| error.to_string())?;
        self.activity.add(counts.peak, counts.n_following);
        Ok(())
    }

    fn teardown(&mut self, metrics: Recorder, run: RunHandle) -> StageFuture<'_> {
        Box::pin(async move {
            let program = Arc::clone(&self.program);
            let Some(stage) = &program.after else {
                return Ok(());
            };
            let number = self
                .numbers
                .as_ref()
                .and_then(|numbers| numbers.firsts.last().copied());
            self.perform(stage, (metrics, run), number).await.map(drop)
        })
    }
}

impl Stages {
    /// Does the steps of a stage, and gives the variables that they set.
    async fn perform(
        &mut self,
        stage: &ScenarioFlow,
        (metrics, run): (Recorder, RunHandle),
        number: Option<u64>,
    ) -> Result<Vec<(String, Value)>, String> {
        let instance = match &self.instance {
            Some(instance) => Some(Rc::clone(instance)),
            None => self.program.instance()?,
        };
        self.instance.clone_from(&instance);
        // As in Artillery, what `before` and `after` do is not part of the figures.
        let measures = (metrics.apart(), &run);
        let mut user = User::new(&self.program, stage, instance.as_deref(), measures, number);
        let outcome = user.act(stage).await;
        user.leave().await;
        outcome.map_err(|failure| failure.to_string())?;
        Ok(user.variables.into_inner().into_own().collect())
    }
}
