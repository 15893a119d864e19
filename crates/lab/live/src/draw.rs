//! Draws the board as text of a given size: charts, tables, and keys.

use ratatui::{
    buffer::Buffer,
    layout::{Constraint, Layout, Rect},
    text::{Line, Span},
    widgets::{Paragraph, Widget},
};

use crate::board::Board;

mod agents;
mod ansi;
mod charts;
mod compact;
mod help;
mod look;
mod side;
mod status;
mod tables;

pub use self::look::Look;

/// Columns from which on all is shown. Reason: the narrowest in which the table of latencies has its seven figures.
pub(crate) const FULL_COLUMNS: u16 = 96;

/// The number of lines from which on everything is shown. Charts below seven lines show nothing.
const FULL_LINES: u16 = 18;

/// The least number of lines of a chart, including its title and its axis.
const LEAST_CHART_LINES: u16 = 7;

/// The most lines of a chart. Curves do not show more when they are higher.
const MAX_CHART_LINES: u16 = 16;

/// The most columns. Beyond it eyes lose the line of a table.
const MAX_COLUMNS: u16 = 180;

/// The most lines. The rest is for the log.
const MAX_LINES: u16 = 34;

/// Lines of the terminal that are left to the log, but at most a third of them.
const LOG_LINES: u16 = 4;

/// Data that is shown besides the board.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Scene {
    /// The meaning of keys and figures, in place of the figures.
    pub(crate) help: bool,
    /// The answer to the last key.
    pub(crate) answer: Option<String>,
    pub(crate) mood: Mood,
}

/// Orders that were given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mood {
    /// No iteration begins.
    pub is_paused: bool,
    /// Whether the run was told to end.
    pub is_ending: bool,
}

/// Lines of text, each ended, for a terminal of `columns` × `lines`, of which some are left to the log.
pub(crate) fn draw(board: &Board, (columns, lines): (u16, u16), look: Look, scene: &Scene) -> String {
    let area = Rect::new(
        0,
        0,
        columns.min(MAX_COLUMNS),
        (lines - LOG_LINES.min(lines / 3)).clamp(1, MAX_LINES),
    );
    let mut buffer = Buffer::empty(area);
    let n_lines = render(board, area, look, scene, &mut buffer);
    ansi::text(&buffer, n_lines, look)
}

/// Gives the number of lines that it needed.
fn render(board: &Board, area: Rect, look: Look, scene: &Scene, buffer: &mut Buffer) -> u16 {
    let [head, body, _keys] =
        Layout::vertical([Constraint::Length(1), Constraint::Fill(1), Constraint::Length(1)]).areas(area);
    status::head(board, look, scene.mood).render(head, buffer);
    let n_body = if scene.help {
        help::render(board, body, look, buffer)
    } else if area.width < FULL_COLUMNS || area.height < FULL_LINES {
        compact::render(board, body, look, buffer)
    } else {
        full(board, body, look, buffer)
    };
    let keys = Rect {
        y: head.height + n_body,
        height: 1,
        ..area
    };
    status::keys(board, look, scene).render(keys.intersection(area), buffer);
    keys.bottom()
}

fn full(board: &Board, area: Rect, look: Look, buffer: &mut Buffer) -> u16 {
    let spare = area.height - LEAST_CHART_LINES;
    let n_latencies = tables::n_distributions(board).clamp(1, (spare / 3).max(3)) + 1;
    let n_lower = (tables::n_counts(board) + 1)
        .max(side::n_lines(board))
        .clamp(5, spare - n_latencies);
    let n_chart = (area.height - n_latencies - n_lower).min(MAX_CHART_LINES);
    let [charts, latencies, lower, _rest] = Layout::vertical([
        Constraint::Length(n_chart),
        Constraint::Length(n_latencies),
        Constraint::Length(n_lower),
        Constraint::Fill(1),
    ])
    .areas(area);
    let [users, latency] = Layout::horizontal([Constraint::Percentage(40), Constraint::Percentage(60)])
        .spacing(2)
        .areas(charts);
    charts::users(board, users, look, buffer);
    charts::latency(board, latency, look, buffer);
    tables::distributions(board, latencies, look, buffer);
    let [counts, side] = Layout::horizontal([Constraint::Percentage(54), Constraint::Percentage(46)])
        .spacing(2)
        .areas(lower);
    tables::counts(board, counts, look, buffer);
    side::render(board, side, look, buffer);
    n_chart + n_latencies + n_lower
}

/// Draws lines, each cut if it is too long. Returns their number.
fn lines<'a>(lines: impl IntoIterator<Item = Line<'a>>, area: Rect, buffer: &mut Buffer) -> u16 {
    let lines: Vec<_> = lines.into_iter().take(area.height.into()).collect();
    let n_lines = u16::try_from(lines.len()).unwrap_or(area.height);
    Paragraph::new(lines).render(area, buffer);
    n_lines
}

/// Joins spans.
fn line<'a>(spans: impl IntoIterator<Item = Span<'a>>) -> Line<'a> {
    Line::from(spans.into_iter().collect::<Vec<_>>())
}

#[cfg(test)]
mod tests;
