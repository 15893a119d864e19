//! Failures of iterations, requests and connections that decide the end of a run: the same rules for all load tests.

use std::{
    fmt,
    str::FromStr,
    sync::{Arc, OnceLock},
    time::Duration,
};

use clap::{Args, ValueEnum};
use plimsoll_load::{attempts::Attempts, run::Progress};
use plimsoll_report::{
    Summary, readable,
    summary::{ErrorGroup, all_failed},
};
use tokio::sync::Notify;

use crate::exit::{Failure, Status, TestFailure};

/// The fewest attempts whose share of failures ends a run. Reason: the first attempts of a run are few, and one failure
/// among three says little.
const FEWEST_ATTEMPTS: u64 = 10;

/// Whether failures decide the end of a run.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct ErrorFlags {
    /// When to exit with code 3 because of failures: any – an iteration, a request or a connection failed; all – every
    /// iteration, every request or every connection failed; never – as k6 does. Without a value: any. [default: all;
    /// with ab's -r never]
    #[arg(
        long,
        value_enum,
        value_name = "WHEN",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "any",
        help_heading = "Results"
    )]
    fail_on_errors: Option<FailOn>,
    /// End the run with code 3 when more than this share of its iterations, requests or connections has failed, for
    /// example 5%. Checked once per second, from 10 attempts on.
    #[arg(long, value_name = "SHARE", help_heading = "Load")]
    abort_on_error_rate: Option<ErrorRate>,
}

/// The failures that make a run a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "lower")]
enum FailOn {
    Any,
    All,
    Never,
}

/// A share of failed attempts, from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ErrorRate(f64);

impl FromStr for ErrorRate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let number = |text: &str| text.trim_end().parse::<f64>().ok();
        let share = match text.strip_suffix('%') {
            Some(percent) => number(percent).map(|percent| percent / 100.0),
            None => number(text),
        };
        let share = share.filter(|share| (0.0..1.0).contains(share));
        share
            .map(Self)
            .ok_or_else(|| "expected a percentage below 100 such as 5%, or a share such as 0.05".to_owned())
    }
}

impl fmt::Display for ErrorRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&readable::share(self.0))
    }
}

/// Ends a run in which too much fails.
#[derive(Clone, Debug)]
pub(crate) struct ErrorGuard(Arc<Guard>);

#[derive(Debug)]
struct Guard {
    /// `None` lets everything fail.
    limit: Option<ErrorRate>,
    breach: OnceLock<Breach>,
    breached: Notify,
}

/// The failures that ended a run.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Breach {
    attempts: Attempts,
    after: Duration,
    limit: ErrorRate,
}

impl ErrorFlags {
    /// The guard of one run.
    pub(super) fn guard(self) -> ErrorGuard {
        ErrorGuard(Arc::new(Guard {
            limit: self.abort_on_error_rate,
            breach: OnceLock::new(),
            breached: Notify::new(),
        }))
    }

    /// The end of the command: the verdict of the test, or else that too much failed. `expects_failures`: whether failures
    /// count only if a flag says so.
    ///
    /// # Errors
    /// The run did not end well.
    pub(super) fn judge(
        self,
        verdict: Result<Status, Failure>,
        guard: &ErrorGuard,
        summary: &Summary,
        expects_failures: bool,
    ) -> Result<Status, Failure> {
        if let Some(reason) = guard.reason() {
            return Err(TestFailure::BadResult.because(format!("{reason}{}", most_often(&summary.errors))));
        }
        if !matches!(verdict, Ok(Status::Success)) {
            return verdict;
        }
        match self.fail_on(expects_failures).problem(summary) {
            Some(problem) => Err(TestFailure::BadResult.because(problem)),
            None => verdict,
        }
    }

    /// Whether the result is short because nothing succeeded. Where failures do not count, they are figures like others.
    pub(super) fn is_futile(self, summary: &Summary, expects_failures: bool) -> bool {
        self.fail_on(expects_failures) != FailOn::Never && summary.has_no_success()
    }

    /// Whether a run in which everything failed ends well, because a flag says so.
    pub(super) fn are_ignored(self) -> bool {
        self.fail_on(false) == FailOn::Never
    }

    fn fail_on(self, expects_failures: bool) -> FailOn {
        let default = if expects_failures {
            FailOn::Never
        } else {
            FailOn::All
        };
        self.fail_on_errors.unwrap_or(default)
    }
}

impl FailOn {
    /// What makes a run a failure that ended well otherwise.
    fn problem(self, summary: &Summary) -> Option<String> {
        let attempts = summary.attempts();
        let cause = most_often(&summary.errors);
        match self {
            FailOn::Never => None,
            FailOn::All => {
                let found = attempts.iter().find(|attempts| attempts.have_all_failed())?;
                Some(format!(
                    "{}{cause} (for exit code 0, as in k6: --fail-on-errors=never)",
                    all_failed(found)
                ))
            }
            FailOn::Any => {
                let failed = attempts.iter().filter(|attempts| attempts.n_failed > 0);
                let failed: Vec<_> = failed.map(some_of).collect();
                match (failed.is_empty(), summary.errors.first()) {
                    (true, None) => None,
                    (true, Some(_)) => Some(format!("something failed{cause}")),
                    (false, _) => Some(format!("{} failed{cause}", failed.join(" and "))),
                }
            }
        }
    }
}

impl ErrorGuard {
    /// Whether the guard can end the run, so that it has to see the state of the run.
    pub(super) fn is_awake(&self) -> bool {
        self.0.limit.is_some()
    }

    /// Takes in the state of the run, about once a second.
    pub(super) fn observe(&self, progress: &Progress<'_>) {
        let Some(limit) = self.0.limit else { return };
        let is_breach = |attempts: &&Attempts| attempts.n >= FEWEST_ATTEMPTS && attempts.share() > limit.0;
        if let Some(attempts) = progress.attempts.iter().find(is_breach) {
            let breach = Breach {
                attempts: *attempts,
                after: progress.elapsed,
                limit,
            };
            self.0.breach.get_or_init(|| breach);
            self.0.breached.notify_one();
        }
    }

    /// Returns when the guard ends the run.
    pub(super) async fn breached(&self) {
        while self.0.breach.get().is_none() {
            self.0.breached.notified().await;
        }
        // Another caller may wait, too.
        self.0.breached.notify_one();
    }

    /// Whether the guard has ended the run.
    pub(super) fn has_ended(&self) -> bool {
        self.0.breach.get().is_some()
    }

    /// Why the guard ended the run; `None` when it did not.
    pub(super) fn reason(&self) -> Option<String> {
        let Breach {
            attempts,
            after,
            limit,
        } = self.0.breach.get()?;
        Some(format!(
            "ended after {} by --abort-on-error-rate {limit}: {} ({}) had failed",
            readable::seconds(after.as_secs_f64()),
            some_of(attempts),
            readable::share(attempts.share()),
        ))
    }
}

/// `12 of 160 iterations`.
fn some_of(attempts: &Attempts) -> String {
    format!(
        "{} of {} {}",
        readable::count(attempts.n_failed),
        readable::count(attempts.n),
        attempts.kind
    )
}

/// The most frequent cause, as the end of a sentence. Empty when no cause is known.
fn most_often(errors: &[ErrorGroup]) -> String {
    errors.first().map_or_else(String::new, |group| {
        let line = group.cause.lines().next().unwrap_or_default();
        let times = match group.count {
            1 => "once".to_owned(),
            n => format!("{} times", readable::count(n)),
        };
        match errors.len() - 1 {
            0 => format!(": {line}"),
            1 => format!(": {line} ({times}), and 1 other cause"),
            n => format!(": {line} ({times}), and {n} other causes"),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_frequent_cause_is_counted() {
        let check = |counts: &[u64], expected: &str| {
            let group = |&count| ErrorGroup {
                cause: "connection refused\nat line 1".to_owned(),
                example: None,
                count,
                first_seconds: 0.0,
                last_seconds: 1.0,
            };
            let errors: Vec<_> = counts.iter().map(group).collect();
            assert_eq!(most_often(&errors), expected);
        };
        check(&[], "");
        check(&[7], ": connection refused");
        check(&[1, 1], ": connection refused (once), and 1 other cause");
        check(&[5, 1], ": connection refused (5 times), and 1 other cause");
        check(&[1, 1, 1], ": connection refused (once), and 2 other causes");
        check(
            &[1200, 1, 1],
            ": connection refused (1,200 times), and 2 other causes",
        );
    }

    #[test]
    fn a_rate_is_a_share_or_a_percentage() {
        for (text, expected) in [
            ("5%", Some(0.05)),
            ("5 %", Some(0.05)),
            ("0.25", Some(0.25)),
            ("0", Some(0.0)),
            ("100%", None),
            ("1", None),
            ("5", None),
            ("-1%", None),
            ("NaN", None),
            ("", None),
            ("%", None),
        ] {
            assert_eq!(
                text.parse::<ErrorRate>().ok().map(|rate| rate.0),
                expected,
                "{text}"
            );
        }
    }
}
