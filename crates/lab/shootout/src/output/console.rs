//! Results on one stream, talk on another.

use std::{
    io::{self, Write},
    mem::{Discriminant, discriminant},
    sync::Arc,
    time::{Duration, Instant},
};

use plimsoll_load::{metrics::SampleSender, watch::Sampling};
use plimsoll_report::summary::Target;

use super::{json, text};
use crate::{
    execute::Format,
    onlooker::Onlooker,
    outcome::{Outcome, Setting, Step},
    sink::{Progress, Sink},
    talk::Talk,
};

/// The interval between redraws of the progress line. Reason: more redraws than people can follow cost the generator
/// CPU.
const REDRAW: Duration = Duration::from_millis(200);

/// The interval between lines about a wait, for outputs without a terminal. Reason: often enough to show that the run is
/// alive, and rare enough for a log.
const REPEAT: Duration = Duration::from_secs(10);

/// Writes results as they come and keeps the progress line.
pub(crate) struct Console<'a> {
    results: &'a mut dyn Write,
    talk: Talk<'a>,
    format: Format,
    is_quiet: bool,
    drawn_at: Option<Instant>,
    phase: Option<Discriminant<Progress>>,
    announced_at: Option<Instant>,
    /// The first failure to write a result. The run continues, because its connections must be closed properly.
    failure: Option<io::Error>,
    onlooker: Option<&'a dyn Onlooker>,
    samples: Vec<SampleSender>,
    sampling: Option<Arc<Sampling>>,
}

impl<'a> Console<'a> {
    pub(crate) fn new(results: &'a mut dyn Write, talk: Talk<'a>, format: Format, is_quiet: bool) -> Self {
        Self {
            results,
            talk,
            format,
            is_quiet,
            drawn_at: None,
            phase: None,
            announced_at: None,
            failure: None,
            onlooker: None,
            samples: Vec::new(),
            sampling: None,
        }
    }

    /// A console whose run also has other viewers.
    pub(crate) fn with_company(
        self,
        onlooker: Option<&'a dyn Onlooker>,
        samples: Vec<SampleSender>,
        sampling: Option<Arc<Sampling>>,
    ) -> Self {
        Self {
            onlooker,
            samples,
            sampling,
            ..self
        }
    }

    /// Writes the results that are only known at the end.
    ///
    /// # Errors
    /// A result could not be written, now or before.
    pub(crate) fn finish(mut self, outcome: &Outcome) -> io::Result<()> {
        self.clear();
        if self.format == Format::Json {
            self.write_result(&json::document(outcome));
        } else {
            let targets: String = outcome.targets.iter().map(Target::text).collect();
            self.write_result(&(targets + &text::thresholds(&outcome.thresholds)));
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

    /// Makes the next progress line appear at once.
    fn clear(&mut self) {
        self.drawn_at = None;
        self.talk.clear();
    }

    /// Prints one line at the beginning of each phase, for outputs without a terminal, and further lines while the run waits
    /// for a silent target.
    fn announce(&mut self, progress: Progress, now: Instant) {
        let phase = Some(discriminant(&progress));
        let is_due = self.announced_at.is_none_or(|at| now >= at + REPEAT);
        if self.phase != phase {
            self.talk.say(&progress.announcement());
        } else if progress.is_waiting() && is_due {
            self.talk.say(&progress.to_string());
        } else {
            return;
        }
        self.phase = phase;
        self.announced_at = Some(now);
    }
}

impl Sink for Console<'_> {
    fn progress(&mut self, progress: Progress) {
        if self.is_quiet {
            return;
        }
        let now = Instant::now();
        if self.drawn_at.is_some_and(|drawn_at| now < drawn_at + REDRAW) {
            return;
        }
        if self.talk.draw(&progress.to_string()) {
            self.drawn_at = Some(now);
        } else {
            self.announce(progress, now);
        }
    }

    fn step(&mut self, step: &Step, setting: &Setting) {
        self.clear();
        if self.format == Format::Text {
            self.write_result(&text::step(step, setting));
        }
    }

    fn onlooker(&self) -> Option<&dyn Onlooker> {
        self.onlooker
    }

    fn samples(&self) -> Vec<SampleSender> {
        self.samples.clone()
    }

    fn sampling(&self) -> Option<Arc<Sampling>> {
        self.sampling.clone()
    }

    fn note(&mut self, text: &str) {
        self.clear();
        self.talk.say(text);
    }
}

#[cfg(test)]
mod tests;
