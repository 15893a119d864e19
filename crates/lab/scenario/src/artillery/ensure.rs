//! What must hold at the end of a run, and with `abortOnFail` all the time: Artillery's plugin `ensure`.

use std::time::Duration;

use serde_json::Value;

use super::{
    condition::Condition,
    metrics::{NAMES, RATES},
};
use plimsoll_load::nearest::nearest;

/// All checks of a test.
#[derive(Clone, Debug, Default)]
pub struct Ensure {
    pub(super) checks: Vec<Check>,
}

/// One of them.
#[derive(Clone, Debug)]
pub(super) struct Check {
    pub(super) condition: Condition,
    /// As people read it.
    pub(super) text: String,
    /// Whether the run fails with it.
    pub(super) is_strict: bool,
    /// From then on the run ends when it does not hold. Not in Artillery.
    pub(super) aborts_after: Option<Duration>,
}

/// What became of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// As people read it.
    pub text: String,
    /// Whether it holds.
    pub holds: bool,
    /// Whether the run fails with it.
    pub is_strict: bool,
}

impl Ensure {
    /// Checks the figures of a whole run. A metric without a sample has no value, which is neither above nor below nor
    /// equal to a number, as in Artillery.
    pub fn judge(&self, figure: &dyn Fn(&str) -> Option<f64>) -> Vec<Verdict> {
        let lookup = |name: &str| figure(name).map(Value::from);
        let checks = self.checks.iter();
        checks
            .map(|check| Verdict {
                text: check.text.clone(),
                holds: check.condition.holds(&lookup),
                is_strict: check.is_strict,
            })
            .collect()
    }

    /// Whether some check may end a run.
    pub fn may_abort(&self) -> bool {
        self.checks.iter().any(|check| check.aborts_after.is_some())
    }

    /// Checks the figures of a run after `elapsed`, and returns the first check that ends it. A check on a metric
    /// without a sample waits for one.
    pub fn breach(&self, elapsed: Duration, figure: &dyn Fn(&str) -> Option<f64>) -> Option<&str> {
        let lookup = |name: &str| figure(name).map(Value::from);
        let breach = self.checks.iter().find(|check| {
            let is_time = check.aborts_after.is_some_and(|after| elapsed >= after);
            let is_known = || {
                check
                    .condition
                    .names()
                    .into_iter()
                    .all(|name| lookup(name).is_some())
            };
            is_time && is_known() && !check.condition.holds(&lookup)
        });
        breach.map(|check| check.text.as_str())
    }
}

/// Counters whose names end in a variable part.
const OPEN_NAMES: [&str; 5] = [
    "errors.",
    "http.codes.",
    "vusers.created_by_name.",
    "apdex.",
    "plugins.",
];

/// The figures of a distribution.
const FIGURES: [&str; 11] = [
    "min", "max", "count", "mean", "p50", "median", "p75", "p90", "p95", "p99", "p999",
];

/// Metrics with a distribution.
fn is_distribution(artillery: &str) -> bool {
    artillery.ends_with("_time")
        || artillery.ends_with("_length")
        || artillery.ends_with("lateness")
        || artillery.contains("response_time.")
        || ["http.dns", "http.tcp", "http.tls", "http.total"].contains(&artillery)
}

/// A figure of one endpoint's distribution.
fn is_of_endpoint(name: &str) -> bool {
    let distributions = ["response_time.", "server-timing."];
    let below = name.strip_prefix("plugins.metrics-by-endpoint.");
    let is_distribution = below.is_some_and(|it| distributions.iter().any(|prefix| it.starts_with(prefix)));
    is_distribution
        && name
            .rsplit_once('.')
            .is_some_and(|(_, figure)| FIGURES.contains(&figure))
}

fn is_counter(name: &str) -> bool {
    OPEN_NAMES.iter().any(|prefix| name.starts_with(prefix)) && !is_of_endpoint(name)
        || NAMES
            .iter()
            .any(|&(_, artillery)| artillery == name && !is_distribution(artillery))
        || name == "vusers.interrupted"
}

/// Checks that a run may have such a figure; otherwise suggests a similar name.
pub(super) fn is_metric(name: &str) -> Result<(), String> {
    let distributions = NAMES.iter().filter(|(_, artillery)| is_distribution(artillery));
    let figures = distributions
        .clone()
        .flat_map(|(_, artillery)| FIGURES.iter().map(move |figure| format!("{artillery}.{figure}")));
    let others = NAMES
        .iter()
        .filter(|(_, artillery)| !is_distribution(artillery))
        .chain(RATES);
    let names: Vec<_> = figures
        .chain(others.map(|&(_, artillery)| artillery.to_owned()))
        .collect();
    if is_counter(name) || is_of_endpoint(name) || names.iter().any(|known| known == name) {
        return Ok(());
    }
    Err(match nearest(name, names.iter().map(String::as_str)) {
        Some(nearest) => format!("did you mean `{nearest}`?"),
        None => {
            let distributions: Vec<_> = distributions.map(|&(_, artillery)| artillery).collect();
            format!(
                "expected a counter such as vusers.failed, or {} with .p95 and the like",
                distributions.join(", ")
            )
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(condition: &str) -> Check {
        Check {
            condition: condition.parse().unwrap(),
            text: condition.to_owned(),
            is_strict: true,
            aborts_after: None,
        }
    }

    #[test]
    fn a_check_may_end_the_run_once_it_is_time_and_there_are_samples() {
        let aborting = |condition, secs| Check {
            aborts_after: Some(Duration::from_secs(secs)),
            ..check(condition)
        };
        let ensure = Ensure {
            checks: vec![
                check("vusers.failed < 0"),
                aborting("websocket.response_time.p95 < 100", 0),
                aborting("vusers.failed < 1", 10),
            ],
        };
        assert!(ensure.may_abort());
        let breach = |secs, p95: Option<f64>, n_failed: Option<f64>| {
            let figure = |name: &str| match name {
                "vusers.failed" => n_failed,
                _ => p95,
            };
            ensure
                .breach(Duration::from_secs(secs), &figure)
                .map(str::to_owned)
        };
        assert_eq!(breach(20, None, None), None);
        assert_eq!(breach(1, Some(99.0), Some(5.0)), None);
        assert_eq!(breach(10, None, Some(5.0)).as_deref(), Some("vusers.failed < 1"));
        assert_eq!(
            breach(0, Some(100.0), None).as_deref(),
            Some("websocket.response_time.p95 < 100")
        );
    }

    #[test]
    fn metrics_without_samples_have_no_value() {
        let holds = |condition: &str| {
            let ensure = Ensure {
                checks: vec![check(condition)],
            };
            let figure = |name: &str| (name == "vusers.created").then_some(5.0);
            ensure.judge(&figure)[0].holds
        };
        assert!(holds("vusers.created == 5"));
        assert!(!holds("errors.ECONNREFUSED == 0"));
        assert!(!holds("websocket.response_time.p95 < 100"));
        assert!(!holds("websocket.response_time.p95 > 100"));
        assert!(!holds("'plugins.metrics-by-endpoint.response_time./a.p95' < 100"));
        assert!(!holds("'plugins.metrics-by-endpoint./a.codes.500' == 0"));
    }

    #[test]
    fn names_are_checked() {
        for name in [
            "vusers.failed",
            "errors.anything at all",
            "websocket.response_time.p99",
            "websocket.send_rate",
            "vusers.session_length.median",
            "plugins.metrics-by-endpoint.response_time./users/{{ id }}.p95",
        ] {
            assert_eq!(is_metric(name), Ok(()), "{name}");
        }
        let hint = |name| is_metric(name).unwrap_err();
        assert_eq!(hint("vusers.faild"), "did you mean `vusers.failed`?");
        assert_eq!(
            hint("websocket.response_time.p98"),
            "did you mean `websocket.response_time.p90`?"
        );
    }
}
