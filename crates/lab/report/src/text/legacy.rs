//! The alphabetical list of all metrics, as k6 printed it before version 1.0.

use super::columns::{Columns, RateForm, Row};
use crate::{Style, Summary, quantity::TimeUnit};

/// Columns before the name, for the mark of a metric with thresholds.
const INDENT: usize = 2;

/// One line per metric, with a mark before those that have thresholds.
pub(super) fn list(summary: &Summary, unit: Option<TimeUnit>, style: Style) -> String {
    let entries = summary.listing();
    let rows: Vec<_> = entries
        .iter()
        .map(|entry| (Row::new(entry, RateForm::Marks, unit), entry.passed()))
        .collect();
    let columns = Columns::fit(rows.iter().map(|(row, _)| row));
    rows.iter()
        .map(|(row, passed)| columns.render(row, INDENT, *passed, style))
        .collect()
}
