//! A run of the engine on a fleet: the conduct of the whole.

use std::{
    future::Future,
    sync::Arc,
    time::{Duration, SystemTime},
};

use plimsoll_load::{
    metrics::{Registry, SampleSender, wire::WireError},
    plan::Plan,
    run::{
        AgentProgress, Combined, Control, Glances, LastPart, Part, Progress, RunEnd, RunError, RunResult,
        State,
    },
    segment::Split,
    vu::Lifecycle,
    watch::Sampling,
};
use serde_json::value::RawValue;
use tokio::time::{Instant, sleep_until};

use crate::{
    Crew, Event, FleetError, FleetKey,
    exchange::Notes,
    message::{Order, Relayed, Steering, Told},
};

/// The least time between the order to begin and the beginning.
const LEAD: Duration = Duration::from_secs(1);

/// What happens when an agent is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnLoss {
    /// The run ends.
    Abort,
    /// The others go on, and the verdict is that the run is incomplete.
    Continue,
}

/// A run for a fleet.
pub struct Mission<'a> {
    /// The whole plan.
    pub plan: Plan,
    /// The plans of the agents, in their order.
    pub segments: Vec<Plan>,
    /// What agents make their part of the run from.
    pub package: &'a [u8],
    /// The key that the package is signed with.
    pub key: Option<&'a FleetKey>,
    /// All metrics.
    pub registry: Registry,
    /// What happens when an agent is lost.
    pub on_loss: OnLoss,
    /// The control of the run.
    pub control: Control,
    /// The targets that are watched on this machine.
    pub sampling: Option<Arc<Sampling>>,
    /// The receivers of single samples. Without any, agents send none.
    pub samples: Vec<SampleSender>,
}

/// The end of a run of a fleet.
#[derive(Debug)]
pub struct Outcome {
    /// The merged result.
    pub result: RunResult,
    /// Each agent's own figures, in their order.
    pub agents: Vec<AgentAccount>,
    /// Why a part of the load is missing. `None`: nothing is.
    pub incomplete: Option<String>,
}

/// What one agent did.
#[derive(Clone, Debug)]
pub struct AgentAccount {
    /// How it stood when the run was over.
    pub agent: AgentProgress,
    /// Its last part. `None`: it was lost.
    pub last: Option<LastPart>,
}

/// Conducts a run to its end: hands out the package, starts all agents together, merges what they tell, and ends them
/// together. `observe` is called for each second that all agents have told of.
///
/// # Errors
/// An agent cannot take part, or the run never began.
pub async fn conduct(
    crew: &mut Crew,
    mission: Mission<'_>,
    stages: &mut dyn Lifecycle,
    observe: impl FnMut(&Progress<'_>),
    shutdown: impl Future<Output = ()>,
) -> Result<Outcome, ConductError> {
    let n = crew.members().len();
    let combined = Combined::new(
        mission.plan.clone(),
        mission.segments.clone(),
        mission.registry.clone(),
    )?
    .with_outputs(mission.samples.clone());
    let mut conduct = Conduct {
        combined,
        mission,
        began: vec![None; n],
        lost_at: vec![None; n],
        generators: vec![Glances::default(); n],
        is_idle: vec![false; n],
        has_ended: vec![false; n],
        outcomes: (0..n).map(|_| None).collect(),
        notes: Notes::none(n),
        incomplete: None,
        end: None,
        is_finishing: false,
    };
    let outcome = conduct.run(crew, stages, observe, shutdown).await;
    crew.release().await;
    let (started_at, t0) = outcome?;
    for (member, outcome) in conduct.outcomes.iter().enumerate() {
        let Some(outcome) = outcome else { continue };
        let name = &crew.members()[member].profile.name;
        stages
            .add_outcome(outcome.get())
            .map_err(|reason| FleetError::of(name, reason))?;
    }
    conduct.outcome(crew, started_at, t0)
}

/// Why a fleet has no result.
#[derive(Debug, thiserror::Error)]
pub enum ConductError {
    /// An agent, or the connection.
    #[error(transparent)]
    Fleet(#[from] FleetError),
    /// The plan.
    #[error(transparent)]
    Run(#[from] RunError),
    /// An agent measures something else than the coordinator.
    #[error("an agent has other metrics than this test: {0}")]
    Metrics(#[from] WireError),
    /// A script or its options, on an agent.
    #[error("agent {agent}: {reason}")]
    Script {
        /// The agent.
        agent: String,
        /// The error of the script.
        reason: String,
    },
}

struct Conduct<'a> {
    combined: Combined,
    mission: Mission<'a>,
    /// When each agent began, on its own clock.
    began: Vec<Option<u64>>,
    lost_at: Vec<Option<Duration>>,
    /// The generator of each agent.
    generators: Vec<Glances>,
    is_idle: Vec<bool>,
    has_ended: Vec<bool>,
    /// The outcomes of the agents' users, where parts do not tell them.
    outcomes: Vec<Option<Box<RawValue>>>,
    /// What the agents' users tell each other.
    notes: Notes,
    incomplete: Option<String>,
    end: Option<RunEnd>,
    /// Whether all have been told to finish.
    is_finishing: bool,
}

/// The state before the start.
struct Before {
    n_ready: usize,
    /// The result of the function before the run.
    set_up: Option<Option<String>>,
}

impl Conduct<'_> {
    /// Returns when it began, and the moment on the coordinator's clock.
    async fn run(
        &mut self,
        crew: &mut Crew,
        stages: &mut dyn Lifecycle,
        mut observe: impl FnMut(&Progress<'_>),
        shutdown: impl Future<Output = ()>,
    ) -> Result<(SystemTime, u64), ConductError> {
        tokio::pin!(shutdown);
        let n_instances = crew.members().len();
        if !self.mission.samples.is_empty() {
            crew.take_samples(self.combined.registry(), self.mission.samples.clone());
            // Samples of setup come before the start.
            crew.compare_clocks().await?;
        }
        crew.assign(self.mission.package, self.mission.key).await?;
        let mut before = Before {
            n_ready: 0,
            set_up: None,
        };
        while before.n_ready < n_instances {
            tokio::select! {
                event = crew.next() => self.before(crew, event, &mut before)?,
                () = &mut shutdown => return Ok(self.never_began(RunEnd::Shutdown)),
            }
        }
        let control = self.mission.control.clone();
        tokio::select! {
            () = control.resumed() => {}
            () = &mut shutdown => return Ok(self.never_began(RunEnd::Shutdown)),
        }
        if self.mission.plan.has_setup {
            crew.order(0, Order::Setup).await?;
            while before.set_up.is_none() && self.end.is_none() {
                tokio::select! {
                    event = crew.next() => self.before(crew, event, &mut before)?,
                    () = &mut shutdown => return Ok(self.never_began(RunEnd::Shutdown)),
                }
            }
            if let Some(end) = self.end.take() {
                return Ok(self.never_began(end));
            }
        }
        let data = before.set_up.flatten();
        let (started_at, t0) = self.begin(crew, data.as_deref()).await?;
        if let Some(data) = data {
            stages.share(data.into());
        }
        let began = crew.timepiece().instant(t0);
        tokio::select! {
            () = sleep_until(began) => {}
            () = &mut shutdown => self.stop(crew, RunEnd::Shutdown).await,
        }
        self.mission
            .sampling
            .iter()
            .for_each(|sampling| sampling.start(began.into_std()));
        self.mission.control.begin(began);
        let mut steering = self.mission.control.state();
        while !self.combined.is_over() {
            tokio::select! {
                event = crew.next() => self.take(crew, event, began).await?,
                () = &mut shutdown, if self.end.is_none() => self.stop(crew, RunEnd::Shutdown).await,
                () = self.notes.due() => self.hand_out_notes(crew).await,
                changed = control.changed_from(steering) => {
                    steering = changed;
                    self.steer(crew, changed).await;
                }
            }
            while let Some(recent) = self.combined.settle()? {
                let notices = self.combined.notices();
                observe(&Progress {
                    agents: self.agents(crew, t0),
                    ..self.combined.progress(began.elapsed(), &recent, &notices)
                });
                if self.end.is_none() && self.combined.has_crossed() {
                    self.stop(crew, RunEnd::ThresholdsCrossed).await;
                }
            }
            self.finish_if_all_are_idle(crew).await;
        }
        Ok((started_at, t0))
    }

    /// The result of a run that ended before its start.
    fn never_began(&mut self, end: RunEnd) -> (SystemTime, u64) {
        self.end = Some(end);
        (SystemTime::now(), 0)
    }

    /// An event before the start.
    fn before(&mut self, crew: &Crew, event: Event, before: &mut Before) -> Result<(), ConductError> {
        let name = |member: usize| crew.members()[member].profile.name.clone();
        match event {
            Event::Lost(member, silence) => {
                let reason = format!("{silence}, before the run began");
                return Err(FleetError::of(&name(member), reason).into());
            }
            Event::Told(member, told) => match *told {
                Told::Ready { .. } => before.n_ready += 1,
                Told::SetUp(data) => before.set_up = Some(data),
                Told::SetupFailed(failure) => self.end = Some(RunEnd::SetupFailed(failure)),
                Told::Failed { reason, is_of_script } => {
                    return Err(refusal(name(member), reason, is_of_script));
                }
                Told::Leaving { reason } => return Err(FleetError::of(&name(member), reason).into()),
                // A setup that ends the run says so by its end.
                Told::Note(_)
                | Told::Idle { .. }
                | Told::Outcome(_)
                | Told::Ended(_)
                | Told::Began { .. }
                | Told::Samples(_)
                | Told::Relayed(_)
                | Told::Part(_) => {}
            },
        }
        Ok(())
    }

    /// Starts all agents together. Returns the moment on the wall clock and on the coordinator's own one.
    async fn begin(
        &mut self,
        crew: &mut Crew,
        data: Option<&str>,
    ) -> Result<(SystemTime, u64), ConductError> {
        if let Some(data) = data {
            crew.share(data).await?;
        }
        crew.compare_clocks().await?;
        self.mission
            .sampling
            .iter()
            .for_each(|sampling| sampling.prepare());
        let lead = LEAD.max(crew.round_trip() * 5);
        let (at, started_at) = (Instant::now() + lead, SystemTime::now() + lead);
        let t0 = crew.timepiece().at(at);
        crew.begin(t0, at - lead / 4).await?;
        Ok((started_at, t0))
    }

    /// An event of the run.
    async fn take(&mut self, crew: &mut Crew, event: Event, began: Instant) -> Result<(), ConductError> {
        match event {
            Event::Lost(member, silence) => self.lose(crew, member, &silence.to_string(), began).await,
            Event::Told(member, told) => match *told {
                Told::Began { at_ns } => self.began[member] = Some(at_ns),
                Told::Part(part) => {
                    let part: Part = read(crew, member, part.get())?;
                    self.learn(member, &part);
                    self.combined.take(member, part);
                }
                Told::Idle { aborted } => {
                    self.is_idle[member] = true;
                    if let Some(reason) = aborted.filter(|_| self.end.is_none()) {
                        self.stop(crew, RunEnd::Aborted { reason }).await;
                    }
                }
                Told::Note(note) => self.notes.take(member, note),
                Told::Relayed(relayed) => self.account(crew, member, &relayed),
                Told::Outcome(outcome) => self.outcomes[member] = Some(outcome),
                Told::Ended(last) => {
                    let last: LastPart = read(crew, member, last.get())?;
                    self.learn(member, &last.rest);
                    (self.is_idle[member], self.has_ended[member]) = (true, true);
                    self.combined.end(member, last);
                }
                Told::Leaving { reason } => self.lose(crew, member, &reason, began).await,
                Told::Failed { reason, .. } => self.lose(crew, member, &reason, began).await,
                // Those have been handed over.
                Told::Samples(_) | Told::Ready { .. } | Told::SetUp(_) | Told::SetupFailed(_) => {}
            },
        }
        Ok(())
    }

    /// Tells of the samples of an agent that did not come.
    fn account(&mut self, crew: &Crew, member: usize, relayed: &Relayed) {
        let n_lost = crew.intake().map_or(0, |intake| intake.account(member, relayed));
        if n_lost > 0 {
            let name = &crew.members()[member].profile.name;
            let text = format!(
                "outputs miss {n_lost} samples of agent {name}: it made them faster than they could be sent; use more agents, \
                 or fewer samples"
            );
            tracing::warn!("{text}.");
            self.combined.notice(text);
        }
    }

    fn learn(&mut self, member: usize, part: &Part) {
        self.generators[member].push(part.generator);
    }

    /// An agent is gone: the run ends or goes on without it.
    async fn lose(&mut self, crew: &mut Crew, member: usize, reason: &str, began: Instant) {
        if self.has_ended[member] || self.lost_at[member].is_some() {
            return;
        }
        let at = began.elapsed();
        let share = share(crew.members().len(), member) * 100.0;
        let name = &crew.members()[member].profile.name;
        let text = format!(
            "agent {name} was lost after {} s ({reason}), and with it {share:.0} % of the load",
            at.as_secs()
        );
        tracing::warn!("{text}.");
        self.lost_at[member] = Some(at);
        self.combined.notice(text.clone());
        self.combined.lose(member);
        crew.strike(member);
        let first = self.incomplete.get_or_insert(text).clone();
        if self.mission.on_loss == OnLoss::Abort && self.end.is_none() {
            self.stop(crew, RunEnd::Aborted { reason: first }).await;
        }
    }

    /// Ends all agents. The first reason stays.
    async fn stop(&mut self, crew: &mut Crew, end: RunEnd) {
        self.end.get_or_insert(end);
        // An agent that does not answer is lost soon.
        drop(crew.order_all(|_| Order::Stop).await);
    }

    async fn hand_out_notes(&mut self, crew: &Crew) {
        let notes = self.notes.hand_out();
        if let Err(error) = crew.order_all(|member| Order::Hear(notes[member].clone())).await {
            tracing::warn!("An agent does not hear what the others tell: {error}.");
        }
    }

    async fn steer(&self, crew: &Crew, state: State) {
        let splits: Vec<_> = (0..crew.members().len())
            .map(|at| Split::equal(crew.members().len(), at))
            .collect();
        let scaled = |member: usize, n: u32| {
            let n_own = splits[member].stripe().scale(n.into());
            u32::try_from(n_own).unwrap_or(n)
        };
        let asked = crew.order_all(|member| {
            Order::Control(Steering {
                is_paused: state.is_paused,
                vus: scaled(member, state.vus),
                max_vus: scaled(member, state.max_vus),
            })
        });
        if let Err(error) = asked.await {
            tracing::warn!("An order of the controller was not taken: {error}.");
        }
    }

    async fn finish_if_all_are_idle(&mut self, crew: &Crew) {
        let living = crew.living();
        if self.is_finishing || living.is_empty() || !living.iter().all(|&member| self.is_idle[member]) {
            return;
        }
        self.is_finishing = true;
        let first = living[0];
        drop(
            crew.order_all(|member| Order::Finish {
                tears_down: member == first,
            })
            .await,
        );
    }

    /// How the agents stand. `t0` is the planned start, on the coordinator's clock.
    fn agents(&self, crew: &Crew, t0: u64) -> Vec<AgentProgress> {
        let n = crew.members().len();
        let agents = crew.members().iter().enumerate().map(|(at, member)| {
            let clock = crew.reading(at);
            let skew = clock.zip(self.began[at]).map(|(clock, began)| {
                let own = i128::from(clock.own(began)) - i128::from(t0);
                i64::try_from(own).unwrap_or(i64::MAX)
            });
            let standing = self.combined.standing(at);
            AgentProgress {
                name: member.profile.name.clone(),
                version: member.profile.version.clone(),
                n_cores: member.profile.cores,
                share: share(n, at),
                active_vus: standing.active_vus,
                max_vus: standing.max_vus,
                n_iterations_complete: self.combined.iterations_of(at).n_complete,
                generator: self.generators[at],
                clock,
                start_skew_ns: skew,
                lost_at: self.lost_at[at],
            }
        });
        agents.collect()
    }

    fn outcome(self, crew: &Crew, started_at: SystemTime, t0: u64) -> Result<Outcome, ConductError> {
        let agents = self.agents(crew, t0).into_iter().enumerate();
        let agents = agents.map(|(at, agent)| AgentAccount {
            agent,
            last: self.combined.last_part(at).cloned(),
        });
        let agents = agents.collect();
        let mut incomplete = self.incomplete;
        for mismatch in self.combined.mismatches() {
            let name = &crew.members()[mismatch.instance].profile.name;
            incomplete.get_or_insert_with(|| {
                format!(
                    "agent {name} ran {} iterations, and its parts have {}",
                    mismatch.of_run.n_complete, mismatch.of_parts.n_complete
                )
            });
        }
        let end = self.end.unwrap_or(RunEnd::Complete);
        Ok(Outcome {
            result: self.combined.finish(end, started_at)?,
            agents,
            incomplete,
        })
    }
}

/// The part of the agent number `at` of `n`.
fn share(n: usize, at: usize) -> f64 {
    Split::equal(n, at).stripe().share()
}

fn refusal(agent: String, reason: String, is_of_script: bool) -> ConductError {
    if is_of_script {
        ConductError::Script { agent, reason }
    } else {
        FleetError::Agent { agent, reason }.into()
    }
}

/// Reads what an agent told.
fn read<T: serde::de::DeserializeOwned>(crew: &Crew, member: usize, text: &str) -> Result<T, FleetError> {
    let name = &crew.members()[member].profile.name;
    serde_json::from_str(text)
        .map_err(|error| FleetError::of(name, format!("what it told cannot be read: {error}")))
}
