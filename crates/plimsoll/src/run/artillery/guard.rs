//! Ends a run when a check with `abortOnFail` does not hold.

use std::{cell::OnceCell, time::Duration};

use plimsoll_load::run::Progress;
use plimsoll_report::artillery::Figures;
use plimsoll_scenario::artillery::Ensure;
use tokio::sync::Notify;

use super::names::ALL_NAMES;

/// Checks a run in progress.
pub(super) struct Guard<'a> {
    ensure: &'a Ensure,
    breach: OnceCell<Breach>,
    breached: Notify,
}

/// The check that ended a run.
pub(super) struct Breach {
    /// The check as people read it.
    pub(super) check: String,
    /// Since the start.
    pub(super) after: Duration,
}

impl<'a> Guard<'a> {
    pub(super) fn new(ensure: &'a Ensure) -> Self {
        Self {
            ensure,
            breach: OnceCell::new(),
            breached: Notify::new(),
        }
    }

    /// Looks at the figures of the run so far, about once a second.
    pub(super) fn observe(&self, progress: &Progress<'_>) {
        if !self.ensure.may_abort() || self.breach.get().is_some() {
            return;
        }
        let after = progress.elapsed;
        let figures = Figures::new(
            std::time::SystemTime::UNIX_EPOCH,
            after,
            progress.metrics,
            &ALL_NAMES,
        );
        if let Some(check) = self.ensure.breach(after, &|name| figures.figure(name)) {
            let check = check.to_owned();
            self.breach.get_or_init(|| Breach { check, after });
            self.breached.notify_one();
        }
    }

    /// Returns when a check ends the run.
    pub(super) async fn wait(&self) {
        self.breached.notified().await;
    }

    /// The check that did.
    pub(super) fn breach(&self) -> Option<&Breach> {
        self.breach.get()
    }
}
