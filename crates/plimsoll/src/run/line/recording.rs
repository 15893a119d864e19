//! Cuts the steady part out of a step: the difference between the end of the warm-up and the end of the load.

use std::{collections::BTreeMap, time::Duration};

use plimsoll_line::step::{Failure, TargetUse};
use plimsoll_load::{
    generator::{Evidence, Schedule},
    metrics::MetricSet,
    run::{Failures, Progress, RunResult},
};

use super::{options::Timing, watched::Watched};

/// The observations of a step, once per second.
#[derive(Debug)]
pub(super) struct Recording<'a> {
    timing: Timing,
    watched: &'a mut Watched,
    /// The state at the end of the warm-up; `None` until then.
    begin: Option<Mark>,
    /// The state at the end of the load; `None` when the run ended in the same moment.
    end: Option<Mark>,
}

/// The state of a run at one moment.
#[derive(Debug)]
struct Mark {
    /// The time since the start until which everything is known: full seconds, at which workers report.
    at: Duration,
    metrics: MetricSet,
    failures: BTreeMap<String, u64>,
    schedule: Schedule,
}

/// The steady part.
#[derive(Debug)]
pub(super) struct Steady {
    /// The metrics of all iterations that began in the step.
    pub(super) all: MetricSet,
    /// The metrics of iterations that ended in the steady part.
    pub(super) within: MetricSet,
    pub(super) elapsed: Duration,
    pub(super) generator: Evidence,
    pub(super) schedule: Schedule,
    /// Most frequent first, of all that was begun.
    pub(super) failures: Vec<Failure>,
    /// The number of failures in the steady part.
    pub(super) n_failed_within: u64,
    pub(super) targets: Vec<TargetUse>,
}

impl<'a> Recording<'a> {
    /// The recording of a run that has not begun.
    pub(super) fn new(timing: Timing, watched: &'a mut Watched) -> Self {
        watched.begin();
        Self {
            timing,
            watched,
            begin: None,
            end: None,
        }
    }

    /// The samples since the warm-up; `None` before its end.
    pub(super) fn so_far(&self, progress: &Progress<'_>) -> Option<MetricSet> {
        Some(progress.metrics.since(&self.begin.as_ref()?.metrics))
    }

    /// Observes the run. Callers call this about once per second.
    pub(super) fn observe(&mut self, progress: &Progress<'_>) {
        let counted = self.timing.counted();
        // What agents did comes a moment later than what this process did.
        let until = progress.recent.end;
        let mark = || Mark {
            at: until,
            metrics: progress.metrics.clone(),
            failures: by_reason(progress.failures),
            schedule: progress.schedule,
        };
        if self.begin.is_none() && !counted.start.is_zero() && until >= counted.start {
            self.watched.begin();
            self.begin = Some(mark());
        }
        if self.end.is_none() && until >= counted.end {
            self.watched.end();
            self.end = Some(mark());
        }
    }

    /// The result of the step.
    pub(super) fn finish(self, result: RunResult) -> Steady {
        let generator = result.generator;
        if self.end.is_none() {
            self.watched.end();
        }
        let begin = self.begin.unwrap_or_else(|| Mark {
            at: Duration::ZERO,
            metrics: result.metrics.empty(),
            failures: BTreeMap::new(),
            schedule: Schedule::default(),
        });
        let all = result.metrics.since(&begin.metrics);
        let failures = by_reason(&result.failures);
        let (end, within) = match self.end {
            Some(end) => {
                let within = end.metrics.since(&begin.metrics);
                (end, within)
            }
            None => {
                let end = Mark {
                    at: result.duration,
                    metrics: result.metrics,
                    failures: failures.clone(),
                    schedule: result.schedule,
                };
                (end, all.clone())
            }
        };
        let schedule = end.schedule;
        Steady {
            within,
            all,
            elapsed: end.at.saturating_sub(begin.at),
            generator,
            n_failed_within: grown(&end.failures, &begin.failures)
                .iter()
                .map(|it| it.count)
                .sum(),
            schedule: Schedule {
                n_due: schedule.n_due.saturating_sub(begin.schedule.n_due),
                n_dropped: schedule.n_dropped.saturating_sub(begin.schedule.n_dropped),
            },
            failures: grown(&failures, &begin.failures),
            targets: self.watched.used(),
        }
    }
}

/// Failures by reason. Failures without a kept text share one entry.
fn by_reason(failures: &Failures) -> BTreeMap<String, u64> {
    let mut reasons: BTreeMap<_, _> = failures
        .reasons()
        .map(|(reason, n)| (reason.to_owned(), n))
        .collect();
    if failures.n_other() > 0 {
        reasons.insert("other reasons".to_owned(), failures.n_other());
    }
    reasons
}

/// The difference between two states, most frequent first.
fn grown(now: &BTreeMap<String, u64>, before: &BTreeMap<String, u64>) -> Vec<Failure> {
    let mut grown: Vec<_> = now
        .iter()
        .map(|(reason, n)| Failure {
            reason: reason.clone(),
            count: n - before.get(reason).copied().unwrap_or(0),
        })
        .filter(|failure| failure.count > 0)
        .collect();
    grown.sort_by_key(|failure| std::cmp::Reverse(failure.count));
    grown
}
