//! The alphabetical list of metrics, in columns.
//!
//! Trends share one set of columns, all other metrics another one, as in k6.

use std::{collections::BTreeMap, time::Duration};

use super::{LEAST_DOTS, dotted, pad};
use crate::{
    Distribution, Style, quantity,
    summary::{Contains, Metric, Threshold, Values},
};

/// One line per metric, with a mark before those that have thresholds.
pub(super) fn render(metrics: &BTreeMap<String, Metric>, thresholds: &[Threshold], style: Style) -> String {
    let mut entries: Vec<_> = metrics.iter().collect();
    // A part of a metric follows its whole, also when another name would come between them.
    entries.sort_by_key(|(name, _)| name.split_once('{').map_or((name.as_str(), ""), |split| split));
    let rows: Vec<Row> = entries
        .into_iter()
        .map(|(name, metric)| Row {
            passed: passed(name, thresholds),
            ..Row::new(name, metric)
        })
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
            let mark = match row.passed {
                None => "  ".to_owned(),
                Some(true) => style.good("✓ "),
                Some(false) => style.bad("✗ "),
            };
            format!(
                "{mark}{} {}\n",
                dotted(&row.name, name_width, style),
                row.render(widths, style)
            )
        })
        .collect()
}

/// Whether all thresholds on the metric hold; `None` when it has none.
fn passed(name: &str, thresholds: &[Threshold]) -> Option<bool> {
    // People may write a part with spaces and quotes, so parts are compared without them.
    let plain = |name: &str| name.replace([' ', '"', '\''], "");
    let of_metric = thresholds
        .iter()
        .filter(|threshold| plain(&threshold.metric) == plain(name));
    of_metric
        .map(|threshold| threshold.passed)
        .reduce(|one, other| one && other)
}

struct Row {
    name: String,
    /// Whether its thresholds hold.
    passed: Option<bool>,
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

impl Row {
    fn new(name: &str, metric: &Metric) -> Self {
        let cells = match metric.values {
            Values::Trend(distribution) => trend(&distribution, metric.contains),
            Values::Counter { count, rate } => counter(count, rate, metric.contains),
            Values::Gauge { value, min, max } => gauge([value, min, max], metric.contains),
            Values::Rate { rate, passes, fails } => rate_cells(rate, passes, fails),
        };
        let cells = cells
            .into_iter()
            .map(|(label, value)| Cell { label, value })
            .collect();
        let name = match name.split_once('{') {
            Some((_, selector)) => format!("  {{ {} }}", selector.trim_end_matches('}')),
            None => name.to_owned(),
        };
        Self {
            name,
            passed: None,
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
fn widths(rows: &[&Row]) -> Vec<usize> {
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

fn trend(distribution: &Distribution, contains: Contains) -> Cells {
    // Plain numbers and bytes are held in thousandths, as milliseconds are in microseconds.
    let figure = |us: f64| match contains {
        // As `f64` to integer saturates, the mean of anything fits.
        Contains::Time => quantity::duration(Duration::from_nanos((us * 1_000.0) as u64)),
        Contains::Data => quantity::bytes(us / 1_000.0),
        Contains::Default => quantity::number(us / 1_000.0),
    };
    vec![
        ("avg=", figure(distribution.mean)),
        ("min=", figure(distribution.min as f64)),
        ("med=", figure(distribution.p50 as f64)),
        ("max=", figure(distribution.max as f64)),
        ("p(90)=", figure(distribution.p90 as f64)),
        ("p(95)=", figure(distribution.p95 as f64)),
    ]
}

fn counter(count: f64, rate: f64, contains: Contains) -> Cells {
    match contains {
        Contains::Data => {
            vec![
                ("", quantity::bytes(count)),
                ("", format!("{}/s", quantity::bytes(rate))),
            ]
        }
        Contains::Default | Contains::Time => {
            vec![("", quantity::number(count)), ("", quantity::per_second(rate))]
        }
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
