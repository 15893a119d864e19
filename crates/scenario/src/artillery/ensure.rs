//! What must hold at the end of a run: Artillery's plugin `ensure`.

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
    /// Looks at the figures of a whole run. A counter without a sample is zero; another metric without one is nothing,
    /// and nothing is neither above nor below a number.
    pub fn judge(&self, figure: &dyn Fn(&str) -> Option<f64>) -> Vec<Verdict> {
        let lookup = |name: &str| -> Option<Value> {
            let known = figure(name).or_else(|| is_counter(name).then_some(0.0));
            known.map(Value::from)
        };
        let checks = self.checks.iter();
        checks
            .map(|check| Verdict {
                text: check.text.clone(),
                holds: check.condition.holds(&lookup),
                is_strict: check.is_strict,
            })
            .collect()
    }
}

/// Counters whose names end in what was met.
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
}

fn is_counter(name: &str) -> bool {
    OPEN_NAMES.iter().any(|prefix| name.starts_with(prefix))
        || NAMES
            .iter()
            .any(|&(_, artillery)| artillery == name && !is_distribution(artillery))
        || name == "vusers.interrupted"
}

/// Whether a run may have such a figure; otherwise what may have been meant.
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
    if is_counter(name) || names.iter().any(|known| known == name) {
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
        }
    }

    #[test]
    fn counters_without_samples_are_zero_and_figures_without_samples_nothing() {
        let holds = |condition: &str| {
            let ensure = Ensure {
                checks: vec![check(condition)],
            };
            let figure = |name: &str| (name == "vusers.created").then_some(5.0);
            ensure.judge(&figure)[0].holds
        };
        assert!(holds("vusers.failed < 1 and vusers.created == 5"));
        assert!(holds("errors.ECONNREFUSED == 0"));
        assert!(!holds("websocket.response_time.p95 < 100"));
        assert!(!holds("websocket.response_time.p95 > 100"));
    }

    #[test]
    fn names_are_checked() {
        for name in [
            "vusers.failed",
            "errors.anything at all",
            "websocket.response_time.p99",
            "websocket.send_rate",
            "vusers.session_length.median",
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
