//! The schedule of requests, which all lanes of all workers share.

use std::{
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use plimsoll_load::segment::Stripe;
use serde::{Deserialize, Serialize};

use super::Rate;

/// The plan of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
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
    part: Part,
    /// The start of the run, which may be ahead.
    pub(crate) started: Instant,
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

/// Which requests of the plan are made here.
#[derive(Debug, Clone)]
pub(crate) enum Part {
    /// All.
    Whole,
    /// Those of this process, which makes the run together with others.
    Stripe(Arc<Stripe>),
    /// None.
    Nothing,
}

impl Part {
    /// The position in the plan of the own request number `n`, from 0.
    fn index(&self, n: u64) -> Option<u64> {
        match self {
            Self::Whole => Some(n),
            Self::Stripe(stripe) => Some(stripe.index(n)),
            Self::Nothing => None,
        }
    }

    /// How many of the first `n` requests of the plan are own ones.
    fn scale(&self, n: u64) -> u64 {
        match self {
            Self::Whole => n,
            Self::Stripe(stripe) => stripe.scale(n),
            Self::Nothing => 0,
        }
    }
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
    /// The part of a plan that begins at `started`.
    pub(crate) fn new(extent: Extent, part: Part, started: Instant) -> Self {
        let counted_from = started + extent.warm_up;
        Self {
            extent,
            part,
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
            let n = self.next()?;
            return self.is_within(n).then_some(Ticket {
                due: None,
                counts: true,
            });
        };
        let n = self.next()?;
        let due = self.started.checked_add(rate.offset(n))?;
        let is_due_in_time = self.until.is_none_or(|until| due < until);
        let n_counted = n.checked_sub(self.n_warm_up);
        (is_due_in_time && n_counted.is_none_or(|n| self.is_within(n))).then_some(Ticket {
            due: Some(due),
            counts: n_counted.is_some(),
        })
    }

    /// Claims the position in the plan of the next request.
    fn next(&self) -> Option<u64> {
        self.part.index(self.n_claimed.fetch_add(1, Relaxed))
    }

    /// The number of counted requests of this part that were due before `now` and before the end of the run, in the open model.
    pub(crate) fn n_due(&self, now: Instant) -> Option<u64> {
        let ends = [self.until, self.stopped.get().copied()];
        let end = ends.into_iter().flatten().fold(now, Instant::min);
        let n_all = self
            .extent
            .rate?
            .n_before(end.saturating_duration_since(self.started));
        let n_planned = self
            .extent
            .n_requests
            .map_or(u64::MAX, |n| self.n_warm_up.saturating_add(n));
        let n_own = self.part.scale(n_all.min(n_planned));
        Some(n_own.saturating_sub(self.part.scale(self.n_warm_up)))
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
    use plimsoll_load::segment::Split;

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
        let schedule = Schedule::new(extent, Part::Whole, started);
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
                Schedule::new(extent, Part::Whole, started).n_due(started + MS(now)),
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
        let schedule = Schedule::new(extent, Part::Whole, started);
        schedule.stop(started + MS(45));
        schedule.stop(started + MS(99));
        assert_eq!(schedule.n_due(started + MS(500)), Some(5));
        assert_eq!(Schedule::new(ENDLESS, Part::Whole, started).n_due(started), None);
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
            assert_eq!(Schedule::new(extent, Part::Whole, started).only_end(), expected);
        };
        check(None, None, None);
        check(None, Some(MS(5)), Some(started + MS(5)));
        check(Some("9"), Some(MS(5)), None);
    }

    #[test]
    fn nothing_starts_after_a_stop() {
        let now = Instant::now();
        let schedule = Schedule::new(ENDLESS, Part::Whole, now);
        assert!(schedule.claim(now).is_some());
        schedule.stop(now);
        assert_eq!(schedule.claim(now), None);
    }

    #[test]
    fn parts_together_make_the_requests_of_the_whole() {
        let started = Instant::now();
        let all_of = |extent: Extent, part: Part| {
            let schedule = Schedule::new(extent, part, started);
            let claims = std::iter::from_fn(|| schedule.claim(started + extent.warm_up));
            let starts: Vec<_> = claims
                .map(|ticket| (ticket.due.map(|due| due - started), ticket.counts))
                .collect();
            (starts, schedule.n_due(started + Duration::from_secs(100)))
        };
        for (rate, warm_up, duration, n_requests) in [
            (None, 0, None, Some(100)),
            (None, 10, None, Some(7)),
            (Some("1000"), 0, Some(MS(50)), None),
            (Some("1000"), 13, Some(MS(50)), None),
            (Some("300"), 13, None, Some(29)),
        ] {
            let extent = Extent {
                rate: rate.map(|rate| rate.parse().unwrap()),
                warm_up: MS(warm_up),
                duration,
                n_requests,
            };
            let (whole, n_due) = all_of(extent, Part::Whole);
            for shares in [vec![1], vec![1, 1, 1], vec![2, 2, 1], vec![1, 0, 1, 0]] {
                let parts = (0..shares.len()).map(|own| {
                    let split = Split::by_shares(shares.clone(), own);
                    all_of(
                        extent,
                        split.map_or(Part::Nothing, |it| Part::Stripe(it.stripe().clone())),
                    )
                });
                let parts: Vec<_> = parts.collect();
                let mut together: Vec<_> = parts.iter().flat_map(|(starts, _)| starts.clone()).collect();
                together.sort();
                assert_eq!(together, whole, "{extent:?} {shares:?}");
                let sum = parts.iter().try_fold(0, |sum, (_, n_due)| Some(sum + (*n_due)?));
                assert_eq!(sum, n_due, "{extent:?} {shares:?}");
                // In turn, so none is far ahead.
                if let ([_, _, _], Some(n_due)) = (shares.as_slice(), n_due) {
                    let n_own = parts[0].1.unwrap();
                    let share = shares[0] as f64 / shares.iter().sum::<u64>() as f64;
                    assert!(
                        (n_own as f64 - n_due as f64 * share).abs() <= 1.0,
                        "{n_own} of {n_due}"
                    );
                }
            }
        }
    }
}
