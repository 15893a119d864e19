//! The end of a load test: orders that end it early, and problems besides the test's own verdict.

use std::time::Duration;

use plimsoll_load::run::RunError;
use plimsoll_outputs::{OutputReport, Running};
use plimsoll_report::{Verdict, summary::Conclusion};
use tokio::time::sleep;

use super::{errors::ErrorGuard, rest::Orders};
use crate::{
    exit::{self, Failure, Status, TestFailure},
    signals::Signals,
};

/// The warning about doubtful figures, after the doubt.
const DOUBTFUL: &str = "so the figures of this run do not describe the target alone";

/// The time for outputs to write the rest after a second signal. Reason: a file needs less, and a person who has
/// pressed Ctrl-C twice does not want to wait for a missing database.
const LAST_MOMENT: Duration = Duration::from_secs(1);

/// All sources of orders that end a run early.
#[derive(Clone, Debug)]
pub(crate) struct Ends {
    signals: Signals,
    orders: Orders,
    guard: ErrorGuard,
}

/// The source of the order that ended a run early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ender {
    Signal,
    /// A person, with the page's button or the view's key.
    Person,
    /// A controller, through the REST interface.
    Controller,
    /// The guard of `--abort-on-error-rate`.
    Guard,
}

impl Ends {
    pub(super) fn new(signals: Signals, orders: Orders, guard: ErrorGuard) -> Self {
        Self {
            signals,
            orders,
            guard,
        }
    }

    pub(super) fn signals(&self) -> &Signals {
        &self.signals
    }

    /// The guard that ends a run in which too much fails.
    pub(super) fn guard(&self) -> &ErrorGuard {
        &self.guard
    }

    /// Returns when the run is to end in good order.
    pub(crate) async fn first(&self) {
        tokio::select! {
            () = self.signals.received(1) => {}
            () = self.orders.stopped() => {}
            () = self.guard.breached() => {}
        }
    }

    /// Returns when the run is to end at once.
    pub(crate) async fn second(&self) {
        let after_order = async {
            tokio::select! {
                () = self.orders.stopped() => {}
                () = self.guard.breached() => {}
            }
            self.signals.received(1).await;
        };
        tokio::select! {
            () = self.signals.received(2) => {}
            () = after_order => {}
        }
    }

    /// The source of the order that ended the run, if the run ended early.
    pub(super) fn ender(&self) -> Ender {
        if self.guard.has_ended() {
            Ender::Guard
        } else if self.orders.is_stopped() {
            Ender::Controller
        } else if self.signals.is_by_hand() {
            Ender::Person
        } else {
            Ender::Signal
        }
    }
}

impl Ender {
    /// The exit code, and the reason for people.
    pub(crate) fn reason(self) -> (TestFailure, &'static str) {
        match self {
            Self::Signal => (TestFailure::Interrupted, "the run was interrupted by a signal"),
            Self::Person => (
                TestFailure::Interrupted,
                "the run was stopped on its page or with a key",
            ),
            Self::Controller => (
                TestFailure::Stopped,
                "the run was stopped through the REST interface",
            ),
            Self::Guard => (TestFailure::BadResult, "too much failed"),
        }
    }

    /// The failure of a command whose run was ended early.
    pub(crate) fn failure(self) -> Failure {
        let (failure, reason) = self.reason();
        failure.because(reason)
    }
}

/// Waits until outputs have written everything, or until a second signal leaves them a moment only.
pub(super) async fn written(outputs: Running, signals: &Signals) -> OutputReport {
    let names = outputs.names();
    tokio::select! {
        report = outputs.finish() => report,
        () = async {
            signals.received(2).await;
            sleep(LAST_MOMENT).await;
        } => OutputReport::given_up(names),
    }
}

/// The end of a command: the verdict of its test, or else that a part of the load is missing. Then its figures are not those
/// of the planned load, whatever they say.
pub(super) fn whole(verdict: Result<Status, Failure>, missing: Option<&str>) -> Result<Status, Failure> {
    match missing {
        Some(reason) => Err(TestFailure::FleetFailed.because(format!("the run is incomplete: {reason}"))),
        None => verdict,
    }
}

/// The end of a command: the verdict of its test, or else that an output lost samples, because readers of these would be
/// wrong without noticing. `doubt` says why the figures are doubtful.
pub(super) fn ending(
    verdict: Result<Status, Failure>,
    outputs: &OutputReport,
    doubt: Option<&str>,
) -> Result<Status, Failure> {
    let lost = outputs.notices().join("; ");
    let verdict = match verdict {
        verdict if outputs.is_complete() => verdict,
        Ok(_) => Err(TestFailure::BadResult.because(lost)),
        Err(failure) => Err(failure.in_words(|message| format!("{message}; {lost}"))),
    };
    let Some(doubt) = doubt else { return verdict };
    match verdict {
        Ok(status) => {
            tracing::warn!("{doubt}, {DOUBTFUL}; the summary gives the reasons.");
            Ok(status)
        }
        Err(failure) => Err(failure.in_words(|message| format!("{message}; {doubt}, {DOUBTFUL}"))),
    }
}

/// The doubts about a run that ended well.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Doubts {
    /// Whether its figures are not the target's alone.
    pub(super) is_doubtful: bool,
    /// Whether not a single iteration began, so that there is no result. The exit code is 0, as in k6.
    pub(super) is_empty: bool,
}

/// The end of a command for the summary of its run.
pub(super) fn conclusion(end: &Result<Status, Failure>, doubts: Doubts) -> Conclusion {
    let (verdict, reason) = match exit::verdict(end) {
        Verdict::Pass if doubts.is_empty => (Verdict::Incomplete, Some("no iteration began".to_owned())),
        Verdict::Pass if doubts.is_doubtful => (Verdict::Doubtful, None),
        verdict => (verdict, end.as_ref().err().map(Failure::message)),
    };
    Conclusion {
        verdict,
        exit_code: end.as_ref().map_or_else(Failure::code, |status| status.code()),
        reason,
    }
}

/// The failure of a command whose run could not be done.
pub(crate) fn of_error(error: &RunError) -> TestFailure {
    match error {
        RunError::Metric(_) | RunError::Threshold(_) => TestFailure::InvalidOptions,
        RunError::Vu { .. } => TestFailure::ScriptFailed,
        RunError::Worker(_) | RunError::WorkerPanicked => TestFailure::Panicked,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_verdict_and_the_exit_code_are_those_of_the_end() {
        let test = |failure: TestFailure| Err(failure.because("so it was"));
        let reason = |end: &Result<Status, Failure>| end.is_err().then(|| "so it was".to_owned());
        for (end, is_doubtful, verdict, exit_code) in [
            (Ok(Status::Success), false, Verdict::Pass, 0),
            (Ok(Status::Success), true, Verdict::Doubtful, 0),
            (Ok(Status::BadResult), true, Verdict::Fail, 3),
            (test(TestFailure::ThresholdsCrossed), true, Verdict::Fail, 99),
            (test(TestFailure::BadResult), false, Verdict::Fail, 3),
            (test(TestFailure::ExpectationsFailed), false, Verdict::Fail, 21),
            (test(TestFailure::Interrupted), true, Verdict::Incomplete, 105),
            (test(TestFailure::Aborted), false, Verdict::Incomplete, 108),
            (
                Err(Failure::Runtime("so it was".into())),
                false,
                Verdict::Incomplete,
                1,
            ),
        ] {
            let doubts = Doubts {
                is_doubtful,
                is_empty: false,
            };
            let found = conclusion(&end, doubts);
            assert_eq!((found.verdict, found.exit_code), (verdict, exit_code), "{end:?}");
            assert_eq!(found.reason, reason(&end), "{end:?}");
        }
    }

    #[test]
    fn a_run_that_began_nothing_is_incomplete_unless_it_failed() {
        let empty = Doubts {
            is_doubtful: true,
            is_empty: true,
        };
        let found = conclusion(&Ok(Status::Success), empty);
        assert_eq!((found.verdict, found.exit_code), (Verdict::Incomplete, 0));
        assert_eq!(found.reason.as_deref(), Some("no iteration began"));
        let crossed = Err(TestFailure::ThresholdsCrossed.because("so it was"));
        assert_eq!(conclusion(&crossed, empty).verdict, Verdict::Fail);
    }
}
