//! How many broadcasts were in flight at the same time: sent, and not at all their listeners. Pure.
//!
//! In a closed loop the acknowledgement decides when the next broadcast is sent. A server that acknowledges early gets more
//! load than `--concurrent` says, so two servers are comparable only if these figures are alike.

use std::time::{Duration, Instant};

/// The number of broadcasts in flight during a step.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct InFlight {
    /// The largest number at the same time.
    pub max: u64,
    /// The mean over the time from the first send to the end of the last broadcast.
    pub mean: f64,
}

impl InFlight {
    /// The figures of broadcasts that were in flight in these spans of time.
    pub(crate) fn of(spans: impl Iterator<Item = (Instant, Instant)>) -> Self {
        let mut changes = Vec::new();
        let mut sum = Duration::ZERO;
        for (begin, end) in spans {
            // A delivery that took no time was in flight, too.
            let end = end.max(begin + Duration::from_nanos(1));
            sum += end - begin;
            changes.extend([(begin, 1_i64), (end, -1)]);
        }
        // At one instant, ends come before begins.
        changes.sort_unstable();
        let (mut n, mut max) = (0, 0);
        for (_, change) in &changes {
            n += change;
            max = max.max(n);
        }
        let whole = changes
            .first()
            .zip(changes.last())
            .map_or(Duration::ZERO, |((first, _), (last, _))| *last - *first);
        Self {
            max: u64::try_from(max).unwrap_or(0),
            mean: if whole.is_zero() {
                0.0
            } else {
                sum.as_secs_f64() / whole.as_secs_f64()
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(spans_ms: &[(u64, u64)], max: u64, mean: f64) {
        let epoch = Instant::now();
        let at = |ms| epoch + Duration::from_millis(ms);
        let found = InFlight::of(spans_ms.iter().map(|(begin, end)| (at(*begin), at(*end))));
        assert_eq!(found.max, max, "{spans_ms:?}");
        assert!((found.mean - mean).abs() < 1e-9, "{spans_ms:?}: {found:?}");
    }

    #[test]
    fn broadcasts_in_flight_are_counted_over_time() {
        check(&[], 0, 0.0);
        check(&[(0, 10)], 1, 1.0);
        // One after the other is one at a time.
        check(&[(0, 10), (10, 20)], 1, 1.0);
        check(&[(0, 10), (0, 10), (0, 10)], 3, 3.0);
        // Half of the time two, half of the time one.
        check(&[(0, 20), (0, 10)], 2, 1.5);
        // A pause in which nothing is in flight counts.
        check(&[(0, 10), (30, 40)], 1, 0.5);
        check(&[(5, 5)], 1, 1.0);
    }
}
