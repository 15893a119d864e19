//! What the end of a run means for the exit code (k6 spec §4.4).

use std::collections::BTreeSet;

use plimsoll_load::run::{RunEnd, RunError, RunResult, StageFailure};

use crate::exit::TestFailure;

/// Why a run did not end well, with a word for people; `None` when it did. What ended the run counts before what is
/// wrong with its figures, as in k6; failed checks and iterations alone are no failure.
pub(super) fn verdict(result: &RunResult, was_stopped: bool) -> Option<(TestFailure, String)> {
    let of_stage = |name: &str, failure: &StageFailure, timed_out| match failure {
        StageFailure::TimedOut { .. } => (timed_out, format!("{name}() {failure}")),
        StageFailure::Failed(_) => (TestFailure::ScriptFailed, format!("{name}() failed: {failure}")),
    };
    let by_end = match &result.end {
        RunEnd::Complete => None,
        RunEnd::Shutdown if was_stopped => Some((
            TestFailure::Stopped,
            "the run was stopped through the REST interface".to_owned(),
        )),
        RunEnd::Shutdown => Some((
            TestFailure::Interrupted,
            "the run was interrupted by a signal".to_owned(),
        )),
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
            result
                .thresholds
                .iter()
                .any(|finding| !finding.passed)
                .then(|| crossed(result))
        })
        .or_else(|| {
            let reason = result.marked_failed.as_ref()?;
            Some((
                TestFailure::MarkedFailed,
                format!("the test was marked as failed: {reason}"),
            ))
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

/// The same for a run that could not be done.
pub(super) fn of_error(error: &RunError) -> TestFailure {
    match error {
        RunError::Metric(_) | RunError::Threshold(_) => TestFailure::InvalidOptions,
        RunError::Vu { .. } => TestFailure::ScriptFailed,
        RunError::Worker(_) | RunError::WorkerPanicked => TestFailure::Panicked,
    }
}
