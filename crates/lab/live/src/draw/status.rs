//! The first line, the progress of the run, and the last one, the keys.

use std::time::Duration;

use plimsoll_report::quantity;
use ratatui::text::{Line, Span};

use super::{Look, Mood, Scene, line};
use crate::board::Board;

/// Runes of the bar.
const BAR_WIDTH: usize = 24;

pub(super) fn head(board: &Board, look: Look, mood: Mood) -> Line<'static> {
    let name = Span::styled(board.subject.name.clone(), look.strong());
    let (state, style) = state(board, look, mood);
    let state = Span::styled(format!("  {state}  "), style);
    let Some(now) = board.now else {
        return line([name, state]);
    };
    let share = board.planned.end.map(|end| share(now.elapsed, end));
    let mut figures = format!("  {} iterations{}", now.n_complete, board.rate_of_iterations());
    if now.n_interrupted > 0 {
        figures.push_str(&format!(", {} interrupted", now.n_interrupted));
    }
    let time = match board.planned.end {
        Some(end) => format!("{} of {} ", seconds(now.elapsed.min(end)), seconds(end)),
        None => format!("{} ", seconds(now.elapsed)),
    };
    let bar = Span::styled(share.map_or_else(String::new, bar), look.dim());
    line([name, state, Span::raw(time), bar, Span::raw(figures)])
}

fn state(board: &Board, look: Look, mood: Mood) -> (&'static str, ratatui::style::Style) {
    match board.now {
        _ if mood.is_ending => ("ending", look.notable()),
        _ if mood.is_paused => ("paused", look.notable()),
        None => ("creating virtual users", look.dim()),
        Some(now) if board.planned.end.is_some_and(|end| now.elapsed >= end) => {
            ("finishing iterations", look.notable())
        }
        Some(_) => ("running", look.good()),
    }
}

impl Board {
    /// Iterations that end per second, and the planned number that begins.
    fn rate_of_iterations(&self) -> String {
        let Some(rate) = self.figures.per_second("iterations") else {
            return String::new();
        };
        let planned = self
            .now
            .and_then(|now| self.planned.arrivals_per_second(now.elapsed))
            .map(|planned| format!(" of {planned:.1} planned"));
        format!(", {rate:.1}/s{}", planned.unwrap_or_default())
    }
}

fn share(elapsed: Duration, end: Duration) -> f64 {
    if end.is_zero() {
        1.0
    } else {
        (elapsed.as_secs_f64() / end.as_secs_f64()).min(1.0)
    }
}

fn bar(share: f64) -> String {
    let n_full = (share * BAR_WIDTH as f64) as usize;
    format!(
        "{}{}",
        "█".repeat(n_full),
        "░".repeat(BAR_WIDTH.saturating_sub(n_full))
    )
}

/// A time in whole seconds, so that the line does not change within one.
fn seconds(time: Duration) -> String {
    quantity::duration(Duration::from_secs(time.as_secs()))
}

pub(super) fn keys<'a>(board: &Board, look: Look, scene: &'a Scene) -> Line<'a> {
    if let Some(answer) = &scene.answer {
        return Line::styled(answer.as_str(), look.notable());
    }
    let mut spans = Vec::new();
    let mut key = |name: &'static str, what: &'static str| {
        spans.push(Span::styled(name, look.strong()));
        spans.push(Span::styled(what, look.dim()));
    };
    if board.subject.can_pause || scene.mood.is_paused {
        key(
            "p",
            if scene.mood.is_paused {
                " resume   "
            } else {
                " pause   "
            },
        );
    }
    key("q", " end the run and show its summary   ");
    key("?", if scene.help { " back" } else { " help" });
    line(spans)
}
