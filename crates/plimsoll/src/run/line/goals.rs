//! The objectives of a search: those that were typed, or else the script's thresholds, or else the usual ones.

use plimsoll_line::objective::{ERRORS, LOST, Objective};
use plimsoll_load::{metrics::Registry, threshold::Rule};

use crate::exit::{Failure, TestFailure};

/// The objectives of a search.
#[derive(Debug)]
pub(super) struct Goals {
    pub(super) objectives: Vec<Objective>,
    /// Whether the objectives are the defaults.
    pub(super) are_defaults: bool,
}

/// The metrics of the default objectives: the times that users wait for. The limit is websocket-bench's
/// `--limit-rtt`.
const LATENCIES: [&str; 7] = [
    LISTENER_DELIVERY,
    RTT,
    "cable_rtt",
    "http_req_duration",
    "http_response_time",
    "ws_response_time",
    "ws_connecting",
];

/// The time from a broadcast to each listener.
const LISTENER_DELIVERY: &str = "listener_delivery";

/// The time from a message to its sender's answer.
const RTT: &str = "rtt";

impl Goals {
    /// Parses the objectives of the command line. `registry` has the metrics of the test, `thresholds` its own rules by
    /// metric.
    ///
    /// # Errors
    /// When an objective cannot be judged; nothing has run by then.
    pub(super) fn read<'a>(
        typed: &[String],
        registry: &Registry,
        thresholds: impl Iterator<Item = (&'a str, &'a [Rule])>,
    ) -> Result<Self, Failure> {
        let invalid = |error| TestFailure::InvalidOptions.because(error);
        if !typed.is_empty() {
            let objectives = typed.iter().map(|text| Objective::parse(text, registry));
            return Ok(Self {
                objectives: objectives.collect::<Result<_, _>>().map_err(invalid)?,
                are_defaults: false,
            });
        }
        let mut objectives = Vec::new();
        for (metric, rules) in thresholds {
            for rule in rules {
                objectives.push(Objective::of_threshold(metric, rule, registry).map_err(invalid)?);
            }
        }
        Ok(if objectives.is_empty() {
            Self {
                objectives: usual(registry),
                are_defaults: true,
            }
        } else {
            Self {
                objectives,
                are_defaults: false,
            }
        })
    }
}

/// The default objectives, for metrics that exist.
fn usual(registry: &Registry) -> Vec<Objective> {
    // Where messages are timed, connecting is not what users wait for. Where deliveries are timed, users do not wait for
    // the acknowledgement.
    let connect = registry.find(RTT).is_none().then_some("connect");
    let has_deliveries = registry.find(LISTENER_DELIVERY).is_some();
    let texts = LATENCIES
        .into_iter()
        .filter(|name| !(has_deliveries && *name == RTT))
        .chain(connect)
        .map(|name| format!("{name} p(95)<500"))
        .chain(["http_req_failed rate<0.01", "checks rate>0.99"].map(str::to_owned))
        .chain([LOST, ERRORS].map(|name| format!("{name}==0")));
    let objectives = texts.filter_map(|text| Objective::parse(&text, registry).ok());
    objectives.map(Objective::lenient).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_objectives_are_about_what_users_wait_for() {
        let check = |trends: &[&str], expected: &[&str]| {
            let mut registry = Registry::new();
            for trend in trends {
                registry.trend(trend).unwrap();
            }
            let found: Vec<_> = usual(&registry).iter().map(|it| it.text().to_owned()).collect();
            assert_eq!(found, expected, "{trends:?}");
        };
        check(
            &["rtt", "listener_delivery", "delivery", "connect"],
            &["listener_delivery p(95)<500"],
        );
        check(&["rtt", "connect"], &["rtt p(95)<500"]);
        check(&["connect"], &["connect p(95)<500"]);
    }
}
