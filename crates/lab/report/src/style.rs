//! The style of text on this terminal: decided once, then passed to all code that prints.

/// The style of all text of one output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Whether to colour with ANSI escape codes.
    pub color: bool,
    /// Columns of a line. Tables ignore it; sentences are wrapped.
    pub width: usize,
}

/// What the decision depends on, as read from the process.
#[derive(Clone, Copy, Debug, Default)]
pub struct Environment<'a> {
    /// `NO_COLOR` (<https://no-color.org>): switches colours off when it is set and not empty.
    pub no_color: Option<&'a str>,
    /// `CLICOLOR_FORCE` (<https://bixense.com/clicolors>): switches colours on without a terminal, unless `0`.
    pub clicolor_force: Option<&'a str>,
    /// `TERM`: a `dumb` terminal supports no colours.
    pub term: Option<&'a str>,
    /// Whether the output is a terminal.
    pub is_terminal: bool,
    /// Columns of the terminal, if known.
    pub columns: Option<u16>,
}

/// The line width of an output of unknown width. Reason: log viewers and mail show such lines completely.
const DEFAULT_WIDTH: usize = 100;

/// The least width. Less makes sentences unreadable.
const LEAST_WIDTH: usize = 40;

impl Style {
    /// No colours, default width: for files and tests.
    pub const PLAIN: Self = Self {
        color: false,
        width: DEFAULT_WIDTH,
    };

    /// `NO_COLOR` wins over `CLICOLOR_FORCE`, and both over the terminal.
    pub fn decide(environment: &Environment<'_>) -> Self {
        let is_set = |value: Option<&str>| value.is_some_and(|value| !value.is_empty());
        let color = if is_set(environment.no_color) {
            false
        } else if is_set(environment.clicolor_force) && environment.clicolor_force != Some("0") {
            true
        } else {
            environment.is_terminal && environment.term != Some("dumb")
        };
        let columns = environment.columns.filter(|&columns| columns > 0);
        let width = columns.map_or(DEFAULT_WIDTH, |columns| usize::from(columns).max(LEAST_WIDTH));
        Self { color, width }
    }

    /// Less important: names and dots.
    pub(crate) fn faint(self, text: &str) -> String {
        self.paint("2", text)
    }

    /// A headline.
    pub fn strong(self, text: &str) -> String {
        self.paint("1", text)
    }

    /// A figure.
    pub(crate) fn value(self, text: &str) -> String {
        self.paint("36", text)
    }

    /// Something good.
    pub fn good(self, text: &str) -> String {
        self.paint("32", text)
    }

    /// Something bad.
    pub fn bad(self, text: &str) -> String {
        self.paint("31", text)
    }

    fn paint(self, code: &str, text: &str) -> String {
        if self.color {
            format!("\x1b[{code}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colour_follows_the_conventions() {
        for (no_color, clicolor_force, term, is_terminal, expected) in [
            (None, None, Some("xterm"), true, true),
            (None, None, None, true, true),
            (None, None, Some("xterm"), false, false),
            (None, None, Some("dumb"), true, false),
            (Some("1"), None, Some("xterm"), true, false),
            (Some(""), None, Some("xterm"), true, true),
            (None, Some("1"), Some("dumb"), false, true),
            (None, Some("0"), None, false, false),
            (None, Some(""), None, false, false),
            (Some("1"), Some("1"), Some("xterm"), true, false),
        ] {
            let environment = Environment {
                no_color,
                clicolor_force,
                term,
                is_terminal,
                columns: None,
            };
            assert_eq!(Style::decide(&environment).color, expected, "{environment:?}");
        }
    }

    #[test]
    fn width_follows_the_terminal() {
        for (columns, expected) in [(None, 100), (Some(0), 100), (Some(7), 40), (Some(132), 132)] {
            assert_eq!(
                Style::decide(&Environment {
                    columns,
                    ..Environment::default()
                })
                .width,
                expected
            );
        }
    }

    #[test]
    fn plain_text_stays_as_it_is() {
        assert_eq!(Style::PLAIN.bad("✗"), "✗");
        assert_eq!(
            Style {
                color: true,
                ..Style::PLAIN
            }
            .bad("✗"),
            "\x1b[31m✗\x1b[0m"
        );
    }
}
