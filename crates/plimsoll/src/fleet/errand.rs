//! A run that a fleet carries out: finding the agents, conducting the run, and what each agent did.

use std::{cell::OnceCell, future::Future, rc::Rc, sync::Arc};

use plimsoll_fleet::{ConductError, Crew, Link, Mission, Outcome, Recruited, Terms, conduct, recruit};
use plimsoll_load::{
    metrics::{Registry, SampleSender},
    plan::Plan,
    run::{Control, Progress},
    segment::Split,
    vu::Lifecycle,
    watch::Sampling,
};

use super::{flags::Wanted, version};
use crate::{
    exit::{Failure, TestFailure},
    session::of_error,
};

/// What a fleet has to do.
#[derive(Debug)]
pub(crate) struct Errand {
    pub(crate) wanted: Wanted,
    /// The plans of the agents, in their order.
    pub(crate) segments: Vec<Plan>,
    /// What agents make their part of the run from.
    pub(crate) package: Vec<u8>,
}

/// The coordinator's side of a run.
pub(crate) struct Field {
    /// The whole plan.
    pub(crate) plan: Plan,
    /// All metrics.
    pub(crate) registry: Registry,
    pub(crate) control: Control,
    /// The targets that are watched on this machine.
    pub(crate) sampling: Option<Arc<Sampling>>,
    /// The receivers of single samples.
    pub(crate) samples: Vec<SampleSender>,
}

/// Why a part of the load of a run is missing; the run and its session share it. Empty: nothing is missing.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outing(Rc<OnceCell<String>>);

impl Outing {
    /// A part of the load is missing. The first reason stays.
    pub(crate) fn misses(&self, reason: String) {
        self.0.get_or_init(|| reason);
    }

    /// Why a part of the load is missing.
    pub(crate) fn missing(&self) -> Option<&str> {
        self.0.get().map(String::as_str)
    }
}

impl Errand {
    /// A run whose plan agents share equally.
    pub(crate) fn equal(wanted: Wanted, plan: &Plan, package: Vec<u8>) -> Self {
        let n_agents = wanted.n_agents();
        let segment = |at| plan.clone().segment(&Split::equal(n_agents, at));
        Self {
            segments: (0..n_agents).map(segment).collect(),
            wanted,
            package,
        }
    }

    /// Finds the agents and conducts the run.
    ///
    /// # Errors
    /// There are too few agents, or the run never began.
    pub(crate) async fn run(
        &self,
        field: Field,
        stages: &mut dyn Lifecycle,
        observe: impl FnMut(&Progress<'_>),
        shutdown: impl Future<Output = ()>,
    ) -> Result<Outcome, Undone> {
        tokio::pin!(shutdown);
        let Field {
            plan,
            registry,
            control,
            sampling,
            samples,
        } = field;
        let mut crew = self
            .wanted
            .muster(sampling.as_deref(), &mut shutdown)
            .await
            .map_err(Undone::NotBegun)?;
        let mission = Mission {
            plan,
            segments: self.segments.clone(),
            package: &self.package,
            key: self.wanted.key.as_ref(),
            registry,
            on_loss: self.wanted.on_loss,
            control,
            sampling,
            samples,
        };
        let outcome = conduct(&mut crew, mission, stages, observe, shutdown).await;
        outcome.map_err(Undone::Conduct)
    }
}

impl Wanted {
    /// Finds the agents and reserves them. Targets of those that watch go to `sampling`.
    ///
    /// # Errors
    /// There are too few, or `shutdown` comes first.
    pub(crate) async fn muster(
        &self,
        sampling: Option<&Sampling>,
        shutdown: impl Future<Output = ()>,
    ) -> Result<Crew, Failure> {
        tokio::pin!(shutdown);
        let Self {
            address,
            n_agents,
            patience,
            is_known,
            sends_secrets,
            ..
        } = self;
        let fleet = format!("`{}` at {address}", address.name());
        let terms = Terms {
            run: format!("{:08x}", fastrand::u32(..)),
            n_agents: *n_agents,
            patience: *patience,
            version: version(),
            fleet: fleet.clone(),
        };
        let is_told = !*is_known;
        if is_told {
            tracing::info!("Looking for {n_agents} agents in the fleet {fleet}.");
        }
        let recruited = async {
            let link = Link::connect(address).await?;
            recruit(link, &terms).await
        };
        let interrupted =
            || TestFailure::Interrupted.because("the run was ended before its agents were there");
        let Recruited { crew, observers } = tokio::select! {
            recruited = recruited => recruited.map_err(|error| TestFailure::FleetFailed.because(error))?,
            () = &mut shutdown => return Err(interrupted()),
        };
        let open = crew.members().iter().find(|member| !member.profile.is_private);
        if let Some(open) = open.filter(|_| *sends_secrets) {
            let name = open.profile.name.clone();
            crew.release().await;
            return Err(TestFailure::FleetFailed.because(format!(
                "agent {name}: its connection to NATS is not encrypted, so others could read the secrets of --fleet-secrets; \
                 start it with --fleet tls://…"
            )));
        }
        if let Some(sampling) = sampling {
            tokio::select! {
                () = observers.engage(address, self.key(), sampling) => {}
                () = shutdown => {
                    crew.release().await;
                    return Err(interrupted());
                }
            }
        }
        let names: Vec<_> = crew
            .members()
            .iter()
            .map(|member| member.profile.name.as_str())
            .collect();
        if is_told {
            tracing::info!("Run {} has the agents {}.", terms.run, names.join(", "));
        }
        Ok(crew)
    }
}

/// Why a run on a fleet has no result.
#[derive(Debug)]
pub(crate) enum Undone {
    /// There are too few agents, a signal came first, or there is nothing that agents could do.
    NotBegun(Failure),
    /// An agent, the test, or the connection.
    Conduct(ConductError),
}

impl From<Undone> for Failure {
    fn from(undone: Undone) -> Self {
        match undone {
            Undone::NotBegun(failure) => failure,
            Undone::Conduct(ref error) => {
                let failure = match error {
                    ConductError::Run(run) => of_error(run),
                    ConductError::Script { .. } => TestFailure::ScriptFailed,
                    ConductError::Fleet(_) | ConductError::Metrics(_) => TestFailure::FleetFailed,
                };
                failure.because(error)
            }
        }
    }
}
