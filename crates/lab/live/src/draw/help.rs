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
        "end the run in good order, as the first Ctrl-C does: what runs is interrupted, and the summary follows",
    ),
    ("?", "back to the figures"),
    ("Ctrl-C", "as q; twice: end at once, without a summary"),
];

const FIGURES: [&str; 7] = [
    "last second   percentiles of the samples of that second alone",
    "whole run     percentiles of all samples since the start",
    "users         active now, of those that exist; the dim curve is what the plan says",
    "thresholds    as they stood when they were last evaluated, every 2 s",
    "generator     this program in the last second: CPU, how late its clock ticked at the most, and open files of those",
    "              that it may have; what is near its limit shows in yellow, and the summary says whether the figures",
    "              are still the target's",
];

pub(super) fn render(board: &Board, area: Rect, look: Look, buffer: &mut Buffer) -> u16 {
    let pause = if board.subject.can_pause {
        "pause: no iteration begins, running ones end; again: go on"
    } else {
        "pause; only for scenarios with the executor externally-controlled, which this run has not"
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
    let closing = "  The log is printed above this view, and stays. --no-tui shows a plain progress instead.";
    lines(all.chain(["", closing].map(Line::raw)), area, buffer)
}
