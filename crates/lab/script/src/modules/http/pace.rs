//! The start times of requests (k6's `rps`).

use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

/// Spaces the starts of requests to a limit per second; all workers share it.
#[derive(Debug)]
pub(crate) struct Pace {
    period: Duration,
    next: Mutex<Option<Instant>>,
}

impl Pace {
    /// So many per second; `None` for no limit.
    pub(super) fn new(per_second: f64) -> Option<Self> {
        let period = Duration::try_from_secs_f64(1.0 / per_second).ok()?;
        (per_second > 0.0).then(|| Self {
            period,
            next: Mutex::default(),
        })
    }

    /// The start time of the request that asks now.
    pub(super) fn reserve(&self, now: Instant) -> Instant {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        let start = next.map_or(now, |next| next.max(now));
        *next = Some(start + self.period);
        start
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_keep_their_distance() {
        let (pace, now) = (Pace::new(4.0).unwrap(), Instant::now());
        let mut starts: Vec<_> = (0..3).map(|_| pace.reserve(now) - now).collect();
        // What was not used is not made up for.
        let later = now + Duration::from_secs(2);
        starts.extend((0..2).map(|_| pace.reserve(later) - now));
        assert_eq!(starts, [0, 250, 500, 2_000, 2_250].map(Duration::from_millis));
        assert!(Pace::new(0.0).is_none());
    }
}
