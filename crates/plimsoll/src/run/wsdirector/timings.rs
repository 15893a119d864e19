//! The durations of the steps of each group, as a table.

use std::{fmt::Write, time::Duration};

use plimsoll_report::{Summary, quantity, summary::Values};
use plimsoll_scenario::wsdirector::Outcome;

/// The columns of the table.
const COLUMNS: [&str; 7] = ["count", "min", "avg", "med", "p(95)", "p(99)", "max"];

/// The width of a column. It fits the most frequent values, so that tables of several runs look alike.
const COLUMN_WIDTH: usize = 10;

/// A step: its name, and a cell for each column.
type Row = (String, [String; COLUMNS.len()]);

/// The table; empty when no step was taken.
pub(super) fn table(outcome: &Outcome, summary: &Summary) -> String {
    let rows = rows(outcome, summary);
    let width = rows.iter().map(|(name, _)| name.chars().count()).max();
    let Some(width) = width else {
        return String::new();
    };
    let heading = (String::new(), COLUMNS.map(str::to_owned));
    let mut text = String::new();
    for (name, cells) in std::iter::once(&heading).chain(&rows) {
        let _infallible = write!(text, "{name:width$}");
        for cell in cells {
            let _infallible = write!(text, "{cell:>COLUMN_WIDTH$}");
        }
        text.push('\n');
    }
    text
}

fn rows(outcome: &Outcome, summary: &Summary) -> Vec<Row> {
    let has_groups = outcome.groups.len() > 1;
    let steps = outcome.groups.iter().flat_map(|group| {
        let steps = group.steps.iter();
        steps.map(move |step| (&group.name, step))
    });
    let rows = steps.filter_map(|(group, step)| {
        let Values::Trend(figures) = summary.metrics.get(&step.metric)?.values else {
            return None;
        };
        let us = |us: u64| quantity::duration(Duration::from_micros(us));
        let name = if has_groups {
            format!("{group}: {}", step.step)
        } else {
            step.step.clone()
        };
        let cells = [
            figures.count.to_string(),
            us(figures.min),
            us(figures.mean.round() as u64),
            us(figures.p50),
            us(figures.p95),
            us(figures.p99),
            us(figures.max),
        ];
        Some((name, cells))
    });
    rows.collect()
}
