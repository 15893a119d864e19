//! The alphabetical list of metrics, in columns.
//!
//! Trends share one set of columns, all other metrics another one, as in k6.

use std::{collections::BTreeMap, time::Duration};

use super::{LEAST_DOTS, dotted, pad};
use crate::{
    Distribution, Style, quantity,
    summary::{Contains, Metric, Values},
};

/// One line per metric.
pub(super) fn render(metrics: &BTreeMap<String, Metric>, style: Style) -> String {
    let rows: Vec<Row> = metrics
        .iter()
        .map(|(name, metric)| Row::new(name, metric))
        .collect();
    let name_width = rows.iter().map(|row| row.name.chars().count()).max().unwrap_or(0) + LEAST_DOTS;
    let (trends, others): (Vec<&Row>, Vec<&Row>) = rows.iter().partition(|row| row.is_trend);
    let (trend_widths, other_widths) = (widths(&trends), widths(&others));
    rows.iter()
        .map(|row| {
            let widths = if row.is_trend {
                &trend_widths
            } else {
                &other_widths
            };
            format!(
                "  {} {}\n",
                dotted(row.name, name_width, style),
                row.render(widths, style)
            )
        })
        .collect()
}

struct Row<'a> {
    name: &'a str,
    is_trend: bool,
    cells: Vec<Cell>,
}

/// A figure with what stands before it.
struct Cell {
    label: &'static str,
    value: String,
}

impl Cell {
    fn len(&self) -> usize {
        self.label.chars().count() + self.value.chars().count()
    }
}

impl<'a> Row<'a> {
    fn new(name: &'a str, metric: &Metric) -> Self {
        let cells = match metric.values {
            Values::Trend(distribution) => trend(&distribution),
            Values::Counter { count, rate } => counter(count, rate, metric.contains),
            Values::Gauge { value, min, max } => gauge([value, min, max], metric.contains),
            Values::Rate { rate, passes, fails } => rate_cells(rate, passes, fails),
        };
        let cells = cells
            .into_iter()
            .map(|(label, value)| Cell { label, value })
            .collect();
        Self {
            name,
            is_trend: matches!(metric.values, Values::Trend(_)),
            cells,
        }
    }

    /// The last cell is not padded.
    fn render(&self, widths: &[usize], style: Style) -> String {
        let cells = self
            .cells
            .iter()
            .zip(widths)
            .enumerate()
            .map(|(position, (cell, &width))| {
                let text = format!("{}{}", cell.label, style.value(&cell.value));
                if position + 1 < self.cells.len() {
                    pad(&text, cell.len(), width)
                } else {
                    text
                }
            });
        cells.collect::<Vec<_>>().join(" ")
    }
}

/// The widest cell of each column.
fn widths(rows: &[&Row<'_>]) -> Vec<usize> {
    let n_columns = rows.iter().map(|row| row.cells.len()).max().unwrap_or(0);
    let widest = |column| {
        rows.iter()
            .filter_map(|row| row.cells.get(column))
            .map(Cell::len)
            .max()
            .unwrap_or(0)
    };
    (0..n_columns).map(widest).collect()
}

type Cells = Vec<(&'static str, String)>;

fn trend(distribution: &Distribution) -> Cells {
    let us = |us| quantity::duration(Duration::from_micros(us));
    vec![
        // As `f64` to integer saturates, the mean of anything fits.
        (
            "avg=",
            quantity::duration(Duration::from_nanos((distribution.mean * 1_000.0) as u64)),
        ),
        ("min=", us(distribution.min)),
        ("med=", us(distribution.p50)),
        ("max=", us(distribution.max)),
        ("p(90)=", us(distribution.p90)),
        ("p(95)=", us(distribution.p95)),
    ]
}

fn counter(count: u64, rate: f64, contains: Contains) -> Cells {
    match contains {
        Contains::Data => {
            vec![
                ("", quantity::bytes(count as f64)),
                ("", format!("{}/s", quantity::bytes(rate))),
            ]
        }
        Contains::Default | Contains::Time => vec![("", count.to_string()), ("", quantity::per_second(rate))],
    }
}

fn gauge(value_min_max: [f64; 3], contains: Contains) -> Cells {
    let [value, min, max] = value_min_max.map(|number| match contains {
        Contains::Data => quantity::bytes(number),
        Contains::Default | Contains::Time => quantity::number(number),
    });
    vec![("", value), ("min=", min), ("max=", max)]
}

fn rate_cells(rate: f64, passes: u64, fails: u64) -> Cells {
    vec![
        ("", quantity::percent(rate)),
        ("✓ ", passes.to_string()),
        ("✗ ", fails.to_string()),
    ]
}
