//! The basis of every load command: standard error and the log, before anything is read.

use std::{io, sync::Arc};

use plimsoll_report::Style;
use plimsoll_script::Redaction;

use super::log::{Console, Log, LogSettings, Repeats, Started};
use crate::{screen::Screen, terminal};

/// Standard error and the log of this process.
pub(crate) struct Basis {
    screen: Arc<Screen<io::Stderr>>,
    is_drawable: bool,
    console: Console,
    repeats: Repeats,
    redaction: Redaction,
    no_color: bool,
}

impl Basis {
    /// Starts the log. `redaction` may learn more texts that nothing shows.
    ///
    /// # Errors
    /// The log cannot be written.
    pub(crate) fn begin(
        log: LogSettings<'_>,
        redaction: Redaction,
        no_color: bool,
    ) -> Result<Self, io::Error> {
        let (screen, is_drawable) = Screen::stderr();
        let screen = Arc::new(screen);
        let log = Log {
            settings: log,
            has_colour: style(&io::stderr(), no_color).color,
            screen: Arc::clone(&screen),
            redaction: redaction.clone(),
        };
        let Started { console, repeats } = log.start()?;
        Ok(Self {
            console,
            repeats,
            screen,
            is_drawable,
            redaction,
            no_color,
        })
    }

    /// Standard error, which the log and the progress share.
    pub(crate) fn screen(&self) -> &Arc<Screen<io::Stderr>> {
        &self.screen
    }

    /// Whether standard error is a terminal that can be drawn on.
    pub(crate) fn is_drawable(&self) -> bool {
        self.is_drawable
    }

    /// The output of scripts' `console`.
    pub(crate) fn console(&self) -> &Console {
        &self.console
    }

    /// The lines of the log that were counted instead of written.
    pub(crate) fn repeats(&self) -> &Repeats {
        &self.repeats
    }

    /// The texts that nothing shows.
    pub(crate) fn redaction(&self) -> &Redaction {
        &self.redaction
    }

    /// The style of text for `output`.
    pub(crate) fn style(&self, output: &impl io::IsTerminal) -> Style {
        style(output, self.no_color)
    }
}

/// The style of text for `output`.
pub(crate) fn style(output: &impl io::IsTerminal, no_color: bool) -> Style {
    let style = terminal::style(output);
    Style {
        color: style.color && !no_color,
        ..style
    }
}
