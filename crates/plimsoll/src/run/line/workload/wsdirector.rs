//! A wsdirector scenario as load, scaled by `:scale`. Each step is the whole scenario, in which every client runs its
//! steps once. So there is no warm-up, and the step lasts as long as the scenario.

use clap::Parser;
use plimsoll_load::{metrics::Registry, plan::Plan};
use plimsoll_scenario::wsdirector::{Connect, Users, Voice};

use super::super::{
    super::wsdirector::{self, ClientFlags, Packed, Source, Template},
    Options,
    attempt::{Attempt, with_errors},
    options::Timing,
};
use crate::{
    exit::{Failure, TestFailure},
    fleet::Wanted,
    numbers,
    surroundings::Surroundings,
};

/// The flags behind `--`: those of a run that are about the clients and not about the run.
#[derive(Debug, Parser)]
#[command(name = "plimsoll line FILE --", no_binary_name = true, max_term_width = 110)]
struct Program {
    #[command(flatten)]
    flags: ClientFlags,
}

/// A scenario that was read.
pub(in crate::run::line) struct WsdirectorTest {
    /// The file, whose templates have another text at each scale.
    file: Template,
    flags: ClientFlags,
    /// The fleet that makes the load. `None`: this process does.
    wanted: Option<Wanted>,
    url: String,
    connect: Connect,
    registry: Registry,
    counts_errors: bool,
    /// Clients at scale 1, and how many more with each further one.
    n_first: u64,
    n_more: u64,
}

impl WsdirectorTest {
    pub(super) async fn read(options: &Options, surroundings: &Surroundings<'_>) -> Result<Self, Failure> {
        if options.search.unit.is_some() {
            return Err(Failure::Usage(
                "--unit: the load of a wsdirector scenario is the value of :scale; remove --unit".to_owned(),
            ));
        }
        let Program { flags } = numbers::parse(&options.flags);
        let url = options.url.clone().ok_or_else(|| {
            Failure::Usage(
                "which server? Expected --url, for example --url ws://localhost:3334/cable".to_owned(),
            )
        })?;
        let invalid = |mistakes| TestFailure::InvalidOptions.because(mistakes);
        let source = Source::File(options.file.clone());
        let file = Template::read(&source, surroundings)?;
        let n_clients =
            |scale| -> Result<u64, Failure> { Ok(file.scenario(scale).map_err(invalid)?.n_clients()) };
        let (n_first, n_second) = (n_clients(1)?, n_clients(2)?);
        if n_second == n_first {
            return Err(Failure::Usage(format!(
                "{} has no group whose multiplier is :scale, so there is nothing to scale; expected something like \
                 multiplier: \":scale\"",
                options.name()
            )));
        }
        // Standard output has the rows of the search.
        let voice = Voice::new(false, |line| tracing::info!(target: "scenario", "{line}"));
        let connect = wsdirector::connect(&flags, url.clone(), voice)?;
        let wanted = options.fleet.wanted(surroundings)?;
        let first = file.scenario(1).map_err(invalid)?;
        let users = match wanted {
            None => Users::new(first, &connect).await?,
            Some(_) => Users::elsewhere(first, &connect)?,
        };
        let (registry, counts_errors) = with_errors(users.registry)?;
        Ok(Self {
            n_more: n_second - n_first,
            file,
            flags,
            wanted,
            url,
            connect,
            registry,
            counts_errors,
            n_first,
        })
    }

    pub(super) fn is_elsewhere(&self) -> bool {
        self.wanted.is_some()
    }

    pub(super) fn registry(&self) -> &Registry {
        &self.registry
    }

    /// The number of clients at this scale.
    pub(super) fn n_clients(&self, scale: u64) -> u64 {
        self.n_first + self.n_more.saturating_mul(scale - 1)
    }

    pub(super) async fn attempt(&self, scale: u64) -> Result<Attempt, Failure> {
        let scale = u32::try_from(scale).unwrap_or(u32::MAX);
        let invalid = |mistakes| TestFailure::InvalidOptions.because(mistakes);
        let text = self.file.filled_in(scale).map_err(invalid)?;
        let scenario = self.file.read_filled_in(&text, scale).map_err(invalid)?;
        let users = match self.wanted {
            None => Users::new(scenario, &self.connect).await?,
            Some(_) => Users::elsewhere(scenario, &self.connect)?,
        };
        let plan = Plan::new(users.plan());
        let pack = |wanted| {
            let packed = Packed {
                name: self.file.name().to_owned(),
                text: &text,
                url: self.url.clone(),
                scale,
                shows_messages: false,
            };
            wsdirector::errand(wanted, &self.flags, packed, &plan)
        };
        let errand = self.wanted.clone().map(pack).transpose()?;
        Ok(Attempt {
            plan,
            errand,
            registry: self.registry.clone(),
            factory: users.factory(),
            stages: Box::new(()),
            counts_errors: self.counts_errors,
            timing: Some(Timing::WHOLE),
        })
    }
}
