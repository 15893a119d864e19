//! One scenario: its function, its settings, and its schedule.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use serde_json::Value;

use super::{
    OptionsError,
    fields::{Fields, FromJson},
};
use crate::{
    executor::{Arrivals, ArrivalsError, Executor, GRACE, MAX_VUS, OpenModel, RampingVus, WhenLate},
    metrics::Tags,
    segment::Stripe,
};

/// One scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scenario {
    /// Its name; letters, digits, `_` and `-`.
    pub name: String,
    /// What an iteration calls: the name of an exported function.
    pub exec: String,
    /// Its start, since the start of the run.
    pub start_time: Duration,
    /// What its virtual users see as environment, above the run's own.
    pub env: BTreeMap<String, String>,
    /// Tags of its samples, above the run's own.
    pub tags: Tags,
    /// The schedule of its iterations.
    pub executor: Executor,
    /// The numbers of its iterations in the whole of a split test; `None` for a test that is not split.
    pub stripe: Option<Arc<Stripe>>,
}

/// k6's default for executors that count iterations.
pub(super) const MAX_DURATION: Duration = Duration::from_secs(600);

/// k6's shortest duration of a scenario.
const SHORTEST: Duration = Duration::from_secs(1);

const EXECUTORS: &str = "shared-iterations, per-vu-iterations, constant-vus, ramping-vus, constant-arrival-rate, \
                         ramping-arrival-rate or externally-controlled";

impl Scenario {
    /// A scenario that starts with the run and calls `default`.
    pub fn new(name: &str, executor: Executor) -> Self {
        Self {
            name: name.to_owned(),
            exec: "default".to_owned(),
            start_time: Duration::ZERO,
            env: BTreeMap::new(),
            tags: Tags::new(),
            executor,
            stripe: None,
        }
    }

    /// Reads an entry of `options.scenarios`; unknown fields are errors, as in k6.
    pub(super) fn from_json(name: &str, value: &Value) -> Result<Self, OptionsError> {
        let path = format!("scenarios.{name}");
        if name.is_empty()
            || !name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
        {
            let problem =
                "a scenario name may have only letters, digits, `_` and `-`, for example `chat_users`";
            return Err(OptionsError::new(path, problem));
        }
        let mut fields = Fields::of(value, &path)?;
        let executor: String = fields.require("executor").map_err(|error| OptionsError {
            problem: format!("is missing; expected {EXECUTORS}"),
            ..error
        })?;
        let scenario = Self {
            name: name.to_owned(),
            exec: fields.get("exec")?.unwrap_or_else(|| "default".to_owned()),
            start_time: fields.get("startTime")?.unwrap_or_default(),
            env: fields.get("env")?.unwrap_or_default(),
            tags: fields.get("tags")?.unwrap_or_default(),
            executor: read_executor(&executor, &mut fields)?,
            stripe: None,
        };
        // Scenario options for browsers, which are not supported; iterations do not see them.
        let _: Option<Ignored> = fields.get("options")?;
        fields.finish()?;
        Ok(scenario)
    }
}

/// Any value.
struct Ignored;

impl FromJson for Ignored {
    const EXPECTED: &'static str = "anything";

    fn read(_: &Value) -> Option<Self> {
        Some(Self)
    }
}

fn read_executor(name: &str, fields: &mut Fields<'_>) -> Result<Executor, OptionsError> {
    match name {
        "shared-iterations" => {
            let (vus, iterations, max_duration, graceful_stop) = counted(fields)?;
            if iterations < u64::from(vus) {
                let problem =
                    format!("{iterations} are too few for {vus} virtual users; expected at least {vus}");
                return Err(OptionsError::new(fields.path_of("iterations"), problem));
            }
            Ok(Executor::SharedIterations {
                vus,
                iterations,
                max_duration,
                graceful_stop,
            })
        }
        "per-vu-iterations" => {
            let (vus, iterations, max_duration, graceful_stop) = counted(fields)?;
            Ok(Executor::PerVuIterations {
                vus,
                iterations,
                max_duration,
                graceful_stop,
            })
        }
        "constant-vus" => Ok(Executor::ConstantVus {
            vus: positive_vus(fields, "vus")?.unwrap_or(1),
            duration: long_enough(fields, "duration")?,
            graceful_stop: graceful_stop(fields)?,
        }),
        "ramping-vus" => {
            let (start_vus, stages) = (fields.get("startVUs")?.unwrap_or(1), fields.require("stages")?);
            let plan = RampingVus::new(start_vus, stages)
                .map_err(|error| OptionsError::new(fields.path_of("stages"), error.to_string()))?;
            let plan = plan
                .graceful_ramp_down(fields.get("gracefulRampDown")?.unwrap_or(GRACE))
                .graceful_stop(graceful_stop(fields)?);
            Ok(Executor::RampingVus(plan))
        }
        "constant-arrival-rate" => {
            let (rate, unit) = (fields.require("rate")?, time_unit(fields)?);
            let duration = long_enough(fields, "duration")?;
            let arrivals = Arrivals::constant(rate, unit, duration);
            open_model(arrivals, "rate", fields).map(Executor::ConstantArrivalRate)
        }
        "ramping-arrival-rate" => {
            let (start_rate, unit) = (fields.get("startRate")?.unwrap_or(0), time_unit(fields)?);
            let stages: Vec<_> = fields.require("stages")?;
            let arrivals = Arrivals::ramping(start_rate, unit, &stages);
            open_model(arrivals, "stages", fields).map(Executor::RampingArrivalRate)
        }
        "externally-controlled" => externally_controlled(fields),
        other => Err(OptionsError::new(
            fields.path_of("executor"),
            format!("`{other}` is not an executor; expected {EXECUTORS}"),
        )),
    }
}

fn counted(fields: &mut Fields<'_>) -> Result<(u32, u64, Duration, Duration), OptionsError> {
    let vus = positive_vus(fields, "vus")?.unwrap_or(1);
    let iterations = fields.get("iterations")?.unwrap_or(1);
    if iterations == 0 {
        return Err(OptionsError::new(
            fields.path_of("iterations"),
            "expected at least 1",
        ));
    }
    let max_duration = fields.get("maxDuration")?.unwrap_or(MAX_DURATION);
    if max_duration < SHORTEST {
        return Err(OptionsError::new(
            fields.path_of("maxDuration"),
            "expected at least 1s; without a unit it is milliseconds",
        ));
    }
    Ok((vus, iterations, max_duration, graceful_stop(fields)?))
}

fn open_model(
    arrivals: Result<Arrivals, ArrivalsError>,
    curve: &str,
    fields: &mut Fields<'_>,
) -> Result<OpenModel, OptionsError> {
    let arrivals = arrivals.map_err(|error| OptionsError::new(fields.path_of(curve), error.to_string()))?;
    let pre_allocated_vus: u32 = fields.require("preAllocatedVUs")?;
    let max_vus = positive_vus(fields, "maxVUs")?.unwrap_or(pre_allocated_vus);
    if max_vus < pre_allocated_vus {
        let problem = format!("{max_vus} is less than preAllocatedVUs, which is {pre_allocated_vus}");
        return Err(OptionsError::new(fields.path_of("maxVUs"), problem));
    }
    if max_vus == 0 || max_vus > MAX_VUS {
        let problem = format!("expected 1 to {MAX_VUS} virtual users");
        return Err(OptionsError::new(fields.path_of("preAllocatedVUs"), problem));
    }
    Ok(OpenModel {
        arrivals,
        pre_allocated_vus,
        max_vus,
        graceful_stop: graceful_stop(fields)?,
        when_late: WhenLate::Drop,
    })
}

fn externally_controlled(fields: &mut Fields<'_>) -> Result<Executor, OptionsError> {
    let vus = fields.get("vus")?.unwrap_or(0);
    let max_vus = positive_vus(fields, "maxVUs")?.unwrap_or(vus);
    let duration: Duration = fields.require("duration")?;
    if max_vus < vus || max_vus == 0 {
        let problem = format!("expected at least vus, which is {vus}, and at least 1");
        return Err(OptionsError::new(fields.path_of("maxVUs"), problem));
    }
    if fields.get::<Duration>("gracefulStop")?.is_some() {
        let problem = "an externally-controlled scenario has none: its users are stopped by their controller";
        return Err(OptionsError::new(fields.path_of("gracefulStop"), problem));
    }
    Ok(Executor::ExternallyControlled {
        vus,
        max_vus,
        duration: (!duration.is_zero()).then_some(duration),
    })
}

fn positive_vus(fields: &mut Fields<'_>, name: &'static str) -> Result<Option<u32>, OptionsError> {
    match fields.get(name)? {
        Some(vus) if !(1..=MAX_VUS).contains(&vus) => {
            let problem = format!("{vus} virtual users are not possible; expected 1 to {MAX_VUS}");
            Err(OptionsError::new(fields.path_of(name), problem))
        }
        vus => Ok(vus),
    }
}

fn long_enough(fields: &mut Fields<'_>, name: &'static str) -> Result<Duration, OptionsError> {
    let duration = fields.require(name)?;
    if duration < SHORTEST {
        return Err(OptionsError::new(
            fields.path_of(name),
            "expected at least 1s; without a unit it is milliseconds",
        ));
    }
    Ok(duration)
}

fn time_unit(fields: &mut Fields<'_>) -> Result<Duration, OptionsError> {
    Ok(fields.get("timeUnit")?.unwrap_or(Duration::from_secs(1)))
}

fn graceful_stop(fields: &mut Fields<'_>) -> Result<Duration, OptionsError> {
    Ok(fields.get("gracefulStop")?.unwrap_or(GRACE))
}
