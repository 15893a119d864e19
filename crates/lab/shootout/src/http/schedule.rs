//! The schedule of requests, which all lanes of all workers share.

use std::{
    sync::{
        OnceLock,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use super::Rate;

/// The plan of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// `None`: the next request starts when one is done (closed model).
    pub rate: Option<Rate>,
    /// The duration of the warm-up.
    pub warm_up: Duration,
    /// The time in which counted requests start; `None` for no limit.
    pub duration: Option<Duration>,
    /// The number of counted requests; `None` for no limit.
    pub n_requests: Option<u64>,
}

/// Hands out permissions to start, from any thread, without locks.
#[derive(Debug)]
pub(crate) struct Schedule {
    extent: Extent,
    started: Instant,
    /// The start of the counted requests.
    pub(crate) counted_from: Instant,
    /// The time after which no request starts; `None` for no limit.
    until: Option<Instant>,
    /// The number of starts during the warm-up, in the open model.
    n_warm_up: u64,
    n_claimed: AtomicU64,
    /// The moment at which a person ended the run.
    stopped: OnceLock<Instant>,
}

/// Permission for one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ticket {
    /// The scheduled start; `None` for at once.
    pub(crate) due: Option<Instant>,
    /// Whether it counts: it is not of the warm-up.
    pub(crate) counts: bool,
}

impl Schedule {
    pub(crate) fn new(extent: Extent, started: Instant) -> Self {
        let counted_from = started + extent.warm_up;
        Self {
            extent,
            started,
            counted_from,
            // A time beyond the clock's range is no limit.
            until: extent
                .duration
                .and_then(|duration| counted_from.checked_add(duration)),
            n_warm_up: extent.rate.map_or(0, |rate| rate.n_before(extent.warm_up)),
            n_claimed: AtomicU64::new(0),
            stopped: OnceLock::new(),
        }
    }

    /// Claims the next request; `None` when all are claimed.
    ///
    /// In the open model the place that claims a request waits until it is due. So a request without a waiting place
    /// when it is due is one that no lane was free for, and it starts late; its time counts from when it was due.
    pub(crate) fn claim(&self, now: Instant) -> Option<Ticket> {
        if self.stopped.get().is_some() || self.until.is_some_and(|until| now >= until) {
            return None;
        }
        let Some(rate) = self.extent.rate else {
            if now < self.counted_from {
                return Some(Ticket {
                    due: None,
                    counts: false,
                });
            }
            let n = self.n_claimed.fetch_add(1, Relaxed);
            return self.is_within(n).then_some(Ticket {
                due: None,
                counts: true,
            });
        };
        let n = self.n_claimed.fetch_add(1, Relaxed);
        let due = self.started.checked_add(rate.offset(n))?;
        let is_due_in_time = self.until.is_none_or(|until| due < until);
        let n_counted = n.checked_sub(self.n_warm_up);
        (is_due_in_time && n_counted.is_none_or(|n| self.is_within(n))).then_some(Ticket {
            due: Some(due),
            counts: n_counted.is_some(),
        })
    }

    /// The number of counted requests that were due before `now` and before the end of the run, in the open model.
    pub(crate) fn n_due(&self, now: Instant) -> Option<u64> {
        let ends = [self.until, self.stopped.get().copied()];
        let end = ends.into_iter().flatten().fold(now, Instant::min);
        let n_all = self
            .extent
            .rate?
            .n_before(end.saturating_duration_since(self.started));
        let n_counted = n_all.saturating_sub(self.n_warm_up);
        Some(n_counted.min(self.extent.n_requests.unwrap_or(u64::MAX)))
    }

    /// The end of the run, if only the time limits the requests. Without this limit, a failing server would be asked
    /// without a pause.
    pub(crate) fn only_end(&self) -> Option<Instant> {
        self.until.filter(|_| self.extent.rate.is_none())
    }

    /// Stops the schedule: no further request is claimed.
    pub(crate) fn stop(&self, now: Instant) {
        // Only the first time has a meaning.
        let _ = self.stopped.set(now);
    }

    fn is_within(&self, n: u64) -> bool {
        self.extent.n_requests.is_none_or(|n_requests| n < n_requests)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    const ENDLESS: Extent = Extent {
        rate: None,
        warm_up: Duration::ZERO,
        duration: None,
        n_requests: None,
    };

    /// The claimed requests at these milliseconds: their scheduled start, and `w` for the warm-up.
    fn claims(extent: Extent, at_ms: &[u64]) -> Vec<String> {
        let started = Instant::now();
        let schedule = Schedule::new(extent, started);
        let claim = |ms: &u64| match schedule.claim(started + MS(*ms)) {
            None => "-".to_owned(),
            Some(Ticket { due, counts }) => {
                let due = due.map_or("now".to_owned(), |due| (due - started).as_millis().to_string());
                format!("{due}{}", if counts { "" } else { "w" })
            }
        };
        at_ms.iter().map(claim).collect()
    }

    #[test]
    fn a_closed_model_counts_from_the_end_of_the_warm_up() {
        let extent = Extent {
            warm_up: MS(10),
            n_requests: Some(2),
            ..ENDLESS
        };
        assert_eq!(
            claims(extent, &[0, 9, 10, 11, 12]),
            ["noww", "noww", "now", "now", "-"]
        );
        let extent = Extent {
            warm_up: MS(10),
            duration: Some(MS(5)),
            ..ENDLESS
        };
        assert_eq!(claims(extent, &[0, 10, 14, 15]), ["noww", "now", "now", "-"]);
    }

    #[test]
    fn an_open_model_keeps_its_times_however_late_it_is_asked() {
        let rate = Some("100".parse().unwrap());
        let extent = Extent {
            rate,
            warm_up: MS(15),
            n_requests: Some(2),
            ..ENDLESS
        };
        assert_eq!(
            claims(extent, &[0, 0, 500, 500, 500]),
            ["0w", "10w", "20", "30", "-"]
        );
        let extent = Extent {
            rate,
            duration: Some(MS(25)),
            ..ENDLESS
        };
        assert_eq!(claims(extent, &[0, 0, 24, 24]), ["0", "10", "20", "-"]);
        assert_eq!(claims(extent, &[0, 25]), ["0", "-"]);
    }

    #[test]
    fn what_was_due_is_known() {
        let started = Instant::now();
        let check = |warm_up, duration, n_requests, now, expected| {
            let rate = Some("100".parse().unwrap());
            let extent = Extent {
                rate,
                warm_up: MS(warm_up),
                duration,
                n_requests,
            };
            assert_eq!(
                Schedule::new(extent, started).n_due(started + MS(now)),
                Some(expected)
            );
        };
        check(0, Some(MS(100)), None, 500, 10);
        check(0, Some(MS(100)), None, 45, 5);
        check(50, Some(MS(100)), None, 500, 10);
        check(0, None, Some(3), 500, 3);
        let extent = Extent {
            rate: Some("100".parse().unwrap()),
            ..ENDLESS
        };
        let schedule = Schedule::new(extent, started);
        schedule.stop(started + MS(45));
        schedule.stop(started + MS(99));
        assert_eq!(schedule.n_due(started + MS(500)), Some(5));
        assert_eq!(Schedule::new(ENDLESS, started).n_due(started), None);
    }

    #[test]
    fn a_closed_model_with_a_time_limit_may_have_to_hold_back() {
        let started = Instant::now();
        let check = |rate: Option<&str>, duration, expected| {
            let extent = Extent {
                rate: rate.map(|rate| rate.parse().unwrap()),
                duration,
                ..ENDLESS
            };
            assert_eq!(Schedule::new(extent, started).only_end(), expected);
        };
        check(None, None, None);
        check(None, Some(MS(5)), Some(started + MS(5)));
        check(Some("9"), Some(MS(5)), None);
    }

    #[test]
    fn nothing_starts_after_a_stop() {
        let now = Instant::now();
        let schedule = Schedule::new(ENDLESS, now);
        assert!(schedule.claim(now).is_some());
        schedule.stop(now);
        assert_eq!(schedule.claim(now), None);
    }
}
