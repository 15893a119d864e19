//! A buffer of cells as lines of text with ECMA-48's SGR sequences.

use std::fmt::Write;

use ratatui::{
    buffer::Buffer,
    style::{Color, Modifier, Style},
    text::Span,
};

use super::Look;

/// The first `n_lines`. Each ends with a line break and has no trailing blanks.
pub(super) fn text(buffer: &Buffer, n_lines: u16, look: Look) -> String {
    let area = buffer.area;
    let mut text = String::new();
    for y in area.top()..area.bottom().min(n_lines) {
        let mut row = String::new();
        let mut style = Style::new().fg(Color::Reset).add_modifier(Modifier::empty());
        let mut seen = 0;
        let mut x = area.left();
        while x < area.right() {
            let cell = &buffer[(x, y)];
            let symbol = cell.symbol();
            let wanted = Style::new().fg(cell.fg).add_modifier(cell.modifier);
            if look.has_colour && wanted != style && symbol != " " {
                sgr(&mut row, wanted);
                style = wanted;
            }
            row.push_str(symbol);
            if symbol != " " {
                seen = row.len();
            }
            // A wide character covers the cells after it.
            let width = u16::try_from(Span::raw(symbol).width()).unwrap_or(1);
            x = x.saturating_add(width.max(1));
        }
        row.truncate(seen);
        if row.contains('\x1b') {
            row.push_str("\x1b[0m");
        }
        text.push_str(&row);
        text.push('\n');
    }
    text
}

fn sgr(row: &mut String, style: Style) {
    row.push_str("\x1b[0");
    if style.add_modifier.contains(Modifier::BOLD) {
        row.push_str(";1");
    }
    if style.add_modifier.contains(Modifier::DIM) {
        row.push_str(";2");
    }
    if let Some(code) = style.fg.and_then(code) {
        // Writing to a string cannot fail.
        let _ = write!(row, ";{code}");
    }
    row.push('m');
}

/// The colours that a [`Look`] has.
fn code(colour: Color) -> Option<u8> {
    Some(match colour {
        Color::Red => 31,
        Color::Green => 32,
        Color::Yellow => 33,
        Color::Magenta => 35,
        Color::Cyan => 36,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use ratatui::{layout::Rect, style::Stylize, text::Line, widgets::Widget};

    use super::*;

    fn check(line: Line<'_>, has_colour: bool, expected: &str) {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 12, 1));
        line.render(buffer.area, &mut buffer);
        let text = text(&buffer, 1, Look { has_colour });
        assert_eq!(text.replace('\x1b', "ESC"), expected);
    }

    #[test]
    fn styles_change_where_something_is_seen() {
        let line = || Line::from(vec!["a ".bold(), "b".cyan().dim(), " c".into()]);
        check(line(), true, "ESC[0;1ma ESC[0;2;36mb ESC[0mcESC[0m\n");
        check(line(), false, "a b c\n");
        check(Line::raw("plain"), true, "plain\n");
        check(Line::raw(""), true, "\n");
    }

    #[test]
    fn a_wide_character_takes_two_cells() {
        check(Line::raw("日本x"), false, "日本x\n");
    }

    #[test]
    fn nobody_else_controls_the_terminal() {
        check(Line::raw("a\x1b[2J\r\nb"), false, "a[2J b\n");
    }
}
