//! The output during and after a test, in one of Artillery's layouts.

use std::{
    borrow::Cow,
    io, mem,
    sync::Arc,
    time::{Duration, SystemTime},
};

use plimsoll_load::{metrics::MetricSet, run::Progress, run::RunResult};
use plimsoll_report::artillery::{Figures, Periods, Version1, Version2};
use plimsoll_scenario::artillery::Test;

use super::{
    gateways::Gateways,
    names::ALL_NAMES,
    options::{Options, SummaryMode},
};
use crate::{
    screen::Screen,
    session::{self, Format},
};

/// Prints reports of one run.
pub(super) struct Reports<'a> {
    mode: SummaryMode,
    /// Whether nothing is printed.
    is_silent: bool,
    test: &'a Test,
    /// The periods, from the first observation of the run.
    periods: Option<Periods>,
    n_phases_told: usize,
    /// The report of the last period, until the result is printed: a run in which nothing succeeded goes without it.
    last: Option<String>,
    /// The screen. A view may be drawn on it, so reports are written through it.
    screen: Arc<Screen<io::Stderr>>,
    gateways: Gateways,
}

impl<'a> Reports<'a> {
    pub(super) fn new(
        options: &Options,
        has_view: bool,
        test: &'a Test,
        screen: Arc<Screen<io::Stderr>>,
        gateways: Gateways,
    ) -> Self {
        Self {
            gateways,
            mode: options.results.summary_mode.unwrap_or_default(),
            is_silent: has_view || options.session.quiet || options.session.format == Format::Json,
            test,
            periods: None,
            n_phases_told: 0,
            last: None,
            screen,
        }
    }

    /// Looks at the run, about once a second.
    pub(super) fn observe(&mut self, progress: &Progress<'_>) {
        let started_at = SystemTime::now() - progress.elapsed;
        self.begin(started_at, progress.metrics);
        self.tell_phases(started_at, progress.elapsed);
        let (mode, elapsed) = (self.mode, progress.elapsed);
        let period = self
            .periods
            .as_mut()
            .and_then(|periods| periods.advance(elapsed, progress.metrics));
        if let Some(figures) = period {
            self.gateways.push(figures);
        }
        let text = period.map(|figures| period_text(mode, &shown(self.test, figures), elapsed));
        self.say(text.as_deref());
    }

    /// Takes in the last period. Returns the figures of the whole run.
    pub(super) fn finish(&mut self, result: &RunResult) -> Figures {
        self.begin(result.started_at, &result.metrics);
        self.tell_phases(result.started_at, result.duration);
        let mode = self.mode;
        let Some(periods) = &mut self.periods else {
            return Figures::new(result.started_at, result.duration, &result.metrics, &ALL_NAMES);
        };
        let (last, all) = periods.finish(result.duration, &result.metrics);
        if let Some(figures) = last {
            self.gateways.push(figures);
        }
        self.last = last.map(|figures| period_text(mode, &shown(self.test, figures), result.duration));
        all
    }

    /// The Pushgateways, for their end.
    pub(super) fn take_gateways(&mut self) -> Gateways {
        mem::take(&mut self.gateways)
    }

    /// All periods.
    pub(super) fn periods(&self) -> &[Figures] {
        self.periods.as_ref().map_or(&[], Periods::figures)
    }

    /// The last period, and the summary of the whole run.
    pub(super) fn print_summary(&self, figures: &Figures) {
        self.say(self.last.as_deref());
        let figures = &*shown(self.test, figures);
        let text = match self.mode {
            SummaryMode::ArtilleryV2 => {
                let secs = figures.width.as_secs_f64();
                format!(
                    "All VUs finished. Total time: {secs:.1} seconds\n\n{}",
                    Version2.summary(figures)
                )
            }
            SummaryMode::ArtilleryV1 => format!("All virtual users finished\n{}", Version1.summary(figures)),
        };
        self.say(Some(&text));
    }

    fn begin(&mut self, started_at: SystemTime, metrics: &MetricSet) {
        self.periods
            .get_or_insert_with(|| Periods::new(ALL_NAMES, started_at, metrics));
    }

    /// Tells of the phases that have begun.
    fn tell_phases(&mut self, started_at: SystemTime, elapsed: Duration) {
        let mut start = Duration::ZERO;
        for (position, phase) in self.test.phases().iter().enumerate() {
            if start <= elapsed && position >= self.n_phases_told {
                self.n_phases_told = position + 1;
                let (secs, at) = (phase.duration.as_secs_f64(), started_at + start);
                let text = match self.mode {
                    SummaryMode::ArtilleryV2 => Version2.phase(phase.name.as_deref(), position, secs, at),
                    SummaryMode::ArtilleryV1 => Version1.phase(position, secs, at),
                };
                self.say(Some(&text));
            }
            start = start.saturating_add(phase.duration);
        }
    }

    fn say(&self, text: Option<&str>) {
        if let Some(text) = text.filter(|_| !self.is_silent) {
            // Who closes standard output wants no reports; the run goes on.
            let _nobody_reads = self.screen.beside(|| session::print(text));
        }
    }
}

fn period_text(mode: SummaryMode, figures: &Figures, elapsed: Duration) -> String {
    match mode {
        SummaryMode::ArtilleryV2 => Version2.period(figures),
        SummaryMode::ArtilleryV1 => Version1.period(figures, elapsed),
    }
}

/// What people see of figures.
fn shown<'a>(test: &Test, figures: &'a Figures) -> Cow<'a, Figures> {
    if test.hides_endpoints() {
        Cow::Owned(figures.without_endpoints())
    } else {
        Cow::Borrowed(figures)
    }
}
