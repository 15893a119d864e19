//! Figures in tables: the last second, a small curve, and the whole run.

use std::time::Duration;

use plimsoll_load::metrics::Contains;
use plimsoll_report::quantity;
use ratatui::{
    buffer::Buffer,
    layout::{Constraint, Rect},
    text::Line,
    widgets::{Row, Table, Widget},
};

use super::Look;
use crate::board::{Board, Figure, Quantiles, Value};

/// Columns of a percentile: `103.45ms` and a blank.
const FIGURE_WIDTH: u16 = 9;

/// The least and the most columns of small curves; each column is a second.
const CURVE_WIDTHS: [u16; 2] = [12, 62];

/// Columns of a name, if there are enough.
const NAME_WIDTH: u16 = 24;

/// Distributions with samples.
pub(super) fn n_distributions(board: &Board) -> u16 {
    u16::try_from(distributions_of(board).count()).unwrap_or(u16::MAX)
}

/// Durations first.
fn distributions_of(board: &Board) -> impl Iterator<Item = (&Figure, Option<Quantiles>, Quantiles)> {
    let (times, others): (Vec<_>, Vec<_>) = board
        .figures
        .all()
        .iter()
        .partition(|figure| figure.contains == Contains::Time);
    let figures = times.into_iter().chain(others);
    figures.filter_map(|figure| match figure.value {
        Value::Distribution { recent, total } => Some((figure, recent, total)),
        _ => None,
    })
}

/// The number of figures with samples that are not distributions.
pub(super) fn n_counts(board: &Board) -> u16 {
    let n_counts = board.figures.all().len() - distributions_of(board).count();
    u16::try_from(n_counts).unwrap_or(u16::MAX)
}

pub(super) fn distributions(board: &Board, area: Rect, look: Look, buffer: &mut Buffer) {
    let curve_width = curve_width(area.width, 7 * FIGURE_WIDTH);
    let header = [
        "",
        "p50",
        "p95",
        "p99",
        " last second",
        "p50",
        "p95",
        "p99",
        "max",
    ];
    let rows = distributions_of(board).map(|(figure, recent, total)| {
        let cell = |duration| right(text(figure.contains, duration));
        let now = |of: fn(Quantiles) -> Duration| match recent {
            Some(recent) => cell(of(recent)),
            None => right("–".to_owned()),
        };
        Row::new([
            Line::raw(figure.name.clone()),
            now(|q| q.p50),
            now(|q| q.p95),
            now(|q| q.p99),
            Line::styled(curve(board, &figure.name, curve_width), look.curve(1)),
            cell(total.p50),
            cell(total.p95),
            cell(total.p99),
            cell(total.max),
        ])
    });
    let widths = [
        Constraint::Fill(1),
        Constraint::Length(FIGURE_WIDTH),
        Constraint::Length(FIGURE_WIDTH),
        Constraint::Length(FIGURE_WIDTH),
        Constraint::Length(curve_width),
        Constraint::Length(FIGURE_WIDTH),
        Constraint::Length(FIGURE_WIDTH),
        Constraint::Length(FIGURE_WIDTH),
        Constraint::Length(FIGURE_WIDTH),
    ];
    let header = header.map(|title| {
        if title.starts_with(' ') {
            Line::raw(title)
        } else {
            Line::raw(title).right_aligned()
        }
    });
    Table::new(rows, widths)
        .column_spacing(0)
        .header(Row::new(header).style(look.dim()))
        .render(area, buffer);
}

pub(super) fn counts(board: &Board, area: Rect, look: Look, buffer: &mut Buffer) {
    let curve_width = curve_width(area.width, 2 * FIGURE_WIDTH + 5);
    let figures = board.figures.all().iter().rev();
    // Figures of the run itself come first here.
    let (of_run, others): (Vec<_>, Vec<_>) = figures
        .filter(|figure| !matches!(figure.value, Value::Distribution { .. }))
        .partition(|figure| figure.name == "iterations");
    let rows = of_run.into_iter().chain(others.into_iter().rev()).map(|figure| {
        let [now, total] = cells(figure);
        Row::new([
            Line::raw(figure.name.clone()),
            right(now),
            Line::styled(curve(board, &figure.name, curve_width), look.curve(0)),
            right(total),
        ])
    });
    let widths = [
        Constraint::Fill(1),
        Constraint::Length(FIGURE_WIDTH + 2),
        Constraint::Length(curve_width),
        Constraint::Length(FIGURE_WIDTH + 3),
    ];
    let header = [
        Line::raw(""),
        Line::raw("now").right_aligned(),
        Line::raw(""),
        Line::raw("whole run").right_aligned(),
    ];
    Table::new(rows, widths)
        .column_spacing(0)
        .header(Row::new(header).style(look.dim()))
        .render(area, buffer);
}

/// The figure of the last second, and of the whole run.
pub(super) fn cells(figure: &Figure) -> [String; 2] {
    match (figure.value, figure.contains) {
        (Value::Distribution { recent, total }, contains) => {
            let p95 = |quantiles: Quantiles| text(contains, quantiles.p95);
            [recent.map_or_else(|| "–".to_owned(), p95), p95(total)]
        }
        (Value::Flow { per_second, total }, Contains::Data) => [
            format!("{}/s", quantity::bytes(per_second)),
            quantity::bytes(total),
        ],
        (Value::Flow { per_second, total }, _) => [format!("{per_second:.1}/s"), quantity::number(total)],
        (Value::Share { recent, total }, _) => [
            recent.map_or_else(|| "–".to_owned(), quantity::percent),
            quantity::percent(total.share()),
        ],
        (Value::Level(value), _) => [quantity::number(value), String::new()],
    }
}

fn text(contains: Contains, duration: Duration) -> String {
    match contains {
        Contains::Time => quantity::duration(duration),
        // Plain numbers and bytes are held in thousandths, as milliseconds are in microseconds.
        Contains::Default => quantity::number(duration.as_secs_f64() * 1e3),
        Contains::Data => quantity::bytes(duration.as_secs_f64() * 1e3),
    }
}

fn right(text: String) -> Line<'static> {
    Line::raw(text).right_aligned()
}

/// What names and figures leave of `width`.
fn curve_width(width: u16, figures: u16) -> u16 {
    let [least, most] = CURVE_WIDTHS;
    width.saturating_sub(figures + NAME_WIDTH).clamp(least, most)
}

/// The last seconds as bars from zero to the highest value, with a blank on both sides.
fn curve(board: &Board, name: &str, width: u16) -> String {
    const BARS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let Some(window) = board.figures.curve(name) else {
        return String::new();
    };
    let n = usize::from(width.saturating_sub(2));
    let mut latest: Vec<f64> = window.iter().rev().take(n).map(|(_, value)| *value).collect();
    latest.reverse();
    let highest = latest.iter().copied().fold(0.0, f64::max);
    let bars = latest.into_iter().map(|value| {
        if highest > 0.0 {
            BARS[((value / highest * 8.0).ceil().max(0.0) as usize).min(8)]
        } else {
            ' '
        }
    });
    format!(" {}", bars.collect::<String>())
}
