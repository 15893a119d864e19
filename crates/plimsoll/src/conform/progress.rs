//! The progress of a suite: one line on standard error that is redrawn, if standard error is a terminal.

use std::{collections::HashSet, io};

use plimsoll_conformance::Outcome;

use crate::screen::Screen;

/// Counts outcomes and shows the count.
pub(super) struct Progress {
    screen: Screen<io::Stderr>,
    is_drawable: bool,
    n_cases: usize,
    n_done: usize,
    n_failed: usize,
    /// Faults that many cases meet, each of which is one failure.
    causes: HashSet<String>,
}

impl Progress {
    pub(super) fn new(n_cases: usize) -> Self {
        let (screen, is_drawable) = Screen::stderr();
        Self {
            screen,
            is_drawable,
            n_cases,
            n_done: 0,
            n_failed: 0,
            causes: HashSet::new(),
        }
    }

    pub(super) fn observe(&mut self, outcome: &Outcome) {
        self.n_done += 1;
        self.n_failed += usize::from(outcome.is_new_failure(&mut self.causes));
        if self.is_drawable {
            let Self {
                n_cases,
                n_done,
                n_failed,
                ..
            } = self;
            self.screen
                .draw(format!("{n_done} of {n_cases} cases, {n_failed} failed\n"));
        }
    }

    /// Takes the line away.
    pub(super) fn finish(self) {
        if self.is_drawable {
            self.screen.draw(String::new());
        }
    }
}
