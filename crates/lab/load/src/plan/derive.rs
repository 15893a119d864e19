//! From options to a plan: shortcuts become the scenario `default` (docs/protocols/k6.md, Shortcuts), and options that
//! exclude each other are refused.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use super::{
    OPTIONAL_SYSTEM_TAGS, Options, OptionsError, Plan, SYSTEM_TAGS, Scenario, options, scenario, share,
};
use crate::{
    executor::{Executor, GRACE, MAX_VUS, RampingVus, Stage},
    segment::{SegmentError, Split},
};

impl Plan {
    /// The plan of these options, which have all layers applied.
    ///
    /// # Errors
    /// They contradict each other, or refer to something that does not exist.
    pub fn from_options(options: &Options) -> Result<Self, OptionsError> {
        let split = split(options)?;
        let defaults = Self::new(scenarios(options)?);
        let (scenarios, idle) = match &split {
            Some(split) => share::shares(defaults.scenarios, split),
            None => (defaults.scenarios, Vec::new()),
        };
        let not = |key| Ok::<_, OptionsError>(!options.read::<bool>(key)?.unwrap_or(false));
        Ok(Self {
            tags: options.read("tags")?.unwrap_or_default(),
            system_tags: system_tags(options)?.unwrap_or(defaults.system_tags),
            thresholds: options.read("thresholds")?.unwrap_or_default(),
            min_iteration_duration: options.read("minIterationDuration")?.unwrap_or_default(),
            paused: !not("paused")?,
            has_setup: not("noSetup")?,
            has_teardown: not("noTeardown")?,
            setup_timeout: options.read("setupTimeout")?.unwrap_or(defaults.setup_timeout),
            teardown_timeout: options
                .read("teardownTimeout")?
                .unwrap_or(defaults.teardown_timeout),
            handle_summary_timeout: options
                .read("handleSummaryTimeout")?
                .unwrap_or(defaults.handle_summary_timeout),
            summary_trend_stats: trend_stats(options)?.unwrap_or(defaults.summary_trend_stats),
            summary_time_unit: time_unit(options)?,
            scenarios,
            idle,
            stripe: split.map(|split| Arc::clone(split.stripe())),
        })
    }
}

/// How the test is split over several instances; `None` without a segment.
fn split(options: &Options) -> Result<Option<Split>, OptionsError> {
    let text = |key| {
        let text = options.read::<String>(key)?;
        Ok::<_, OptionsError>(text.filter(|text| !text.is_empty()))
    };
    let (segment, sequence) = (text("executionSegment")?, text("executionSegmentSequence")?);
    let split = match (segment, &sequence) {
        (None, None) => return Ok(None),
        (None, Some(_)) => Err(SegmentError::NoSegment),
        (Some(segment), _) => Split::new(&segment, sequence.as_deref()),
    };
    split.map(Some).map_err(|error| {
        let key = match error {
            SegmentError::Segment(_) => "executionSegment",
            _ if sequence.is_some() => "executionSegmentSequence",
            _ => "executionSegment",
        };
        OptionsError::new(key, error.to_string())
    })
}

fn scenarios(options: &Options) -> Result<Vec<Scenario>, OptionsError> {
    let has = |key| options.get(key).is_some();
    for (one, other) in [
        ("scenarios", "stages"),
        ("scenarios", "iterations"),
        ("scenarios", "duration"),
        ("stages", "iterations"),
        ("stages", "duration"),
    ] {
        if has(one) && has(other) {
            return Err(OptionsError::new(
                one,
                format!("cannot be combined with `{other}`; remove one of them"),
            ));
        }
    }
    match options.get("scenarios") {
        Some(value) => options::scenarios(value),
        None => Ok(vec![Scenario::new("default", shortcut(options)?)]),
    }
}

/// The executor for `vus`, `duration`, `iterations` and `stages`.
fn shortcut(options: &Options) -> Result<Executor, OptionsError> {
    let vus = options.read::<u32>("vus")?;
    if let Some(vus) = vus.filter(|vus| !(1..=MAX_VUS).contains(vus)) {
        let problem = format!("{vus} virtual users are not possible; expected 1 to {MAX_VUS}");
        return Err(OptionsError::new("vus", problem));
    }
    let duration = options.read::<Duration>("duration")?;
    if duration.is_some_and(|duration| duration < Duration::from_secs(1)) {
        return Err(OptionsError::new(
            "duration",
            "expected at least 1s; without a unit it is milliseconds",
        ));
    }
    let n_vus = vus.unwrap_or(1);
    if let Some(stages) = options.read::<Vec<Stage>>("stages")? {
        let plan = RampingVus::new(n_vus, stages);
        return plan
            .map(Executor::RampingVus)
            .map_err(|error| OptionsError::new("stages", error.to_string()));
    }
    let shared = |iterations| Executor::SharedIterations {
        vus: n_vus,
        iterations,
        max_duration: duration.unwrap_or(scenario::MAX_DURATION),
        graceful_stop: GRACE,
    };
    match (options.read::<u64>("iterations")?, duration) {
        (Some(iterations), _) if iterations < u64::from(n_vus) => {
            let problem =
                format!("{iterations} are too few for {n_vus} virtual users; expected at least {n_vus}");
            Err(OptionsError::new("iterations", problem))
        }
        (Some(iterations), _) => Ok(shared(iterations)),
        (None, Some(duration)) => Ok(Executor::ConstantVus {
            vus: n_vus,
            duration,
            graceful_stop: GRACE,
        }),
        (None, None) if vus.is_some() => Ok(shared(u64::from(n_vus))),
        (None, None) => Ok(Executor::PerVuIterations {
            vus: 1,
            iterations: 1,
            max_duration: scenario::MAX_DURATION,
            graceful_stop: GRACE,
        }),
    }
}

fn system_tags(options: &Options) -> Result<Option<BTreeSet<String>>, OptionsError> {
    let tags = options.read::<BTreeSet<String>>("systemTags")?;
    let known = || SYSTEM_TAGS.into_iter().chain(OPTIONAL_SYSTEM_TAGS);
    match tags
        .iter()
        .flatten()
        .find(|tag| !known().any(|known| known == tag.as_str()))
    {
        None => Ok(tags),
        Some(tag) => {
            let known: Vec<_> = known().collect();
            let problem = format!(
                "`{tag}` is not a system tag; expected some of {}",
                known.join(", ")
            );
            Err(OptionsError::new("systemTags", problem))
        }
    }
}

fn trend_stats(options: &Options) -> Result<Option<Vec<String>>, OptionsError> {
    let stats = options.read::<Vec<String>>("summaryTrendStats")?;
    match stats.iter().flatten().find(|stat| !is_trend_stat(stat)) {
        None => Ok(stats),
        Some(stat) => {
            let problem =
                format!("`{stat}` is not a trend statistic; expected avg, min, med, max, count or p(N)");
            Err(OptionsError::new("summaryTrendStats", problem))
        }
    }
}

fn is_trend_stat(stat: &str) -> bool {
    let percent = stat.strip_prefix("p(").and_then(|rest| rest.strip_suffix(')'));
    let is_percentile = percent
        .and_then(|percent| percent.parse::<f64>().ok())
        .is_some_and(|percent| (0.0..=100.0).contains(&percent));
    is_percentile || ["avg", "min", "med", "max", "count"].contains(&stat)
}

fn time_unit(options: &Options) -> Result<Option<String>, OptionsError> {
    let unit = options
        .read::<String>("summaryTimeUnit")?
        .filter(|unit| !unit.is_empty());
    match unit.as_deref() {
        None | Some("s" | "ms" | "us") => Ok(unit),
        Some(other) => {
            let problem = format!("`{other}` is not a unit; expected s, ms or us");
            Err(OptionsError::new("summaryTimeUnit", problem))
        }
    }
}
