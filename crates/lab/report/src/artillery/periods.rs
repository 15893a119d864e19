//! A run divided into periods of ten seconds.

use std::time::{Duration, SystemTime};

use plimsoll_load::metrics::MetricSet;

use super::{Figures, Names};

/// Artillery's period.
const PERIOD: Duration = Duration::from_secs(10);

/// The figures of each period, computed from growing totals. Periods count from the start of the run, and not from the
/// full ten seconds of the clock as in Artillery, so that each is complete.
#[derive(Debug)]
pub struct Periods {
    names: Names,
    started_at: SystemTime,
    /// The totals at the end of the period before.
    before: MetricSet,
    /// When that was.
    since: Duration,
    figures: Vec<Figures>,
}

/// The most periods in the JSON report. Reason: a week; an endless run must not fill the memory.
const MOST_PERIODS: usize = 60_480;

impl Periods {
    /// The periods of a run that has just started, with its current metrics.
    pub fn new(names: Names, started_at: SystemTime, metrics: &MetricSet) -> Self {
        Self {
            names,
            started_at,
            before: metrics.empty(),
            since: Duration::ZERO,
            figures: Vec::new(),
        }
    }

    /// The figures of a period that has just ended, if any. `elapsed` counts from the start of the run. Workers report
    /// at full seconds.
    pub fn advance(&mut self, elapsed: Duration, metrics: &MetricSet) -> Option<&Figures> {
        let second = Duration::from_secs(elapsed.as_secs());
        (second >= self.since + PERIOD).then(|| self.cut(second, metrics))
    }

    /// The figures since the last period, and those of the whole run.
    pub fn finish(&mut self, duration: Duration, metrics: &MetricSet) -> (Option<&Figures>, Figures) {
        let all = Figures::new(self.started_at, duration, metrics, &self.names);
        let has_rest = duration > self.since;
        (has_rest.then(|| self.cut(duration, metrics)), all)
    }

    /// All periods so far.
    pub fn figures(&self) -> &[Figures] {
        &self.figures
    }

    fn cut(&mut self, until: Duration, metrics: &MetricSet) -> &Figures {
        let part = metrics.since(&self.before);
        let figures = Figures::new(
            self.started_at + self.since,
            until.saturating_sub(self.since),
            &part,
            &self.names,
        );
        (self.before, self.since) = (metrics.clone(), until);
        if self.figures.len() >= MOST_PERIODS {
            self.figures.remove(0);
        }
        self.figures.push(figures);
        &self.figures[self.figures.len() - 1]
    }
}
