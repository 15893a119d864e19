//! A k6 script: its scenarios with any load. `setup()` and `teardown()` are done once per step, as each step is a run.

use std::time::Duration;

use plimsoll_clients::dial::Proxies;
use plimsoll_line::report::Unit;
use plimsoll_load::{executor::WhenLate, metrics::Registry, plan, plan::Plan, threshold::Rules};
use plimsoll_script::{Redaction, Script};

use super::super::{
    super::{config_file::ConfigFile, flags::OptionFlags, fleet, layers::Layers, script},
    Options,
    attempt::{Attempt, with_errors},
    steady::{self, Places},
    step::Taker,
};
use crate::{
    exit::{Failure, TestFailure},
    surroundings::Surroundings,
};

/// A script that was read.
pub(in crate::run::line) struct ScriptTest {
    name: String,
    /// The fleet that makes the load. `None`: this process does.
    wanted: Option<fleet::Supplied>,
    script: Script,
    options: plan::Options,
    proxies: Proxies,
    plan: Plan,
    registry: Registry,
    counts_errors: bool,
    unit: Unit,
    max_vus: u32,
    /// The average duration of an iteration at the latest load.
    iteration: Duration,
}

/// The assumed duration of an iteration before the first measurement. Reason: it is typical of scripts in which users
/// pause like people. With too few users of an open model, the first step creates more.
const USUAL_ITERATION: Duration = Duration::from_secs(1);

/// Users of an open model for each that the mean iteration needs. Reason: iterations that take twice as long as the mean,
/// at the greater load, find a user.
const ROOM: u32 = 2;

impl ScriptTest {
    pub(super) async fn read(
        options: &Options,
        surroundings: &Surroundings<'_>,
        redaction: &Redaction,
    ) -> Result<Self, Failure> {
        let invalid = |reason: &dyn std::fmt::Display| TestFailure::InvalidOptions.because(reason);
        if let Some(flag) = foreign_flag(options) {
            return Err(Failure::Usage(format!(
                "{flag} is for files of Artillery and wsdirector; a script names its server itself, or gets it from \
                 a variable, for example -e URL=ws://localhost:3334/cable"
            )));
        }
        let wanted = fleet::wanted(
            &options.fleet,
            options.fleet_secrets,
            &options.reading,
            surroundings,
            redaction,
        )?;
        let file = ConfigFile::find(options.reading.config.as_deref(), surroundings)
            .map_err(|error| invalid(&error))?;
        let layers =
            Layers::read(file, surroundings, &OptionFlags::default()).map_err(|error| invalid(&error))?;
        let name = options.name();
        // The variables of this machine are nothing for others.
        let with_system = wanted.is_none();
        let script = script::read(
            &options.file,
            &options.reading,
            with_system,
            surroundings,
            redaction,
        )
        .await?;
        let of_script = script::options(&script).map_err(|error| invalid(&error))?;
        let consolidated = layers
            .consolidate(&name, &of_script)
            .map_err(|error| invalid(&error))?;
        for warning in &consolidated.warnings {
            tracing::warn!("{warning}");
        }
        script::check_functions(&script, &name, &consolidated.plan).map_err(|error| invalid(&error))?;
        let plan = consolidated.plan;
        if plan.stripe.is_some() {
            return Err(invalid(
                &"executionSegment: a search of the load line cannot be split over several instances; remove this option",
            ));
        }
        let unit = options
            .search
            .unit
            .map_or_else(|| steady::natural_unit(&plan), Unit::from);
        let (registry, counts_errors) = with_errors(script.registry().clone())?;
        Ok(Self {
            max_vus: options.search.max_vus,
            options: consolidated.options,
            proxies: surroundings.proxies().map_err(|error| invalid(&error))?,
            iteration: USUAL_ITERATION,
            name,
            wanted,
            script,
            plan,
            registry,
            counts_errors,
            unit,
        })
    }

    pub(super) fn is_elsewhere(&self) -> bool {
        self.wanted.is_some()
    }

    pub(super) fn unit(&self) -> Unit {
        self.unit
    }

    /// The smallest load: one user, or one iteration per second, for each scenario.
    pub(super) fn least_load(&self) -> u64 {
        self.plan.scenarios.len() as u64
    }

    pub(super) fn registry(&self) -> &Registry {
        &self.registry
    }

    pub(super) fn thresholds(&self) -> &Rules {
        &self.plan.thresholds
    }

    pub(super) fn notices(&self) -> Vec<String> {
        let scenarios = &self.plan.scenarios;
        let has_start_times = scenarios.iter().any(|scenario| !scenario.start_time.is_zero());
        let notice = "startTime of scenarios is ignored: in each step, all scenarios run together";
        has_start_times.then(|| notice.to_owned()).into_iter().collect()
    }

    pub(super) fn attempt(&self, load: u64, taker: &Taker<'_>) -> Result<Attempt, Failure> {
        let places = Places {
            held: self.iteration.saturating_mul(ROOM),
            max: self.max_vus,
            when_late: WhenLate::Drop,
        };
        let steady = taker.steady(load, self.unit, places);
        let plan = steady.plan(&self.plan)?;
        let pack =
            |wanted| fleet::errand_of_step(wanted, &self.name, &self.script, &self.options, &plan, steady);
        let errand = self.wanted.clone().map(pack).transpose();
        let errand = errand.map_err(|mistake| TestFailure::InvalidOptions.because(mistake))?;
        let users = self.script.users(script::effective(
            self.options.clone(),
            &self.plan,
            self.proxies.clone(),
        ));
        Ok(Attempt {
            plan,
            registry: self.registry.clone(),
            factory: users.factory,
            stages: Box::new(users.stages),
            counts_errors: self.counts_errors,
            errand,
            timing: None,
        })
    }

    pub(super) fn learn(&mut self, iteration: Duration) {
        self.iteration = iteration;
    }
}

/// A flag that scripts do not have.
fn foreign_flag(options: &Options) -> Option<&'static str> {
    match (&options.url, options.flags.as_slice()) {
        (Some(_), _) => Some("--url"),
        (None, []) => None,
        (None, _) => Some("what follows --"),
    }
}
