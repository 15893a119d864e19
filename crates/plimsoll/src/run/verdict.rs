//! Maps the end of a run to its exit code (docs/reference/exit-codes.md, Load tests).

use std::collections::BTreeSet;

use plimsoll_load::run::{RunEnd, RunResult, StageFailure};

use crate::{exit::TestFailure, session::Ender};

/// Why a run did not end well, with a word for people; `None` when it did. What ended the run counts before what is
/// wrong with it, and what the script says of it before what thresholds say, as in k6; failed checks and iterations
/// alone are no failure.
pub(super) fn verdict(result: &RunResult, ender: Ender) -> Option<(TestFailure, String)> {
    let of_stage = |name: &str, failure: &StageFailure, timed_out| match failure {
        StageFailure::TimedOut { .. } => (timed_out, format!("{name}() {failure}")),
        StageFailure::Failed(_) => (TestFailure::ScriptFailed, format!("{name}() failed: {failure}")),
    };
    let by_end = match &result.end {
        RunEnd::Complete => None,
        RunEnd::Shutdown => {
            let (failure, reason) = ender.reason();
            Some((failure, reason.to_owned()))
        }
        RunEnd::ThresholdsCrossed => Some(crossed(result)),
        RunEnd::Aborted { reason } => Some((TestFailure::Aborted, reason.clone())),
        RunEnd::SetupFailed(failure) => Some(of_stage("setup", failure, TestFailure::SetupTimedOut)),
    };
    by_end
        .or_else(|| {
            let failure = result.teardown_failure.as_ref()?;
            Some(of_stage("teardown", failure, TestFailure::TeardownTimedOut))
        })
        .or_else(|| {
            let reason = result.marked_failed.as_ref()?;
            Some((
                TestFailure::MarkedFailed,
                format!("the test was marked as failed: {reason}"),
            ))
        })
        .or_else(|| {
            let has_crossed = result.thresholds.iter().any(|finding| !finding.passed);
            has_crossed.then(|| crossed(result))
        })
}

fn crossed(result: &RunResult) -> (TestFailure, String) {
    let crossed = result.thresholds.iter().filter(|finding| !finding.passed);
    let metrics: BTreeSet<_> = crossed.map(|finding| finding.metric.as_str()).collect();
    let metrics = metrics.into_iter().collect::<Vec<_>>().join(", ");
    (
        TestFailure::ThresholdsCrossed,
        format!("thresholds on metrics '{metrics}' have been crossed"),
    )
}

#[cfg(test)]
mod tests {
    use std::{
        sync::Arc,
        time::{Duration, SystemTime},
    };

    use plimsoll_load::{
        generator::{Monitor, Schedule},
        metrics::{MetricSet, Registry},
        run::{Failures, Iterations, Stretch},
        threshold::Finding,
    };

    use super::*;

    const NONE: Option<StageFailure> = None;

    fn failed(reason: &str) -> StageFailure {
        StageFailure::Failed(reason.to_owned())
    }

    fn timed_out() -> StageFailure {
        StageFailure::TimedOut {
            limit: Duration::from_secs(60),
        }
    }

    fn aborted() -> RunEnd {
        RunEnd::Aborted {
            reason: "test aborted: enough".to_owned(),
        }
    }

    /// A run that ended so, with a threshold that holds or not, and the script's own mark.
    fn result(
        end: RunEnd,
        teardown_failure: Option<StageFailure>,
        passed: bool,
        is_marked: bool,
    ) -> RunResult {
        let mut registry = Registry::new();
        registry.rate("checks").unwrap();
        let finding = Finding {
            metric: "checks".to_owned(),
            id: registry.find("checks").unwrap(),
            expression: "rate>0.9".to_owned(),
            aggregation: "rate".to_owned(),
            value: None,
            passed,
            aborted: false,
        };
        let metrics = MetricSet::new(Arc::new(registry));
        RunResult {
            rest: Stretch::empty(&metrics),
            metrics,
            started_at: SystemTime::UNIX_EPOCH,
            duration: Duration::ZERO,
            end,
            iterations: Iterations::default(),
            max_vus: 0,
            failures: Failures::default(),
            thresholds: vec![finding],
            marked_failed: is_marked.then(|| "bad".to_owned()),
            teardown_failure,
            notices: Vec::new(),
            generator: Monitor::new().take(),
            schedule: Schedule::default(),
        }
    }

    #[test]
    fn what_ended_the_run_counts_first() {
        for (end, teardown, passed, is_marked, expected) in [
            (RunEnd::Complete, NONE, true, false, None),
            (
                RunEnd::Complete,
                NONE,
                true,
                true,
                Some((110, "marked as failed: bad")),
            ),
            (
                RunEnd::Complete,
                NONE,
                false,
                true,
                Some((110, "marked as failed: bad")),
            ),
            (
                RunEnd::Complete,
                NONE,
                false,
                false,
                Some((99, "metrics 'checks' have been crossed")),
            ),
            (
                RunEnd::Complete,
                Some(timed_out()),
                false,
                false,
                Some((101, "teardown() took longer than 60s")),
            ),
            (
                RunEnd::Complete,
                Some(failed("oh")),
                false,
                false,
                Some((107, "teardown() failed: oh")),
            ),
            (
                RunEnd::ThresholdsCrossed,
                NONE,
                false,
                false,
                Some((99, "'checks'")),
            ),
            (
                RunEnd::Shutdown,
                Some(failed("oh")),
                false,
                true,
                Some((105, "interrupted by a signal")),
            ),
            (
                aborted(),
                Some(failed("oh")),
                false,
                true,
                Some((108, "test aborted: enough")),
            ),
            (
                RunEnd::SetupFailed(failed("oh")),
                NONE,
                false,
                true,
                Some((107, "setup() failed: oh")),
            ),
            (
                RunEnd::SetupFailed(timed_out()),
                NONE,
                true,
                false,
                Some((100, "setup() took longer than 60s")),
            ),
        ] {
            let result = result(end, teardown, passed, is_marked);
            match (verdict(&result, Ender::Signal), expected) {
                (None, None) => {}
                (Some((failure, message)), Some((code, words))) => {
                    assert_eq!(failure as u8, code, "{message}");
                    assert!(message.contains(words), "{message}");
                }
                (found, expected) => panic!("{found:?} instead of {expected:?}"),
            }
        }
    }

    #[test]
    fn who_ended_the_run_is_told() {
        let result = result(RunEnd::Shutdown, NONE, false, false);
        for (ender, code, words) in [
            (Ender::Signal, 105, "by a signal"),
            (Ender::Person, 105, "on its page or with a key"),
            (Ender::Controller, 103, "through the REST interface"),
        ] {
            let (failure, message) = verdict(&result, ender).unwrap();
            assert_eq!(failure as u8, code, "{message}");
            assert!(message.contains(words), "{message}");
        }
    }
}
