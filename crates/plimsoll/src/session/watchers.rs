//! Everyone who sees a run while it goes on: the terminal, the page, the REST interface, and the guard of failures.

use std::{
    io,
    sync::{Mutex, PoisonError},
};

use plimsoll_load::run::Progress;
use plimsoll_report::{Summary, summary::Origin};

use super::{commands::Beginnings, errors::ErrorGuard, progress::Display, rest::Reporter};
use crate::{live::LivePage, terminal};

/// Everyone who sees a run while it goes on.
pub(crate) struct Watchers {
    /// Until it is closed.
    display: Mutex<Option<Display<io::Stderr>>>,
    has_view: bool,
    page: Option<LivePage>,
    reporter: Option<Reporter>,
    guard: ErrorGuard,
    beginnings: Beginnings,
}

impl Watchers {
    pub(super) fn new(
        display: Display<io::Stderr>,
        page: Option<LivePage>,
        reporter: Option<Reporter>,
        guard: ErrorGuard,
        beginnings: Beginnings,
    ) -> Self {
        Self {
            has_view: display.has_view(),
            display: Mutex::new(Some(display)),
            page,
            reporter,
            guard,
            beginnings,
        }
    }

    /// Writes the lines before the first iteration of so many users.
    pub(super) fn begin(&self, header: &str, n_vus: u64) {
        self.with_display(|display| {
            if let Some(display) = display {
                display.begin(header, n_vus);
            }
        });
    }

    /// Whether figures and charts are shown in the terminal.
    pub(crate) fn has_view(&self) -> bool {
        self.has_view
    }

    /// Whether the run has a view, a page, or a guard that looks.
    pub(crate) fn may_look(&self) -> bool {
        self.has_view || self.page.is_some() || self.reporter.is_some() || self.guard.is_awake()
    }

    /// Whether a viewer looks at the moment.
    pub(crate) fn is_looking(&self) -> bool {
        self.has_view
            || self.reporter.is_some()
            || self.guard.is_awake()
            || self.page.as_ref().is_some_and(LivePage::has_tabs)
    }

    /// Takes in the state of the run, about once a second. `so_far` makes the summary of what has happened, for the page.
    pub(crate) fn observe(&self, progress: &Progress<'_>, so_far: impl FnOnce(Origin<'_>) -> Summary) {
        self.guard.observe(progress);
        self.with_display(|display| {
            if let Some(display) = display {
                display.show(progress, terminal::size());
            }
        });
        if let Some(reporter) = &self.reporter {
            reporter.report(progress);
        }
        if let Some(page) = &self.page {
            page.show(|origin| Summary {
                commands: self.beginnings.so_far(),
                ..so_far(origin)
            });
        }
    }

    /// The run is over: clears the terminal for the result.
    pub(super) fn close(&self) {
        self.reporter.iter().for_each(Reporter::end);
        if let Some(display) = self.with_display(Option::take) {
            display.finish();
        }
    }

    /// Shows the report of the run that is over, until all tabs have it.
    pub(super) async fn finish(self, summary: &Summary) {
        if let Some(page) = self.page {
            page.finish(summary).await;
        }
    }

    fn with_display<T>(&self, change: impl FnOnce(&mut Option<Display<io::Stderr>>) -> T) -> T {
        // A panic during a write leaves at worst a second that is half drawn.
        change(&mut self.display.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
