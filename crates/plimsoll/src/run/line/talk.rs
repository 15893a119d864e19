//! The output of a search: a row per step, below the rows the current step, and at the end the line.

use std::{
    cell::{Cell, RefCell},
    io::{self, Write},
    sync::Arc,
    time::Duration,
};

use plimsoll_line::{
    objective::{Objective, Samples},
    report::{Report, Unit, header, row},
    step::Step,
};
use plimsoll_live::page::Page;
use plimsoll_load::{
    attempts::{Attempts, Kind},
    metrics::MetricSet,
    run::Progress,
};
use plimsoll_report::Style;
use serde_json::json;

use super::{
    goals::Goals,
    options::{Format, Timing},
};
use crate::{screen::Screen, session::Basis, terminal};

/// The streams of a search's output.
#[derive(Debug)]
pub(super) struct Talk {
    screen: Arc<Screen<io::Stderr>>,
    /// Whether the present step is drawn.
    is_drawn: bool,
    /// Whether the cause of a step without any success has been printed.
    is_futility_told: Cell<bool>,
    format: Format,
    style: Style,
    page: Option<SearchPage>,
}

/// The page of a search that goes on.
#[derive(Debug)]
struct SearchPage {
    page: Page,
    /// The steps so far, as the page has them.
    search: RefCell<String>,
}

/// The step that is going on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Present {
    /// The number of the step, from 1.
    pub(super) number: usize,
    pub(super) load: u64,
}

impl Talk {
    pub(super) fn new(basis: &Basis, is_quiet: bool, format: Format) -> Self {
        Self {
            screen: Arc::clone(basis.screen()),
            is_drawn: basis.is_drawable() && !is_quiet,
            is_futility_told: Cell::new(false),
            format,
            style: match format {
                Format::Text => basis.style(&io::stdout()),
                Format::Json => basis.style(&io::stderr()),
            },
            page: None,
        }
    }

    /// Also shows the search on this page.
    pub(super) fn on(self, page: Option<Page>) -> Self {
        let page = page.map(|page| SearchPage {
            page,
            search: RefCell::new("null".to_owned()),
        });
        Self { page, ..self }
    }

    /// Prints the plan of the search.
    pub(super) fn begin(&self, unit: Unit, goals: &Goals, n_targets: usize) {
        let objectives: Vec<_> = goals.objectives.iter().map(Objective::text).collect();
        let note = if goals.are_defaults {
            " (the defaults, because there is no --slo; only metrics that are measured count)"
        } else {
            ""
        };
        self.screen
            .print(&format!("objectives{note}: {}\n\n", objectives.join(", ")));
        let header = format!("{}\n", header(unit, &goals.objectives, n_targets));
        self.write(&header);
    }

    /// Shows how the present step goes.
    pub(super) fn present(
        &self,
        present: Present,
        progress: &Progress<'_>,
        timing: Timing,
        so_far: Option<&MetricSet>,
        objectives: &[Objective],
    ) {
        if !self.is_seen() {
            return;
        }
        let elapsed = progress.elapsed.as_secs();
        // A scenario that ends by itself has no planned end.
        let end = timing.steady.saturating_add(timing.warm_up).as_secs();
        let of = if timing.is_planned() {
            format!(" of {end} s")
        } else {
            String::new()
        };
        let vus = progress.active_vus;
        let state = match so_far {
            None => "; warming up".to_owned(),
            Some(metrics) => values(
                metrics,
                progress.elapsed.saturating_sub(timing.warm_up),
                objectives,
            ),
        };
        self.present_text(present, &format!("{elapsed} s{of}, {vus} VUs{state}"));
    }

    /// Prints the cause, once in a search, if a step has had only failures so far: its row comes only at its end.
    pub(super) fn warn_of_futility(&self, present: Present, progress: &Progress<'_>) {
        if self.is_futility_told.get() {
            return;
        }
        let failures = progress.failures.reasons();
        if let Some(text) = futility(present.load, progress.elapsed, progress.attempts, failures) {
            self.is_futility_told.set(true);
            self.screen.print(&format!("{text}\n"));
        }
    }

    /// The current step in words.
    pub(super) fn present_text(&self, present: Present, state: &str) {
        let Present { number, load } = present;
        let line = format!("step {number}: load {load}, {state}");
        if let Some(SearchPage { page, search }) = &self.page {
            page.show_search(&search.borrow(), &json!(line).to_string());
        }
        if !self.is_drawn {
            return;
        }
        let (columns, _) = terminal::size();
        let line: String = line.chars().take(columns).collect();
        self.screen.draw(format!("{line}\n"));
    }

    /// Whether the current step is shown anywhere.
    fn is_seen(&self) -> bool {
        self.is_drawn || self.page.as_ref().is_some_and(|it| it.page.has_tabs())
    }

    /// The step that is over is the last of these.
    pub(super) fn step(&self, steps: &[Step], objectives: &[Objective]) {
        if let Some(step) = steps.last() {
            let row = row(steps.len(), step, objectives, self.style);
            self.screen.draw(String::new());
            self.write(&format!("{row}\n"));
        }
    }

    /// Shows the search so far on the page, if there is one.
    pub(super) fn show(&self, report: impl FnOnce() -> Report) {
        if let Some(SearchPage { page, search }) = &self.page {
            let json = report().json().to_string();
            page.show_search(&json, "\"\"");
            *search.borrow_mut() = json;
        }
    }

    /// Shows the report on the page, until all tabs have it.
    pub(super) async fn close(self, report: &Report) {
        if let Some(SearchPage { page, .. }) = self.page {
            page.finish(report.html()).await;
        }
    }

    /// The line.
    pub(super) fn finish(&self, report: &Report) -> io::Result<()> {
        self.screen.draw(String::new());
        let text = match self.format {
            Format::Text => report.text(self.style),
            Format::Json => format!("{:#}\n", report.json()),
        };
        io::stdout().write_all(text.as_bytes())?;
        io::stdout().flush()
    }

    /// Writes a row. Rows are results, or with JSON progress.
    fn write(&self, text: &str) {
        match self.format {
            Format::Text => {
                // Who has closed standard output is told at the end.
                let _told_later = io::stdout()
                    .write_all(text.as_bytes())
                    .and_then(|()| io::stdout().flush());
            }
            Format::Json => self.screen.print(text),
        }
    }
}

/// The time and the number of iterations after which failures alone are no accident of the start.
const FUTILE_AFTER: Duration = Duration::from_secs(2);
const MIN_FUTILE: u64 = 5;

/// The cause of a step in which every iteration has failed so far.
fn futility<'a>(
    load: u64,
    elapsed: Duration,
    attempts: [Attempts; 3],
    reasons: impl Iterator<Item = (&'a str, u64)>,
) -> Option<String> {
    let iterations = attempts
        .iter()
        .find(|attempts| attempts.kind == Kind::Iterations)?;
    let n = iterations.n;
    if elapsed < FUTILE_AFTER || n < MIN_FUTILE || iterations.n_failed < n {
        return None;
    }
    let (reason, _) = reasons.max_by_key(|(_, n)| *n)?;
    Some(format!(
        "load {load}: all {n} iterations have failed so far, most often: {reason}\nend the search with Ctrl+C; try \
         the test first: plimsoll run"
    ))
}

/// The current values of the objectives, each behind a mark. Empty before the first sample.
fn values(metrics: &MetricSet, elapsed: Duration, objectives: &[Objective]) -> String {
    let samples = Samples {
        all: metrics,
        within: metrics,
        elapsed,
    };
    let values = objectives.iter().filter_map(|objective| {
        let value = objective.judge(samples).value?;
        Some(format!("{} {}", objective.title(), objective.shown(value)))
    });
    match values.collect::<Vec<_>>().join(", ") {
        values if values.is_empty() => values,
        values => format!("; {values}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(seconds: u64, n: u64, n_failed: u64, expected: bool) {
        let attempts = |kind, n, n_failed| Attempts { kind, n, n_failed };
        let attempts = [
            attempts(Kind::Iterations, n, n_failed),
            attempts(Kind::Requests, 9, 0),
            attempts(Kind::Connections, 9, 0),
        ];
        let reasons = [("rare", 1), ("often", 8)].into_iter();
        let text = futility(10, Duration::from_secs(seconds), attempts, reasons);
        let is_told = text.is_some_and(|text| {
            text.starts_with(&format!(
                "load 10: all {n} iterations have failed so far, most often: often\n"
            ))
        });
        assert_eq!(is_told, expected, "{n_failed} of {n} after {seconds} s");
    }

    #[test]
    fn the_cause_is_told_when_every_iteration_has_failed() {
        check(2, 9, 9, true);
        check(1, 9, 9, false);
        check(2, 4, 4, false);
        check(9, 9, 8, false);
        check(9, 0, 0, false);
    }
}
