//! Whether the machine has the memory for all users of a run, asked before it starts.

use clap::Args;
use plimsoll_load::{
    plan::Plan,
    preflight::{Fit, Memory, Records, UserKind},
    run,
};

use crate::exit::{Failure, TestFailure};

/// The virtual users of a run and the records of their messages, as far as memory is concerned.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Crowd {
    pub(crate) kind: UserKind,
    /// The number of users that exist from the start.
    pub(crate) n_planned: u64,
    /// The largest number of users.
    pub(crate) n_most: u64,
    /// The records of single messages.
    pub(crate) records: Records,
}

impl Crowd {
    /// The users of a plan.
    pub(crate) fn of(kind: UserKind, plan: &Plan) -> Self {
        Self {
            kind,
            n_planned: run::planned_vus(plan),
            n_most: run::max_vus(plan),
            records: Records::default(),
        }
    }
}

/// The flag that switches it off.
#[derive(Clone, Copy, Debug, Args)]
pub(super) struct MemoryFlags {
    /// Start even if the virtual users or the records of messages need more memory than is available.
    #[arg(long)]
    no_memory_check: bool,
}

/// Checks the users of a run without flags, see [`MemoryFlags::check`].
///
/// # Errors
/// Those that exist from the start need more memory than there is.
pub(crate) fn check_memory(crowd: Crowd) -> Result<(), Failure> {
    let checked = MemoryFlags {
        no_memory_check: false,
    };
    checked.check(crowd)
}

impl MemoryFlags {
    /// Warns when the users use most of the memory that is left, or may use more of it during the run.
    ///
    /// # Errors
    /// When those that exist from the start need more than there is, unless that is wanted.
    pub(super) fn check(self, crowd: Crowd) -> Result<(), Failure> {
        let memory = Memory::read();
        let planned = crowd.kind.fit(crowd.n_planned, &memory);
        let most = crowd.kind.fit(crowd.n_most, &memory);
        let warning = judge(&planned, &most, self.no_memory_check)
            .map_err(|reason| TestFailure::InvalidOptions.because(reason))?;
        if let Some(warning) = warning {
            tracing::warn!("{warning}");
        }
        match crowd.records.check(&memory) {
            Ok(()) => Ok(()),
            Err(need) if self.no_memory_check => {
                tracing::warn!("{need}; the system may end this process");
                Ok(())
            }
            Err(need) => Err(TestFailure::InvalidOptions.because(format!(
                "{need}; send fewer messages, use a machine with more memory, or start anyway with --no-memory-check"
            ))),
        }
    }
}

/// A warning, if there is one; the error is the reason not to start.
fn judge(planned: &Fit, most: &Fit, is_switched_off: bool) -> Result<Option<String>, String> {
    match (planned, most) {
        (Fit::Not(need), _) if !is_switched_off => Err(format!(
            "{need}; use fewer users, a machine with more memory, or start anyway with --no-memory-check"
        )),
        (Fit::Not(need), _) => Ok(Some(format!("{need}; the system may end this process"))),
        (_, Fit::Not(need)) => Ok(Some(format!(
            "if the run needs all virtual users that the options allow, the memory is not enough: {need}"
        ))),
        (Fit::Narrow(need), _) | (_, Fit::Narrow(need)) => Ok(Some(format!(
            "{need}; responses and the script's own data need memory in addition"
        ))),
        (Fit::Well, Fit::Well) => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    #[track_caller]
    fn check(n_planned: u64, n_most: u64, is_switched_off: bool, expected: &Expect) {
        let memory = Memory {
            total_bytes: u64::MAX,
            available_bytes: 2_000_000_000,
        };
        let fit = |n_users| UserKind::Script.fit(n_users, &memory);
        let words = match judge(&fit(n_planned), &fit(n_most), is_switched_off) {
            Ok(None) => "starts".to_owned(),
            Ok(Some(warning)) => format!("starts, and warns: {warning}"),
            Err(reason) => format!("does not start: {reason}"),
        };
        expected.assert_eq(&words);
    }

    #[test]
    fn a_run_that_does_not_fit_does_not_start() {
        check(100, 100, false, &expect!["starts"]);
        check(
            12_000,
            12_000,
            false,
            &expect![
                "starts, and warns: 12000 virtual users need about 1.8 GB of memory (150.0 KB each), and 2.0 GB are \
                 available; responses and the script's own data need memory in addition"
            ],
        );
        check(
            1_000_000,
            1_000_000,
            false,
            &expect![
                "does not start: 1000000 virtual users need about 150.0 GB of memory (150.0 KB each), and 2.0 GB are available; use fewer users, a machine with more memory, or start anyway with --no-memory-check"
            ],
        );
        check(
            1_000_000,
            1_000_000,
            true,
            &expect![
                "starts, and warns: 1000000 virtual users need about 150.0 GB of memory (150.0 KB each), and 2.0 GB are available; the system may end this process"
            ],
        );
        check(
            100,
            1_000_000,
            false,
            &expect![
                "starts, and warns: if the run needs all virtual users that the options allow, the memory is not \
                 enough: 1000000 virtual users need about 150.0 GB of memory (150.0 KB each), and 2.0 GB are \
                 available"
            ],
        );
    }
}
