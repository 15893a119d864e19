//! A few figures, for terminals without room for charts.

use ratatui::{buffer::Buffer, layout::Rect, text::Line};

use super::{Look, lines, side, tables};
use crate::board::Board;

pub(super) fn render(board: &Board, area: Rect, look: Look, buffer: &mut Buffer) -> u16 {
    let users = board
        .now
        .map(|now| format!("{} of {} users active", now.active_vus, now.max_vus));
    let figures = board.figures.all().iter().map(|figure| {
        let [now, total] = tables::cells(figure);
        let unit = match figure.value {
            crate::board::Value::Distribution { .. } => " p(95)",
            _ => "",
        };
        Line::raw(format!("{}{unit}  {now}  ({total})", figure.name))
    });
    let errors = board.errors.iter().map(|failures| {
        let text = format!("✗ {} × {}", failures.span.n, failures.cause);
        Line::styled(text, look.bad())
    });
    let all = users
        .map(Line::raw)
        .into_iter()
        .chain(errors.take(usize::from(area.height / 4)))
        .chain(figures)
        .chain(side::generator(&board.generator, look))
        .chain(side::agents(board, usize::from(area.height / 4), look))
        .chain(side::targets(board, look));
    lines(all, area, buffer)
}
