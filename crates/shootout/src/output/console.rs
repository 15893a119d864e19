//! Results on one stream, talk on another.

use std::{
    io::{self, Write},
    mem::{Discriminant, discriminant},
    time::{Duration, Instant},
};

use super::{json, text};
use crate::{
    args::Format,
    outcome::{Outcome, Step},
    sink::{Progress, Sink},
};

/// How often the progress line is drawn anew: more often than one can read costs the generator CPU.
const REDRAW: Duration = Duration::from_millis(200);

/// Back to the beginning of the line, and erase it (ECMA-48 EL).
const CLEAR_LINE: &str = "\r\x1b[2K";

/// Writes results as they come and keeps the progress line.
pub(crate) struct Console<'a> {
    results: &'a mut dyn Write,
    talk: &'a mut dyn Write,
    talk_is_terminal: bool,
    format: Format,
    drawn_at: Option<Instant>,
    phase: Option<Discriminant<Progress>>,
    /// The first failure to write a result. The run goes on: its connections must be closed properly.
    failure: Option<io::Error>,
}

impl<'a> Console<'a> {
    pub(crate) fn new(
        results: &'a mut dyn Write,
        talk: &'a mut dyn Write,
        talk_is_terminal: bool,
        format: Format,
    ) -> Self {
        Self {
            results,
            talk,
            talk_is_terminal,
            format,
            drawn_at: None,
            phase: None,
            failure: None,
        }
    }

    /// Writes what is only known at the end.
    ///
    /// # Errors
    /// A result could not be written, now or before.
    pub(crate) fn finish(mut self, outcome: &Outcome) -> io::Result<()> {
        self.clear();
        if self.format == Format::Json {
            self.write_result(&json::document(outcome));
        }
        self.failure.map_or(Ok(()), Err)
    }

    fn write_result(&mut self, text: &str) {
        let written = self
            .results
            .write_all(text.as_bytes())
            .and_then(|()| self.results.flush());
        if let Err(error) = written {
            self.failure.get_or_insert(error);
        }
    }

    /// Talk that cannot be written is lost; nobody can be told.
    fn say(&mut self, text: &str) {
        let _ = self
            .talk
            .write_all(text.as_bytes())
            .and_then(|()| self.talk.flush());
    }

    fn clear(&mut self) {
        if self.drawn_at.take().is_some() {
            self.say(CLEAR_LINE);
        }
    }

    fn draw(&mut self, progress: Progress) {
        let now = Instant::now();
        if self.drawn_at.is_none_or(|drawn_at| now >= drawn_at + REDRAW) {
            self.drawn_at = Some(now);
            self.say(&format!("{CLEAR_LINE}{progress}"));
        }
    }

    /// Without a terminal, one line at the beginning of each phase.
    fn announce(&mut self, progress: Progress) {
        let phase = Some(discriminant(&progress));
        if self.phase != phase {
            self.phase = phase;
            self.say(&format!("{}\n", progress.announcement()));
        }
    }
}

impl Sink for Console<'_> {
    fn progress(&mut self, progress: Progress) {
        if self.talk_is_terminal {
            self.draw(progress);
        } else {
            self.announce(progress);
        }
    }

    fn step(&mut self, step: &Step) {
        self.clear();
        if self.format == Format::Text {
            self.write_result(&text::step(step));
        }
    }

    fn note(&mut self, text: &str) {
        self.clear();
        self.say(&format!("{text}\n"));
    }
}

#[cfg(test)]
mod tests;
