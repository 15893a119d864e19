//! How a load test ends, beyond what the test itself says.

use plimsoll_load::run::RunError;
use plimsoll_outputs::OutputReport;

use super::Finished;
use crate::exit::{Failure, Status, TestFailure};

/// What people have to know before they believe a figure.
const SATURATED: &str =
    "the load generator was the bottleneck, so the figures of this run are not the target's alone";

/// The end of a command: the verdict of its test, or else that an output lost samples, because whatever reads them would be
/// wrong without noticing. Says when the figures are not to be believed.
pub(super) fn ending(
    verdict: Result<Status, Failure>,
    outputs: &OutputReport,
    is_saturated: bool,
) -> Result<Status, Failure> {
    let verdict = verdict.and_then(|status| {
        if outputs.is_complete() {
            Ok(status)
        } else {
            Err(TestFailure::SamplesLost.because(outputs.notices().join("; ")))
        }
    });
    if !is_saturated {
        return verdict;
    }
    match verdict {
        Ok(status) => {
            tracing::warn!("{SATURATED}; the summary says how that is known.");
            Ok(status)
        }
        Err(failure) => Err(failure.in_words(|message| format!("{message}; {SATURATED}"))),
    }
}

/// How a command ends whose run could not be done.
pub(crate) fn of_error(error: &RunError) -> TestFailure {
    match error {
        RunError::Metric(_) | RunError::Threshold(_) => TestFailure::InvalidOptions,
        RunError::Vu { .. } => TestFailure::ScriptFailed,
        RunError::Worker(_) | RunError::WorkerPanicked => TestFailure::Panicked,
    }
}

/// How a command ends whose run was ended by a signal, or through the REST interface.
pub(crate) fn ended_early(finished: &Finished<'_>) -> Failure {
    if finished.was_stopped {
        TestFailure::Stopped.because("the run was stopped through the REST interface")
    } else {
        TestFailure::Interrupted.because("the run was interrupted by a signal")
    }
}
