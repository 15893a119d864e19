//! An Artillery file: its scenarios, with any number of arrivals per second, or of users at the same time.

use clap::Parser;
use plimsoll_line::report::Unit;
use plimsoll_load::{
    executor::WhenLate,
    metrics::Registry,
    plan::{Plan, Scenario},
};
use plimsoll_scenario::artillery::Test;

use super::super::{
    super::artillery::{Input, TestFlags, read_files},
    Options,
    attempt::{Attempt, with_errors},
    options::Timing,
    steady::{self, Places},
};
use crate::{exit::Failure, numbers, surroundings::Surroundings};

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
    /// The plan with one scenario, which stands for those of the file.
    plan: Plan,
    registry: Registry,
    counts_errors: bool,
    unit: Unit,
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
        let test = Input::new(&flags).read(&sources, surroundings)?;
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
        let executor = planned
            .scenarios
            .first()
            .map(|scenario| scenario.executor.clone());
        let executor =
            executor.ok_or_else(|| Failure::Usage("the phases of the file have no users".to_owned()))?;
        let (registry, counts_errors) = with_errors(test.users().registry)?;
        Ok(Self {
            plan: Plan {
                scenarios: vec![Scenario {
                    exec: "line".to_owned(),
                    ..Scenario::new("line", executor)
                }],
                ..planned
            },
            test,
            registry,
            counts_errors,
            unit,
        })
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

    pub(super) fn attempt(&self, load: u64, timing: Timing) -> Result<Attempt, Failure> {
        let places = Places {
            // As in a run, each arrival is a new user.
            per_rate: (timing.warm_up + timing.steady).as_secs_f64(),
            max: MOST_USERS,
            when_late: WhenLate::Wait,
        };
        let users = self.test.users();
        Ok(Attempt {
            plan: steady::plan(&self.plan, &[1], load, self.unit, timing, places)?,
            registry: self.registry.clone(),
            factory: users.factory,
            stages: Box::new(users.stages),
            counts_errors: self.counts_errors,
            timing: None,
        })
    }
}
