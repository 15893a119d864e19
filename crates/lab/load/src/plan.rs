//! The plan of a run: scenarios, and settings for all of them.
//!
//! [`Options`] are the users' settings, in layers (docs/reference/run.md, Options); a [`Plan`] is their checked
//! meaning. Front ends without options build a plan directly.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

mod consolidated;
mod derive;
mod duration;
mod error;
mod fields;
mod options;
mod scenario;
mod share;

pub use self::{
    duration::{DurationError, parse_duration},
    error::OptionsError,
    options::{Options, Read},
    scenario::Scenario,
};
use crate::{executor::Executor, metrics::Tags, segment::Stripe, threshold::Rules};

/// What a run is to do.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The scenarios, by name; at least one, unless the test is split and this instance has no work.
    pub scenarios: Vec<Scenario>,
    /// The names of scenarios of which this instance of a split test runs nothing.
    pub idle: Vec<String>,
    /// The numbers of this instance's virtual users in the whole of a split test; `None` for a test that is not split.
    pub stripe: Option<Arc<Stripe>>,
    /// Tags of all samples.
    pub tags: Tags,
    /// Tags that the engine and the protocols add automatically.
    pub system_tags: BTreeSet<String>,
    /// The thresholds for the run to pass.
    pub thresholds: Rules,
    /// The minimum duration of an iteration. A shorter one that ran to its end is followed by a pause.
    pub min_iteration_duration: Duration,
    /// Whether the run waits to be resumed before it starts.
    pub paused: bool,
    /// Whether there is a setup.
    pub has_setup: bool,
    /// Whether there is a teardown.
    pub has_teardown: bool,
    /// The time limit of setup.
    pub setup_timeout: Duration,
    /// The time limit of teardown.
    pub teardown_timeout: Duration,
    /// The time limit for making a summary; for the front end.
    pub handle_summary_timeout: Duration,
    /// The figures of trends in a summary, for example `avg` or `p(95)`.
    pub summary_trend_stats: Vec<String>,
    /// The unit of durations in a summary (`s`, `ms` or `us`). `None` selects a suitable one for each.
    pub summary_time_unit: Option<String>,
}

/// k6's default for setup and teardown.
const STAGE_TIMEOUT: Duration = Duration::from_secs(60);

/// k6's default for `handleSummary`.
const SUMMARY_TIMEOUT: Duration = Duration::from_secs(120);

/// k6's default for the figures of trends.
pub const TREND_STATS: [&str; 6] = ["avg", "min", "med", "max", "p(90)", "p(95)"];

/// The tags that k6 adds by default (docs/protocols/k6.md, Tags).
pub const SYSTEM_TAGS: [&str; 14] = [
    "proto",
    "subproto",
    "status",
    "method",
    "url",
    "name",
    "group",
    "check",
    "error",
    "error_code",
    "tls_version",
    "scenario",
    "service",
    "expected_response",
];

/// Tags that k6 adds only on request. Sub-metrics cannot select by `vu` and `iter`.
pub const OPTIONAL_SYSTEM_TAGS: [&str; 4] = ["iter", "vu", "ocsp_status", "ip"];

impl Plan {
    /// A plan of these scenarios, with k6's defaults for everything else.
    pub fn new(scenarios: Vec<Scenario>) -> Self {
        Self {
            scenarios,
            idle: Vec::new(),
            stripe: None,
            tags: Tags::new(),
            system_tags: SYSTEM_TAGS.map(str::to_owned).into(),
            thresholds: Rules::new(),
            min_iteration_duration: Duration::ZERO,
            paused: false,
            has_setup: true,
            has_teardown: true,
            setup_timeout: STAGE_TIMEOUT,
            teardown_timeout: STAGE_TIMEOUT,
            handle_summary_timeout: SUMMARY_TIMEOUT,
            summary_trend_stats: TREND_STATS.map(str::to_owned).into(),
            summary_time_unit: None,
        }
    }

    /// One scenario named `default`.
    pub fn single(executor: Executor) -> Self {
        Self::new(vec![Scenario::new("default", executor)])
    }

    /// The latest time at which the last iteration is interrupted, including its grace. `None`: never.
    pub fn max_duration(&self) -> Option<Duration> {
        let ends = self.scenarios.iter().map(|scenario| {
            let duration = scenario.executor.max_duration()?;
            Some(scenario.start_time.saturating_add(duration))
        });
        ends.collect::<Option<Vec<_>>>()?.into_iter().max()
    }
}
