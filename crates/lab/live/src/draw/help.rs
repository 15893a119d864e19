//! The help: keys and figures.

use ratatui::{
    buffer::Buffer,
    layout::Rect,
    text::{Line, Span},
};

use super::{Look, line, lines};
use crate::board::Board;

const KEYS: [(&str, &str); 3] = [
    (
        "q",
        "stop the run, as the first Ctrl-C does: running iterations are interrupted, and the summary follows",
    ),
    ("?", "back to the figures"),
    ("Ctrl-C", "as q; twice: end at once, without a summary"),
];

const FIGURES: [&str; 7] = [
    "last second   percentiles of the samples of the last second only",
    "whole run     percentiles of all samples since the start",
    "users         active users of all existing users; the dim curve is the plan",
    "thresholds    results of the last evaluation, which happens every 2 s",
    "generator     this program, or the agents of --fleet, in the last second: CPU, how late a clock ticked at the most,",
    "              and open files of those that this program may have; what is near its limit shows in yellow, and the",
    "              summary says whether the figures are still the target's",
];

pub(super) fn render(board: &Board, area: Rect, look: Look, buffer: &mut Buffer) -> u16 {
    let pause = if board.subject.can_pause {
        "pause: no new iteration starts, running ones finish; press again to resume"
    } else {
        "pause; only for scenarios with the executor externally-controlled, which this run does not have"
    };
    let key = |(key, what)| {
        line([
            Span::styled(format!("  {key:<8}"), look.strong()),
            Span::raw(what),
        ])
    };
    let keys = [("p", pause)].into_iter().chain(KEYS).map(key);
    let figures = FIGURES.into_iter().map(|text| Line::raw(format!("  {text}")));
    let all = [Line::raw("")]
        .into_iter()
        .chain(keys)
        .chain([Line::raw("")])
        .chain(figures);
    let closing =
        "  The log is printed above this view, and stays there. --no-tui shows plain progress instead.";
    lines(all.chain(["", closing].map(Line::raw)), area, buffer)
}
