//! An Artillery file: its scenarios, with any number of arrivals per second, or of users at the same time.

use std::collections::BTreeMap;

use clap::Parser;
use plimsoll_line::report::Unit;
use plimsoll_load::{executor::WhenLate, metrics::Registry, plan::Plan};
use plimsoll_scenario::artillery::Test;

use super::super::{
    super::artillery::{
        Input, Kept, Library, Read, Source, TestFlags, errand_of_step, of_search, read_files,
    },
    Options,
    attempt::{Attempt, with_errors},
    steady::{self, Places, SteadyLoad},
    step::Taker,
};
use crate::{
    exit::Failure,
    fleet::{Errand, Wanted},
    numbers,
    surroundings::Surroundings,
};

/// The flags behind `--`: those of a run that are about the test and not about the run.
#[derive(Debug, Parser)]
#[command(name = "plimsoll line FILE --", no_binary_name = true, max_term_width = 110)]
struct Program {
    #[command(flatten)]
    flags: TestFlags,
}

/// A file that was read.
pub(in crate::run::line) struct ArtilleryTest {
    test: Test,
    /// What a fleet needs. `None`: this process makes the load.
    fleet: Option<Box<OnFleet>>,
    /// The plan with one scenario, which stands for those of the file.
    plan: Plan,
    registry: Registry,
    counts_errors: bool,
    unit: Unit,
}

/// A file for a fleet.
struct OnFleet {
    wanted: Wanted,
    flags: TestFlags,
    sources: Vec<Source>,
    kept: Kept,
    system: BTreeMap<String, String>,
    seed: u64,
}

/// The largest number of concurrent users. Reason: one machine has about 28,000 ports for one target, and an idle
/// user takes 2 KB.
const MOST_USERS: u32 = 50_000;

impl ArtilleryTest {
    pub(super) fn read(options: &Options, surroundings: &Surroundings<'_>) -> Result<Self, Failure> {
        let Program { mut flags } = numbers::parse(&options.flags);
        flags.refuse_unsupported().map_err(Failure::Usage)?;
        if options.url.is_some() {
            flags.target.clone_from(&options.url);
        }
        let sources = read_files(std::slice::from_ref(&options.file), &flags, surroundings)?;
        let wanted = options.fleet.wanted(surroundings)?;
        let input = Input::new(&flags);
        let system = input.system(surroundings)?;
        let library = match wanted {
            None => Library::of_machine(surroundings),
            Some(_) => Library::kept_of_machine(surroundings),
        };
        let test = input.read_from(&sources, &system, &library)?;
        let seed = input.seed;
        for warning in flags.warnings() {
            tracing::warn!("{warning}");
        }
        for warning in test.warnings() {
            tracing::warn!("{warning}");
        }
        let planned = test.plan().map_err(|error| Failure::Usage(error.to_string()))?;
        let unit = options
            .search
            .unit
            .map_or_else(|| steady::natural_unit(&planned), Unit::from);
        let fleet = wanted.zip(library.into_kept()).map(|(wanted, kept)| {
            Box::new(OnFleet {
                wanted,
                flags,
                sources,
                kept,
                system,
                seed,
            })
        });
        let obstacles = test.obstacles_of_users(unit == Unit::Users);
        if fleet.is_some() && !obstacles.is_empty() {
            return Err(Failure::Usage(format!("--fleet: {}", obstacles.join("; "))));
        }
        let (registry, counts_errors) = with_errors(test.users().registry)?;
        Ok(Self {
            plan: of_search(planned)?,
            test,
            fleet,
            registry,
            counts_errors,
            unit,
        })
    }

    pub(super) fn is_elsewhere(&self) -> bool {
        self.fleet.is_some()
    }

    pub(super) fn unit(&self) -> Unit {
        self.unit
    }

    pub(super) fn registry(&self) -> &Registry {
        &self.registry
    }

    pub(super) fn notices(&self) -> Vec<String> {
        let has_limit = self.test.phases().iter().any(|phase| phase.max_vusers.is_some());
        let publishes = !self.test.publications().is_empty();
        let notices = [
            (
                has_limit,
                "maxVusers of phases is ignored, and so are their durations and rates",
            ),
            (
                publishes,
                "publish-metrics is ignored: a search publishes no samples",
            ),
            (
                self.test.slack().is_some(),
                "the plugin slack is ignored: a search sends no messages",
            ),
        ];
        let notices = notices.into_iter().filter(|(is_so, _)| *is_so);
        notices.map(|(_, notice)| notice.to_owned()).collect()
    }

    pub(super) fn attempt(&self, load: u64, taker: &Taker<'_>) -> Result<Attempt, Failure> {
        let places = Places {
            // As in a run, each arrival is a new user.
            held: taker.timing.counted().end,
            max: MOST_USERS,
            when_late: WhenLate::Wait,
        };
        let steady = taker.steady(load, self.unit, places);
        let plan = steady.plan(&self.plan)?;
        let errand = self.fleet.as_ref().map(|fleet| fleet.errand(&plan, steady));
        let users = self.test.users();
        Ok(Attempt {
            plan,
            errand: errand.transpose()?,
            registry: self.registry.clone(),
            factory: users.factory,
            stages: Box::new(users.stages),
            counts_errors: self.counts_errors,
            timing: None,
        })
    }
}

impl OnFleet {
    /// A step with this plan.
    fn errand(&self, plan: &Plan, steady: SteadyLoad) -> Result<Errand, Failure> {
        let read = Read {
            sources: &self.sources,
            plan,
            kept: &self.kept,
            system: &self.system,
            seed: self.seed,
        };
        errand_of_step(self.wanted.clone(), &self.flags, steady, &read)
    }
}
