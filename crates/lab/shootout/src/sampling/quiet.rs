//! How long a target has been silent. Pure.
//!
//! The coordinator does not hear of each delivery: it asks the workers when the last one came. So a silence is over only
//! when an answer to a question that was asked after its end says that nothing came meanwhile.

use std::time::{Duration, Instant};

/// The silence since the last sign of life.
#[derive(Debug, Clone, Copy)]
pub(super) struct Quiet {
    limit: Duration,
    last: Instant,
}

impl Quiet {
    /// A silence that begins now and is too long after `limit`.
    pub(super) fn new(limit: Duration, now: Instant) -> Self {
        Self { limit, last: now }
    }

    /// Something arrived at this time, which begins the silence anew.
    pub(super) fn heard(&mut self, at: Instant) {
        self.last = self.last.max(at);
    }

    /// When the silence is too long; `None` if that is beyond the clock's range.
    pub(super) fn ends(&self) -> Option<Instant> {
        self.last.checked_add(self.limit)
    }

    /// Whether the silence is too long `at` this time.
    pub(super) fn is_over(&self, at: Instant) -> bool {
        self.ends().is_some_and(|end| at >= end)
    }

    /// How long nothing has arrived.
    pub(super) fn length(&self, now: Instant) -> Duration {
        now.saturating_duration_since(self.last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_arrival_begins_the_silence_anew() {
        let begin = Instant::now();
        let at = |ms| begin + Duration::from_millis(ms);
        let mut quiet = Quiet::new(Duration::from_secs(2), begin);
        assert!(!quiet.is_over(at(1_999)) && quiet.is_over(at(2_000)));
        quiet.heard(at(1_500));
        quiet.heard(at(700)); // told late
        assert_eq!(quiet.ends(), Some(at(3_500)));
        assert!(!quiet.is_over(at(3_499)) && quiet.is_over(at(3_500)));
        assert_eq!(quiet.length(at(2_500)), Duration::from_secs(1));
        let endless = Quiet::new(Duration::MAX, begin);
        assert!(endless.ends().is_none() && !endless.is_over(at(1_000_000)));
    }
}
