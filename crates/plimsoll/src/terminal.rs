//! How output looks, decided from the process's environment in one place.

use std::io::IsTerminal;

use plimsoll_report::{Environment, Style};

/// The style of text that goes to `output`.
pub(crate) fn style(output: &impl IsTerminal) -> Style {
    let variable = |name| std::env::var(name).ok();
    let (no_color, clicolor_force, term) =
        (variable("NO_COLOR"), variable("CLICOLOR_FORCE"), variable("TERM"));
    Style::decide(&Environment {
        no_color: no_color.as_deref(),
        clicolor_force: clicolor_force.as_deref(),
        term: term.as_deref(),
        is_terminal: output.is_terminal(),
        columns: columns(),
    })
}

/// Whether the environment refuses colours wherever output goes (<https://no-color.org>).
pub(crate) fn is_colour_refused() -> bool {
    std::env::var("NO_COLOR").is_ok_and(|value| !value.is_empty())
}

/// The width of the terminal now; it may change while a command runs.
pub(crate) fn columns() -> Option<u16> {
    terminal_size::terminal_size().map(|(width, _)| width.0)
}

/// Columns and lines of the terminal now; where they are not known, those that every terminal has.
pub(crate) fn size() -> (usize, usize) {
    terminal_size::terminal_size().map_or((80, 24), |(columns, lines)| (columns.0.into(), lines.0.into()))
}
