//! Colours by their meaning. They are the terminal's own sixteen, so they suit its theme.

use ratatui::style::{Color, Modifier, Style};

/// How text may look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    /// Whether colours, bold and dim text are allowed.
    pub has_colour: bool,
}

impl Look {
    /// What is less important than the figures.
    pub(crate) fn dim(self) -> Style {
        Style::new().add_modifier(Modifier::DIM)
    }

    /// The style for important text.
    pub(crate) fn strong(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    /// The style for good values.
    pub(crate) fn good(self) -> Style {
        Style::new().fg(Color::Green)
    }

    /// What is not.
    pub(crate) fn bad(self) -> Style {
        Style::new().fg(Color::Red)
    }

    /// The style for notable values.
    pub(crate) fn notable(self) -> Style {
        Style::new().fg(Color::Yellow)
    }

    /// The first, second and third curve of a chart.
    pub(crate) fn curve(self, number: usize) -> Style {
        Style::new().fg([Color::Cyan, Color::Yellow, Color::Magenta][number % 3])
    }
}
