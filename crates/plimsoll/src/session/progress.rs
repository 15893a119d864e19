//! The progress of `plimsoll run`: on a terminal one line per scenario and the current figures, redrawn each second;
//! elsewhere a line at intervals.

use std::{io::Write, sync::Arc, time::Duration};

use plimsoll_load::run;
use plimsoll_report::status_line;

use crate::{live::Live, screen::Screen};

mod figures;
mod header;
mod scenarios;

use self::figures::Figures;
pub(crate) use self::header::header;

/// The interval between lines when the output is not a terminal.
const QUIET_INTERVAL: Duration = Duration::from_secs(10);

/// The largest number of metrics on the screen. Reason: people cannot follow more.
const MOST_FIGURES: usize = 8;

/// Metrics on a single line.
const BRIEF_FIGURES: usize = 3;

/// Lines of a terminal that are left to the log.
const LEAST_LOG_LINES: usize = 3;

/// The kind of viewer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Audience {
    /// A terminal that can be drawn on.
    Terminal,
    /// A file or a pipe.
    Lines,
    /// No progress: `--quiet`.
    Nobody,
}

/// The display of one run.
#[derive(Debug)]
pub(super) struct Display<W> {
    screen: Arc<Screen<W>>,
    audience: Audience,
    figures: Figures,
    next_line: Duration,
    /// The view, which replaces the lines; `None` without a view.
    live: Option<Live>,
}

impl<W: Write> Display<W> {
    pub(super) fn new(screen: Arc<Screen<W>>, audience: Audience) -> Self {
        Self {
            screen,
            audience,
            figures: Figures::new(),
            next_line: QUIET_INTERVAL,
            live: None,
        }
    }

    /// The progress with a view in place of the lines.
    pub(super) fn with_view(self, live: Option<Live>) -> Self {
        Self { live, ..self }
    }

    /// Whether there is a view in place of the few lines.
    pub(super) fn has_view(&self) -> bool {
        self.live.is_some()
    }

    /// Prints the header before the first iteration.
    pub(super) fn begin(&self, header: &str, n_vus: u64) {
        if self.audience == Audience::Nobody {
            return;
        }
        self.screen.print(header);
        if self.audience == Audience::Terminal && self.live.is_none() {
            self.screen.draw(format!("creating {n_vus} VUs …\n"));
        }
    }

    /// Shows the state of the run. The size is that of the terminal, which may change during the run.
    pub(super) fn show(&mut self, progress: &run::Progress<'_>, (n_columns, n_lines): (usize, usize)) {
        if let Some(live) = &self.live {
            return live.observe(progress);
        }
        match self.audience {
            Audience::Terminal => {
                let figures = self.figures.read(progress);
                let status = cut(&status(progress), n_columns);
                let lines = scenarios::lines(&progress.scenarios, progress.elapsed, n_columns);
                let n_free = n_lines.saturating_sub(1 + progress.scenarios.len() + LEAST_LOG_LINES);
                let table = figures::table(&figures, n_free.min(MOST_FIGURES), n_columns);
                self.screen.draw(format!("{status}\n{lines}{table}"));
            }
            Audience::Lines if progress.elapsed >= self.next_line => {
                self.next_line = progress.elapsed + QUIET_INTERVAL;
                let figures = self.figures.read(progress);
                let brief = figures::brief(&figures, BRIEF_FIGURES);
                self.screen.print(&format!("{}{brief}\n", status(progress)));
            }
            Audience::Lines | Audience::Nobody => {}
        }
    }

    /// Clears the screen for the result.
    pub(super) fn finish(self) {
        match self.live {
            Some(live) => drop(live),
            None if self.audience == Audience::Terminal => self.screen.draw(String::new()),
            None => {}
        }
    }
}

fn status(progress: &run::Progress<'_>) -> String {
    status_line(
        progress.elapsed,
        progress.active_vus,
        progress.max_vus,
        progress.n_iterations_complete,
        progress.n_interrupted,
    )
}

/// A line that the terminal would wrap cannot be drawn anew.
fn cut(line: &str, columns: usize) -> String {
    line.chars().take(columns).collect()
}
