//! Lines of metrics in columns: a name, dots, and figures.
//!
//! Trends share one set of columns, all other metrics another one, as in k6.

use super::{LEAST_DOTS, dotted, pad};
use crate::{
    Style,
    quantity::{self, TimeUnit},
    summary::{Entry, Metric, Values},
};

/// How the counts of a rate are written after its share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RateForm {
    /// `✓ 9 ✗ 1`
    Marks,
    /// `9 out of 10`
    OutOf,
}

/// A line.
#[derive(Debug)]
pub(super) struct Row {
    name: String,
    is_part: bool,
    is_trend: bool,
    cells: Vec<Cell>,
}

/// A figure with its label.
#[derive(Debug)]
struct Cell {
    label: String,
    value: String,
}

impl Cell {
    fn new(label: impl Into<String>, value: String) -> Self {
        Self {
            label: label.into(),
            value,
        }
    }

    fn len(&self) -> usize {
        self.label.chars().count() + self.value.chars().count()
    }

    fn render(&self, style: Style) -> String {
        format!("{}{}", self.label, style.value(&self.value))
    }
}

impl Row {
    /// The line of a metric; that of a part begins further in.
    pub(super) fn new(entry: &Entry<'_>, form: RateForm, unit: Option<TimeUnit>) -> Self {
        let selector = entry.selector();
        Self {
            name: selector.map_or_else(
                || entry.name.to_owned(),
                |selector| format!("{{ {} }}", selector.trim()),
            ),
            is_part: selector.is_some(),
            is_trend: matches!(entry.metric.values, Values::Trend(found) if found.count > 0),
            cells: cells(entry.metric, form, unit),
        }
    }

    /// The line of a metric without samples, above this part of it.
    pub(super) fn without_samples(part: &Entry<'_>) -> Self {
        let values = match part.metric.values {
            Values::Counter { .. } => vec!["0".to_owned(), "0/s".to_owned()],
            _ => vec!["no data".to_owned()],
        };
        Self::plain(part.whole(), values)
    }

    /// A line with these values.
    pub(super) fn plain(name: &str, values: impl IntoIterator<Item = String>) -> Self {
        Self {
            name: name.to_owned(),
            is_part: false,
            is_trend: false,
            cells: values.into_iter().map(|value| Cell::new("", value)).collect(),
        }
    }

    fn name_width(&self) -> usize {
        self.name.chars().count() + if self.is_part { PART_INDENT } else { 0 }
    }
}

/// Columns by which a sub-metric is indented from its parent; a mark fits into them.
const PART_INDENT: usize = 2;

/// The widths of columns.
#[derive(Debug)]
pub(super) struct Columns {
    name: usize,
    trends: Vec<usize>,
    others: Vec<usize>,
}

impl Columns {
    /// The widths that these lines need.
    pub(super) fn fit<'a>(rows: impl IntoIterator<Item = &'a Row>) -> Self {
        let (trends, others): (Vec<_>, Vec<_>) = rows.into_iter().partition(|row| row.is_trend);
        let names = trends.iter().chain(&others).map(|row| row.name_width());
        Self {
            name: names.max().unwrap_or(0) + LEAST_DOTS,
            trends: widths(&trends),
            others: widths(&others),
        }
    }

    /// The line, with the mark right before the name.
    pub(super) fn render(&self, row: &Row, indent: usize, mark: Option<bool>, style: Style) -> String {
        let (indent, name_width) = if row.is_part {
            (indent + PART_INDENT, self.name - PART_INDENT)
        } else {
            (indent, self.name)
        };
        let before = match mark {
            None => " ".repeat(indent),
            Some(passed) => {
                let mark = if passed {
                    style.good("✓")
                } else {
                    style.bad("✗")
                };
                format!("{}{mark} ", " ".repeat(indent.saturating_sub(2)))
            }
        };
        let widths = if row.is_trend { &self.trends } else { &self.others };
        let mut cells: Vec<_> = row
            .cells
            .iter()
            .zip(widths)
            .map(|(cell, &width)| pad(&cell.render(style), cell.len(), width))
            .collect();
        // The last column has no padding.
        if let (Some(padded), Some(last)) = (cells.last_mut(), row.cells.last()) {
            *padded = last.render(style);
        }
        format!(
            "{before}{} {}\n",
            dotted(&row.name, name_width, style),
            cells.join(" ")
        )
    }
}

/// The widest cell of each column. A line with one cell has no column to keep, unless all lines are like that.
fn widths(rows: &[&Row]) -> Vec<usize> {
    let several: Vec<&Row> = rows.iter().copied().filter(|row| row.cells.len() > 1).collect();
    let rows = if several.is_empty() { rows } else { &several };
    let n_columns = rows.iter().map(|row| row.cells.len()).max().unwrap_or(0);
    let widest = |column| {
        let cells = rows.iter().filter_map(|row| row.cells.get(column));
        cells.map(Cell::len).max().unwrap_or(0)
    };
    (0..n_columns).map(widest).collect()
}

fn cells(metric: &Metric, form: RateForm, unit: Option<TimeUnit>) -> Vec<Cell> {
    let figure = |value| quantity::figure(metric.contains, value, unit);
    match metric.values {
        Values::Trend(found) if found.count == 0 => vec![Cell::new("", "no data".to_owned())],
        Values::Rate {
            passes: 0, fails: 0, ..
        } => vec![Cell::new("", "no data".to_owned())],
        Values::Trend(_) => {
            let figures = metric.figures.iter();
            figures
                .map(|chosen| {
                    let value = match chosen.stat.as_str() {
                        "count" => quantity::number(chosen.value),
                        _ => figure(chosen.value),
                    };
                    Cell::new(format!("{}=", chosen.stat), value)
                })
                .collect()
        }
        Values::Counter { count, rate } => vec![
            Cell::new("", figure(count)),
            Cell::new("", format!("{}/s", figure(rate))),
        ],
        Values::Gauge { value, min, max } => vec![
            Cell::new("", figure(value)),
            Cell::new("min=", figure(min)),
            Cell::new("max=", figure(max)),
        ],
        Values::Rate { rate, passes, fails } => {
            let share = Cell::new("", quantity::percent(rate));
            match form {
                RateForm::Marks => vec![
                    share,
                    Cell::new("✓ ", passes.to_string()),
                    Cell::new("✗ ", fails.to_string()),
                ],
                RateForm::OutOf => vec![
                    share,
                    Cell::new("", format!("{passes} out of {}", passes + fails)),
                ],
            }
        }
    }
}

/// The figures of a trend of plain durations or numbers, such as lateness, in one line.
pub(super) fn trend_line(metric: &Metric, unit: Option<TimeUnit>, style: Style) -> String {
    let cells = cells(metric, RateForm::OutOf, unit);
    let cells: Vec<_> = cells.iter().map(|cell| cell.render(style)).collect();
    cells.join(" ")
}

/// A counter or a trend holds durations in milliseconds, so `contains` decides its form.
pub(super) fn compared(aggregation: &str, metric: &Metric, value: f64, unit: Option<TimeUnit>) -> String {
    let figure = quantity::figure(metric.contains, value, unit);
    match (aggregation, &metric.values) {
        ("rate", Values::Rate { .. }) => quantity::percent(value),
        ("rate", Values::Counter { .. }) => format!("{figure}/s"),
        _ => figure,
    }
}
